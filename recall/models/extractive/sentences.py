"""Text to spans that can be quoted.

A span is a sentence or a line, cut out of the text as it stands: `text[start:end]`, never longer than `QUOTE`. A
longer one ends at the last border (clause, space) that fits. Placeholders of redacted secrets are never cut. Of a very
long text only head and tail are cut into spans: nobody quotes the middle of a megabyte.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

QUOTE = 280
PROSE = 60_000
OUTPUT = 6_000

_PROSE_END = re.compile(
    r"(?<=[.!?])[\"')\]*_`”’]*[ \t]+(?=[^a-z])"
    r"|(?<=[。！？])[”」』）\"')]*"
    r"|(?<=[!?])(?=[\u3040-\u30ff\u4e00-\u9fff])"
    r"|\n(?![a-z])\s*"
)
_LINE_END = re.compile(r"\n\s*")
_BORDERS = re.compile(r"[,;:，；：、)）]\s*|\s+")
_PLACEHOLDER = re.compile(r"\[REDACTED:[^\]\n]{0,120}\]")
# Marks of lists, headings and quotations before a sentence.
_MARKUP = re.compile(r"\s*(?:(?:[>#*•|+=~-]+|\d{1,2}[.)])\s+)*")


@dataclass(frozen=True, slots=True)
class Span:
    """Where a sentence stands in its text, and whether its end was cut off."""

    start: int
    end: int
    cut: bool = False


def spans(text: str, output: bool) -> list[Span]:
    """The spans of a text in order; `output` for what a program printed (a line is a span)."""
    limit = OUTPUT if output else PROSE
    if len(text) <= limit:
        return _cut(text, 0, len(text), output)
    head = limit // 3
    tail = len(text) - (limit - head)
    return _cut(text, 0, head, output) + _cut(text, tail, len(text), output)


def trim(text: str, output: bool) -> str:
    """The parts of a text that `spans` looks at, joined: for counting its terms."""
    limit = OUTPUT if output else PROSE
    return text if len(text) <= limit else text[: limit // 3] + "\n" + text[-(limit - limit // 3) :]


def _cut(text: str, start: int, stop: int, output: bool) -> list[Span]:
    found: list[Span] = []
    pattern = _LINE_END if output else _PROSE_END
    at = start
    for match in pattern.finditer(text, start, stop):
        end = match.end()
        _append(found, text, at, end)
        at = end
    _append(found, text, at, stop)
    return found


def _append(found: list[Span], text: str, start: int, end: int) -> None:
    """One span without the markup and blanks around it, cut at a border where it is too long."""
    marks = _MARKUP.match(text, start, end)
    if marks:
        start = marks.end()
    while end > start and text[end - 1] in " \t\r\n":
        end -= 1
    if end - start < 2:
        return
    if end - start <= QUOTE:
        found.append(Span(start, end))
        return
    found.append(Span(start, border(text, start, start + QUOTE), cut=True))


def border(text: str, start: int, limit: int) -> int:
    """The last place before `limit` where a quote may end: after a clause if one is near, else before a space."""
    best = 0
    for match in _BORDERS.finditer(text, start + (limit - start) // 2, limit):
        best = match.start() if match.group()[0].isspace() else match.start() + 1
    best = best or limit
    for match in _PLACEHOLDER.finditer(text, max(start, best - 140), best + 140):
        if match.start() < best < match.end():
            best = match.start() if match.start() > start else match.end()
    while best > start + 1 and text[best - 1].isspace():
        best -= 1
    return best
