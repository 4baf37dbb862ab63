"""Which entries, or curated texts, hold which terms: the presence that ranking is made from.

Walking the rows of a term inside SQLite costs 0.1 µs each, fetching them 0.5, and asking for one row 100 (SQLite 3.40,
measured beside each other), so a term is walked whole where that is affordable, and else only together with the terms
that drew the candidates. Where every term is common the newest rows of the rarest are walked.
Plain functions on an open connection; they read only.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from recall.index.layers import Layer
from recall.query import Term

WALKED = 60_000  # rows of one term
MOST_WALKED = 120_000  # rows of all terms


@dataclass(frozen=True, slots=True)
class Holding:
    """`rows`: which of those that were asked about hold the term; `total`: about how many rows of the index do."""

    rows: frozenset[int]
    total: int


def of_terms(
    connection: sqlite3.Connection, index: Layer, found: Mapping[Term, int], among: Collection[int]
) -> dict[Term, Holding]:
    """What `among` (row numbers) hold. `found`: the terms with about how many rows hold each."""
    wanted = json.dumps(list(among))
    holding: dict[Term, Holding] = {}
    left = MOST_WALKED
    drawn: list[Term] = []
    for term in sorted((term for term in found if found[term]), key=lambda term: found[term]):
        whole = found[term] <= min(WALKED, left)
        total = found[term]
        if whole or not drawn:
            match = index.engine.any_of([term])
            if whole and (term.prefix or len(term.words) > 1):
                total = _count(connection, index, match)
            left -= total
            drawn.append(term)
        else:
            match = index.engine.pairing([term], drawn, ())[0]
        holding[term] = Holding(_among(connection, index, match, wanted), total)
    return holding


def at_the_start(
    connection: sqlite3.Connection, index: Layer, words: Iterable[str], among: Collection[int]
) -> dict[str, frozenset[int]]:
    """Which of the entries begin with each word."""
    wanted = json.dumps(list(among))
    return {word: _among(connection, index, index.engine.at_the_start(word), wanted) for word in words}


def _among(connection: sqlite3.Connection, index: Layer, match: str, wanted: str) -> frozenset[int]:
    """Which of the wanted rows (a JSON list) match, of the newest MOST_WALKED that do."""
    rows = connection.execute(
        f"""SELECT rowid FROM (SELECT rowid FROM {index.table} WHERE {index.table} MATCH :match
                               ORDER BY rowid DESC LIMIT {MOST_WALKED})
            WHERE rowid IN (SELECT value FROM json_each(:wanted))""",
        {"match": match, "wanted": wanted},
    )
    return frozenset(row[0] for row in rows)


def _count(connection: sqlite3.Connection, index: Layer, match: str) -> int:
    sql = f"SELECT count(*) FROM {index.table} WHERE {index.table} MATCH ?"
    return int(connection.execute(sql, (match,)).fetchone()[0])
