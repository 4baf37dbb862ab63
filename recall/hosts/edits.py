"""Putting one entry into a JSON configuration that a person wrote, and taking it out again: nothing beside it changes.

Comments, order, indentation and line ends stay as they are. A text that cannot be understood is refused and not
touched; so is an entry of the same name that is not ours, and a name that stands there twice: of those a host reads
one. JSON may hold comments and trailing commas, as some hosts' does. TOML and YAML: `edits_toml`, `edits_yaml`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

_SPACE = re.compile(r"(?:\s+|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_DEEPEST = 200
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
_BARE = re.compile(r"[^\s,\]}:\[{\"/]+")
# What may stand behind the last member on its line: a comma, and a comment.
_REST = re.compile(r"[ \t]*(,?)[ \t]*(?://[^\r\n]*|/\*[^\r\n]*?\*/[ \t]*)?(?=\r?\n)")


class NotUnderstood(ValueError):
    """The text is not what its format says, or cannot take the entry."""


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
        if above is None or above.members is None or _child(above, path[length - 1]) is None:
            return text
        names = [member.key for member in above.members]
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
    if text[line - 1] == "\r":
        line -= 1
    behind = _after_space(text, member.value.end)
    if text[behind : behind + 1] == ",":
        return text[:line] + text[behind + 1 :]
    comma = _after_space(text, before)
    return text[:comma] + text[comma + 1 : line] + text[member.value.end :]


def _inserted(text: str, above: _Value, depth: int, key: str, value: object) -> str:
    members = above.members or []
    newline = "\r\n" if "\r\n" in text else "\n"
    if not members:
        outer = "  " * depth
        body = "{" + newline + _indented(key, value, outer + "  ", newline) + f"{newline}{outer}}}"
        return text[: above.start] + body + text[above.end :]
    margin = text[text.rfind("\n", 0, members[-1].start) + 1 : members[-1].start]
    end = members[-1].value.end
    rest = _REST.match(text, end)
    if margin.strip() or rest is None:  # all on one line
        return f"{text[:end]}, {json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}{text[end:]}"
    comma = "," if rest[1] else ""
    first = text[: rest.end()] if comma else text[:end] + "," + text[end : rest.end()]
    return f"{first}{newline}{_indented(key, value, margin, newline)}{comma}{text[rest.end() :]}"


def _indented(key: str, value: object, margin: str, newline: str) -> str:
    step = "\t" if margin.startswith("\t") else "  "
    lines = json.dumps({key: value}, ensure_ascii=False, indent=step).split("\n")[1:-1]
    return newline.join(margin + line.removeprefix(step) for line in lines)


def _child(value: _Value, key: str) -> _Value | None:
    found = [member.value for member in value.members or [] if member.key == key]
    if len(found) > 1:
        raise NotUnderstood(f"{json.dumps(key)} stands there {len(found)} times")
    return found[0] if found else None


def _parsed(text: str) -> _Value:
    value = _value(text, _after_space(text, 1 if text.startswith("\ufeff") else 0))
    if _after_space(text, value.end) != len(text):
        raise NotUnderstood("there is something behind its end")
    if value.members is None:
        raise NotUnderstood("it is no object")
    return value


def _value(text: str, at: int, depth: int = 0) -> _Value:
    if depth > _DEEPEST:
        raise NotUnderstood(f"it is nested more than {_DEEPEST} deep at character {at}")
    opening = text[at : at + 1]
    if opening == "{":
        return _object(text, at, depth)
    if opening == "[":
        here = _after_space(text, at + 1)
        while text[here : here + 1] != "]":
            here = _comma(text, _value(text, here, depth + 1).end, "]")
        return _Value(at, here + 1, None)
    match = _STRING.match(text, at) or _BARE.match(text, at)
    if match is None:
        raise NotUnderstood(f"a value is missing at character {at}")
    return _Value(at, match.end(), None)


def _object(text: str, at: int, depth: int) -> _Value:
    members = []
    here = _after_space(text, at + 1)
    while text[here : here + 1] != "}":
        key = _STRING.match(text, here)
        if key is None:
            raise NotUnderstood(f"a name is missing at character {here}")
        colon = _after_space(text, key.end())
        if text[colon : colon + 1] != ":":
            raise NotUnderstood(f"a colon is missing at character {colon}")
        value = _value(text, _after_space(text, colon + 1), depth + 1)
        members.append(_Member(_name(key.group(), here), here, value))
        here = _comma(text, value.end, "}")
    return _Value(at, here + 1, members)


def _name(written: str, at: int) -> str:
    try:
        return str(json.loads(written))
    except ValueError as error:
        raise NotUnderstood(f"the name at character {at} is no JSON: {error}") from error


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
