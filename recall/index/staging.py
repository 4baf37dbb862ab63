"""Entries of the source that is being read, held in a TEMP table until they are published.

SQLite keeps TEMP tables in a private file that is unlinked as soon as it is open, so a source of 128 MiB needs no
memory of that size and a kill leaves nothing behind. Only redacted text comes here. Everything that takes time
(reading, redacting, segmenting) is done while filling it, before the write lock is asked for.
"""

from __future__ import annotations

import re
import sqlite3
import sys
from collections.abc import Iterator, Sequence

from recall.index import fulltext
from recall.index.filters import same_record
from recall.types import Entry, Mark, Position

_CREATE = """
CREATE TEMP TABLE staged_entries (
    seq INTEGER PRIMARY KEY, entry_id TEXT NOT NULL UNIQUE, parent_id TEXT, line INTEGER NOT NULL,
    offset INTEGER NOT NULL, length INTEGER NOT NULL, sha256 TEXT NOT NULL, kind TEXT NOT NULL, role TEXT NOT NULL,
    tool TEXT, at INTEGER, turn TEXT, marks TEXT NOT NULL DEFAULT '', chars INTEGER NOT NULL, text TEXT NOT NULL,
    body TEXT NOT NULL, whole TEXT NOT NULL, copied INTEGER NOT NULL DEFAULT 0
)"""
_INSERT = "INSERT INTO temp.staged_entries VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, '', ?, ?, ?, ?, 0)"
# Without the columns of the text index, which are as long as the text.
_ENTRY = """
SELECT seq, entry_id, parent_id, line, offset, length, sha256, kind, role, tool, at, turn, marks, text
FROM temp.staged_entries
"""
# A fork begins with a copy of what it was forked from. The conversation that was indexed first keeps the copied part.
_COPIED = f"""
UPDATE temp.staged_entries SET copied = 1
WHERE EXISTS (
    SELECT 1 FROM entries e JOIN conversations c ON c.conversation_no = e.conversation_no
    WHERE {same_record("e", "staged_entries")}
      AND c.profile_no = :profile AND c.conversation_no < :before)
"""
_SLASH_COMMAND = re.compile(r"\s*/[\w:-]+\s*")


class Staging:
    """The staged entries of one source. One at a time on a connection: a new one drops what an earlier one left."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._last: Entry | None = None
        self._connection.execute("DROP TABLE IF EXISTS temp.staged_entries")
        self._connection.execute(_CREATE)

    def fill(self, entries: Iterator[Entry]) -> Iterator[int]:
        """Stage entries one by one, yielding the byte offset reached after each. TEMP only: takes no lock."""
        try:  # a cancel may end this anywhere
            self._connection.execute("BEGIN")
            for entry in entries:
                position = entry.position
                self._connection.execute(
                    _INSERT,
                    (
                        entry.seq,
                        entry.entry_id,
                        entry.parent_id,
                        position.line,
                        position.offset,
                        position.length,
                        entry.sha256,
                        entry.kind,
                        entry.role,
                        entry.tool,
                        entry.at,
                        entry.turn,
                        len(entry.text),
                        entry.text,
                        *fulltext.columns(entry.text, entry.role),
                    ),
                )
                yield position.offset + position.length
            self._connection.execute("COMMIT")
        finally:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")

    def mark(self, marks: Sequence[frozenset[Mark]]) -> None:
        """Set the marks of every entry, by seq, once the whole source was read."""
        self._last = None
        self._connection.execute("BEGIN")
        self._connection.executemany(
            "UPDATE temp.staged_entries SET marks = ? WHERE seq = ?",
            ((" ".join(sorted(m)), seq) for seq, m in enumerate(marks)),
        )
        self._connection.execute("COMMIT")

    def leave_copies(self, profile_no: int, conversation_no: int | None) -> None:
        """Keep out of the analysis what a conversation of the profile that was indexed earlier holds, record by record.

        `conversation_no` is that of this conversation, where it is indexed: what came later copied from it.
        """
        before = sys.maxsize if conversation_no is None else conversation_no
        self._connection.execute(_COPIED, {"profile": profile_no, "before": before})

    def entry(self, seq: int) -> Entry:
        """One staged entry by seq."""
        if self._last is None or self._last.seq != seq:  # a long one is asked for again for each of its pieces
            self._last = None
            self._last = _entry(self._connection.execute(_ENTRY + "WHERE seq = ?", (seq,)).fetchone())
        return self._last

    def text_of(self, entry_id: str) -> tuple[str, str] | None:
        """(redacted text, sha256 of the record) of an entry, or None."""
        last = self._last
        if last is not None and last.entry_id == entry_id:
            return last.text, last.sha256
        row = self._connection.execute(
            "SELECT text, sha256 FROM temp.staged_entries WHERE entry_id = ?", (entry_id,)
        ).fetchone()
        return None if row is None else (row["text"], row["sha256"])

    def at_of(self, entry_id: str) -> int | None:
        """The time of an entry, where it has one."""
        row = self._connection.execute("SELECT at FROM temp.staged_entries WHERE entry_id = ?", (entry_id,)).fetchone()
        return None if row is None else row["at"]

    def opening(self) -> str | None:
        """The first thing that a person said on the active branch, slash commands aside, or None."""
        rows = self._connection.execute(
            """SELECT text FROM temp.staged_entries
               WHERE role = 'user' AND text <> ''
                 AND ' ' || marks || ' ' LIKE '% active %' AND marks NOT LIKE '%synthetic%'
               ORDER BY seq LIMIT 20"""
        )
        return next((row["text"] for row in rows if not _SLASH_COMMAND.fullmatch(row["text"][:200])), None)

    def said(self) -> Iterator[str]:
        """What the person said on the active branch, one text after another."""
        rows = self._connection.execute(
            """SELECT text FROM temp.staged_entries
               WHERE role = 'user' AND text <> '' AND ' ' || marks || ' ' LIKE '% active %'
                 AND marks NOT LIKE '%synthetic%' AND marks NOT LIKE '%meta%' AND marks NOT LIKE '%sidechain%'
               ORDER BY seq"""
        )
        return (row["text"] for row in rows)

    def skeleton(self) -> list[tuple[int, str, str | None, str, str, int]]:
        """(seq, entry_id, parent_id, role, marks, chars) of every entry to analyse, without its text."""
        return [
            tuple(row)
            for row in self._connection.execute(
                "SELECT seq, entry_id, parent_id, role, marks, chars FROM temp.staged_entries "
                "WHERE NOT copied ORDER BY seq"
            )
        ]


def _entry(row: sqlite3.Row) -> Entry:
    marks: frozenset[Mark] = frozenset(row["marks"].split())
    return Entry(
        seq=row["seq"],
        entry_id=row["entry_id"],
        parent_id=row["parent_id"],
        position=Position(row["line"], row["offset"], row["length"]),
        sha256=row["sha256"],
        kind=row["kind"],
        role=row["role"],
        at=row["at"],
        text=row["text"],
        tool=row["tool"],
        marks=marks,
        turn=row["turn"],
    )
