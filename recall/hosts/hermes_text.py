"""What a message of Hermes says, and how the host has marked it."""

from __future__ import annotations

import json
import re
from collections.abc import MutableMapping
from dataclasses import replace

from recall.hosts import text
from recall.hosts.content import as_list
from recall.hosts.parse import parsed
from recall.hosts.text import META, SYNTHETIC, Part, Reading, Record, WrongShape, name_of
from recall.types import Mark

# A list or an object as content is JSON behind this; the NUL in front of it is gone by the time it is read.
_JSON = "json:"
_SUMMARY = re.compile(r"\s*\[(?:CONTEXT COMPACTION\b|CONTEXT SUMMARY\])")
_END = re.compile(r"^-+ *END OF CONTEXT SUMMARY\b[^\n]*$", re.MULTILINE)
# A summary may be put behind the message that was last before it.
_PRIOR = re.compile(r"\s*\[PRIOR CONTEXT\b[^\]\n]*\]\n?(?P<said>.*?)\n?\[END OF PRIOR CONTEXT\b[^\]\n]*\]", re.DOTALL)
_COMPACTED: frozenset[Mark] = frozenset({"compacted"})
_REWOUND: frozenset[Mark] = frozenset({"rewound"})


def reading(record: Record, tools: MutableMapping[str, str], *, repeated: bool) -> Reading:
    """Take a row apart. `tools` are the calls that wait for a result. Raises WrongShape."""
    found = _said(record, tools)
    marks = found.marks | _flags(record)
    if repeated:  # it stands once more, in a later row
        return replace(found, parts=(), marks=marks | META)
    return replace(found, marks=marks)


def _flags(record: Record) -> frozenset[Mark]:
    marks: frozenset[Mark] = frozenset()
    if record.get("active") == 0:
        marks |= _COMPACTED if record.get("compacted") else _REWOUND
    if record.get("observed") or record.get("display_kind") == "hidden":
        marks |= META  # not said to the agent; or scaffolding that the host itself does not show
    return marks


def _said(record: Record, tools: MutableMapping[str, str]) -> Reading:
    role, content = record.get("role"), _content(record.get("content"))
    if not isinstance(role, str):
        raise WrongShape("no_role")
    if role == "tool":
        return _result(record, content, tools)
    if role not in ("user", "assistant"):
        return text.spoken(name_of(role), "system", content, SYNTHETIC)
    if isinstance(content, str):
        before, summary, after = _without_summary(content)
        said = "\n".join(part for part in (before, after) if part.strip())
        if summary and not said:
            return text.spoken("compaction", "summary", content)
        content = said if summary else content
    if record.get("_compressed_summary"):
        return text.spoken("compaction", "summary", content)
    return text.spoken("user", "user", content) if role == "user" else _answer(record, content, tools)


def _without_summary(content: str) -> tuple[str, bool, str]:
    """What was said before a summary that was merged into a message, whether there is one, and what follows it."""
    before = ""
    if (prior := _PRIOR.match(content)) is not None:
        before, content = prior["said"], content[prior.end() :]
    if _SUMMARY.match(content) is None:
        return "", prior is not None, before if prior is not None else content
    end = _END.search(content)
    return before, True, content[end.end() :].strip() if end is not None else ""


def _answer(record: Record, content: object, tools: MutableMapping[str, str]) -> Reading:
    found = text.assistant({"content": content})
    parts, ours = list(found.parts), found.ours
    for call in as_list(record.get("tool_calls")):
        function = call.get("function") if isinstance(call, dict) else None
        if not isinstance(call, dict) or not isinstance(function, dict):
            continue
        name = function.get("name")
        for key in ("id", "call_id"):
            if isinstance(identity := call.get(key), str) and isinstance(name, str):
                tools[identity] = name
        part = text.call(name, _arguments(function.get("arguments")))
        ours = ours or part is None
        parts += [] if part is None else [part]
    return replace(found, parts=tuple(parts), ours=ours)


def _result(record: Record, content: object, tools: MutableMapping[str, str]) -> Reading:
    name, call = record.get("tool_name"), record.get("tool_call_id")
    if not isinstance(name, str) or not name:
        name = tools.get(call) if isinstance(call, str) else None
    code, failed, content = None, False, parsed(content)
    if isinstance(content, dict):
        code, failed = text.exit_code(content), bool(content.get("error"))
        if "output" in content:
            content = [word for word in (content["output"], content.get("error")) if isinstance(word, str) and word]
        else:
            return _object(name, content, failed=failed)
    return text.tool_result("tool", name, content, error=failed, code=code)


def _object(name: object, content: Record, *, failed: bool) -> Reading:
    """An answer that is an object of another shape is shown as one."""
    found = text.tool_result("tool", name, "", error=failed)
    return found if found.ours else replace(found, parts=(*found.parts, Part("", content)))


def _content(content: object) -> object:
    if isinstance(content, str) and content.removeprefix("\x00").startswith(_JSON):
        try:
            return json.loads(content.removeprefix("\x00")[len(_JSON) :])
        except (ValueError, RecursionError):
            return content
    return content


def _arguments(arguments: object) -> object:
    try:
        return json.loads(arguments) if isinstance(arguments, str) else arguments
    except (ValueError, RecursionError):
        return arguments
