"""How topics stand to repair: where each one's ring stopped, how often it was touched since, whether it waits.

Plain functions on an open connection; those that write are called inside the publishing transaction.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Standing:
    """`position`: the number of the facet that was audited last (0: none); `publications` since that audit."""

    position: int
    publications: int
    queued: bool


_NEVER = Standing(0, 0, queued=False)


def standings(connection: sqlite3.Connection, profile_no: int, topic_ids: Iterable[str]) -> dict[str, Standing]:
    """How the topics stand; those that nothing is known of stand at their beginning."""
    rows = connection.execute(
        """SELECT t.topic_id, a.position, a.publications, a.queued_at IS NOT NULL AS queued
           FROM json_each(?) AS chosen JOIN topics AS t ON t.topic_id = chosen.value
           JOIN topic_audits AS a USING (topic_no) WHERE t.profile_no = ?""",
        (json.dumps(ids := list(topic_ids)), profile_no),
    )
    known = {row["topic_id"]: Standing(row["position"], row["publications"], bool(row["queued"])) for row in rows}
    return {topic_id: known.get(topic_id, _NEVER) for topic_id in ids}


def waiting(connection: sqlite3.Connection, profile_no: int) -> list[str]:
    """Ids of the live topics that wait for maintenance, the longest first."""
    rows = connection.execute(
        """SELECT t.topic_id FROM topic_audits AS a JOIN topics AS t USING (topic_no)
           WHERE t.profile_no = ? AND t.state = 'live' AND a.queued_at IS NOT NULL
           ORDER BY a.queued_at, t.topic_no""",
        (profile_no,),
    )
    return [row["topic_id"] for row in rows]


def longest_ago(connection: sqlite3.Connection, profile_no: int, most: int) -> list[str]:
    """Ids of live topics, those first that were never audited, then by their last audit."""
    rows = connection.execute(
        """SELECT t.topic_id FROM topics AS t LEFT JOIN topic_audits AS a USING (topic_no)
           WHERE t.profile_no = ? AND t.state = 'live'
           ORDER BY a.audited_at IS NOT NULL, a.audited_at, t.topic_no LIMIT ?""",
        (profile_no, most),
    )
    return [row["topic_id"] for row in rows]


def touched(connection: sqlite3.Connection, profile_no: int, topic_ids: Iterable[str]) -> None:
    """One more publication touched these topics."""
    _change(connection, profile_no, topic_ids, "publications = publications + 1", {})


def queue(connection: sqlite3.Connection, profile_no: int, topic_ids: Iterable[str], now: int) -> None:
    """Let topics wait for maintenance; those that wait already keep their place."""
    _change(connection, profile_no, topic_ids, "queued_at = coalesce(queued_at, :now)", {"now": now})


def audited(connection: sqlite3.Connection, profile_no: int, positions: Mapping[str, int | None], now: int) -> None:
    """Topics were audited: their rings go on behind these facets (None: stays), and they wait no longer."""
    for topic_id, position in positions.items():
        _change(
            connection,
            profile_no,
            [topic_id],
            "position = coalesce(:position, position), publications = 0, queued_at = NULL, audited_at = :now",
            {"position": position, "now": now},
        )


def _change(
    connection: sqlite3.Connection,
    profile_no: int,
    topic_ids: Iterable[str],
    change: str,
    values: Mapping[str, object],
) -> None:
    chosen = {"profile": profile_no, "topics": json.dumps(list(topic_ids))}
    which = """topic_no IN (SELECT t.topic_no FROM json_each(:topics) AS chosen
                            JOIN topics AS t ON t.topic_id = chosen.value WHERE t.profile_no = :profile)"""
    connection.execute(
        f"INSERT OR IGNORE INTO topic_audits (topic_no) SELECT topic_no FROM topics WHERE {which}", chosen
    )
    connection.execute(f"UPDATE topic_audits SET {change} WHERE {which}", {**chosen, **values})
