"""What the user wants forgotten, by the host's id. Plain functions on an open connection; none commits."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable

from recall.errors import SourceError


def put(
    connection: sqlite3.Connection, profile_no: int, host: str, identity: str, conversation_id: str, now: int
) -> None:
    """Keep a conversation out from now on."""
    connection.execute(
        """INSERT INTO tombstones (profile_no, host, host_conversation_id, conversation_id, forgotten_at)
           VALUES (?, ?, ?, ?, ?) ON CONFLICT (profile_no, host, host_conversation_id) DO NOTHING""",
        (profile_no, host, identity, conversation_id, now),
    )


def drop(connection: sqlite3.Connection, profile_no: int, name: str) -> list[str]:
    """Let conversations in again, by our id, the host's, or HOST:ID; the HOST:ID of each."""
    rows = connection.execute(
        """DELETE FROM tombstones WHERE profile_no = ? AND ? IN
             (conversation_id, host_conversation_id, host || ':' || host_conversation_id)
           RETURNING host || ':' || host_conversation_id""",
        (profile_no, name),
    )
    return [str(row[0]) for row in rows.fetchall()]


def drop_parts(connection: sqlite3.Connection, profile_no: int, parts: Iterable[tuple[str, str]], at: int) -> list[str]:
    """Let in those of these (host, id) that were forgotten in the same moment; the HOST:ID of each."""
    chosen = json.dumps([list(part) for part in parts])
    rows = connection.execute(
        """DELETE FROM tombstones WHERE profile_no = :profile AND forgotten_at = :at AND EXISTS (
             SELECT 1 FROM json_each(:chosen) AS part
             WHERE part.value ->> 0 = tombstones.host AND part.value ->> 1 = tombstones.host_conversation_id)
           RETURNING host || ':' || host_conversation_id""",
        {"profile": profile_no, "at": at, "chosen": chosen},
    )
    return sorted(str(row[0]) for row in rows.fetchall())


def all_of(connection: sqlite3.Connection, profile_no: int) -> frozenset[tuple[str, str]]:
    """(host, the host's id) of everything forgotten."""
    rows = connection.execute("SELECT host, host_conversation_id FROM tombstones WHERE profile_no = ?", (profile_no,))
    return frozenset((row[0], row[1]) for row in rows)


def confirm(
    connection: sqlite3.Connection, profile_no: int, host: str, identity: str, above: Iterable[str] = ()
) -> None:
    """Raise SourceError `forgotten` where the user wants a conversation forgotten, or one of those that it is a part of
    (`above`, by the host's ids).
    """
    row = connection.execute(
        """SELECT host_conversation_id FROM tombstones WHERE profile_no = ? AND host = ?
             AND host_conversation_id IN (SELECT value FROM json_each(?)) LIMIT 1""",
        (profile_no, host, json.dumps([identity, *above])),
    ).fetchone()
    if row is not None:
        raise _forgotten(host, row[0])


def confirm_name(connection: sqlite3.Connection, profile_no: int, name: str) -> None:
    """The same, by whatever `drop` takes: our id is known to nothing else once the conversation is forgotten."""
    row = named(connection, profile_no, name)
    if row is not None:
        raise _forgotten(row["host"], row["host_conversation_id"])


def named(connection: sqlite3.Connection, profile_no: int, name: str) -> sqlite3.Row | None:
    """What was forgotten under a name that `drop` takes."""
    row: sqlite3.Row | None = connection.execute(
        """SELECT host, host_conversation_id, conversation_id, forgotten_at FROM tombstones
           WHERE profile_no = ? AND ? IN
             (conversation_id, host_conversation_id, host || ':' || host_conversation_id)""",
        (profile_no, name),
    ).fetchone()
    return row


def latest(connection: sqlite3.Connection) -> int | None:
    """When something was forgotten last, in any profile of the index."""
    row = connection.execute("SELECT max(forgotten_at) FROM tombstones").fetchone()
    return None if row[0] is None else int(row[0])


def _forgotten(host: str, identity: str) -> SourceError:
    message = f"You had {host}:{identity} forgotten"
    return SourceError("forgotten", message, f"`history-recall forget {host}:{identity} --unforget` lets it in")
