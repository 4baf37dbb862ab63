"""Good replies of models, kept redacted, so that what was paid for is not asked twice.

A key stands for the whole question (see `recall.models.calls`); this module does not know how it is made. What comes
out is checked again by the caller on each use, and a reply that no longer passes is dropped alone.
"""

from __future__ import annotations

import sqlite3


def get(connection: sqlite3.Connection, profile_no: int, key: str) -> str | None:
    """The kept reply, or None."""
    row = connection.execute(
        "SELECT reply FROM model_cache WHERE profile_no = ? AND key = ?", (profile_no, key)
    ).fetchone()
    return None if row is None else str(row["reply"])


def put(
    connection: sqlite3.Connection,
    profile_no: int,
    key: str,
    reply: str,
    *,
    kind: str,
    model: str,
    source: str | None,
    now: int,
) -> None:
    """Keep a redacted reply; a newer one takes the place of an older one."""
    connection.execute(
        """
        INSERT INTO model_cache (profile_no, key, kind, model, reply, source, created_at)
        VALUES (?, ?, ?, ?, ?, ?, ?)
        ON CONFLICT (profile_no, key) DO UPDATE
           SET kind = excluded.kind, model = excluded.model, reply = excluded.reply,
               source = excluded.source, created_at = excluded.created_at
        """,
        (profile_no, key, kind, model, reply, source, now),
    )


def drop(connection: sqlite3.Connection, profile_no: int, key: str) -> None:
    """Forget one reply."""
    connection.execute("DELETE FROM model_cache WHERE profile_no = ? AND key = ?", (profile_no, key))


def drop_source(connection: sqlite3.Connection, profile_no: int, source: str) -> None:
    """Forget every reply that was given about a source."""
    connection.execute("DELETE FROM model_cache WHERE profile_no = ? AND source = ?", (profile_no, source))


def count(connection: sqlite3.Connection, profile_no: int) -> int:
    """How many replies a profile has."""
    query = "SELECT count(*) FROM model_cache WHERE profile_no = ?"
    return int(connection.execute(query, (profile_no,)).fetchone()[0])


def clear(connection: sqlite3.Connection, profile_no: int) -> int:
    """Forget every reply of a profile; how many there were."""
    return connection.execute("DELETE FROM model_cache WHERE profile_no = ?", (profile_no,)).rowcount
