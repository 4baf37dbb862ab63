"""Which entries, or curated texts, hold which terms: the presence that ranking is made from.

What is asked about lies in spans of row numbers, for turns stand side by side. A common word is looked up span by span
(10 µs each in a merged index, and 0.7 a row that it has there), a rare one is walked whole (0.1 µs a row; SQLite 3.40,
measured beside each other). A phrase has no such way: from the beginning of a span FTS5 looks for its next match,
however far that is.
Plain functions on an open connection; they read only.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from recall.index.frequencies import Counts, is_compound
from recall.index.layers import Layer
from recall.query import Term

ALONE = 60_000  # rows of a term that tells something by itself,
TOGETHER = 120_000  # and of all such terms of a query
WALKED = 10_000  # rows of a term that are walked at once; of more
SEEK = 60  # rows of a term that are walked in the time of one look-up of a span,
NEAR = 12  # and those that are handed over in it


@dataclass(frozen=True, slots=True)
class Holding:
    """`rows`: which of those that were asked about hold the term; `total`: about how many rows of the index do."""

    rows: frozenset[int]
    total: int


@dataclass(frozen=True, slots=True)
class _Wanted:
    """The rows that are asked about, as each way to look up wants them."""

    rows: frozenset[int]
    order: tuple[int, ...]
    listed: str  # as JSON

    @classmethod
    def of(cls, rows: Iterable[int]) -> _Wanted:
        order = sorted(rows)
        return cls(frozenset(order), tuple(order), json.dumps(order))


def of_terms(counts: Counts, found: Mapping[Term, int], among: Collection[int]) -> dict[Term, Holding]:
    """What `among` (row numbers) hold. `found`: the terms with about how many rows hold each.

    The commonest terms of a long query are said to be held where a rarer one stands as well: by themselves they would
    only tell that a text is long.
    """
    wanted = _Wanted.of(among)
    holding: dict[Term, Holding] = {}
    telling: frozenset[int] = frozenset()
    left = TOGETHER
    for term in sorted((term for term in found if found[term]), key=lambda term: found[term]):
        rows, total = _rows(counts, term, found[term], wanted)
        if holding and found[term] > min(ALONE, left):
            rows &= telling
        else:
            telling |= rows
            left -= total
        holding[term] = Holding(rows, total)
    return holding


def _rows(counts: Counts, term: Term, total: int, wanted: _Wanted) -> tuple[frozenset[int], int]:
    """Which of the wanted rows hold a term, and how many rows of all; `total`: about how many."""
    connection, index = counts.connection, counts.index
    match = index.engine.any_of([term])
    if is_compound(term):
        rows = counts.rows(term)
        if rows is not None:
            return rows & wanted.rows, len(rows)
        total = _count(connection, index, match)
    seeks = index.engine.SEEKS and not term.prefix and total > WALKED
    spans = _spans(wanted.order, total) if seeks else []
    if spans and len(spans) * SEEK < total:
        return _in_spans(connection, index, match, spans) & wanted.rows, total
    return _among(connection, index, match, wanted.listed), total


def _spans(wanted: Sequence[int], total: int) -> list[tuple[int, int]]:
    """The wanted rows (in order) in spans with so few rows of a term between them that walking on is quicker.

    `total` rows hold the term, as if each as far from the next.
    """
    gap = NEAR * wanted[-1] // max(1, total) if wanted else 0
    spans: list[tuple[int, int]] = []
    for row in wanted:
        if spans and row - spans[-1][1] <= gap:
            spans[-1] = (spans[-1][0], row)
        else:
            spans.append((row, row))
    return spans


def _in_spans(
    connection: sqlite3.Connection, index: Layer, match: str, spans: Sequence[tuple[int, int]]
) -> frozenset[int]:
    """The rows within the spans that match."""
    rows = connection.execute(
        f"""SELECT t.rowid FROM json_each(:spans) AS span CROSS JOIN {index.table} AS t
            WHERE t.{index.table} MATCH :match AND t.rowid BETWEEN span.value ->> 0 AND span.value ->> 1""",
        {"match": match, "spans": json.dumps(spans)},
    )
    return frozenset(row[0] for row in rows)


def at_the_start(
    connection: sqlite3.Connection, index: Layer, words: Iterable[str], among: Collection[int]
) -> dict[str, frozenset[int]]:
    """Which of the entries begin with each word."""
    wanted = json.dumps(list(among))
    return {word: _among(connection, index, index.engine.at_the_start(word), wanted) for word in words}


def _among(connection: sqlite3.Connection, index: Layer, match: str, wanted: str) -> frozenset[int]:
    """Which of the wanted rows (a JSON list) match."""
    rows = connection.execute(
        f"""SELECT rowid FROM {index.table} WHERE {index.table} MATCH :match
            AND +rowid IN (SELECT value FROM json_each(:wanted))""",
        {"match": match, "wanted": wanted},
    )
    return frozenset(row[0] for row in rows)


def _count(connection: sqlite3.Connection, index: Layer, match: str) -> int:
    sql = f"SELECT count(*) FROM {index.table} WHERE {index.table} MATCH ?"
    return int(connection.execute(sql, (match,)).fetchone()[0])
