"""What the records of a Gemini chat say: who spoke, the words, the calls and what they answered."""

from __future__ import annotations

from recall.hosts import text
from recall.hosts.content import as_list
from recall.hosts.records import text_in
from recall.hosts.text import META, Part, Reading, Record, WrongShape, name_of
from recall.types import Mark

RESULT = "result"  # set in the record that stands for the result of a call
SUMMARY = "summary"  # and in one that a compression wrote


CONTEXT = "<session_context>"


def reading(record: Record) -> Reading:
    """Take a line apart. Raises WrongShape."""
    kind, call = record.get("type"), record.get(RESULT)
    if isinstance(call, dict):
        return _answered(call)
    if not isinstance(kind, str):
        if any(key.startswith("$") for key in record) or "sessionId" in record:
            return Reading("change", "system", marks=META)
        raise WrongShape("no_type")
    content = record.get("displayContent") or record.get("content")
    if record.get(SUMMARY) is True:
        return Reading("compression", "summary", text.spoken("user", "user", _blocks(content)).parts)
    if kind == "user":
        given = as_list(content)
        if given and all(isinstance(one, dict) and "functionResponse" in one for one in given):
            return Reading("function_response", "system", marks=META)  # the message that made the call holds it too
        marks: frozenset[Mark] = text.SYNTHETIC if words_of(record)[1].startswith(CONTEXT) else frozenset()
        return text.spoken("user", "user", _blocks(content), marks)
    if kind == "gemini":
        return _answer(record)
    return Reading(name_of(kind), "system", marks=META)  # notes, warnings and errors of the program


def words_of(record: Record) -> tuple[str, str]:
    """Who a message is by, and its text: the same in a copy of it."""
    content = record.get("content")
    parts = content if isinstance(content, list) else [content]
    said = (part.get("text") if isinstance(part, dict) else part for part in parts)
    return str(record.get("type")), "\n".join(one for one in said if isinstance(one, str)).strip()


def _answer(record: Record) -> Reading:
    found = text.assistant({"content": _blocks(record.get("content"))})
    parts, ours = list(found.parts), found.ours
    for call in as_list(record.get("toolCalls")):
        if isinstance(call, dict):
            part = text.call(call.get("name"), call.get("args", {}))
            ours = ours or part is None
            parts += [] if part is None else [part]
    return Reading("gemini", "assistant", tuple(parts), ours=ours)


def _answered(call: Record) -> Reading:
    failed = call.get("status") in ("error", "cancelled")
    said = [one for part in as_list(call.get("result")) if (one := _response(part)) is not None]
    if said and not all(isinstance(one, str) for one in said):
        found = text.tool_result("tool", call.get("name"), "", error=failed)
        return (
            found
            if found.ours
            else Reading("tool", "tool", (*found.parts, *(Part("", one) for one in said)), found.tool)
        )
    return text.tool_result("tool", call.get("name"), said or call.get("resultDisplay"), error=failed)


def _response(part: object) -> object:
    """What a function answered: its output or error where it has one, else the whole answer."""
    answer = part.get("functionResponse") if isinstance(part, dict) else None
    given = answer.get("response") if isinstance(answer, dict) else None
    if isinstance(given, dict):
        return text_in(given, "output", "error") or given
    return text_in(part, "text") if isinstance(part, dict) else None


def _blocks(content: object) -> object:
    """The parts of a message as the blocks that other hosts write."""
    if not isinstance(content, list):
        return content
    blocks: list[object] = []
    for part in content:
        inline = part.get("inlineData") if isinstance(part, dict) else None
        if isinstance(part, dict) and isinstance(part.get("text"), str):
            blocks.append({"type": "text", "text": part["text"]} if part.get("thought") is not True else None)
        elif isinstance(inline, dict):
            blocks.append({"type": "image", "mimeType": inline.get("mimeType"), "data": inline.get("data")})
        else:
            blocks.append(part if isinstance(part, str) else None)
    return blocks
