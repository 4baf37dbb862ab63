"""What an endpoint was seen to take or refuse, so that it is tried once and not at the start of every run."""

from __future__ import annotations

import sqlite3


def get(connection: sqlite3.Connection, endpoint: str, model: str, trait: str) -> str | None:
    """The value seen last, or None."""
    row = connection.execute(
        "SELECT value FROM endpoint_traits WHERE endpoint = ? AND model = ? AND trait = ?", (endpoint, model, trait)
    ).fetchone()
    return None if row is None else str(row["value"])


def put(connection: sqlite3.Connection, endpoint: str, model: str, trait: str, value: str, now: int) -> None:
    """Remember what was seen."""
    connection.execute(
        """
        INSERT INTO endpoint_traits (endpoint, model, trait, value, seen_at) VALUES (?, ?, ?, ?, ?)
        ON CONFLICT (endpoint, model, trait) DO UPDATE SET value = excluded.value, seen_at = excluded.seen_at
        """,
        (endpoint, model, trait, value, now),
    )
