"""What a line of Claude Code says: what a person typed, what the program put in, blocks of an answer, results."""

from __future__ import annotations

import re
from collections.abc import Iterator, MutableMapping
from dataclasses import replace

from recall import labels
from recall.hosts import own, text
from recall.hosts.content import as_list, texts
from recall.hosts.text import META, SYNTHETIC, Part, Reading, Record, WrongShape, name_of

# Texts that begin so were not typed: notes of hooks and editors, output of local commands, the mark of an interruption.
_PUT_IN = re.compile(
    r"\s*(?:<(?:local-command-[a-z]+|session-start-hook|user-prompt-submit-hook|ide_[a-z_]+|system-reminder"
    r"|task-notification|command-message)\b|\[Request interrupted|Caveat: The messages below were generated)"
)
_COMMAND = re.compile(r"<command-name>\s*/?([^<\n]{1,100}?)\s*</command-name>")
_ARGUMENTS = re.compile(r"<command-args>(.*?)</command-args>", re.DOTALL)
_SHELL = re.compile(r"\s*<bash-input>(.*)</bash-input>\s*", re.DOTALL)
_OUTPUT = re.compile(r"\s*<bash-stdout>(.*?)</bash-stdout>(?:<bash-stderr>(.*?)</bash-stderr>)?\s*", re.DOTALL)
_CODE = re.compile(r"(?:Error: )?Exit code (\d{1,3})\b")


def reading(record: Record, tools: MutableMapping[str, str]) -> Reading:
    """Take a line apart. `tools` are the calls that wait for a result (id -> tool). Raises WrongShape."""
    kind = record.get("type")
    if not isinstance(kind, str):
        raise WrongShape("no_type")
    if kind == "user":
        return _user(record, tools)
    if kind == "assistant":
        return _assistant(record, tools)
    if kind == "attachment":
        return _attachment(record.get("attachment"))
    title = _TITLES.get(kind)
    if title is not None:
        value = record.get(title[0])
        parts = (Part(title[1], value),) if isinstance(value, str) and value.strip() else ()
        return Reading(kind, "system", parts, marks=META)
    subtype = record.get("subtype")
    return Reading(name_of(subtype if kind == "system" and subtype else kind), "system", marks=META)


_TITLES = {
    "custom-title": ("customTitle", labels.TITLE),
    "ai-title": ("aiTitle", labels.TITLE),
    "summary": ("summary", labels.TITLE),
    "tag": ("tag", labels.LABEL),
}


def is_chosen(record: Record) -> bool:
    """Whether the record of a turn is a new turn: a prompt, or an answer; not a result or what the program put in."""
    message = record.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    if record.get("type") == "assistant":
        return True
    if record.get("isMeta") is True or _results(content):
        return False
    return not all(_PUT_IN.match(said) for said in texts(content))


def _message(record: Record) -> Record:
    message = record.get("message")
    if not isinstance(message, dict):
        raise WrongShape("no_message")
    return message


def _assistant(record: Record, tools: MutableMapping[str, str]) -> Reading:
    message = _message(record)
    for block in as_list(message.get("content")):
        if isinstance(block, dict):
            call, name = block.get("id"), block.get("name")
            if isinstance(call, str) and isinstance(name, str):
                tools[call] = name
    found = text.assistant({"content": message.get("content")})
    not_a_reply = record.get("isApiErrorMessage") is True or message.get("model") == "<synthetic>"
    return replace(found, marks=SYNTHETIC) if not_a_reply else found


def _user(record: Record, tools: MutableMapping[str, str]) -> Reading:
    content = _message(record).get("content")
    if record.get("isCompactSummary") is True:
        return text.spoken("compaction", "summary", content)
    if results := _results(content):
        return _answered(results, content, tools)
    if record.get("isMeta") is True:
        return text.spoken("user", "user", content, META)
    return _typed(content)


def _results(content: object) -> list[Record]:
    return [block for block in as_list(content) if isinstance(block, dict) and block.get("type") == "tool_result"]


def _answered(results: list[Record], content: object, tools: MutableMapping[str, str]) -> Reading:
    """One result a line is the rule; where there are more, or words beside one, they follow each other."""
    found = [_result(block, tools) for block in results]
    others = [block for block in as_list(content) if block not in results]
    beside = text.spoken("user", "tool", others)
    first = found[0]
    parts = (*(part for one in found for part in one.parts), *beside.parts)
    return replace(first, parts=parts, ours=any(one.ours for one in found) or beside.ours)


def _result(block: Record, tools: MutableMapping[str, str]) -> Reading:
    call, content, error = block.get("tool_use_id"), block.get("content"), block.get("is_error") is True
    tool = tools.pop(call, None) if isinstance(call, str) else None
    code = None
    if error and (first := next(texts(content), None)) is not None and (match := _CODE.match(first)):
        code = int(match[1])
    return text.tool_result("tool_result", tool, content, error=error, code=code)


def _typed(content: object) -> Reading:
    said = list(texts(content))
    if len(said) == 1:
        special = _command(said[0]) or _cell(said[0])
        if special is not None:
            return special
    typed = [one for one in said if not _PUT_IN.match(one)]
    if said and not typed:
        return text.spoken("user", "user", said, SYNTHETIC)
    return text.spoken("user", "user", typed)


def _command(said: str) -> Reading | None:
    """A slash command: what was typed after its name is the person's, the name alone is a setting of the program."""
    match = _COMMAND.search(said[:400])
    if match is None:
        return None
    if own.is_recall(match[1].rpartition(":")[2]):
        return Reading("command", "user", marks=META, ours=True)
    given = _ARGUMENTS.search(said)
    words = given[1].strip() if given else ""
    whole = f"/{match[1]} {words}".strip()
    return text.spoken("command", "user", whole) if words else text.spoken("command", "user", whole, SYNTHETIC)


def _cell(said: str) -> Reading | None:
    """A shell command that the person ran, and its output, which is a line of its own."""
    if (match := _SHELL.fullmatch(said)) is not None:
        return Reading("bash-input", "tool", (Part(labels.cell("bash", (), None), match[1]),), "bash")
    if (match := _OUTPUT.fullmatch(said)) is not None:
        return text.tool_result("bash-output", "bash", [part for part in match.groups() if part])
    return None


def _attachment(attachment: object) -> Reading:
    """What the program put beside the turns; a prompt that was typed while it worked is among it."""
    kind = attachment.get("type") if isinstance(attachment, dict) else None
    if not isinstance(attachment, dict) or not isinstance(kind, str):
        return Reading("attachment", "system", marks=META)
    if kind == "queued_command":
        return replace(_typed(attachment.get("prompt")), kind="queued_command")
    if kind == "file" and isinstance(path := attachment.get("filename"), str):
        return Reading("file", "system", (Part(labels.FILE, path), *_file_text(attachment.get("content"))))
    return Reading(name_of(kind), "system", marks=META)


def _file_text(content: object) -> Iterator[Part]:
    file = content.get("file") if isinstance(content, dict) else None
    if isinstance(file, dict) and isinstance(words := file.get("content"), str):
        yield Part("", words)
