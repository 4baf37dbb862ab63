"""Other words for what a query asks: `oom` for out of memory, 数据库 for a database. A table of ours, in thesaurus.txt.

An answer is often written in other words than its question, or in the other language of who asks. A line of the table
is a group of words of which one is asked and another may stand in the answer: `=` the same thing said otherwise, `~`
something close. Languages and forms are those of the search: English words lose their inflection, runs without spaces
are found wherever they stand. The table is read by the lines that a query needs, for most searches are one process.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path

from recall import segment
from recall.query import STOP_WORDS, Query, Term
from recall.segment import Word
from recall.stem import irregular

SAME, CLOSE = "=", "~"
MOST = 24  # other words of one query: each is looked up
LONGEST = 3  # words of a phrase in the table,
LONGEST_RUN = 12  # and characters of a run
MOST_CHARS = 240  # of a query, from its beginning: a longer one is pasted, and says what it means itself


@dataclass(frozen=True, slots=True)
class Related:
    """Terms of a query that say one thing, and the terms that may say it in a text: True for the same thing."""

    asked: tuple[Term, ...]
    others: Mapping[Term, bool]


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a query may name something: `name` as the table has it, cut; where it stands in which run."""

    name: tuple[str, ...]
    run: int
    first: int
    last: int
    across: tuple[str, ...] = ()  # the pairs over its borders, which are no words then, and all of its run

    def inside(self, other: _Place) -> bool:
        return self != other and self.run == other.run and other.first <= self.first and self.last <= other.last

    @property
    def terms(self) -> tuple[Term, ...]:
        """The terms of the query that it is made of; none of stop words alone."""
        parts = self.name if self.name[0].isascii() else segment.pairs(self.name[0])[:-1]
        return tuple(Term((part,)) for part in parts if part not in STOP_WORDS)


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of the words of a query.

    `across`: terms that only lie over the borders of words in a run without spaces; `hollow`: those of them that have a
    word on one side which is no subject. A pair of a word that the table has is neither.
    """

    related: tuple[Related, ...] = ()
    across: frozenset[Term] = frozenset()
    hollow: frozenset[Term] = frozenset()


NOTHING = Known()


def known(query: Query, rewrites: Sequence[Query] = ()) -> Known:
    """What else the words of a query may be called, in the order in which they stand; nothing for a quoted phrase.

    A name inside another is not meant by itself, unless the longer one is only known as close to something. Rewrites
    say themselves what else it may be called; a pair that is a word in one of them is a word.
    """
    if query.required:
        return NOTHING
    places = list(_places(query.text[:MOST_CHARS]))
    lines = list(_lines(places))
    named = {name for _, members in lines for name in members}
    firm = {name for sign, members in lines if sign == SAME for name in members}
    here = [place for place in places if place.name in named and place.terms]
    outer = [place for place in here if not any(place.inside(other) for other in here if other.name in firm)]
    asked = {place.name for place in outer}
    found: dict[tuple[Term, ...], dict[Term, bool]] = {}
    for place in outer:
        others = found.setdefault(place.terms, {})
        for sign, members in lines:
            if place.name in members:
                for member in members:
                    if member not in asked:
                        term = _term(member)
                        others[term] = others.get(term, False) or sign == SAME
    inside = {term for place in outer for term in place.terms}
    pairs = query.pairs.beside(rewrite.pairs for rewrite in rewrites)
    over = {Term(segment.pairs(text)[:-1]) for place in outer for text in place.across}
    across = over.union(Term((pair,)) for pair in pairs.across) - inside
    hollow = across.intersection(Term((pair,)) for pair in pairs.hollow)
    return Known(() if rewrites else tuple(_bounded(found)), frozenset(across), frozenset(hollow))


def _bounded(found: Mapping[tuple[Term, ...], Mapping[Term, bool]]) -> Iterator[Related]:
    """The groups with at most MOST others in all, the same things first."""
    ranked = [
        (not same, place, asked, term)
        for asked, others in found.items()
        for place, (term, same) in enumerate(others.items())
    ]
    kept = sorted(ranked, key=lambda one: one[:2])[:MOST]
    for asked in found:
        others = {term: not close for close, _, of, term in kept if of == asked}
        if others:
            yield Related(asked, others)


def _places(text: str) -> Iterator[_Place]:
    """Every name that a query may hold: of one to LONGEST words side by side, and each part of a run."""
    parts: list[str] = []
    for number, (word, typed) in enumerate(segment.spelled(text)):
        if word.kind == "run":
            yield from _in_run(typed, number)
        # No phrase goes on over a run, or over a spelling that is a name: who types `retry_limit` means just that.
        parts += word.parts if word.kind == "word" and _is_plain(word, typed) else ("",)
    for first in range(len(parts)):
        for last in range(first + 1, min(len(parts), first + LONGEST) + 1):
            name = tuple(parts[first:last])
            if all(name):
                yield _Place(name, 0, first, last)


def _is_plain(word: Word, typed: str) -> bool:
    return not word.wholes or (typed.replace("-", "").isalpha() and typed.islower())


def _in_run(run: str, number: int) -> Iterator[_Place]:
    for first in range(len(run) - 1):
        for last in range(first + 2, min(len(run), first + LONGEST_RUN) + 1):
            edges = (run[first - 1 : first + 1] if first else "", run[last - 1 : last + 1], run)
            across = tuple(text for text in edges if len(text) > 1 and text != run[first:last])
            yield _Place((run[first:last],), number + 1, first, last, across)


def _term(member: tuple[str, ...]) -> Term:
    return Term(member) if member[0].isascii() else Term(segment.pairs(member[0])[:-1])


def _lines(places: Sequence[_Place]) -> Iterator[tuple[str, tuple[tuple[str, ...], ...]]]:
    """The lines that name one of the places, in order: their sign, and their members cut as texts are."""
    table = _table()
    names = {place.name for place in places}
    words = dict.fromkeys(word if word.isascii() else word[:2] for word in (place.name[0] for place in places))
    starts: set[int] = set()
    for found in (place for word in words for place in _beginning_with(word)):
        member = table[found + 1 : table.find(b"\n", found)].split(b", ", 1)[0]
        if _cut(member.decode()) in names:
            starts.add(table.rfind(b"\n", 0, found) + 1)
    for start in sorted(starts):
        line = table[start : table.find(b"\n", start)].decode()
        if line[0] in (SAME, CLOSE):
            yield line[0], tuple(map(_cut, line[2:].split(", ")))


def _beginning_with(word: str) -> Iterator[int]:
    """Where the table has the space in front of a member that may begin with a word, in any form of it."""
    if not word.isascii():
        yield from _runs().get(word.encode(), ())
        return
    table = _table()
    for beginning in _beginnings(word):
        found = table.find(beginning)
        while found >= 0:
            yield found
            found = table.find(beginning, found + 1)


def _beginnings(word: str) -> list[bytes]:
    """How a member that is this word in any form begins; an ending changes the last letter of a stem."""
    return [f" {each}".encode() for each in (word[:-1] if len(word) > 3 else word, *irregular(word))]


@cache
def _runs() -> Mapping[bytes, Sequence[int]]:
    """The first two signs of each run in the table -> where it stands there.

    A question without spaces may begin a member at each of its signs: to make this takes as long as to look one of them
    up, of 20 signs, by walking through the table.
    """
    places: dict[bytes, list[int]] = {}
    for found in re.finditer(b" ([\xe3-\xe9]..[\xe3-\xe9]..)", _table(), re.DOTALL):
        places.setdefault(found[1], []).append(found.start())
    return places


@lru_cache(maxsize=1 << 14)
def _cut(member: str) -> tuple[str, ...]:
    return tuple(part for word in segment.words(member) for part in word.parts) if member.isascii() else (member,)


@cache
def _table() -> bytes:
    return Path(__file__).with_name("thesaurus.txt").read_bytes()
