"""What a line of Codex says. A turn stands in it twice, as a response item and as an event; the item is what counts."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, MutableMapping
from dataclasses import dataclass, field, replace
from hashlib import sha256

from recall import labels
from recall.hosts import text
from recall.hosts.content import as_list, texts
from recall.hosts.text import META, SYNTHETIC, Part, Reading, Record, WrongShape, name_of
from recall.types import Role

_NOTHING = Reading("record", "system", marks=META)
# User items that the program wrote: each is a block of a tag, or the instructions of a project.
_PUT_IN = re.compile(
    r"\s*(?:<(?:environment_context|user_instructions|permissions|skills?_instructions|skill|INSTRUCTIONS|turn_aborted"
    r"|collaboration_mode|subagent_notification|model_switch|personality_spec|apps_instructions|user_action)\b"
    r"|# AGENTS\.md instructions)"
)
_SHELL = re.compile(
    r"\s*<user_shell_command>\s*<command>\n?(?P<command>.*?)\n?</command>\s*<result>\n?(?P<result>.*?)\n?</result>.*",
    re.DOTALL,
)
_EXIT = re.compile(r"^(?:Process exited with code|Exit code:) (-?\d{1,10})$", re.MULTILINE)
_HEAD = 400


@dataclass
class Known:
    """What of a log has to be known beside the record: what items say, calls that have a result, calls in waiting."""

    said: set[bytes] = field(default_factory=set)
    answered: set[str] = field(default_factory=set)
    tools: MutableMapping[str, str] = field(default_factory=dict)


def digest(words: str) -> bytes:
    """What a text is remembered by."""
    return sha256(words.strip().encode()).digest()[:12]


def reading(record: Record, known: Known) -> Reading:
    """Take a line apart. Raises WrongShape."""
    kind, payload = record.get("type"), record.get("payload", record)
    if not isinstance(kind, str):
        if "record_type" in record:
            return Reading("state", "system", marks=META)
        raise WrongShape("no_type")
    if not isinstance(payload, dict):
        raise WrongShape("no_message")
    if kind == "event_msg":
        return _event(payload, known)
    if kind == "compacted":
        return text.spoken("compaction", "summary", payload.get("message"))
    if kind == "response_item" or "payload" not in record:  # the first versions wrote items bare
        return item(payload, known)
    return Reading(name_of(kind), "system", marks=META)


def item(payload: Record, known: Known) -> Reading:
    """A response item."""
    kind = payload.get("type")
    handler = _ITEMS.get(kind) if isinstance(kind, str) else None
    return handler(payload, known) if handler is not None else Reading(name_of(kind), "system", marks=META)


def _message(payload: Record, _known: Known) -> Reading:
    role, content = payload.get("role"), payload.get("content")
    if role == "assistant":
        return text.assistant({"content": content})
    if role != "user":
        return text.spoken(name_of(role), "system", content, SYNTHETIC)
    said = list(texts(content))
    if len(said) == 1 and (cell := _SHELL.fullmatch(said[0])) is not None:
        code = _EXIT.search(cell["result"][:_HEAD])
        label = labels.cell("bash", (), int(code[1]) if code else None)
        return Reading("user_shell_command", "tool", (Part(label, cell["command"]), Part("", cell["result"])), "bash")
    typed = [one for one in said if not _PUT_IN.match(one)]
    return text.spoken("user", "user", typed) if typed or not said else text.spoken("user", "user", said, SYNTHETIC)


def _call(arguments: Callable[[Record], object]) -> Callable[[Record, Known], Reading]:
    def read(payload: Record, known: Known) -> Reading:
        kind = str(payload.get("type"))
        name = payload.get("name")
        tool = name if isinstance(name, str) else kind.removesuffix("_call")
        if isinstance(call := payload.get("call_id"), str):
            known.tools[call] = tool
        part = text.call(tool, arguments(payload))
        return Reading(kind, "assistant", () if part is None else (part,), ours=part is None)

    return read


def _output(payload: Record, known: Known) -> Reading:
    call, content = payload.get("call_id"), payload.get("output")
    tool = known.tools.pop(call, None) if isinstance(call, str) else None
    content, code = _result(content)
    return text.tool_result(str(payload.get("type")), tool, content, code=code)


def _result(content: object) -> tuple[object, int | None]:
    """What a tool answered and its exit code: a string, JSON in a string, an object or a list of blocks."""
    if isinstance(content, str) and content.startswith('{"output":'):
        content = _parsed(content)
    if isinstance(content, dict):
        metadata = content.get("metadata")
        code = text.exit_code(metadata) if isinstance(metadata, dict) else None
        return content.get("output", content.get("content")), code
    if isinstance(content, str) and (match := _EXIT.search(content[:_HEAD])) is not None:
        return content, int(match[1])
    return content, None


def _parsed(value: object) -> object:
    try:
        return json.loads(value) if isinstance(value, str) else value
    except (ValueError, RecursionError):
        return value


def _search(payload: Record) -> object:
    action = payload.get("action")
    asked = action if isinstance(action, dict) else {}
    return {key: asked[key] for key in ("query", "url", "command") if key in asked}


_ITEMS: Mapping[str, Callable[[Record, Known], Reading]] = {
    "message": _message,
    "reasoning": lambda _payload, _known: Reading("reasoning", "assistant"),
    "function_call": _call(lambda payload: _parsed(payload.get("arguments"))),
    "custom_tool_call": _call(lambda payload: payload.get("input")),
    "tool_search_call": _call(lambda payload: _parsed(payload.get("arguments"))),
    "local_shell_call": _call(_search),
    "web_search_call": _call(_search),
    "image_generation_call": _call(lambda payload: payload.get("revised_prompt", "")),
    "function_call_output": _output,
    "custom_tool_call_output": _output,
    "tool_search_output": _output,
}


# --- events -----------------------------------------------------------------------------------------------------


def _event(payload: Record, known: Known) -> Reading:
    kind = payload.get("type")
    handler = _EVENTS.get(kind) if isinstance(kind, str) else None
    found = handler(payload, known) if handler is not None else _NOTHING
    return replace(found, kind=name_of(kind))


def _repeated(role: Role, key: str) -> Callable[[Record, Known], Reading]:
    def read(payload: Record, known: Known) -> Reading:
        return _unless_said(role, payload.get(key), known)

    return read


def _unless_said(role: Role, content: object, known: Known) -> Reading:
    """A turn that only an event tells of; None of it where an item says the same."""
    said = "\n".join(texts(content))
    if not said.strip() or digest(said) in known.said or (role == "user" and _PUT_IN.match(said)):
        return _NOTHING
    return text.spoken("event", role, said)


def _mcp_call(payload: Record, known: Known) -> Reading:
    asked, answer = payload.get("invocation"), payload.get("result")
    if payload.get("call_id") in known.answered or not isinstance(asked, dict):
        return _NOTHING
    ok = answer.get("Ok") if isinstance(answer, dict) else None
    content = ok.get("content") if isinstance(ok, dict) else (answer.get("Err") if isinstance(answer, dict) else None)
    failed = not isinstance(ok, dict) or ok.get("isError") is True
    found = text.tool_result("event", asked.get("tool"), content, error=failed)
    part = text.call(asked.get("tool"), asked.get("arguments"))
    return found if part is None or found.ours else replace(found, parts=(part, *found.parts))


def _item_completed(payload: Record, known: Known) -> Reading:
    done = payload.get("item")
    kind = done.get("type") if isinstance(done, dict) else None
    if not isinstance(done, dict):
        return _NOTHING
    if kind == "UserMessage":
        return _unless_said("user", done.get("content"), known)
    if kind in ("AgentMessage", "Plan"):
        return _unless_said("assistant", done.get("content", done.get("text")), known)
    if kind == "CommandExecution" and done.get("id") not in known.answered:
        command = done.get("command")
        words = " ".join(word for word in as_list(command) if isinstance(word, str))
        label = labels.cell("bash", (), text.exit_code(done))
        return Reading("event", "tool", (Part(label, words), Part("", done.get("aggregated_output", ""))), "bash")
    return _NOTHING


def _review(payload: Record, known: Known) -> Reading:
    found = payload.get("review_output")
    if not isinstance(found, dict):
        return _NOTHING
    words = [found.get("overall_explanation")]
    for one in as_list(found.get("findings")):
        words += [one.get("title"), one.get("body")] if isinstance(one, dict) else []
    return _unless_said("assistant", "\n\n".join(word for word in words if isinstance(word, str) and word), known)


def _title(payload: Record, _known: Known) -> Reading:
    name = payload.get("thread_name")
    parts = (Part(labels.TITLE, name),) if isinstance(name, str) and name.strip() else ()
    return Reading("event", "system", parts, marks=META)


_EVENTS: Mapping[str, Callable[[Record, Known], Reading]] = {
    "user_message": _repeated("user", "message"),
    "agent_message": _repeated("assistant", "message"),
    "mcp_tool_call_end": _mcp_call,
    "item_completed": _item_completed,
    "exited_review_mode": _review,
    "thread_name_updated": _title,
}
