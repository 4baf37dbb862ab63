"""Putting a table of ours into a TOML configuration that a person wrote, and taking it out again.

What the host has made of the file in between does not matter: hosts write their configurations anew, move comments and
put tables of their own beside ours. Every change is read again, and has to come to the same but for our table.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from recall.hosts.edits import NotUnderstood

NOTE = "# Written by history-recall; `history-recall hosts uninstall` takes it out."
# What may stand in a statement, and what ends it: strings and comments are no places to look for brackets in.
_TOKEN = re.compile(
    r'"""(?:[^\\]|\\.)*?"{3,5}|' + r"'''.*?'{3,5}|" + r'"(?:[^"\\\n]|\\.)*"|' + r"'[^'\n]*'|#[^\n]*|[\[\]{}]|\n",
    re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class _Statement:
    """A header or a key with its value, without the white space in front; `header`: where the table stands."""

    start: int
    end: int
    header: tuple[str, ...] | None


def table(text: str, path: Sequence[str]) -> Mapping[str, object] | None:
    """The table at a path; None where there is none. Raises NotUnderstood."""
    found: object = _read(text)
    for depth, key in enumerate(path):
        if not isinstance(found, Mapping):
            raise NotUnderstood(f"{'.'.join(path[:depth])} is no table")
        if key not in found:
            return None
        found = found[key]
    return found if isinstance(found, Mapping) else {}


def with_table(text: str, path: Sequence[str], lines: Sequence[str]) -> str:
    """The text with a table at its end. Raises NotUnderstood."""
    if table(text, path) is not None:
        raise NotUnderstood(f"{'.'.join(path)} is there already")
    newline = "\r\n" if "\r\n" in text else "\n"
    start = "" if not text or text.endswith("\n") else newline
    gap = newline if text.strip() else ""
    block = newline.join((NOTE, f"[{'.'.join(path)}]", *lines, ""))
    changed = text + start + gap + block
    try:
        now = _read(changed)
    except NotUnderstood as error:
        reason = f"{'.'.join(path[:-1])} is written in a form that takes no further table"
        raise NotUnderstood(reason) from error
    if _without(now, path) != _without(_read(text), path):
        raise NotUnderstood("a table at its end would not stand by itself")
    return changed


def without_table(text: str, path: Sequence[str]) -> str:
    """The text without that table, what is below it, and our note. Raises NotUnderstood."""
    if table(text, path) is None:
        return text
    cuts: list[tuple[int, int]] = []
    wanted, ours = tuple(path), False
    statements = list(_statements(text))
    for statement in statements:
        if statement.header is not None:
            ours = statement.header[: len(wanted)] == wanted
        if ours:
            if cuts and not text[cuts[-1][1] : statement.start].strip():
                cuts[-1] = (cuts[-1][0], statement.end)
            else:
                cuts.append((statement.start, statement.end))
    kept, here = [], 0
    for start, end in cuts:
        kept.append(_shortened(text[here:start]))
        here = _line_end(text, end)
    kept.append(text[here:])
    changed = "".join(kept)
    if _read(changed) != _without(_read(text), path):
        raise NotUnderstood(f"{'.'.join(path)} is written in a form that cannot be taken out")
    return changed


def _shortened(text: str) -> str:
    """Without our note at its end, and the empty line before it."""
    lines = text.splitlines(keepends=True)
    if lines and lines[-1].strip() == NOTE:
        lines.pop()
    if lines and not lines[-1].strip():
        lines.pop()
    return "".join(lines)


def _line_end(text: str, at: int) -> int:
    """Behind the line, with its comment."""
    end = text.find("\n", at)
    return len(text) if end < 0 else end + 1


def _statements(text: str) -> Iterator[_Statement]:
    """The statements of a text that is TOML."""
    start, depth = 0, 0
    for found in [*_TOKEN.finditer(text), None]:
        at = len(text) if found is None else found.start()
        word = "\n" if found is None else found.group()
        if word in "[{":
            depth += 1
        elif word in "]}":
            depth -= 1
        if (word == "\n" and depth == 0) or (word.startswith("#") and depth == 0):
            said = text[start:at]
            if said.strip().strip("\ufeff"):
                lead = len(said) - len(said.lstrip())
                yield _Statement(start + lead, start + len(said.rstrip()), _header(said.strip()))
            start = at if found is None else found.end()


def _header(said: str) -> tuple[str, ...] | None:
    if not said.startswith("["):
        return None
    path, found = [], _read(said)
    while found:
        ((key, inner),) = found.items()
        path.append(key)
        found = inner[0] if isinstance(inner, list) else inner
    return tuple(path)


def _without(found: Mapping[str, Any], path: Sequence[str]) -> Mapping[str, Any]:
    """What was read without what stands at a path; tables that this leaves empty count as not there."""
    key, *rest = path
    inner = found.get(key)
    others = {name: value for name, value in found.items() if name != key}
    if not rest or inner is None:
        return others
    left = _without(inner, rest) if isinstance(inner, Mapping) else inner
    return others if left == {} else {**others, key: left}


def _read(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text.removeprefix("\ufeff"))
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise NotUnderstood(f"it is no TOML: {error}") from error
