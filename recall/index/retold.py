"""Topics that are worded anew after `forget`: the facets that are left in one, and the words that a model gives it.

Plain functions on an open connection; none commits.
"""

from __future__ import annotations

import json
import sqlite3
from dataclasses import dataclass

from recall.index import fulltext
from recall.index.consent import UNPLACED
from recall.index.topics import joined_aliases
from recall.types import Draft


@dataclass(frozen=True, slots=True)
class Left:
    """A facet that is left in a topic. `statements`: those of its findings."""

    title: str
    description: str
    aliases: tuple[str, ...]
    statements: tuple[str, ...]


_REASON = "worded anew from what is left after a conversation was forgotten"


def version(connection: sqlite3.Connection, profile_no: int, topic_id: str) -> int:
    """The version of a live topic; 0 where there is none."""
    row = connection.execute(
        "SELECT version FROM topics WHERE profile_no = ? AND topic_id = ? AND state = 'live'", (profile_no, topic_id)
    ).fetchone()
    return 0 if row is None else int(row["version"])


def facets(connection: sqlite3.Connection, profile_no: int, topic_id: str) -> tuple[Left, ...]:
    """The facets in a live topic, the oldest first."""
    rows = connection.execute(
        """SELECT f.title, f.description, f.aliases,
                  (SELECT json_group_array(n.statement) FROM findings AS n WHERE n.facet_no = f.facet_no) AS statements
           FROM topics AS t JOIN memberships AS m USING (topic_no) JOIN facets AS f USING (facet_no)
           JOIN conversations AS c USING (conversation_no)
           WHERE t.profile_no = ? AND t.topic_id = ? AND t.state = 'live'
           ORDER BY c.last_active_at, f.facet_no""",
        (profile_no, topic_id),
    )
    return tuple(
        Left(row["title"], row["description"], tuple(json.loads(row["aliases"])), tuple(json.loads(row[3])))
        for row in rows
    )


def projects(connection: sqlite3.Connection, profile_no: int, topic_id: str) -> frozenset[str]:
    """The projects, for a consent, of which something is in a topic."""
    rows = connection.execute(
        """SELECT DISTINCT coalesce(p.project_id, ?) FROM topics AS t
           JOIN memberships AS m USING (topic_no) JOIN facets AS f USING (facet_no)
           JOIN conversations AS c USING (conversation_no) LEFT JOIN projects AS p USING (project_no)
           WHERE t.profile_no = ? AND t.topic_id = ?""",
        (UNPLACED, profile_no, topic_id),
    )
    return frozenset(row[0] for row in rows)


def write(connection: sqlite3.Connection, profile_no: int, topic_id: str, seen: int, words: Draft, now: int) -> bool:
    """Give a topic these words, where it is still as it was when they were asked for. Whether it was."""
    row = connection.execute(
        """SELECT topic_no, title, description, aliases FROM topics
           WHERE profile_no = ? AND topic_id = ? AND state = 'live' AND version = ?""",
        (profile_no, topic_id, seen),
    ).fetchone()
    if row is None:
        return False
    own = json.loads(row["aliases"])
    aliases = joined_aliases(words.title, [*words.aliases, row["title"], *own])
    connection.execute(
        """UPDATE topics SET title = ?, description = ?, aliases = ?, extractive = 0, version = version + 1,
                             changed_at = ? WHERE topic_no = ?""",
        (words.title, words.description, aliases, now, row["topic_no"]),
    )
    before = {"title": row["title"], "description": row["description"], "aliases": own}
    after = {"title": words.title, "description": words.description, "aliases": json.loads(aliases)}
    connection.execute(
        """INSERT INTO topic_events (topic_no, conversation_no, at, kind, reason, before, after)
           VALUES (?, NULL, ?, 'redefined', ?, ?, ?)""",
        (row["topic_no"], now, _REASON, json.dumps(before), json.dumps(after)),
    )
    fulltext.refresh_topics(connection, profile_no)
    return True
