"""One invented conversation as each host would have written it, in a home folder."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from pathlib import Path

from tests.hosts.logs import line

CWD = "/home/dev/kiln"
DAY = "2026-04-07T10:%02d:00.000Z"
T0 = 1_775_556_000  # DAY % 0, in seconds
COMMAND = {"command": "du -sh build"}
# Who said what, and the one call of a tool with its answer between the second and the third.
TURNS: tuple[tuple[str, str], ...] = (
    ("user", "The image has 1.9 GB. 缩小容器镜像 without losing the debug symbols?"),
    ("assistant", "Let me look at the build folder."),
    ("call", ""),
    ("tool", "1.4G\tbuild"),
    ("assistant", "Strip the symbols into a second image: build/debug is 1.2 GB of it."),
    ("user", "Do that, and keep the tag v3."),
    ("assistant", "Done: kiln:v3 has 0.6 GB, kiln-debug:v3 the symbols."),
)
SPOKEN = [(role, text) for role, text in TURNS if role in ("user", "assistant")]


def uuid(number: int) -> str:
    return f"00000000-0000-4000-8000-{number:012d}"


def lines(path: Path, *records: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(line(record) for record in records))
    return path


# --- OMP and Pi -------------------------------------------------------------------------------------------------


def _pi_message(host: str, number: int, role: str, text: str) -> dict[str, object]:
    call = {"type": "toolCall", "id": "k1", "name": "bash", "arguments": COMMAND}
    body: dict[str, object] = {"role": role, "content": [{"type": "text", "text": text}]}
    if role == "call":
        body = {"role": "assistant", "content": [call]}
    elif role == "tool":
        body |= {"role": "toolResult", "toolCallId": "k1", "toolName": "bash", "isError": False}
    parent = f"{host}{number - 1}" if number else None
    return {"type": "message", "id": f"{host}{number}", "parentId": parent, "timestamp": DAY % number, "message": body}


def _pi(host: str, folder: Path, extra: dict[str, object]) -> Path:
    header = {"type": "session", "version": 3, "id": uuid(1), "timestamp": DAY % 0, "cwd": CWD}
    said = [_pi_message(host, number, role, text) for number, (role, text) in enumerate(TURNS)]
    return lines(folder / f"2026_{uuid(1)}.jsonl", header | extra, *said)


def omp(home: Path) -> Path:
    return _pi("o", home / ".omp/agent/sessions/-kiln", {"titleSource": "auto"})


def pi(home: Path) -> Path:
    return _pi("p", home / ".pi/agent/sessions/--home-dev-kiln--", {})


# --- Claude Code ------------------------------------------------------------------------------------------------


def claude(number: int, parent: int | None, kind: str, **more: object) -> dict[str, object]:
    """A line with the fields that all have."""
    return {
        "parentUuid": None if parent is None else uuid(parent),
        "isSidechain": False,
        "type": kind,
        "uuid": uuid(number),
        "sessionId": uuid(1),
        "cwd": CWD,
        "version": "2.1.300",
        "timestamp": DAY % (number % 60),
    } | more


def claude_said(number: int, parent: int | None, text: str, **more: object) -> dict[str, object]:
    return claude(number, parent, "user", message={"role": "user", "content": text}, **more)


def claude_answer(
    number: int, parent: int, block: dict[str, object] | str, message: str, **more: object
) -> dict[str, object]:
    content = [{"type": "text", "text": block} if isinstance(block, str) else block]
    return claude(number, parent, "assistant", message={"id": message, "role": "assistant", "content": content}, **more)


def claude_result(number: int, parent: int, call: str, content: object, **more: object) -> dict[str, object]:
    block = {"type": "tool_result", "tool_use_id": call, "content": content, **more}
    return claude(number, parent, "user", message={"role": "user", "content": [block]})


def use(call: str, name: str, **arguments: object) -> dict[str, object]:
    return {"type": "tool_use", "id": call, "name": name, "input": arguments}


def claude_code(home: Path) -> Path:
    records = []
    for number, (role, text) in enumerate(TURNS):
        parent = number - 1 if number else None
        if role == "user":
            records.append(claude_said(number, parent, text))
        elif role == "tool":
            records.append(claude_result(number, number - 1, "k1", text))
        else:
            block: dict[str, object] | str = use("k1", "bash", **COMMAND) if role == "call" else text
            records.append(claude_answer(number, number - 1, block, "msg_1" if number < 4 else f"msg_{number}"))
    return lines(home / ".claude/projects/-home-dev-kiln" / f"{uuid(1)}.jsonl", *records)


# --- Codex ------------------------------------------------------------------------------------------------------


def codex_line(number: int, kind: str, **payload: object) -> dict[str, object]:
    return {"timestamp": DAY % (number % 60), "type": kind, "payload": payload}


def codex_item(number: int, kind: str, **payload: object) -> dict[str, object]:
    return codex_line(number, "response_item", type=kind, **payload)


def codex_message(number: int, role: str, text: str) -> dict[str, object]:
    kind = "output_text" if role == "assistant" else "input_text"
    return codex_item(number, "message", role=role, content=[{"type": kind, "text": text}])


def codex_event(number: int, kind: str, **payload: object) -> dict[str, object]:
    return codex_line(number, "event_msg", type=kind, **payload)


def codex_meta(identity: str = uuid(1), **more: object) -> dict[str, object]:
    return codex_line(
        0, "session_meta", id=identity, timestamp=DAY % 0, cwd=CWD, cli_version="0.171.0", source="cli", **more
    )


def codex(home: Path) -> Path:
    records = [codex_meta(), codex_message(0, "user", "<environment_context>\n<cwd>/home/dev/kiln</cwd>")]
    for number, (role, text) in enumerate(TURNS):
        if role == "call":
            records.append(
                codex_item(number, "function_call", name="bash", arguments=json.dumps(COMMAND), call_id="k1")
            )
        elif role == "tool":
            records.append(codex_item(number, "function_call_output", call_id="k1", output=text))
        else:
            event = codex_event(number, "user_message" if role == "user" else "agent_message", message=text)
            item = codex_message(number, role, text)
            # The program has written the two in either order.
            records += [event, item] if role == "assistant" else [item, event]
    return lines(home / ".codex/sessions/2026/04/07" / f"rollout-2026-04-07T10-00-00-{uuid(1)}.jsonl", *records)


# --- Gemini -----------------------------------------------------------------------------------------------------


def gemini_line(identity: str, minute: int, kind: str, content: object, **more: object) -> dict[str, object]:
    return {"id": identity, "timestamp": DAY % minute, "type": kind, "content": content, **more}


def gemini_head(**more: object) -> dict[str, object]:
    return {"sessionId": uuid(1), "projectHash": "ab" * 32, "startTime": DAY % 0, "kind": "main", **more}


def gemini(home: Path) -> Path:
    folder = home / ".gemini/tmp/kiln"
    said = [text for role, text in TURNS if role in ("user", "assistant")]
    answered = [{"functionResponse": {"id": "k1", "name": "bash", "response": {"output": TURNS[3][1]}}}]
    call = {"id": "k1", "name": "bash", "args": COMMAND, "status": "success", "result": answered}
    path = lines(
        folder / "chats" / "session-2026-04-07T10-00-00000000.jsonl",
        gemini_head(),
        gemini_line("g0", 0, "user", [{"text": said[0]}]),
        gemini_line("g1", 1, "gemini", "Let me"),  # as far as it had got when it was first written
        gemini_line("g1", 1, "gemini", said[1]),
        gemini_line("g2", 2, "gemini", "", toolCalls=[call]),
        gemini_line("g4", 4, "gemini", said[2]),
        gemini_line("g5", 5, "user", said[3]),
        gemini_line("g6", 6, "gemini", said[4]),
        {"$set": {"lastUpdated": DAY % 6}},
    )
    (home / ".gemini/projects.json").write_text(json.dumps({"projects": {CWD: "kiln"}}))
    return path


# --- Hermes -----------------------------------------------------------------------------------------------------

_SESSIONS = (
    "id TEXT PRIMARY KEY, source TEXT NOT NULL, model_config TEXT, parent_session_id TEXT, started_at REAL NOT NULL, "
    "ended_at REAL, end_reason TEXT, cwd TEXT, title TEXT, archived INTEGER NOT NULL DEFAULT 0"
)
_MESSAGES = (
    "id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL, role TEXT NOT NULL, content TEXT, "
    "tool_call_id TEXT, tool_calls TEXT, tool_name TEXT, timestamp REAL NOT NULL, observed INTEGER DEFAULT 0, "
    "active INTEGER NOT NULL DEFAULT 1, compacted INTEGER NOT NULL DEFAULT 0"
)


def insert(connection: sqlite3.Connection, table: str, **row: object) -> None:
    names, marks = ", ".join(row), ", ".join("?" * len(row))
    connection.execute(f"INSERT INTO {table} ({names}) VALUES ({marks})", tuple(row.values()))


def hermes_database(path: Path, version: int = 22) -> sqlite3.Connection:
    """An empty `state.db` of that version, in WAL mode as the program keeps it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    connection = sqlite3.connect(path)
    more = ("", "") if version < 30 else (", hidden INTEGER DEFAULT 0", ", display_kind TEXT")
    connection.executescript(
        f"""PRAGMA journal_mode = WAL; CREATE TABLE schema_version (version INTEGER NOT NULL);
            INSERT INTO schema_version VALUES ({version});
            CREATE TABLE sessions ({_SESSIONS}{more[0]}); CREATE TABLE messages ({_MESSAGES}{more[1]});"""
    )
    return connection


def hermes_said(connection: sqlite3.Connection, session: str, role: str, content: str, **more: object) -> None:
    minute = connection.execute("SELECT count(*) FROM messages").fetchone()[0]
    row = {"session_id": session, "role": role, "content": content, "timestamp": T0 + 60.0 * minute}
    insert(connection, "messages", **(row | more))


def hermes(home: Path) -> Path:
    path = home / ".hermes" / "state.db"
    connection = hermes_database(path)
    insert(connection, "sessions", id="20260407_100000_abc123", source="cli", started_at=T0, cwd=CWD)
    function = {"name": "bash", "arguments": json.dumps(COMMAND)}
    calls = json.dumps([{"id": "k1", "type": "function", "function": function}])
    for role, text in TURNS:
        if role == "call":
            hermes_said(connection, "20260407_100000_abc123", "assistant", "", tool_calls=calls)
        elif role == "tool":
            hermes_said(connection, "20260407_100000_abc123", "tool", text, tool_call_id="k1", tool_name="bash")
        else:
            hermes_said(connection, "20260407_100000_abc123", role, text)
    connection.commit()
    connection.close()
    return path


# --- OpenCode ---------------------------------------------------------------------------------------------------


def opencode_database(path: Path) -> sqlite3.Connection:
    """An empty `opencode.db`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    connection = sqlite3.connect(path)
    times = "time_created INTEGER, time_updated INTEGER"
    connection.executescript(
        f"""PRAGMA journal_mode = WAL; CREATE TABLE project (id TEXT PRIMARY KEY, worktree TEXT NOT NULL, {times});
            CREATE TABLE session (id TEXT PRIMARY KEY, project_id TEXT NOT NULL, parent_id TEXT, directory TEXT,
                title TEXT, version TEXT, revert TEXT, {times}, time_archived INTEGER);
            CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT NOT NULL, {times}, data TEXT NOT NULL);
            CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, {times}, data TEXT NOT NULL);"""
    )
    return connection


def opencode_said(
    connection: sqlite3.Connection, session: str, role: str, *parts: dict[str, object], **about: object
) -> str:
    """A message with its parts; gives the message's id."""
    number = connection.execute("SELECT count(*) FROM message").fetchone()[0]
    at, name = (T0 + 60 * number) * 1000, f"msg_{number:03d}"
    data = {"role": role, "time": {"created": at}} | about
    insert(connection, "message", id=name, session_id=session, time_created=at, time_updated=at, data=json.dumps(data))
    for order, part in enumerate(parts):
        row = {"id": f"prt_{number:03d}{order}", "message_id": name, "session_id": session, "data": json.dumps(part)}
        insert(connection, "part", **row, time_created=at, time_updated=at)
    return name


def opencode(home: Path) -> Path:
    path = home / ".local/share/opencode/opencode.db"
    connection = opencode_database(path)
    at = T0 * 1000
    insert(connection, "project", id="deadbeef", worktree=CWD)
    row = {
        "id": "ses_1",
        "project_id": "deadbeef",
        "directory": CWD,
        "version": "1.18.0",
        "title": "New session - 2026-",
    }
    insert(connection, "session", **row, time_created=at, time_updated=at)
    state = {"status": "completed", "input": COMMAND, "output": TURNS[3][1], "metadata": {}}
    for role, text in TURNS:
        if role == "call":
            part: dict[str, object] = {"type": "tool", "callID": "k1", "tool": "bash", "state": state}
            opencode_said(connection, "ses_1", "assistant", part)
        elif role != "tool":
            opencode_said(connection, "ses_1", role, {"type": "text", "text": text})
    connection.commit()
    connection.close()
    return path


WRITERS: dict[str, Callable[[Path], Path]] = {
    "omp": omp,
    "pi": pi,
    "claude-code": claude_code,
    "codex": codex,
    "gemini": gemini,
    "hermes": hermes,
    "opencode": opencode,
}
