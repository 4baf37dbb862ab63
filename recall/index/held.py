"""Which entries, or curated texts, hold which terms: the presence that ranking is made from.

Walking the rows of a term costs 0.6 µs each and asking for one row 100 µs (SQLite 3.40, measured beside each other),
so a term is walked whole where that is affordable, and else only together with the terms that drew the candidates.
Plain functions on an open connection; they read only.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Literal

from recall.index import fulltext
from recall.index.matches import ENGINES
from recall.query import Term

WALKED = 20_000  # rows of one term
MOST_WALKED = 120_000  # rows of all terms


@dataclass(frozen=True, slots=True)
class Holding:
    """`rows`: which of those that were asked about hold the term; `total`: how many rows of the index do."""

    rows: frozenset[int]
    total: int


def of_terms(
    connection: sqlite3.Connection,
    profile_no: int,
    layer: Literal["text", "curated"],
    found: Mapping[Term, int],
    among: Collection[int],
) -> dict[Term, Holding]:
    """What `among` (row numbers) hold. `found`: the terms with about how many rows hold them."""
    engine = ENGINES[fulltext.engine_of(connection, profile_no)]
    table = f"{layer}_{profile_no}"
    wanted = frozenset(among)
    holding: dict[Term, Holding] = {}
    left = MOST_WALKED
    drawn: list[Term] = []
    for term in sorted((term for term in found if found[term]), key=lambda term: found[term]):
        whole = found[term] <= min(WALKED, left) or not drawn
        rows = _rows(connection, engine, table, [term], () if whole else drawn)
        if whole:
            left -= len(rows)
            drawn.append(term)
        holding[term] = Holding(wanted.intersection(rows), len(rows) if whole else found[term])
    return holding


def at_the_start(
    connection: sqlite3.Connection, profile_no: int, words: Iterable[str], among: Collection[int]
) -> dict[str, frozenset[int]]:
    """Which of the entries begin with each word."""
    engine = ENGINES[fulltext.engine_of(connection, profile_no)]
    table = f"text_{profile_no}"
    wanted = frozenset(among)
    sql = f"SELECT rowid FROM {table} WHERE {table} MATCH ? LIMIT {WALKED}"
    return {
        word: wanted.intersection(row[0] for row in connection.execute(sql, (engine.at_the_start(word),)))
        for word in words
    }


def _rows(
    connection: sqlite3.Connection, engine: ModuleType, table: str, terms: Sequence[Term], beside: Sequence[Term]
) -> list[int]:
    match = engine.expression(beside, [], terms, []) if beside else engine.expression(terms, [], [], [])
    return [
        row[0]
        for row in connection.execute(f"SELECT rowid FROM {table} WHERE {table} MATCH ? LIMIT {WALKED}", (match,))
    ]
