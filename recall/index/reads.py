"""Conversations and entries as they are shown: found by any of their names, in order, with their forks.

Plain functions on an open connection; they read only. An entry is shown where it carries text. The order is that of
the source: a clock that runs backwards, or two records of one second, change nothing.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Sequence
from pathlib import PurePath

from recall.hosts.names import ends_in

UNDONE = ("abandoned_branch", "rewound", "rolled_back")
OFF_PATH = " OR ".join(f"instr(' ' || {{e}}.marks || ' ', ' {mark} ') > 0" for mark in UNDONE)


def conversation(
    connection: sqlite3.Connection, profile_no: int, name: str, current: tuple[str, str] | None
) -> sqlite3.Row | None:
    """A conversation by our id, the host's id or the one in its file's name (alone or as host:id), the file's name or
    path, or "current": every command takes these names, `hosts.catalogue` the same ones for what is not indexed.

    The conversation that is running is found by "current" only.
    """
    if name == "current":
        if current is None:
            return None
        return _one(connection, "host = :host AND host_conversation_id = :id", profile_no, current)
    host, _, identity = name.partition(":")
    for condition, names in (
        ("conversation_id = :id", ("", name)),
        ("host_conversation_id = :id", ("", name)),
        ("host = :host AND host_conversation_id = :id", (host, identity)),
    ):
        row = _one(connection, condition, profile_no, names)
        if row is not None:
            return None if is_current(row, current) else row
    row = _by_file_name(connection, profile_no, name, "")
    if row is None and identity:
        row = _by_file_name(connection, profile_no, identity, host)
    return None if row is None or is_current(row, current) else row


def is_current(row: sqlite3.Row, current: tuple[str, str] | None) -> bool:
    """Whether it is the conversation that the caller is in."""
    return current is not None and (row["host"], row["host_conversation_id"]) == current


def current_number(connection: sqlite3.Connection, profile_no: int, current: tuple[str, str] | None) -> int | None:
    """The number of the running conversation, where something of it is indexed."""
    if current is None:
        return None
    row = _one(connection, "host = :host AND host_conversation_id = :id", profile_no, current)
    return None if row is None else int(row["conversation_no"])


def _one(connection: sqlite3.Connection, condition: str, profile_no: int, names: tuple[str, str]) -> sqlite3.Row | None:
    row: sqlite3.Row | None = connection.execute(
        f"SELECT * FROM conversations WHERE profile_no = :profile AND {condition} ORDER BY conversation_no LIMIT 1",
        {"profile": profile_no, "host": names[0], "id": names[1]},
    ).fetchone()
    return row


def _by_file_name(connection: sqlite3.Connection, profile_no: int, name: str, host: str) -> sqlite3.Row | None:
    """The one conversation (of a host, where one is named) whose file is called so or lies there, or whose file's name
    ends in that id.
    """
    if len(name) < 4 or "\x00" in name:
        return None
    if name.startswith("~/"):
        name = name[1:]
    elif os.path.isabs(name):
        name = os.path.realpath(name)
    rows = connection.execute(
        """SELECT * FROM conversations WHERE profile_no = :profile AND instr(source, :name) > 0 AND :host IN ('', host)
           ORDER BY conversation_no""",
        {"profile": profile_no, "name": name, "host": host},
    )
    found = [row for row in rows if _names(row["source"], name)]
    return found[0] if len(found) == 1 else None


def _names(source: str, name: str) -> bool:
    path = PurePath(source)
    if name.startswith("/"):
        return source.endswith(name)
    return name in (path.name, source) or ends_in(path.stem, name)


def active_entries(
    connection: sqlite3.Connection, conversation_no: int, *, start: int = 0, last: int | None = None
) -> sqlite3.Cursor:
    """Entries with text on the active branch, in order, from seq `start` to seq `last`; without their text."""
    return connection.execute(
        f"""SELECT {_SHOWN} FROM entries AS e
            WHERE e.conversation_no = :conversation AND e.seq >= :start AND e.seq <= :last
              AND e.chars > 0 AND NOT ({OFF_PATH.format(e="e")})
            ORDER BY e.seq""",
        {"conversation": conversation_no, "start": start, "last": 1 << 53 if last is None else last},
    )


_SHOWN = """e.entry_no, e.seq, e.entry_id, e.parent_id, e.role, e.at, e.turn, e.marks, e.line, e.sha256, e.chars,
            e.kind, e.tool"""


def entry(connection: sqlite3.Connection, conversation_no: int, entry_id: str) -> sqlite3.Row | None:
    """One entry by its id, without its text."""
    row: sqlite3.Row | None = connection.execute(
        f"SELECT {_SHOWN} FROM entries AS e WHERE e.conversation_no = ? AND e.entry_id = ?", (conversation_no, entry_id)
    ).fetchone()
    return row


def text(connection: sqlite3.Connection, entry_no: int) -> str:
    """The stored (redacted) text of an entry."""
    return str(connection.execute("SELECT text FROM entries WHERE entry_no = ?", (entry_no,)).fetchone()[0])


def around(
    connection: sqlite3.Connection, conversation_no: int, middle: sqlite3.Row, before: int, after: int
) -> list[sqlite3.Row]:
    """The entry with its neighbours: those of the active branch, or of its own branch where it is off that."""
    if set(middle["marks"].split()).isdisjoint(UNDONE):
        on_path = f"e.conversation_no = :conversation AND e.chars > 0 AND NOT ({OFF_PATH.format(e='e')})"
        rows = connection.execute(
            f"""SELECT * FROM (SELECT {_SHOWN} FROM entries AS e WHERE {on_path} AND e.seq < :seq
                               ORDER BY e.seq DESC LIMIT :before)
                UNION ALL SELECT {_SHOWN} FROM entries AS e WHERE e.entry_no = :middle
                UNION ALL SELECT * FROM (SELECT {_SHOWN} FROM entries AS e WHERE {on_path} AND e.seq > :seq
                               ORDER BY e.seq LIMIT :after)""",
            {
                "conversation": conversation_no,
                "seq": middle["seq"],
                "middle": middle["entry_no"],
                "before": before,
                "after": after,
            },
        )
        return sorted(rows, key=lambda row: int(row["seq"]))
    return _branch(connection, conversation_no, middle, before, after)


# UNION, not UNION ALL: a cycle of parents ends where it meets itself.
_ANCESTORS = """
WITH RECURSIVE up (entry_no, parent_id) AS (
    SELECT entry_no, parent_id FROM entries WHERE entry_no = :entry
    UNION
    SELECT e.entry_no, e.parent_id FROM up
    JOIN entries AS e ON e.conversation_no = :conversation AND e.entry_id = up.parent_id
)
SELECT entry_no FROM up
"""
_DESCENDANTS = """
WITH RECURSIVE down (entry_no, entry_id) AS (
    SELECT entry_no, entry_id FROM entries WHERE entry_no = :entry
    UNION
    SELECT e.entry_no, e.entry_id FROM down
    JOIN entries AS e ON e.conversation_no = :conversation AND e.parent_id = down.entry_id
)
SELECT entry_no FROM down
"""


def _branch(
    connection: sqlite3.Connection, conversation_no: int, middle: sqlite3.Row, before: int, after: int
) -> list[sqlite3.Row]:
    values = {"conversation": conversation_no, "entry": middle["entry_no"]}
    up = [row[0] for row in connection.execute(_ANCESTORS, values)]
    down = [row[0] for row in connection.execute(_DESCENDANTS, values)]
    earlier = [row for row in _rows(connection, up) if row["seq"] < middle["seq"]]
    later = [row for row in _rows(connection, down) if row["seq"] > middle["seq"]]
    return [*(earlier[-before:] if before else []), middle, *later[:after]]


def _rows(connection: sqlite3.Connection, numbers: Sequence[int]) -> list[sqlite3.Row]:
    return connection.execute(
        f"""SELECT {_SHOWN} FROM entries AS e
            WHERE e.entry_no IN (SELECT value FROM json_each(?)) AND e.chars > 0 ORDER BY e.seq""",
        (json.dumps(list(numbers)),),
    ).fetchall()


def alternates(
    connection: sqlite3.Connection, conversation_no: int, parents: Sequence[str], shown: Sequence[str]
) -> dict[str, list[str]]:
    """The branches that leave the shown path: parent id -> ids of the children that begin them, with text in them."""
    rows = connection.execute(
        """SELECT parent_id, entry_id, entry_no, chars FROM entries
           WHERE conversation_no = ? AND parent_id IN (SELECT value FROM json_each(?))
             AND entry_id NOT IN (SELECT value FROM json_each(?))
           ORDER BY seq""",
        (conversation_no, json.dumps(list(parents)), json.dumps(list(shown))),
    ).fetchall()
    found: dict[str, list[str]] = {}
    for row in rows:
        if _leads_off(connection, conversation_no, row["entry_no"]):
            found.setdefault(row["parent_id"], []).append(row["entry_id"])
    return found


def _leads_off(connection: sqlite3.Connection, conversation_no: int, entry_no: int) -> bool:
    """Whether the branch that begins there has text, none of which the active branch shows."""
    row = connection.execute(
        f"""SELECT max(e.chars > 0 AND ({OFF_PATH.format(e="e")})) AS off,
                   max(e.chars > 0 AND NOT ({OFF_PATH.format(e="e")})) AS active
            FROM ({_DESCENDANTS}) AS d JOIN entries AS e ON e.entry_no = d.entry_no""",
        {"conversation": conversation_no, "entry": entry_no},
    ).fetchone()
    return bool(row["off"]) and not row["active"]


def generation(connection: sqlite3.Connection, profile_no: int) -> int:
    """The profile's generation: goes up with every publication."""
    return int(connection.execute("SELECT generation FROM profiles WHERE profile_no = ?", (profile_no,)).fetchone()[0])
