"""Putting a plugin into `plugins: enabled:` of a YAML configuration that a person wrote, and taking it out again.

Only the forms that people and Hermes write are understood: a block of that name at the margin, in it a list of names in
lines or in brackets on one line. Everything else is refused, and not touched.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from recall.hosts.edits import NotUnderstood

BLOCK, LIST, REFUSED = "plugins", "enabled", "disabled"
_KEY = re.compile(
    r"([ \t]*)(?:'([^'\n]*)'|\"([^\"\n\\]*)\"|([^\s#'\"\-?:,\[\]{}&*!|>%@`][^#:\n]*?))[ \t]*:(?=\s|$)(.*)", re.DOTALL
)
_ITEM = re.compile(
    r"([ \t]*)-[ \t]+(?:'([^']*)'|\"([^\"\\]*)\"|([^\s'\"#\[\]{}&*!|>%@`,:][^#:,]*?))[ \t]*(?:[ \t]#.*)?$"
)
_FLOW = re.compile(r"[ \t]*\[([^\[\]{}\n#]*)\][ \t]*(?:#.*)?$")
_NAME = re.compile(r"'([^']*)'|\"([^\"\\]*)\"|([^\s'\"&*!|>%@`:]+)")


@dataclass(frozen=True, slots=True)
class _List:
    """A list of names under a key: in lines (`items`: their numbers and names), or in brackets (`flow`)."""

    line: int
    indent: str
    items: Sequence[tuple[int, str, str]]
    flow: Sequence[str] | None

    @property
    def names(self) -> list[str]:
        return list(self.flow) if self.flow is not None else [name for _, _, name in self.items]


@dataclass(frozen=True, slots=True)
class _Block:
    """The block: the line of its key, the indentation of what is in it, and its two lists."""

    line: int
    inner: str
    lists: dict[str, _List]


def enables(text: str, plugin: str) -> bool:
    """Whether a plugin is in the list. Raises NotUnderstood, where the list of what is turned off has it too."""
    block = _block(_lines(text))
    if block is None:
        return False
    if REFUSED in block.lists and plugin in block.lists[REFUSED].names:
        raise NotUnderstood(f"{plugin} stands in `{BLOCK}: {REFUSED}:`; take it out there first")
    return LIST in block.lists and plugin in block.lists[LIST].names


def enabling(text: str, plugin: str) -> str:
    """The text with a plugin in the list; the list, and what it stands in, are made. Raises NotUnderstood."""
    if enables(text, plugin):
        raise NotUnderstood(f"{plugin} is there already")
    newline = "\r\n" if "\r\n" in text else "\n"
    if text and not text.endswith("\n"):
        text += newline
    lines = _lines(text)
    block = _block(lines)
    if block is None:
        if any(line.rstrip() == "..." for line in lines):
            raise NotUnderstood("it ends before its end")
        return text + newline.join((f"{BLOCK}:", f"  {LIST}:", f"    - {plugin}", ""))
    listed = block.lists.get(LIST)
    if listed is None:
        added = f"{block.inner}{LIST}:{newline}{block.inner}  - {plugin}{newline}"
        return "".join((*lines[: block.line + 1], added, *lines[block.line + 1 :]))
    if listed.flow is not None:
        line = lines[listed.line]
        end = line.index("]", line.index("["))
        lines[listed.line] = line[:end].rstrip() + (", " if listed.flow else "") + plugin + line[end:]
        return "".join(lines)
    inner = listed.items[0][1] if listed.items else listed.indent + "  "
    at = listed.items[-1][0] if listed.items else listed.line
    return "".join((*lines[: at + 1], f"{inner}- {plugin}{newline}", *lines[at + 1 :]))


def disabling(text: str, plugin: str) -> str:
    """The text without a plugin in the list. Raises NotUnderstood."""
    lines = _lines(text)
    block = _block(lines)
    listed = None if block is None else block.lists.get(LIST)
    if block is None or listed is None or plugin not in listed.names:
        return text
    if listed.flow is not None:
        lines[listed.line] = _taken(lines[listed.line], plugin)
        return "".join(lines)
    gone = {number for number, _, name in listed.items if name == plugin}
    if len(gone) == len(listed.items):
        gone |= _emptied(lines, block, listed, gone)
        if listed.line not in gone:  # an empty list, not one that is null
            lines[listed.line] = re.sub(rf"({LIST}['\"]?[ \t]*:)", r"\1 []", lines[listed.line], count=1)
    return "".join(line for number, line in enumerate(lines) if number not in gone)


def _emptied(lines: Sequence[str], block: _Block, listed: _List, gone: set[int]) -> set[int]:
    """The keys that are left with nothing in them, where no comment stands with them."""
    first, last = min(gone), max(gone)
    if first != listed.line + 1 or last - first + 1 != len(gone) or "#" in lines[listed.line]:
        return set()
    alone = block.line + 1 == listed.line and (last + 1 == len(lines) or lines[last + 1][:1] not in tuple(" \t#\r\n"))
    return {listed.line, block.line} if alone and "#" not in lines[block.line] else {listed.line}


def _lines(text: str) -> list[str]:
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def _taken(line: str, plugin: str) -> str:
    name = rf"['\"]?{re.escape(plugin)}['\"]?"
    return re.sub(
        rf",[ \t]*{name}(?=[ \t]*[,\]])|(?<=[\[ \t]){name}[ \t]*,[ \t]*|{name}(?=[ \t]*\])", "", line, count=1
    )


def _block(lines: Sequence[str]) -> _Block | None:
    """The block of plugins; None where there is none. Raises NotUnderstood."""
    said = [line.removeprefix("\ufeff") for line in lines if _is_said(line)]
    marks = [number for number, line in enumerate(said) if line.rstrip() == "---" or line.startswith("--- ")]
    if marks not in ([], [0]):
        raise NotUnderstood("it is more than one document")
    first = _key(said[len(marks)]) if len(said) > len(marks) else ("", "")
    if first is None or first[0]:
        raise NotUnderstood("it is no block of keys at the margin")
    found = [number for number, line in enumerate(lines) if _key(line) == ("", BLOCK)]
    if len(found) > 1:
        raise NotUnderstood(f"`{BLOCK}` stands there {len(found)} times")
    if not found:
        return None
    start = found[0]
    if not _is_empty(_rest(lines[start])):
        raise NotUnderstood(f"`{BLOCK}` is written in a form that is not understood here")
    end = next((n for n in range(start + 1, len(lines)) if _is_said(lines[n]) and lines[n][0] not in " \t"), len(lines))
    if any("\t" in _margin(line) for line in lines[start:end] if _is_said(line)):
        raise NotUnderstood(f"`{BLOCK}` is indented with tabs")
    inner = next((_margin(line) for line in lines[start + 1 : end] if _is_said(line)), "  ")
    inside = [line for line in lines[start + 1 : end] if _is_said(line) and len(_margin(line)) <= len(inner)]
    # The items of a list may stand as far out as its key.
    others = [line for number, line in enumerate(inside) if number == 0 or not line.lstrip().startswith("- ")]
    if any((_key(line) or ("",))[0] != inner for line in others) or (end < len(lines) and lines[end][0] == "-"):
        raise NotUnderstood(f"`{BLOCK}` holds something else than keys")
    lists: dict[str, _List] = {}
    for number in range(start + 1, end):
        key = _key(lines[number])
        if key is None or key[0] != inner or key[1] not in (LIST, REFUSED):
            continue
        if key[1] in lists:
            raise NotUnderstood(f"`{BLOCK}: {key[1]}:` stands there twice")
        lists[key[1]] = _listed(lines, number, end, key[1])
    return _Block(start, inner, lists)


def _listed(lines: Sequence[str], number: int, end: int, key: str) -> _List:
    rest, indent = _rest(lines[number]), _margin(lines[number])
    refused = NotUnderstood(f"`{BLOCK}: {key}:` is written in a form that is not understood here")
    if not _is_empty(rest):
        flow = _FLOW.match(rest.rstrip("\r\n"))
        if flow is None:
            raise refused
        names = [_NAME.fullmatch(one.strip()) for one in flow[1].split(",") if one.strip()]
        if None in names:
            raise refused
        return _List(number, indent, (), [_said(name) for name in names if name is not None])
    items: list[tuple[int, str, str]] = []
    for here in range(number + 1, end):
        line = lines[here]
        if not _is_said(line):
            continue
        item = _ITEM.match(line.rstrip("\r\n"))
        if len(_margin(line)) < len(indent) or (
            len(_margin(line)) == len(indent) and not line.lstrip().startswith("-")
        ):
            break
        if item is None or (items and item[1] != items[0][1]):
            raise refused
        items.append((here, item[1], _said(item, 2)))
    return _List(number, indent, items, None)


def _said(match: re.Match[str], first: int = 1) -> str:
    return next((group for group in match.groups()[first - 1 :] if group is not None), "")


def _key(line: str) -> tuple[str, str] | None:
    """The indentation and the name of a key; None where a line has none."""
    match = _KEY.match(line.removeprefix("\ufeff"))
    return None if match is None else (match[1], next(name for name in match.groups()[1:4] if name is not None))


def _rest(line: str) -> str:
    """What stands behind the key of a line."""
    match = _KEY.match(line.removeprefix("\ufeff"))
    return "" if match is None else match[5]


def _is_empty(rest: str) -> bool:
    return not rest.strip() or (rest[:1] in " \t" and rest.lstrip().startswith("#"))


def _is_said(line: str) -> bool:
    """Whether a line is more than space and comment."""
    said = line.removeprefix("\ufeff").strip()
    return bool(said) and not said.startswith("#")


def _margin(line: str) -> str:
    return line[: len(line) - len(line.lstrip(" \t"))]
