"""Putting one entry into a configuration that a person wrote, and taking it out again: not a byte beside it changes.

Comments, order and indentation stay as they are. A text that cannot be understood is refused and not touched; so is an
entry of the same name that is not ours. JSON may hold comments and trailing commas, as some hosts' does.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

_SPACE = re.compile(r"(?:\s+|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
_BARE = re.compile(r"[^\s,\]}:\[{\"/]+")
# What may stand behind the last member on its line: a comma, and a comment.
_REST = re.compile(r"[ \t]*(,?)[ \t]*(?://[^\n]*|/\*[^\n]*?\*/[ \t]*)?(?=\n)")
BEGIN, END = "# history-recall: begin", "# history-recall: end"


class NotUnderstood(ValueError):
    """The text is not what its format says, or cannot take the entry."""


# --- JSON -------------------------------------------------------------------------------------------------------


@dataclass
class _Member:
    key: str
    start: int
    value: _Value


@dataclass
class _Value:
    """A value with its place; `members` where it is an object, else None."""

    start: int
    end: int
    members: list[_Member] | None


def has_member(text: str, path: Sequence[str]) -> bool:
    """Whether there is a member at a path. Raises NotUnderstood."""
    return _at(text, path) is not None


def member(text: str, path: Sequence[str]) -> str | None:
    """The member at a path as it is written, without white space; None where there is none. Raises NotUnderstood."""
    found = _at(text, path)
    return None if found is None else "".join(text[found.start : found.end].split())


def _at(text: str, path: Sequence[str]) -> _Value | None:
    found: _Value | None = _parsed(text)
    for key in path:
        found = None if found is None else _child(found, key)
    return found


def with_member(text: str, path: Sequence[str], value: object) -> str:
    """The text with a member at the end of the object that the path leads to; objects on the way are made."""
    if not text.strip():
        text = "{}\n"
    found = _parsed(text)
    for depth, key in enumerate(path):
        if found.members is None:
            raise NotUnderstood(f"{'.'.join(path[:depth]) or 'the whole'} is no object")
        child = _child(found, key)
        if child is None:
            for inner in reversed(path[depth + 1 :]):
                value = {inner: value}
            return _inserted(text, found, depth, key, value)
        found = child
    raise NotUnderstood(f"{'.'.join(path)} is there already")


def without_member(text: str, path: Sequence[str]) -> str:
    """The text without that member, and without the objects on the way that it leaves empty."""
    for length in range(len(path), 0, -1):
        above: _Value | None = _parsed(text)
        for key in path[: length - 1]:
            above = None if above is None else _child(above, key)
        if above is None or above.members is None:
            return text
        names = [member.key for member in above.members]
        if path[length - 1] not in names:
            return text
        text = _cut(text, above.members, names.index(path[length - 1]), above)
        if len(names) > 1:
            break
    return text


def _cut(text: str, members: list[_Member], index: int, above: _Value) -> str:
    member = members[index]
    if len(members) == 1:
        return text[: above.start] + "{}" + text[above.end :]
    if index == 0:  # with the comma behind it
        return text[: member.start] + text[members[1].start :]
    before = members[index - 1].value.end
    line = text.rfind("\n", before, member.start)
    if line < 0:  # on one line with the one before it
        return text[:before] + text[member.value.end :]
    behind = _after_space(text, member.value.end)
    if text[behind : behind + 1] == ",":
        return text[:line] + text[behind + 1 :]
    comma = _after_space(text, before)
    return text[:comma] + text[comma + 1 : line] + text[member.value.end :]


def _inserted(text: str, above: _Value, depth: int, key: str, value: object) -> str:
    members = above.members or []
    if not members:
        outer = "  " * depth
        body = "{\n" + _indented(key, value, outer + "  ") + f"\n{outer}}}"
        return text[: above.start] + body + text[above.end :]
    margin = text[text.rfind("\n", 0, members[-1].start) + 1 : members[-1].start]
    end = members[-1].value.end
    rest = _REST.match(text, end)
    if margin.strip() or rest is None:  # all on one line
        return f"{text[:end]}, {json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}{text[end:]}"
    comma = "," if rest[1] else ""
    first = text[: rest.end()] if comma else text[:end] + "," + text[end : rest.end()]
    return f"{first}\n{_indented(key, value, margin)}{comma}{text[rest.end() :]}"


def _indented(key: str, value: object, margin: str) -> str:
    step = "\t" if margin.startswith("\t") else "  "
    lines = json.dumps({key: value}, ensure_ascii=False, indent=step).split("\n")[1:-1]
    return "\n".join(margin + line.removeprefix(step) for line in lines)


def _child(value: _Value, key: str) -> _Value | None:
    return next((member.value for member in value.members or [] if member.key == key), None)


def _parsed(text: str) -> _Value:
    value = _value(text, _after_space(text, 1 if text.startswith("\ufeff") else 0))
    if _after_space(text, value.end) != len(text):
        raise NotUnderstood("there is something behind its end")
    if value.members is None:
        raise NotUnderstood("it is no object")
    return value


def _value(text: str, at: int) -> _Value:
    opening = text[at : at + 1]
    if opening == "{":
        return _object(text, at)
    if opening == "[":
        here = _after_space(text, at + 1)
        while text[here : here + 1] != "]":
            here = _comma(text, _value(text, here).end, "]")
        return _Value(at, here + 1, None)
    match = _STRING.match(text, at) or _BARE.match(text, at)
    if match is None:
        raise NotUnderstood(f"a value is missing at character {at}")
    return _Value(at, match.end(), None)


def _object(text: str, at: int) -> _Value:
    members = []
    here = _after_space(text, at + 1)
    while text[here : here + 1] != "}":
        key = _STRING.match(text, here)
        if key is None:
            raise NotUnderstood(f"a name is missing at character {here}")
        colon = _after_space(text, key.end())
        if text[colon : colon + 1] != ":":
            raise NotUnderstood(f"a colon is missing at character {colon}")
        value = _value(text, _after_space(text, colon + 1))
        members.append(_Member(json.loads(key.group()), here, value))
        here = _comma(text, value.end, "}")
    return _Value(at, here + 1, members)


def _comma(text: str, at: int, closing: str) -> int:
    here = _after_space(text, at)
    if text[here : here + 1] == ",":
        return _after_space(text, here + 1)
    if text[here : here + 1] != closing:
        raise NotUnderstood(f"a comma or {closing} is missing at character {here}")
    return here


def _after_space(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return at if match is None else match.end()


# --- TOML -------------------------------------------------------------------------------------------------------


def has_table(text: str, path: Sequence[str]) -> bool:
    """Whether there is a table at a path. Raises NotUnderstood."""
    found: object = _toml(text)
    for key in path:
        found = found.get(key) if isinstance(found, Mapping) else None
    return found is not None


def with_block(text: str, body: str) -> str:
    """The text with a block of tables at its end, between two comments."""
    start = "" if not text or text.endswith("\n") else "\n"
    gap = "\n" if text.strip() else ""
    changed = f"{text}{start}{gap}{BEGIN}\n{body.strip()}\n{END}\n"
    _toml(changed)
    return changed


def without_block(text: str) -> str:
    """The text without that block."""
    return re.sub(rf"\n?^{BEGIN}\n.*?^{END}\n", "", text, count=1, flags=re.MULTILINE | re.DOTALL)


def _toml(text: str) -> Mapping[str, object]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise NotUnderstood(f"it is no TOML: {error}") from error


# --- YAML -------------------------------------------------------------------------------------------------------

_PLUGINS = re.compile(r"^plugins:[ \t]*(?:#[^\n]*)?\n((?:[ \t]+[^\n]*\n|[ \t]*\n|[ \t]*#[^\n]*\n)*)", re.MULTILINE)
_ENABLED = re.compile(r"^([ \t]+)enabled:[ \t]*(?:\[([^\]\n]*)\])?[ \t]*(?:#[^\n]*)?\n", re.MULTILINE)


def enables(text: str, plugin: str) -> bool:
    """Whether a plugin is in the list `plugins: enabled:`."""
    block = _PLUGINS.search(text)
    listed = _ENABLED.search(block[1]) if block else None
    if block is None or listed is None:
        return False
    if listed[2] is not None:
        return plugin in [name.strip().strip("'\"") for name in listed[2].split(",")]
    return (
        re.search(rf"^[ \t]+-[ \t]+['\"]?{re.escape(plugin)}['\"]?[ \t]*(?:#.*)?$", block[1], re.MULTILINE) is not None
    )


def enabling(text: str, plugin: str) -> str:
    """The text with a plugin in that list; the list, and what it stands in, are made. Raises NotUnderstood."""
    if text and not text.endswith("\n"):
        text += "\n"
    block = _PLUGINS.search(text)
    if block is None:
        if re.search(r"^plugins\s*:", text, re.MULTILINE):
            raise NotUnderstood("`plugins` is written in a form that is not understood here")
        return f"{text}plugins:\n  enabled:\n    - {plugin}\n"
    listed = _ENABLED.search(block[1])
    if listed is None:
        if re.search(r"^[ \t]+enabled\s*:", block[1], re.MULTILINE):
            raise NotUnderstood("`plugins.enabled` is written in a form that is not understood here")
        margin = re.search(r"^([ \t]+)\S", block[1], re.MULTILINE)
        inner = margin[1] if margin else "  "
        return text[: block.start(1)] + f"{inner}enabled:\n{inner}  - {plugin}\n" + text[block.start(1) :]
    at = block.start(1) + listed.end()
    if listed[2] is not None:
        end = block.start(1) + listed.end(2)
        return text[:end] + (f", {plugin}" if listed[2].strip() else plugin) + text[end:]
    first = re.match(r"([ \t]+)-[ \t]", text[at:])
    inner = first[1] if first else listed[1] + "  "
    return text[:at] + f"{inner}- {plugin}\n" + text[at:]


def disabling(text: str, plugin: str) -> str:
    """The text without a plugin in that list."""
    block = _PLUGINS.search(text)
    if block is None or not enables(text, plugin):
        return text
    name = rf"['\"]?{re.escape(plugin)}['\"]?"
    body = re.sub(rf"^[ \t]+-[ \t]+{name}[ \t]*(?:#[^\n]*)?\n", "", block[1], count=1, flags=re.MULTILINE)
    if body == block[1]:
        body = re.sub(rf",[ \t]*{name}(?=[ \t]*[,\]])|{name}[ \t]*,[ \t]*(?=\S)|{name}(?=[ \t]*\])", "", body, count=1)
    return text[: block.start(1)] + body + text[block.end(1) :]
