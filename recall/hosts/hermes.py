"""Hermes Agent: one `state.db` a profile, with a row for each session and each message.

The columns grew from version 22 (release 0.19) to 30; each is looked for, and what is not there is not asked for. A
compaction flags the rows that it summed up, a rewind flags those that it took back; older versions began a new session
instead, which goes on with the one that ended so. Facts of the format: what 0.19.0 writes, and its public repository.
"""

from __future__ import annotations

import shlex
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from recall.hosts import hermes_text
from recall.hosts.database import columns, select
from recall.hosts.database_host import DatabaseHost, Found, Row
from recall.hosts.header import Head
from recall.hosts.host import Resumable
from recall.hosts.notes import Notes
from recall.hosts.parse import parsed
from recall.hosts.records import About, Records, text_in
from recall.hosts.roots import DEFAULT, PROFILE, folder
from recall.hosts.saying import Redacting
from recall.hosts.text import Reading, Record
from recall.hosts.times import to_ms
from recall.settings import Settings

_SESSION = (
    *("id", "source", "model_config", "parent_session_id", "started_at", "end_reason", "cwd", "title"),
    *("archived", "hidden", "last_activity_at"),
)
_SAYS = ("id", "session_id", "role", "content", "tool_call_id", "tool_calls", "tool_name", "timestamp")
_MARKED = ("observed", "active", "compacted", "_compressed_summary", "display_kind")
_LONG = 80  # a text of this length is hardly said twice
# One pass over the messages, or over those of one session; the index on session_id serves the second.
_COUNTS = """
SELECT session_id, count(*), max(id), sum(length(coalesce(content, '')) + length(coalesce(tool_calls, ''))),
       {flags}, max(timestamp)
FROM messages {where} GROUP BY session_id
"""


class HermesRecords(Records):
    """The messages of one session: one after the other."""

    def __init__(self, notes: Notes, redactor: Redacting, head: Head, repeated: frozenset[int]) -> None:
        super().__init__(notes, redactor, subagent=head.sidechain)
        self._head = head
        self._repeated = repeated
        self._tools: dict[str, str] = {}

    def head(self) -> Head:
        return self._head

    def about(self, record: Record) -> About:
        return About(host_id=str(record.get("id")), times=(record.get("timestamp"),))

    def read(self, record: Record) -> Reading:
        return hermes_text.reading(record, self._tools, repeated=record.get("id") in self._repeated)


class Hermes(DatabaseHost):
    """Hermes Agent."""

    name = "hermes"
    json_columns = ("tool_calls",)

    def roots(self, settings: Settings) -> Iterator[Path]:
        home = hermes_home(settings)
        if home is not None:
            yield home / "state.db"

    def recognises(self, connection: sqlite3.Connection) -> bool:
        return {"session_id", "role", "content"} <= columns(connection, "messages") and bool(
            {"id", "started_at"} <= columns(connection, "sessions")
        )

    def conversations(self, connection: sqlite3.Connection, identity: str | None = None) -> Iterator[Found]:
        version = _version(connection)
        counts = _counts(connection, identity)
        where, given = ("", ()) if identity is None else ("WHERE sessions.id = ?", (identity,))
        parent = "(SELECT p.end_reason FROM sessions AS p WHERE p.id = sessions.parent_session_id) AS parent_ended"
        sql = f"SELECT {select(connection, 'sessions', _SESSION)}, {parent} FROM sessions {where} ORDER BY sessions.id"
        for row in connection.execute(sql, given).fetchall():
            number, last_id, size, *flags, last_at = counts.get(row["id"], (0, 0, 0, 0))
            changed = to_ms(last_at) or to_ms(row["started_at"]) or 0
            head = _head(row, version)
            yield Found(
                head=head,
                size=int(size or 0),
                changed_at=changed,
                counts=(number, last_id, size, *flags, head.title, head.archived, head.cwd),
                rows=int(number),
            )

    def rows(self, connection: sqlite3.Connection, identity: str, entry_id: str | None = None) -> Iterator[Row]:
        wanted, given = ("", (identity,)) if entry_id is None else ("AND messages.id = ?", (identity, entry_id))
        sql = f"""SELECT {select(connection, "messages", (*_SAYS, *_MARKED))} FROM messages
                  WHERE messages.session_id = ? {wanted} ORDER BY messages.id"""
        for row in connection.execute(sql, given):
            says = {name: row[name] for name in _SAYS}
            yield Row(says, {name: row[name] for name in _MARKED if row[name] is not None})

    def records(self, connection: sqlite3.Connection, head: Head, notes: Notes, redactor: Redacting) -> Records:
        return HermesRecords(notes, redactor, head, _repeated(connection, head.identity))

    def reading(self, record: Record) -> Reading:
        return hermes_text.reading(record, {}, repeated=False)

    def resume(self, conversation: Resumable) -> str | None:
        return None if conversation.sidechain else f"hermes --resume {shlex.quote(conversation.identity)}"


def hermes_home(settings: Settings) -> Path | None:
    """The folder of the profile. HERMES_HOME may itself point into a profile, which is behind the wall then."""
    home = folder(settings, "HERMES_HOME", ".hermes")
    base = home.parent.parent if home.parent.name == "profiles" else home
    if settings.profile == DEFAULT:
        return base
    return base / "profiles" / settings.profile if PROFILE.fullmatch(settings.profile) else None


def _version(connection: sqlite3.Connection) -> int:
    row = (
        connection.execute("SELECT max(version) FROM schema_version").fetchone()
        if columns(connection, "schema_version")
        else None
    )
    return int(row[0]) if row is not None and isinstance(row[0], int) and 0 <= row[0] < 1000 else 0


def _counts(connection: sqlite3.Connection, identity: str | None) -> dict[str, tuple[int | float, ...]]:
    there = columns(connection, "messages")
    flags = ", ".join(f"sum(coalesce({name}, 0))" if name in there else "0" for name in ("active", "compacted"))
    sql = _COUNTS.format(flags=flags, where="" if identity is None else "WHERE session_id = ?")
    rows = connection.execute(sql, () if identity is None else (identity,))
    return {str(row[0]): tuple(row)[1:] for row in rows}


def _head(row: sqlite3.Row, version: int) -> Head:
    """What a session is to its parent stands in its configuration, or in how the parent ended."""
    given = parsed(row["model_config"])
    config = given if isinstance(given, dict) else {}
    parent = row["parent_session_id"] if isinstance(row["parent_session_id"], str) else None
    delegate = text_in(config, "_delegate_from")
    other = text_in(config, "_branched_from", "_reset_from")
    sidechain = delegate is not None or row["source"] == "subagent"
    continues = parent if row["parent_ended"] == "compression" and not (sidechain or other) else None
    return Head(
        identity=str(row["id"]),
        version=version,
        started_at=to_ms(row["started_at"]),
        cwd=row["cwd"] if isinstance(row["cwd"], str) and row["cwd"] else None,
        title=row["title"] if isinstance(row["title"], str) and row["title"].strip() else None,
        parent=None if continues else delegate or other or parent,
        sidechain=sidechain,
        continues=continues,
        automation=row["source"] in ("cron", "tool"),
        archived=bool(row["archived"] or row["hidden"]),
    )


def _repeated(connection: sqlite3.Connection, identity: str) -> frozenset[int]:
    """Rows that a compaction flagged and wrote once more: the same words by the same speaker, in a later row."""
    there = columns(connection, "messages")
    if not {"active", "compacted"} <= there:
        return frozenset()
    sql = """
        SELECT old.id FROM messages AS old JOIN messages AS new
          ON new.session_id = old.session_id AND new.id > old.id AND new.active = 1
         AND new.role = old.role AND new.content = old.content
         AND new.tool_calls IS old.tool_calls AND new.tool_call_id IS old.tool_call_id
        WHERE old.session_id = ? AND old.active = 0 AND old.compacted = 1
          AND (old.timestamp = new.timestamp OR length(old.content) >= ?)"""
    return frozenset(int(row[0]) for row in connection.execute(sql, (identity, _LONG)))
