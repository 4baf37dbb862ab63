"""What came in with a bundle, made to hold what a publication of ours would hold. None of these commits.

A quote stands in its entry or goes, and a facet without evidence goes with it; a topic that was here grows as it does
when a facet is placed in it; a topic whose words may be of a conversation that stays out is worded from what it has.
"""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from recall.index import audits, successions, topics

_QUOTES = """
SELECT q.rowid AS place, q.quote, q.start, q.length, q.sha256, c.conversation_id, e.text, e.sha256 AS now
FROM {table} AS q JOIN facets AS f USING (facet_no) JOIN conversations AS c USING (conversation_no)
LEFT JOIN entries AS e ON e.conversation_no = c.conversation_no AND e.entry_id = q.entry_id
WHERE c.conversation_no IN (SELECT value FROM json_each(?))
"""


@dataclass(frozen=True, slots=True)
class Joining:
    """A facet that came into a topic that was here."""

    topic_no: int
    facet_no: int
    conversation_no: int
    reason: str


def verify(connection: sqlite3.Connection, conversations: Sequence[int]) -> Counter[str]:
    """Take out what quotes words that do not stand where they should: conversation id -> how many quotes.

    Redaction by our rules can have moved a quote; then its place follows it.
    """
    chosen = json.dumps(list(conversations))
    dropped: Counter[str] = Counter()
    for table in ("evidence", "findings"):
        for row in connection.execute(_QUOTES.format(table=table), (chosen,)).fetchall():
            start = _place(row)
            if start is None:
                connection.execute(f"DELETE FROM {table} WHERE rowid = ?", (row["place"],))
                dropped[row["conversation_id"]] += 1
            elif (start, len(row["quote"])) != (row["start"], row["length"]):
                sql = f"UPDATE {table} SET start = ?, length = ? WHERE rowid = ?"
                connection.execute(sql, (start, len(row["quote"]), row["place"]))
    bare = """facet_no IN (SELECT facet_no FROM facets AS f WHERE conversation_no IN (SELECT value FROM json_each(?))
                           AND NOT EXISTS (SELECT 1 FROM evidence AS v WHERE v.facet_no = f.facet_no))"""
    for table in ("memberships", "findings", "facets"):
        connection.execute(f"DELETE FROM {table} WHERE {bare}", (chosen,))
    return dropped


def verify_successions(connection: sqlite3.Connection, conversations: Sequence[int]) -> Counter[str]:
    """Take out what says of findings that one replaced the other, and does not hold: conversation id -> how many."""
    chosen = json.dumps(list(conversations))
    rows = connection.execute(
        """SELECT s.rowid AS place, s.*, c.conversation_id FROM supersessions AS s
           JOIN conversations AS c ON c.conversation_no = s.newer_conversation_no
           WHERE s.older_conversation_no IN (SELECT value FROM json_each(?1))
              OR s.newer_conversation_no IN (SELECT value FROM json_each(?1))""",
        (chosen,),
    ).fetchall()
    dropped: Counter[str] = Counter()
    for row in rows:
        if not successions.holds(connection, row):
            connection.execute("DELETE FROM supersessions WHERE rowid = ?", (row["place"],))
            dropped[row["conversation_id"]] += 1
    return dropped


def join(connection: sqlite3.Connection, profile_no: int, joinings: Iterable[Joining], now: int) -> None:
    """Let topics that were here take in the facets that came: version, names and events, or a new life."""
    back: set[int] = set()
    touched: list[str] = []
    for one in joinings:
        facet = connection.execute("SELECT title FROM facets WHERE facet_no = ?", (one.facet_no,)).fetchone()
        if facet is None:  # none of its quotes stood
            continue
        topic = connection.execute("SELECT topic_id, state FROM topics WHERE topic_no = ?", (one.topic_no,)).fetchone()
        touched.append(topic["topic_id"])
        if topic["state"] == "retired":
            back.add(one.topic_no)
        else:
            topics.took_in(connection, one.topic_no, one.conversation_no, facet["title"], one.reason, now)
    for topic_no in sorted(back):
        topics.came_back(connection, topic_no, now)
    audits.touched(connection, profile_no, dict.fromkeys(touched))


def settle_topics(connection: sqlite3.Connection, new: Iterable[int], unsure: Collection[int]) -> None:
    """New topics by what is in them: one without a facet does not live. `unsure`: their words may not be used."""
    for topic_no in new:
        peopled = connection.execute("SELECT 1 FROM memberships WHERE topic_no = ? LIMIT 1", (topic_no,)).fetchone()
        if peopled is None:
            sql = "UPDATE topics SET state = 'retired' WHERE topic_no = ? AND state = 'live'"
            connection.execute(sql, (topic_no,))
        if topic_no in unsure:
            title, description, aliases = topics.words_of_facets(connection, topic_no)
            sql = "UPDATE topics SET title = ?, description = ?, aliases = ? WHERE topic_no = ?"
            connection.execute(sql, (title, description, aliases, topic_no))


def _place(row: sqlite3.Row) -> int | None:
    """Where a quote stands in its entry; None where it does not, or the entry is another one."""
    text, quote, start = row["text"], row["quote"], int(row["start"])
    if text is None or row["sha256"] != row["now"]:
        return None
    if text[start : start + len(quote)] == quote:
        return start
    found = text.find(quote)
    return None if found < 0 else found
