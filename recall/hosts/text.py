"""What a record of OMP or Pi yields: its role, its marks, and the parts its text is made of.

`reading(record)` takes a parsed record apart and drops what is never text: reasoning, image data, signatures, usage,
settings. `render(labels, values)` puts the parts together again; between the two the caller redacts the values, so
that a rule sees `{"password": ...}` as a tree and not as a spelling of one. What a tool was asked and what it answered
is labelled as attempted: nobody shall read a command as a success.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from recall import labels
from recall.hosts import own
from recall.hosts.content import as_list, bare, block_text, may_call, texts
from recall.redact import redact_text
from recall.types import Mark, Role

Record = Mapping[str, object]
META: frozenset[Mark] = frozenset({"meta"})
SYNTHETIC: frozenset[Mark] = frozenset({"synthetic"})
_NONE: frozenset[Mark] = frozenset()


class WrongShape(ValueError):
    """A record that is JSON but no entry. `code` says in which way."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


class Part(NamedTuple):
    """A piece of text, or a JSON value to be shown as one, behind a label of ours."""

    label: str
    value: object


@dataclass(frozen=True, slots=True)
class Reading:
    """What a record yields. `ours` is True where recall output was left out."""

    kind: str
    role: Role
    parts: tuple[Part, ...] = ()
    tool: str | None = None
    marks: frozenset[Mark] = _NONE
    ours: bool = False


def reading(record: Record) -> Reading:
    """Take a record apart. Raises WrongShape for what has no type, or is a message without a role."""
    kind = record.get("type")
    if not isinstance(kind, str):
        raise WrongShape("no_type")
    if kind == "message":
        return _message(record.get("message"))
    handler = _ENTRIES.get(kind)
    if handler is not None:
        return handler(record)
    return Reading(name_of(kind), "system", marks=META)


def render(labels: Iterable[str], values: Iterable[object]) -> str:
    """The text of an entry from the labels of its parts and their values, which the caller may have redacted."""
    pieces = []
    for label, value in zip(labels, values, strict=True):
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(", ", ": "))
        pieces.append(label + text if label else text)
    return "\n".join(pieces) if len(pieces) != 1 else pieces[0]


# --- messages ---------------------------------------------------------------------------------------------------


def _message(message: object) -> Reading:
    if not isinstance(message, dict):
        raise WrongShape("no_message")
    role = message.get("role")
    if not isinstance(role, str):
        raise WrongShape("no_role")
    handler = _MESSAGES.get(role)
    return handler(message) if handler is not None else Reading(name_of(role), "system", marks=META)


def _user(message: Record) -> Reading:
    hosts = message.get("synthetic") is True or message.get("attribution") == "agent"
    return spoken("user", "user", message.get("content"), SYNTHETIC if hosts else _NONE)


def _developer(message: Record) -> Reading:
    return spoken("developer", "system", message.get("content"), SYNTHETIC)


def spoken(kind: str, role: Role, content: object, marks: frozenset[Mark] = _NONE) -> Reading:
    """What somebody said: a string or a list of blocks."""
    kept, ours = _without_ours(content)
    return Reading(kind, role, tuple(Part("", text) for text in kept if text), marks=marks, ours=ours)


def _without_ours(content: object) -> tuple[list[str], bool]:
    """The texts of a message without injected recall, and whether there was any."""
    found = list(texts(content))
    kept = [own.without_blocks(text) for text in found]
    return kept, any(before is not after for before, after in zip(found, kept, strict=True))


def assistant(message: Record) -> Reading:
    """What a model answered: text and calls of tools."""
    parts, ours = [], False
    content = message.get("content")
    for block in [content] if isinstance(content, str) else as_list(content):
        name = block.get("name") if isinstance(block, dict) else None
        if isinstance(block, dict) and may_call(block) and isinstance(name, str):
            asked = call(name, block.get("arguments", block.get("input", {})))
            ours = ours or asked is None
            parts += [] if asked is None else [asked]
        elif (text := block_text(block)) is not None:
            kept = own.without_blocks(text)
            ours = ours or kept is not text
            parts.append(Part("", kept))
    stop, problem = message.get("stopReason"), message.get("errorMessage")
    if isinstance(problem, str) and problem:
        parts.append(Part(labels.stopped(name_of(stop)), problem))
    return Reading("assistant", "assistant", tuple(part for part in parts if part.value != ""), ours=ours)


def _tool_result(message: Record) -> Reading:
    details = message.get("details")
    code = exit_code(message)
    if code is None and isinstance(details, dict):
        code = exit_code(details)
    error = message.get("isError") is True
    return tool_result("toolResult", message.get("toolName"), message.get("content"), error=error, code=code)


def call(tool: object, arguments: object) -> Part | None:
    """What a tool was asked; None for a tool of ours."""
    return None if own.is_recall(tool) else Part(labels.call(name_of(tool)), bare(arguments))


def tool_result(kind: str, tool: object, content: object, *, error: bool = False, code: int | None = None) -> Reading:
    """What a tool answered."""
    name = name_of(tool)
    if own.is_recall(tool):
        return Reading(kind, "tool", tool=name, ours=True)
    label = labels.result(name, error=error, code=code)
    kept, ours = _without_ours(content)
    parts: tuple[Part, ...] = (Part("", label), *(Part("", text) for text in kept if text))
    if len(parts) == 2:  # one string less to join: a result may be most of a log
        parts = (Part(f"{label}\n", parts[1].value),)
    if ours and not any(kept):
        parts = ()
    return Reading(kind, "tool", parts, name, ours=ours)


def _cell(language: str, key: str) -> Callable[[Record], Reading]:
    def read(message: Record) -> Reading:
        said = [word for word in ("cancelled", "truncated") if message.get(word) is True]
        label = labels.cell(language, said, exit_code(message))
        parts = [Part(label, message.get(key) if isinstance(message.get(key), str) else "")]
        ours = False
        if isinstance(output := message.get("output"), str) and output:
            kept = own.without_blocks(output)
            ours = kept is not output
            parts.append(Part("", kept))
        return Reading(f"{language}Execution", "tool", tuple(parts), language, ours=ours)

    return read


def _mentioned_files(message: Record) -> Reading:
    parts = []
    for file in as_list(message.get("files")):
        if isinstance(file, dict) and isinstance(path := file.get("path"), str):
            parts.append(Part(labels.FILE, path))
            parts += [Part("", text) for text in texts(file.get("content"))]
    return Reading("fileMention", "system", tuple(parts))


def _custom_message(record: Record) -> Reading:
    """A message that an extension put in; shown to the person, or only to the model (then it is scaffolding)."""
    if own.is_recall(record.get("customType")):
        return Reading("custom_message", "system", marks=SYNTHETIC, ours=True)
    marks = _NONE if record.get("attribution") == "user" else SYNTHETIC
    if record.get("display") is False:
        return Reading("custom_message", "system", marks=marks | META)
    return spoken("custom_message", "system", record.get("content"), marks)


_MESSAGES: Mapping[str, Callable[[Record], Reading]] = {
    "user": _user,
    "developer": _developer,
    "system": _developer,
    "assistant": assistant,
    "toolResult": _tool_result,
    "bashExecution": _cell("bash", "command"),
    "pythonExecution": _cell("python", "code"),
    "fileMention": _mentioned_files,
    "hookMessage": _custom_message,
    "custom": _custom_message,
    "compactionSummary": lambda message: _summary("compaction")(message),
    "branchSummary": lambda message: _summary("branch_summary")(message),
}


# --- other entries ----------------------------------------------------------------------------------------------


def _summary(kind: str) -> Callable[[Record], Reading]:
    def read(record: Record) -> Reading:
        summary = record.get("summary")
        return Reading(kind, "summary", (Part("", summary),) if isinstance(summary, str) and summary else ())

    return read


def _short(kind: str, key: str, label: str) -> Callable[[Record], Reading]:
    def read(record: Record) -> Reading:
        value = record.get(key)
        parts = (Part(label, value),) if isinstance(value, str) and value.strip() else ()
        return Reading(kind, "system", parts, marks=META)

    return read


def _session_init(record: Record) -> Reading:
    task = record.get("task")
    parts = (Part(labels.TASK, task),) if isinstance(task, str) and task else ()
    return Reading("session_init", "system", parts, marks=SYNTHETIC)


_ENTRIES: Mapping[str, Callable[[Record], Reading]] = {
    "compaction": _summary("compaction"),
    "branch_summary": _summary("branch_summary"),
    "custom_message": _custom_message,
    "session_init": _session_init,
    "label": _short("label", "label", labels.LABEL),
    "title_change": _short("title_change", "title", labels.TITLE),
    "session_info": _short("session_info", "name", labels.TITLE),
}


def exit_code(record: Record) -> int | None:
    """The exit code of a program, where the record gives one."""
    for key in ("exitCode", "exit_code"):
        code = record.get(key)
        if isinstance(code, int) and not isinstance(code, bool) and abs(code) < 1 << 32:
            return code
    return None


def name_of(value: object) -> str:
    """A name from a log where it becomes part of a label: short, of one line, no secret and nothing to hide behind."""
    return _shown_name(value) if isinstance(value, str) and len(value) <= 80 else labels.UNKNOWN


@functools.lru_cache(maxsize=1024)  # a log has few names, and each of them many times
def _shown_name(name: str) -> str:
    plain = re.fullmatch(r"[A-Za-z0-9_.:/-]{1,80}", name) is not None
    return name if plain and redact_text(name) == name else labels.UNKNOWN
