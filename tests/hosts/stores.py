"""One invented conversation as each host would have written it, in a home folder."""

from __future__ import annotations

import json
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


def _pi_message(number: int, role: str, text: str) -> dict[str, object]:
    call = {"type": "toolCall", "id": "k1", "name": "bash", "arguments": COMMAND}
    body: dict[str, object] = {"role": role, "content": [{"type": "text", "text": text}]}
    if role == "call":
        body = {"role": "assistant", "content": [call]}
    elif role == "tool":
        body |= {"role": "toolResult", "toolCallId": "k1", "toolName": "bash", "isError": False}
    parent = f"m{number - 1}" if number else None
    return {"type": "message", "id": f"m{number}", "parentId": parent, "timestamp": DAY % number, "message": body}


def _pi(folder: Path, extra: dict[str, object]) -> Path:
    header = {"type": "session", "version": 3, "id": uuid(1), "timestamp": DAY % 0, "cwd": CWD}
    said = [_pi_message(number, role, text) for number, (role, text) in enumerate(TURNS)]
    return lines(folder / f"2026_{uuid(1)}.jsonl", header | extra, *said)


def omp(home: Path) -> Path:
    return _pi(home / ".omp/agent/sessions/-kiln", {"titleSource": "auto"})


def pi(home: Path) -> Path:
    return _pi(home / ".pi/agent/sessions/--home-dev-kiln--", {})


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


WRITERS: dict[str, Callable[[Path], Path]] = {"omp": omp, "pi": pi, "claude-code": claude_code, "codex": codex}
