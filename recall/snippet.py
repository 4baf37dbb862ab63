"""The few words of a text that show why it was found: an exact quote with its place, never half a character."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from recall import cut, segment
from recall.query import Query

LENGTH = 240
_SEARCHED = 200_000  # characters of a text that are looked through
_PIECE = re.compile(r"\S+")


@dataclass(frozen=True, slots=True)
class Snippet:
    """`text` stands in the entry's text at `offset`, character for character."""

    text: str
    offset: int


def of(text: str, queries: Iterable[Query], length: int = LENGTH) -> Snippet:
    """The window of at most `length` characters that holds most of what was asked for."""
    if len(text) <= length:
        return Snippet(text, 0)
    places = _places(text, queries)
    middle = _densest(places, length)
    start = max(0, min(middle, len(text) - length))
    start = _begin(text, start, middle)
    end = min(len(text), start + length)
    while end > start + 1 and not cut.may_cut(text, end):
        end -= 1
    return Snippet(text[start:end], start)


def _places(text: str, queries: Iterable[Query]) -> list[tuple[int, int, float]]:
    """(offset, which term, weight) of what was asked for, in order."""
    words = {word: place for query in queries for place, word in enumerate(_wanted(query))}
    heads = tuple(t.words[-1] for query in queries for t in query.terms if t.prefix)
    found: list[tuple[int, int, float]] = []
    for match in _PIECE.finditer(text[:_SEARCHED]):
        step = 0
        for word in segment.words(match.group()):
            for part in (*word.parts, *word.wholes):
                known = words.get(part)
                if known is None and heads and part.startswith(heads):
                    known = -1
                if known is not None:
                    place = match.start() + (min(step, len(match.group()) - 1) if word.kind == "run" else 0)
                    found.append((place, known, float(len(part))))
                step += word.kind == "run"
    return found


def _wanted(query: Query) -> list[str]:
    return list(dict.fromkeys(word for term in (*query.required, *query.terms) for word in term.words))


def _densest(places: list[tuple[int, int, float]], length: int) -> int:
    """Where the window begins that holds the most different terms; the first of the best."""
    best, best_start, low = 0.0, 0, 0
    for high in range(len(places)):
        while places[high][0] - places[low][0] > length * 3 // 4:
            low += 1
        inside = {term: weight for _, term, weight in places[low : high + 1]}
        value = sum(inside.values())
        if value > best:
            best, best_start = value, places[low][0]
    return max(0, best_start - length // 8) if best else 0


def _begin(text: str, start: int, anchor: int) -> int:
    """A place at or a little behind `start` where a word begins."""
    if start == 0:
        return 0
    for place in range(start, min(start + 20, anchor + 20, len(text))):
        if text[place - 1].isspace() and cut.may_cut(text, place):
            return place
    while start > 0 and not cut.may_cut(text, start):
        start -= 1
    return start
