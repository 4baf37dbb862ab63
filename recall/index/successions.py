"""Findings over time: which later one replaced which, kept by the places of their quotes.

A finding that was replaced is `superseded` wherever it is shown, with a link to what replaced it; its own status stays
stored. Plain functions on an open connection; none commits.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from recall.shown import safe
from recall.timewindow import iso
from recall.types import StoredFinding, Succession

# Both findings have to be there still. `o` is the older one, `n` the newer.
_PAIRS = """
SELECT o.finding_no AS older_no, n.finding_no AS newer_no, s.older_quote, s.newer_quote,
       n.statement, n.status, n.entry_id, n.sha256, c.conversation_id, c.conversation_no, c.rules_version, e.at
FROM supersessions AS s
JOIN facets AS fo ON fo.conversation_no = s.older_conversation_no
JOIN findings AS o ON o.facet_no = fo.facet_no AND o.entry_id = s.older_entry_id AND o.start = s.older_start
JOIN facets AS fn ON fn.conversation_no = s.newer_conversation_no
JOIN findings AS n ON n.facet_no = fn.facet_no AND n.entry_id = s.newer_entry_id AND n.start = s.newer_start
JOIN conversations AS c ON c.conversation_no = s.newer_conversation_no
LEFT JOIN entries AS e ON e.conversation_no = c.conversation_no AND e.entry_id = n.entry_id
"""


@dataclass(frozen=True, slots=True)
class Replaced:
    """What replaced a finding: where it stands, and the words that say so, of both."""

    conversation_id: str
    entry_id: str
    sha256: str
    statement: str
    status: str
    at: int | None
    older_quote: str
    newer_quote: str
    rules_version: int

    def as_json(self) -> dict[str, object]:
        """The link of an answer: what holds now, and the words of both that say so."""
        return {
            "conversation_id": self.conversation_id,
            "entry_id": self.entry_id,
            "sha256": self.sha256,
            "statement": safe(self.statement, self.rules_version),
            "status": self.status,
            "timestamp": iso(self.at),
            "quote": safe(self.newer_quote, self.rules_version),
            "replaced_quote": safe(self.older_quote, self.rules_version),
        }


def findings(
    connection: sqlite3.Connection, profile_no: int, topic_ids: Collection[str], without: int
) -> list[StoredFinding]:
    """The findings of topics that hold, of other conversations than `without`, the latest first."""
    rows = connection.execute(
        """SELECT f.conversation_no, t.topic_id, n.statement, n.status, n.entry_id, n.start, n.quote, e.at
           FROM topics AS t
           JOIN memberships AS m USING (topic_no) JOIN facets AS f USING (facet_no)
           JOIN findings AS n USING (facet_no)
           LEFT JOIN entries AS e ON e.conversation_no = f.conversation_no AND e.entry_id = n.entry_id
           WHERE t.profile_no = ? AND t.topic_id IN (SELECT value FROM json_each(?)) AND f.conversation_no <> ?
             AND NOT EXISTS (SELECT 1 FROM supersessions AS s
                             WHERE s.older_conversation_no = f.conversation_no AND s.older_entry_id = n.entry_id
                               AND s.older_start = n.start)
           ORDER BY e.at DESC, n.finding_no""",
        (profile_no, json.dumps(sorted(topic_ids)), without),
    )
    return [StoredFinding(*tuple(row)) for row in rows]


def text(connection: sqlite3.Connection, finding: StoredFinding) -> str | None:
    """The text of a finding's entry as it is now."""
    row = connection.execute(
        "SELECT text FROM entries WHERE conversation_no = ? AND entry_id = ?",
        (finding.conversation_no, finding.entry_id),
    ).fetchone()
    return None if row is None else str(row["text"])


def write(connection: sqlite3.Connection, conversation_no: int, pairs: Iterable[Succession], now: int) -> int:
    """Keep the pairs that are of one project and that time puts in an order; how many."""
    kept = 0
    for pair in pairs:
        own, stored = (conversation_no, pair.entry_id), (pair.stored.conversation_no, pair.stored.entry_id)
        if not _same_project(connection, own[0], stored[0]):
            continue
        mine, theirs = _time(connection, *own), _time(connection, *stored)
        if mine is None or theirs is None or mine == theirs:
            continue
        sides = [(*own, pair.start, pair.quote), (*stored, pair.stored.start, pair.stored_quote)]
        older, newer = sides if mine < theirs else reversed(sides)
        kept += connection.execute(
            "INSERT INTO supersessions VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
            (*older, *newer, now),
        ).rowcount
    return kept


def holds(connection: sqlite3.Connection, row: sqlite3.Row) -> bool:
    """Whether a stored pair is one that `write` would have kept: quotes, order, project and topic."""
    sides = [
        (row[f"{side}_conversation_no"], row[f"{side}_entry_id"], row[f"{side}_quote"], row[f"{side}_start"])
        for side in ("older", "newer")
    ]
    times = []
    for number, entry_id, quote, _ in sides:
        entry = connection.execute(
            "SELECT text, at FROM entries WHERE conversation_no = ? AND entry_id = ?", (number, entry_id)
        ).fetchone()
        if entry is None or entry["at"] is None or quote not in entry["text"]:
            return False
        times.append(entry["at"])
    shared = connection.execute(
        """SELECT 1 FROM findings AS o JOIN facets AS fo USING (facet_no) JOIN memberships AS mo USING (facet_no)
           JOIN memberships AS mn ON mn.topic_no = mo.topic_no JOIN facets AS fn ON fn.facet_no = mn.facet_no
           JOIN findings AS n ON n.facet_no = fn.facet_no
           WHERE fo.conversation_no = ? AND o.entry_id = ? AND o.start = ?
             AND fn.conversation_no = ? AND n.entry_id = ? AND n.start = ?""",
        (*[sides[0][at] for at in (0, 1, 3)], *[sides[1][at] for at in (0, 1, 3)]),
    ).fetchone()
    return times[0] < times[1] and shared is not None and _same_project(connection, sides[0][0], sides[1][0])


def of_findings(connection: sqlite3.Connection, facet_nos: Sequence[int]) -> dict[tuple[int, str, int], Replaced]:
    """(facet, entry id, start) of each finding that was replaced -> what replaced it, the latest."""
    rows = connection.execute(
        f"""SELECT p.*, o.facet_no, o.entry_id AS own_entry, o.start AS own_start
            FROM ({_PAIRS}) AS p JOIN findings AS o ON o.finding_no = p.older_no
            WHERE o.facet_no IN (SELECT value FROM json_each(?)) ORDER BY p.at""",
        (json.dumps(list(facet_nos)),),
    )
    return {(row["facet_no"], row["own_entry"], row["own_start"]): _replaced(row) for row in rows}


def of_entries(connection: sqlite3.Connection, entry_nos: Iterable[int]) -> dict[int, tuple[int, Replaced]]:
    """Entry number of a finding that was replaced -> (entry number of what replaced it, how it reads), the latest."""
    rows = connection.execute(
        f"""SELECT p.*, mine.entry_no AS older_entry_no, theirs.entry_no AS newer_entry_no
            FROM ({_PAIRS}) AS p
            JOIN findings AS o ON o.finding_no = p.older_no JOIN facets AS f ON f.facet_no = o.facet_no
            JOIN entries AS mine ON mine.conversation_no = f.conversation_no AND mine.entry_id = o.entry_id
            JOIN entries AS theirs ON theirs.conversation_no = p.conversation_no AND theirs.entry_id = p.entry_id
            WHERE mine.entry_no IN (SELECT value FROM json_each(?)) ORDER BY p.at""",
        (json.dumps(list(entry_nos)),),
    )
    return {row["older_entry_no"]: (row["newer_entry_no"], _replaced(row)) for row in rows}


def _replaced(row: sqlite3.Row) -> Replaced:
    return Replaced(
        conversation_id=row["conversation_id"],
        entry_id=row["entry_id"],
        sha256=row["sha256"],
        statement=row["statement"],
        status=row["status"],
        at=row["at"],
        older_quote=row["older_quote"],
        newer_quote=row["newer_quote"],
        rules_version=row["rules_version"],
    )


def _same_project(connection: sqlite3.Connection, one: int, other: int) -> bool:
    """Whether two conversations are of one project; without any, whether they ran in one folder or repository."""
    row = connection.execute(
        """SELECT CASE WHEN a.project_no IS NOT NULL OR b.project_no IS NOT NULL THEN a.project_no IS b.project_no
                       ELSE a.git_group = b.git_group OR a.cwd = b.cwd END
           FROM conversations AS a, conversations AS b WHERE a.conversation_no = ? AND b.conversation_no = ?""",
        (one, other),
    ).fetchone()
    return bool(row is not None and row[0])


def _time(connection: sqlite3.Connection, conversation_no: int, entry_id: str) -> int | None:
    row = connection.execute(
        "SELECT at FROM entries WHERE conversation_no = ? AND entry_id = ?", (conversation_no, entry_id)
    ).fetchone()
    return None if row is None else row["at"]
