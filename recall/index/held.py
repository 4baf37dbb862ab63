"""Which entries, or curated texts, hold which terms: the presence that ranking is made from.

Walking the rows of a term costs 0.6 µs each and asking for one row 100 µs (SQLite 3.40, measured beside each other),
so a term is walked whole where that is affordable, and else only together with the terms that drew the candidates.
Plain functions on an open connection; they read only.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from recall.index.layers import Layer
from recall.query import Term

WALKED = 20_000  # rows of one term
MOST_WALKED = 60_000  # rows of all terms


@dataclass(frozen=True, slots=True)
class Holding:
    """`rows`: which of those that were asked about hold the term; `total`: about how many rows of the index do."""

    rows: frozenset[int]
    total: int


def of_terms(
    connection: sqlite3.Connection, index: Layer, found: Mapping[Term, int], among: Collection[int]
) -> dict[Term, Holding]:
    """What `among` (row numbers) hold. `found`: the terms with about how many rows hold each."""
    wanted = frozenset(among)
    holding: dict[Term, Holding] = {}
    left = MOST_WALKED
    drawn: list[Term] = []
    for term in sorted((term for term in found if found[term]), key=lambda term: found[term]):
        whole = found[term] <= min(WALKED, left) or not drawn
        match = index.engine.any_of([term]) if whole else index.engine.pairing([term], drawn, ())[0]
        rows = _rows(connection, index, match)
        if whole:
            left -= len(rows)
            drawn.append(term)
        holding[term] = Holding(wanted.intersection(rows), len(rows) if whole else found[term])
    return holding


def at_the_start(
    connection: sqlite3.Connection, index: Layer, words: Iterable[str], among: Collection[int]
) -> dict[str, frozenset[int]]:
    """Which of the entries begin with each word."""
    wanted = frozenset(among)
    return {word: wanted.intersection(_rows(connection, index, index.engine.at_the_start(word))) for word in words}


def _rows(connection: sqlite3.Connection, index: Layer, match: str) -> list[int]:
    sql = f"SELECT rowid FROM {index.table} WHERE {index.table} MATCH ? LIMIT {WALKED}"
    return [row[0] for row in connection.execute(sql, (match,))]
