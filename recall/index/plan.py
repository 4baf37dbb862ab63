"""Which terms of a query draw the candidates, and which only score what was drawn.

Pure: terms with the number of rows that hold them in, a plan out. What a row costs was measured on a million short
entries (SQLite 3.40): 2 µs for its BM25 score, 4 µs for its filters, and 30 ns for each row that holds a term, since
BM25 counts them for the term's weight each time it is asked.

Where a term only scores, the order is that of ranking everything, among the candidates.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from recall.query import Term

ROWS = 4000  # that a plan lets be ranked
WALKED = 100_000  # rows that hold a term which is scored, all terms together
COMMONEST = 0.5  # BM25 gives a term that more rows hold no weight
SATURATED = 2.2  # times its weight: what BM25 gives at most for a term (k1 = 1.2), however often it stands there
PHRASE = 3  # a row of a phrase is worth so many of a word: its places are compared


@dataclass(frozen=True, slots=True)
class Plan:
    """`draws`: a row that holds any of them is a candidate. `pairs`: so is one that holds a term of each group.

    `scores` are looked at in candidates only. Without draws and pairs a row is no candidate for what it holds, and
    the caller bounds them: `scores` are then all that is known.
    """

    draws: tuple[Term, ...] = ()
    pairs: tuple[tuple[Term, ...], tuple[Term, ...]] = ((), ())
    scores: tuple[Term, ...] = ()

    def terms(self) -> tuple[Term, ...]:
        """All of them, once."""
        return (*self.draws, *self.others())

    def others(self) -> tuple[Term, ...]:
        """Those that do not draw."""
        return (*self.pairs[0], *self.pairs[1], *self.scores)


def plan(found: Mapping[Term, int], total: int, share: float = 1.0, rows: int | None = None) -> Plan:
    """A plan for terms by the number of rows that hold them, `total` rows in all.

    `share`: of the rows, how many the filters inside the index leave; `rows`: how many may be ranked (ROWS).
    """
    budget = (ROWS if rows is None else rows) / max(share, 1e-9)
    terms = sorted((term for term in found if found[term]), key=lambda term: found[term])
    draws = _within(terms, found, budget)
    rest = [term for term in terms[len(draws) :] if found[term] < COMMONEST * total]
    scored = _within(rest, {term: _walk(term, found[term]) for term in rest}, WALKED)
    one, other = _pairs(scored, found, total, budget)
    paired = {*one, *other}
    return Plan(tuple(draws), (one, other), tuple(term for term in scored if term not in paired))


def most(terms: Iterable[Term], found: Mapping[Term, int], total: int) -> float:
    """The highest BM25 that a row can have by these terms alone."""
    return sum(SATURATED * max(0.0, math.log((total + 0.5) / (found[term] + 0.5))) for term in terms)


def _within(terms: Iterable[Term], cost: Mapping[Term, int], budget: float) -> list[Term]:
    """The first terms whose costs together stay within the budget."""
    taken: list[Term] = []
    for term in terms:
        budget -= cost[term]
        if budget < 0:
            break
        taken.append(term)
    return taken


def _walk(term: Term, rows: int) -> int:
    return rows * (PHRASE if len(term.words) > 1 else 1)


def _pairs(
    terms: Sequence[Term], found: Mapping[Term, int], total: int, budget: float
) -> tuple[tuple[Term, ...], tuple[Term, ...]]:
    """Two groups of the rarest of the terms: so many that the rows which hold one of each are within the budget."""
    for number in range(len(terms), 1, -1):
        one, other = tuple(terms[:number:2]), tuple(terms[1:number:2])
        if total * _share(one, found, total) * _share(other, found, total) <= budget:
            return one, other
    return (), ()


def _share(terms: Iterable[Term], found: Mapping[Term, int], total: int) -> float:
    without = 1.0
    for term in terms:
        without *= 1 - min(1.0, found[term] / max(1, total))
    return 1 - without
