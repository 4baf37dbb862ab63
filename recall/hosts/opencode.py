"""OpenCode: one `opencode.db`, with a row for each session, each message and each part of a message.

An entry is a part; a message is one too, for what it says of itself (who spoke, and what went wrong). A call of a tool
and its result are one part and two entries. Undone is what stands behind the place that the session was reverted to.
Facts of the format: packages/opencode/src/session of the public repository.
"""

from __future__ import annotations

import re
import shlex
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from recall import labels
from recall.hosts import text
from recall.hosts.database import columns, select
from recall.hosts.database_host import DatabaseHost, Found, Row
from recall.hosts.header import Head
from recall.hosts.host import Resumable
from recall.hosts.notes import Notes
from recall.hosts.parse import parsed
from recall.hosts.records import About, Records, text_in
from recall.hosts.roots import DEFAULT, folder
from recall.hosts.saying import Redacting
from recall.hosts.text import META, SYNTHETIC, Part, Reading, Record, WrongShape, name_of
from recall.hosts.times import to_ms
from recall.settings import Settings
from recall.types import Mark

_SESSION = (
    *("id", "parent_id", "directory", "title", "version", "revert"),
    *("time_created", "time_updated", "time_archived"),
)
_UNTITLED = re.compile(r"(?:New|Child) session - \d{4}-")  # what the program writes before it has a title
_REWOUND: frozenset[Mark] = frozenset({"rewound"})
_NONE: frozenset[Mark] = frozenset()
_CALL = ".call"  # behind the id of a part: the entry of what the tool was asked


class OpenCodeRecords(Records):
    """The rows of one session: each message, then its parts."""

    def __init__(self, notes: Notes, redactor: Redacting, head: Head) -> None:
        super().__init__(notes, redactor, subagent=head.sidechain)
        self._head = head

    def head(self) -> Head:
        return self._head

    def split(self, record: dict[str, object]) -> list[dict[str, object]]:
        data = record.get("data")
        if not isinstance(data, dict) or data.get("type") != "tool":
            return [record]
        return [record | {"id": f"{record.get('id')}{_CALL}", "asked": True}, record]

    def about(self, record: Record) -> About:
        given, data = record.get("id"), record.get("data")
        time = data.get("time") if isinstance(data, dict) else None
        times = (time.get("created"), time.get("start")) if isinstance(time, dict) else ()
        return About(
            host_id=given if isinstance(given, str) and given else None, times=(*times, record.get("time_created"))
        )

    def read(self, record: Record) -> Reading:
        return reading(record)

    def added(self, about: About, found: Reading) -> None:
        if found.kind == "compaction_request":
            self.tree.compaction(len(self.tree) - 1)


class OpenCode(DatabaseHost):
    """OpenCode."""

    name = "opencode"
    json_columns = ("data",)

    def roots(self, settings: Settings) -> Iterator[Path]:
        if settings.profile != DEFAULT:
            return
        if settings.host_variables.get("OPENCODE_DB"):
            yield folder(settings, "OPENCODE_DB")
            return
        data = settings.host_variables.get("XDG_DATA_HOME")
        base = Path(data) if data and Path(data).is_absolute() else settings.home / ".local" / "share"
        yield base / "opencode" / "opencode.db"
        yield from sorted((base / "opencode").glob("opencode-*.db"))  # of other release channels

    def recognises(self, connection: sqlite3.Connection) -> bool:
        return {"message_id", "session_id", "data"} <= columns(connection, "part")

    def conversations(self, connection: sqlite3.Connection, identity: str | None = None) -> Iterator[Found]:
        messages, parts = _counts(connection, "message", identity), _counts(connection, "part", identity)
        where, given = ("", ()) if identity is None else ("WHERE session.id = ?", (identity,))
        sql = f"SELECT {select(connection, 'session', _SESSION)} FROM session {where} ORDER BY session.id"
        for row in connection.execute(sql, given).fetchall():
            counts = (*messages.get(row["id"], (0, 0, 0)), *parts.get(row["id"], (0, 0, 0)))
            head = _head(row)
            changed = max(to_ms(at) or 0 for at in (row["time_updated"], row["time_created"], counts[2], counts[5]))
            yield Found(
                head=head,
                size=int(counts[1]) + int(counts[4]),
                changed_at=changed,
                counts=(*counts, row["revert"], head.title, head.archived, head.cwd),
                rows=int(counts[0]),
            )

    def rows(self, connection: sqlite3.Connection, identity: str, entry_id: str | None = None) -> Iterator[Row]:
        revert = connection.execute(
            f"SELECT {select(connection, 'session', ('revert',))} FROM session WHERE id = ?", (identity,)
        ).fetchone()
        place = parsed(revert["revert"]) if revert is not None else None
        undone = _Undone(place if isinstance(place, dict) else {})
        wanted = None if entry_id is None else entry_id.removesuffix(_CALL)
        for message in connection.execute(
            "SELECT id, data, time_created FROM message WHERE session_id = ? ORDER BY time_created, id", (identity,)
        ):
            yield from _rows_of(connection, identity, message, undone, wanted)

    def records(self, connection: sqlite3.Connection, head: Head, notes: Notes, redactor: Redacting) -> Records:
        return OpenCodeRecords(notes, redactor, head)

    def reading(self, record: Record) -> Reading:
        return reading(record)

    def resume(self, conversation: Resumable) -> str | None:
        if conversation.sidechain:
            return None
        command = f"opencode --session {shlex.quote(conversation.identity)}"
        return f"cd {shlex.quote(conversation.cwd)} && {command}" if conversation.cwd else command


class _Undone:
    """What is behind the place that a session was reverted to: a message, or a part of one, and all that follows."""

    def __init__(self, place: Record) -> None:
        self._message, self._part = place.get("messageID"), place.get("partID")
        self._begun = False

    def message(self, identity: object) -> bool:
        if identity == self._message and not isinstance(self._part, str):
            self._begun = True
        return self._begun

    def part(self, identity: object) -> bool:
        if isinstance(self._part, str) and identity == self._part:
            self._begun = True
        return self._begun


def _rows_of(
    connection: sqlite3.Connection, identity: str, message: sqlite3.Row, undone: _Undone, wanted: str | None
) -> Iterator[Row]:
    """The row of a message and those of its parts, in their order; where one is `wanted`, that one only."""
    data = parsed(message["data"])
    about = data if isinstance(data, dict) else {}
    gone: dict[str, object] = {"undone": True} if undone.message(message["id"]) else {}
    if wanted in (None, message["id"]):
        says = {"table": "message", "id": message["id"], "session_id": identity, "data": message["data"]}
        yield Row(says | {"time_created": message["time_created"]}, gone)
    marked = {"role": about.get("role"), "summary": about.get("summary") is True}
    for part in connection.execute(
        "SELECT id, data, time_created FROM part WHERE message_id = ? ORDER BY id", (message["id"],)
    ):
        gone = {"undone": True} if undone.part(part["id"]) else {}
        if wanted in (None, part["id"]):
            says = {"table": "part", "id": part["id"], "message_id": message["id"], "session_id": identity}
            yield Row(says | {"data": part["data"], "time_created": part["time_created"]}, marked | gone)


def _counts(connection: sqlite3.Connection, table: str, identity: str | None) -> dict[str, tuple[int, ...]]:
    updated = "max(time_updated)" if "time_updated" in columns(connection, table) else "0"
    where = "" if identity is None else "WHERE session_id = ?"
    sql = f"SELECT session_id, count(*), sum(length(data)), {updated} FROM {table} {where} GROUP BY session_id"
    rows = connection.execute(sql, () if identity is None else (identity,))
    return {str(row[0]): tuple(value or 0 for value in tuple(row)[1:]) for row in rows}


def _head(row: sqlite3.Row) -> Head:
    title, parent = row["title"], row["parent_id"]
    named = isinstance(title, str) and bool(title.strip()) and _UNTITLED.match(title) is None
    return Head(
        identity=str(row["id"]),
        version=1,
        started_at=to_ms(row["time_created"]),
        cwd=row["directory"] if isinstance(row["directory"], str) and row["directory"] else None,
        title=title if named else None,
        parent=parent if isinstance(parent, str) else None,
        sidechain=isinstance(parent, str),
        archived=row["time_archived"] is not None,
        host_version=row["version"] if isinstance(row["version"], str) else None,
    )


def reading(record: Record) -> Reading:
    """Take a row apart. Raises WrongShape."""
    data = record.get("data")
    if not isinstance(data, dict):
        raise WrongShape("no_message")
    marks = _REWOUND if record.get("undone") else _NONE
    found = _message(data) if record.get("table") == "message" else _part(record, data)
    return Reading(found.kind, found.role, found.parts, found.tool, found.marks | marks, found.ours)


def _message(data: Record) -> Reading:
    role, error = data.get("role"), data.get("error")
    if not isinstance(role, str):
        raise WrongShape("no_role")
    if not isinstance(error, dict):
        return Reading("message", "user" if role == "user" else "assistant", marks=META)
    inner = error.get("data")
    said = text_in(inner, "message") if isinstance(inner, dict) else text_in(error, "message")
    return Reading("message", "assistant", (Part(labels.stopped(name_of(error.get("name"))), said or ""),))


def _part(record: Record, data: Record) -> Reading:
    kind = data.get("type")
    if kind == "text":
        return _text(record, data)
    if kind == "tool":
        return _tool(record, data)
    if kind == "file" and (path := text_in(data, "filename")):
        return Reading("file", "system", (Part(labels.FILE, path),))
    if kind == "subtask" and (task := text_in(data, "prompt")):
        return Reading("subtask", "system", (Part(labels.TASK, task),), marks=SYNTHETIC)
    if kind == "compaction":
        return Reading("compaction_request", "system", marks=META)
    return Reading(name_of(kind), "system", marks=META)


def _text(record: Record, data: Record) -> Reading:
    said = data.get("text")
    marks = SYNTHETIC if data.get("synthetic") is True else META if data.get("ignored") is True else _NONE
    if record.get("role") == "user":
        return text.spoken("user", "user", said, marks)
    if record.get("summary"):
        return text.spoken("compaction", "summary", said, marks)
    return text.spoken("assistant", "assistant", said, marks)


def _tool(record: Record, data: Record) -> Reading:
    tool, given = data.get("tool"), data.get("state")
    state = given if isinstance(given, dict) else {}
    if record.get("asked"):
        part = text.call(tool, state.get("input", {}))
        return Reading("tool_call", "assistant", () if part is None else (part,), ours=part is None)
    metadata = state.get("metadata")
    exit_code = metadata.get("exit") if isinstance(metadata, dict) else None
    failed = state.get("status") == "error"
    return text.tool_result(
        "tool",
        tool,
        state.get("error") if failed else state.get("output"),
        error=failed,
        code=exit_code if isinstance(exit_code, int) and not isinstance(exit_code, bool) else None,
    )
