"""What an answer says about the entries that were found: the rows, the turns beside them, the facets that cite them.

Plain functions on an open connection; they read only.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from recall import labels
from recall.index.filters import Filters, same_record
from recall.timewindow import ALWAYS


def rows(connection: sqlite3.Connection, numbers: Iterable[int]) -> dict[int, sqlite3.Row]:
    """Entries by number, without their text."""
    found = connection.execute(
        """SELECT e.entry_no, e.conversation_no, e.seq, e.entry_id, e.role, e.at, e.marks, e.sha256, e.chars,
                  c.started_at, c.rules_version
           FROM json_each(?) AS chosen
           JOIN entries AS e ON e.entry_no = chosen.value
           JOIN conversations AS c USING (conversation_no)""",
        (json.dumps(list(numbers)),),
    )
    return {row["entry_no"]: row for row in found}


def tie(row: sqlite3.Row) -> tuple[int, int, int, int]:
    """What entries of one score are ordered by: the newest first, then as they stand."""
    return (-(row["at"] or 0), row["started_at"] or 0, row["conversation_no"], row["seq"])


def searchable(connection: sqlite3.Connection, numbers: Iterable[int], most: int) -> dict[int, str]:
    """The first characters of the texts of entries, by number, with the reader's labels covered."""
    found = connection.execute(
        """SELECT e.entry_no, substr(e.text, 1, ?), e.role FROM json_each(?) AS chosen
           JOIN entries AS e ON e.entry_no = chosen.value""",
        (most, json.dumps(list(numbers))),
    )
    return {row[0]: labels.blank(row[1], row[2]) for row in found}


def beginnings(connection: sqlite3.Connection, most: Mapping[int, int]) -> dict[int, str]:
    """The beginnings of texts of entries, as many characters as `most` says of each, the reader's labels covered."""
    found = connection.execute(
        """SELECT e.entry_no, substr(e.text, 1, chosen.value), e.role FROM json_each(?) AS chosen
           JOIN entries AS e ON e.entry_no = CAST(chosen.key AS INTEGER)""",
        (json.dumps(most),),
    )
    return {row[0]: labels.blank(row[1], row[2]) for row in found}


def lengths(connection: sqlite3.Connection, numbers: Iterable[int]) -> dict[int, int]:
    """How many characters the texts of entries have, by number."""
    found = connection.execute(
        "SELECT e.entry_no, e.chars FROM json_each(?) AS chosen JOIN entries AS e ON e.entry_no = chosen.value",
        (json.dumps(list(numbers)),),
    )
    return {row[0]: row[1] for row in found}


def texts(connection: sqlite3.Connection, numbers: Iterable[int]) -> dict[int, str]:
    """The texts of entries, by number."""
    found = connection.execute(
        "SELECT e.entry_no, e.text FROM json_each(?) AS chosen JOIN entries AS e ON e.entry_no = chosen.value",
        (json.dumps(list(numbers)),),
    )
    return {row[0]: row[1] for row in found}


def neighbours(connection: sqlite3.Connection, filters: Filters, numbers: Sequence[int]) -> dict[int, list[int]]:
    """The turn before and the turn after each entry, where the filters let them in."""
    beside: dict[int, list[int]] = {}
    for direction, order in (("<", "DESC"), (">", "ASC")):
        found = connection.execute(
            f"""
            SELECT chosen.value AS entry_no, (
                SELECT e.entry_no FROM entries AS e JOIN conversations AS c USING (conversation_no)
                WHERE e.conversation_no = mine.conversation_no AND e.seq {direction} mine.seq AND e.chars > 0
                  AND {filters.entries()}
                ORDER BY e.seq {order} LIMIT 1) AS beside
            FROM json_each(:chosen) AS chosen JOIN entries AS mine ON mine.entry_no = chosen.value
            """,
            filters.values() | {"chosen": json.dumps(list(numbers))},
        )
        for row in found:
            if row["beside"] is not None:
                beside.setdefault(row["entry_no"], []).append(row["beside"])
    return beside


def first_copies(connection: sqlite3.Connection, filters: Filters, numbers: Iterable[int]) -> dict[int, int]:
    """Each entry -> the entry of the same record in the conversation that began first, where the filters let it in."""
    found = connection.execute(
        f"""
        SELECT mine.entry_no, (
            SELECT e.entry_no FROM entries AS e JOIN conversations AS c USING (conversation_no)
            WHERE {same_record("e", "mine")} AND {filters.entries()}
            ORDER BY coalesce(c.started_at, 0), c.conversation_no LIMIT 1) AS first
        FROM json_each(:chosen) AS chosen JOIN entries AS mine ON mine.entry_no = chosen.value
        """,
        filters.values() | {"chosen": json.dumps(list(numbers))},
    )
    return {row["entry_no"]: row["entry_no"] if row["first"] is None else row["first"] for row in found}


def let_in(connection: sqlite3.Connection, filters: Filters, numbers: Iterable[int]) -> set[int]:
    """Those of the entries that the filters let in."""
    found = connection.execute(
        f"""SELECT e.entry_no FROM json_each(:chosen) AS chosen
            JOIN entries AS e ON e.entry_no = chosen.value JOIN conversations AS c USING (conversation_no)
            WHERE {filters.entries()}""",
        filters.values() | {"chosen": json.dumps(list(numbers))},
    )
    return {row[0] for row in found}


def facets(connection: sqlite3.Connection, numbers: Iterable[int]) -> dict[int, sqlite3.Row]:
    """The first facet that cites each entry, with its topic."""
    found = connection.execute(
        """SELECT e.entry_no, f.facet_id, f.title, t.topic_id
           FROM json_each(?) AS chosen
           JOIN entries AS e ON e.entry_no = chosen.value
           JOIN facets AS f ON f.conversation_no = e.conversation_no
           LEFT JOIN memberships AS m ON m.facet_no = f.facet_no
           LEFT JOIN topics AS t ON t.topic_no = m.topic_no
           WHERE EXISTS (SELECT 1 FROM evidence AS v WHERE v.facet_no = f.facet_no
                         AND v.entry_id = e.entry_id AND v.sha256 = e.sha256)
              OR EXISTS (SELECT 1 FROM findings AS n WHERE n.facet_no = f.facet_no
                         AND n.entry_id = e.entry_id AND n.sha256 = e.sha256)
           ORDER BY e.entry_no, f.ordinal DESC""",
        (json.dumps(list(numbers)),),
    )
    return {row["entry_no"]: row for row in found}


def conversations(connection: sqlite3.Connection, numbers: Iterable[int]) -> dict[int, sqlite3.Row]:
    """Conversations by number."""
    found = connection.execute(
        """SELECT c.* FROM json_each(?) AS chosen JOIN conversations AS c ON c.conversation_no = chosen.value""",
        (json.dumps(list(numbers)),),
    )
    return {row["conversation_no"]: row for row in found}


def in_scope(connection: sqlite3.Connection, filters: Filters) -> int:
    """How many conversations the filters leave to be searched."""
    sql = f"SELECT count(*) FROM conversations AS c WHERE {filters.conversations()}"
    return int(connection.execute(sql, filters.values()).fetchone()[0])


def newest(connection: sqlite3.Connection, profile_no: int) -> int | None:
    """The time of the newest entry of the profile."""
    sql = "SELECT max(last_active_at) FROM conversations WHERE profile_no = ?"
    at: int | None = connection.execute(sql, (profile_no,)).fetchone()[0]
    return at


def untimed(connection: sqlite3.Connection, filters: Filters, most: int) -> int:
    """How many entries the filters would let in if they had a time, which no window does; `most` at most."""
    timeless = replace(filters, window=ALWAYS)
    sql = f"""SELECT count(*) FROM (
                  SELECT 1 FROM entries AS e JOIN conversations AS c USING (conversation_no)
                  WHERE e.at IS NULL AND e.chars > 0 AND {timeless.entries()} LIMIT :most)"""
    return int(connection.execute(sql, timeless.values() | {"most": most}).fetchone()[0])


def waiting(connection: sqlite3.Connection, profile_no: int) -> int:
    """How many known sources of the profile wait to be indexed."""
    return int(connection.execute("SELECT count(*) FROM queue WHERE profile_no = ?", (profile_no,)).fetchone()[0])
