"""The few words of a text that show why it was found: an exact quote with its place, cut between words where there is
such a place near, and never inside a character.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from recall import cut, labels, segment
from recall.query import Query

LENGTH = 240
_WIDE = re.compile("[\u1100-\u11ff\u2e80-\ua4cf\uac00-\ud7af\uf900-\ufaff\uff00-\uff60\U00020000-\U0003ffff]")
_WIDTH = 4  # what a character of a script without spaces counts: to a model it is a token, as four Latin ones are
_SEARCHED = 200_000  # characters of a text that are looked through
_NEAR = 28  # characters that a place to cut may be moved; less than what stands before the first word found
_PIECE = re.compile(r"\S{1,160}")  # minified text has no spaces: it is looked at in pieces, so that places differ


@dataclass(frozen=True, slots=True)
class Snippet:
    """`text` stands in the entry's text at `offset`, character for character; `cut_*`: the entry goes on there."""

    text: str
    offset: int
    cut_before: bool = False
    cut_after: bool = False


def of(text: str, queries: Sequence[Query], role: str, length: int = LENGTH) -> Snippet:
    """The window of at most `length` characters, wide ones counted as they weigh, that holds most of what was asked."""
    if len(text) <= _room(text[: length + 1], length):
        return Snippet(text, 0)
    first = _part(text, queries) if len(text) > _SEARCHED else 0
    searched = labels.blank(text[first : first + _SEARCHED], role)
    places = [(first + place, term, weight) for place, term, weight in _places(searched, queries)]
    around = _densest(places, length)
    length = _room(text[around : around + length], length)
    near = min(_NEAR, length // 8 - 1)
    start = max(0, min(_densest(places, length), len(text) - length))
    if start > 0:
        start = _divide(text, range(start, min(start + near, len(text))), range(start, 0, -1))
        inked = text[start : start + near].lstrip()
        if inked and cut.may_cut(text, start + near - len(inked)) and start + near <= len(text):
            start += near - len(inked)
        start = first + _whole_label(searched, start - first) if start >= first else start
    end = start + length
    if end < len(text):
        # White space at the end would be followed by an ellipsis.
        end = _divide(text, range(end, end - near, -1), range(end, start + 1, -1))
        end = start + len(text[start:end].rstrip()) or end
    end = min(end, len(text))
    return Snippet(text[start:end], start, start > 0, end < len(text))


def weight(text: str) -> int:
    """The characters of a text, wide ones counted as they weigh."""
    return len(text) + (_WIDTH - 1) * len(_WIDE.findall(text))


def beginning(text: str, length: int) -> str:
    """The beginning of a text in at most `length` characters, wide ones counted as they weigh; `…` where it goes on."""
    shown = of(text, (), "user", length)
    return f"{shown.text} …" if shown.cut_after else shown.text


def _room(window: str, length: int) -> int:
    """How many characters of such a text a window of `length` narrow ones has room for."""
    share = len(_WIDE.findall(window)) / max(1, len(window))
    return int(length / (1 + (_WIDTH - 1) * share))


def _part(text: str, queries: Iterable[Query]) -> int:
    """Where the part of a long text begins that is looked through: shortly before an exact spelling that stands deep
    inside of it, else at the beginning.
    """
    lower = text.replace("\u0130", "i").lower()  # the one letter that grows when lowered
    found = [lower.find(one) for query in queries for one in (*query.required_spellings, *query.exact)]
    nearest = min((at for at in found if at >= 0), default=0)
    return max(0, nearest - LENGTH) if nearest >= _SEARCHED - LENGTH else 0


def _whole_label(searched: str, start: int) -> int:
    """The beginning of the line where `start` is inside the label that it begins with."""
    line = searched.rfind("\n", 0, start) + 1
    inside = searched[line : line + 1] == labels.FILL and labels.FILL in searched[start : start + _NEAR]
    return line if inside and start - line <= 2 * _NEAR else start


def _divide(text: str, near: range, otherwise: range) -> int:
    """Where to cut: the first near place at a space, else the first near one at the edge of a word, else anywhere
    between characters.
    """
    for between in (_at_space, _at_edge):
        for place in near:
            if between(text, place) and cut.may_cut(text, place):
                return place
    return next((place for place in otherwise if cut.may_cut(text, place)), otherwise.stop)


def _at_space(text: str, place: int) -> bool:
    return text[place - 1].isspace() != text[place : place + 1].isspace()


def _at_edge(text: str, place: int) -> bool:
    """Not inside a word; characters of scripts without spaces are words of their own."""
    before, after = text[place - 1], text[place : place + 1]
    return not (before.isalnum() and after.isalnum()) or not (before.isascii() and after.isascii())


def _places(text: str, queries: Iterable[Query]) -> list[tuple[int, int, float]]:
    """(offset, which term, weight) of what was asked for, in order."""
    words = {word: place for query in queries for place, word in enumerate(_wanted(query))}
    heads = tuple(t.words[-1] for query in queries for t in query.terms if t.prefix)
    found: list[tuple[int, int, float]] = []
    for match in _PIECE.finditer(text):
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
    for query in queries:
        if query.empty and query.literal:
            at = re.search(re.escape(query.literal), text, re.IGNORECASE)
            if at is not None:
                found.append((at.start(), -2, 1.0))
    return sorted(set(found))  # a place counts once for a term, however often the piece has it


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
