"""The queue of a profile: sources that wait to be indexed, and how the last try ended.

A source is queued by `index-all` and `rebuild`; a publication drops it; a failure stays with its code until the user
or an agent asks again. Plain functions on an open connection; none commits.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass

from recall.errors import RecallError


@dataclass(frozen=True, slots=True)
class Job:
    """One queued source. `force`: analyse again though it is unchanged."""

    source: str
    host: str
    force: bool
    attempts: int
    code: str | None
    message: str | None

    @property
    def is_apart(self) -> bool:
        """Whether it waits for the user: a second file with the id of another, and entries of its own."""
        return self.code == "duplicate_conversation"


def enqueue(
    connection: sqlite3.Connection,
    profile_no: int,
    sources: Iterable[tuple[str, str]],
    now: int,
    *,
    force: bool = False,
) -> int:
    """Queue (source, host) pairs in the given order; what is queued keeps its place. Returns how many are new."""
    before = connection.total_changes
    connection.executemany(
        """INSERT INTO queue (profile_no, source, host, queued_at, force) VALUES (?, ?, ?, ?, ?)
           ON CONFLICT (profile_no, source) DO NOTHING""",
        [(profile_no, source, host, now, int(force)) for source, host in sources],
    )
    added = connection.total_changes - before
    if force:
        connection.execute("UPDATE queue SET force = 1 WHERE profile_no = ?", (profile_no,))
    return added


def waiting(connection: sqlite3.Connection, profile_no: int) -> list[Job]:
    """The queue in order: what never failed first, then by the time of the last failure."""
    rows = connection.execute(
        """SELECT source, host, force, attempts, code, message FROM queue WHERE profile_no = ?
           ORDER BY failed_at IS NOT NULL, failed_at, queued_at, rowid""",
        (profile_no,),
    )
    return [Job(r["source"], r["host"], bool(r["force"]), *tuple(r)[3:]) for r in rows]


def is_waiting(connection: sqlite3.Connection, profile_no: int, source: str) -> bool:
    """Whether the source is in the queue."""
    row = connection.execute("SELECT 1 FROM queue WHERE profile_no = ? AND source = ?", (profile_no, source)).fetchone()
    return row is not None


def record_failure(
    connection: sqlite3.Connection, profile_no: int, source: str, host: str, error: RecallError, now: int
) -> None:
    """Keep the source in the queue with how it failed; budget, cancel and the like count as no attempt."""
    connection.execute(
        """INSERT INTO queue (profile_no, source, host, queued_at, attempts, code, message, failed_at)
           VALUES (:profile, :source, :host, :now, :counts, :code, :message, :now)
           ON CONFLICT (profile_no, source) DO UPDATE
           SET attempts = attempts + :counts, code = :code, message = :message, failed_at = :now""",
        {
            "profile": profile_no,
            "source": source,
            "host": host,
            "now": now,
            "counts": int(error.counts_as_attempt),
            "code": error.code,
            "message": error.message,
        },
    )


def drop(connection: sqlite3.Connection, profile_no: int, source: str) -> None:
    """Take a source out of the queue: it was published, or there is nothing in it to index."""
    connection.execute("DELETE FROM queue WHERE profile_no = ? AND source = ?", (profile_no, source))
