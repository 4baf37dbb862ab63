"""In how many rows of a text index a term stands: what a query's plan is made from.

The index itself answers for a rare word at once, and for a common one in as many steps as there are rows. The commonest
are therefore counted once in a while, at the end of a run that indexed, forgot or imported, and kept in
`frequent_words`; what is kept may be a little old, which changes a plan's costs and no answer. Plain functions on an
open connection, which never commit, but for `renew`.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass

from recall.index.database import Database
from recall.index.layers import Layer, LayerName, layer
from recall.query import Term

LEAST_ROWS = 5000  # below, every word is looked up quickly
KEPT_LEAST, KEPT_SHARE = 500, 0.002  # a word in fewer rows than either is not kept
GROWN = 1.2  # times as many rows as were there: counted again
COUNTED = 5000  # rows that hold a phrase are counted so far
LONG = 20_000  # rows of a word that make a phrase with it long to walk

_LAYERS: tuple[LayerName, ...] = ("text", "curated")


@dataclass(frozen=True, slots=True)
class Counted:
    """The commonest words of a profile, as counted: (layer, word, rows); `rows` are those of the index then."""

    profile_no: int
    rows: int
    words: tuple[tuple[str, str, int], ...]


class Counts:
    """In how many rows of a layer terms stand, and of phrases in which: each looked up once. For one snapshot."""

    def __init__(self, connection: sqlite3.Connection, index: Layer) -> None:
        self.connection, self.index = connection, index
        self._found: dict[Term, int] = {}
        self._rows: dict[Term, frozenset[int] | None] = {}
        self._long: set[Term] = set()
        self.written: dict[frozenset[Term], list[sqlite3.Row]] = {}  # the curated texts that match these terms best

    def of_terms(self, terms: Iterable[Term]) -> dict[Term, int]:
        """In how many rows each term stands; a phrase in no more than that, which is as many as its rarest word has.

        Where that would be COUNTED or more, or one of its words has so many rows that to score it would cost more, the
        phrase is counted, so far; and so is the beginning of a word.
        """
        terms = list(dict.fromkeys(terms))
        asked = {word for term in terms if term not in self._found for word in _whole(term)}
        words = of_words(self.connection, self.index, asked) if asked else {}
        for term in terms:
            if term not in self._found:
                rows = [words[word] for word in _whole(term)]
                most = min(rows, default=COUNTED)
                if is_compound(term) and max(rows, default=0) > LONG:
                    self._long.add(term)
                counted = most > 0 and is_compound(term) and (term.prefix or most >= COUNTED or term in self._long)
                self._found[term] = self.of_term(term) if counted else most
        return {term: self._found[term] for term in terms}

    def of_term(self, term: Term) -> int:
        """In how many rows a term stands; a phrase, or a beginning, in COUNTED or more where it is so many."""
        if not is_compound(term):
            return self.of_terms([term])[term]
        rows = self.rows(term)
        return COUNTED if rows is None else len(rows)

    def is_long(self, term: Term) -> bool:
        """Whether it is a phrase with a word in so many rows that to score it costs more than to find it."""
        return term in self._long

    def rows(self, term: Term) -> frozenset[int] | None:
        """The rows that hold a term; None where they are COUNTED or more."""
        if term not in self._rows:
            sql = f"SELECT rowid FROM {self.index.table} WHERE {self.index.table} MATCH :match LIMIT {COUNTED}"
            rows = self.connection.execute(sql, {"match": self.index.engine.any_of([term])}).fetchall()
            self._rows[term] = frozenset(row[0] for row in rows) if len(rows) < COUNTED else None
        return self._rows[term]


def is_compound(term: Term) -> bool:
    """Whether no word of the index is this term: a phrase, or the beginning of words."""
    return term.prefix or len(term.words) > 1


def of_terms(connection: sqlite3.Connection, index: Layer, terms: Iterable[Term]) -> dict[Term, int]:
    """In how many rows each term stands; a phrase, or a beginning, in COUNTED or more where it is so many."""
    return Counts(connection, index).of_terms(terms)


def of_words(connection: sqlite3.Connection, index: Layer, words: Iterable[str]) -> dict[str, int]:
    """In how many rows each word of the index's own spelling stands."""
    found = common(connection, index, words)
    sql = index.engine.documents(index.table)
    for word in words:
        if word not in found:
            row = connection.execute(sql, (word,)).fetchone()
            found[word] = row[0] if row is not None else 0
    return found


def common(connection: sqlite3.Connection, index: Layer, words: Iterable[str]) -> dict[str, int]:
    """Those of the words that are kept as common, with their rows."""
    kept = connection.execute(
        """SELECT word, rows FROM json_each(:words) AS asked
           CROSS JOIN frequent_words ON profile_no = :profile AND layer = :layer AND word = asked.value""",
        {"words": json.dumps(sorted(set(words))), "profile": index.profile_no, "layer": index.name},
    )
    return {row["word"]: row["rows"] for row in kept}


def _whole(term: Term) -> tuple[str, ...]:
    return term.words[:-1] if term.prefix else term.words


def renew(database: Database, profile_no: int) -> None:
    """Count the commonest words again, and merge the index, where that is due; neither locks anybody out for long.

    What was published or forgotten meanwhile makes the counts void: a word may be gone for good. The next run counts.
    """
    with database.read() as connection:
        seen, counted = _generation(connection, profile_no), count(connection, profile_no)
    if counted is not None:
        with database.write() as connection:
            if _generation(connection, profile_no) == seen:
                keep(connection, counted)
        _merge(database, profile_no)


def _merge(database: Database, profile_no: int) -> None:
    """Merge what every publication left, a part at a time: a word is looked up in each of the index's pieces."""
    for name in _LAYERS:
        more, begun = True, False
        while more:
            with database.write() as connection:
                index = layer(connection, profile_no, name)
                more = index.engine.merge(connection, index.table, begun=begun)
            begun = True


def count(connection: sqlite3.Connection, profile_no: int) -> Counted | None:
    """The commonest words, counted by reading the whole index; None where it has not grown enough since they were."""
    counted = connection.execute("SELECT counted_rows FROM text_indexes WHERE profile_no = ?", (profile_no,)).fetchone()
    if counted is None:
        return None
    rows = _rows(connection, profile_no)
    if rows < LEAST_ROWS or rows < GROWN * counted["counted_rows"]:
        return None
    least = max(KEPT_LEAST, KEPT_SHARE * rows)
    words = []
    for name in _LAYERS:
        index = layer(connection, profile_no, name)
        found = connection.execute(index.engine.common(index.table), (least,))
        words += [(name, str(row[0]), int(row[1])) for row in found]
    return Counted(profile_no, rows, tuple(words))


def keep(connection: sqlite3.Connection, counted: Counted) -> None:
    """Put what was counted in the place of what was kept, inside a writing transaction."""
    clear(connection, counted.profile_no)
    connection.executemany(
        "INSERT INTO frequent_words (profile_no, layer, word, rows) VALUES (?, ?, ?, ?)",
        [(counted.profile_no, *word) for word in counted.words],
    )
    connection.execute(
        "UPDATE text_indexes SET counted_rows = ? WHERE profile_no = ?", (counted.rows, counted.profile_no)
    )


def clear(connection: sqlite3.Connection, profile_no: int) -> None:
    """Keep no counts: where words may have left the index for good, none of them may stand here."""
    connection.execute("DELETE FROM frequent_words WHERE profile_no = ?", (profile_no,))
    connection.execute("UPDATE text_indexes SET counted_rows = 0 WHERE profile_no = ?", (profile_no,))


def _generation(connection: sqlite3.Connection, profile_no: int) -> int:
    row = connection.execute("SELECT generation FROM profiles WHERE profile_no = ?", (profile_no,)).fetchone()
    return int(row["generation"])


def total(connection: sqlite3.Connection) -> int:
    """About how many entries there are: the number of the newest, whichever profile's it is."""
    return int(connection.execute("SELECT max(entry_no) FROM entries").fetchone()[0] or 0)


def _rows(connection: sqlite3.Connection, profile_no: int) -> int:
    index = layer(connection, profile_no, "text")
    return int(connection.execute(f"SELECT count(*) FROM {index.table}_docsize").fetchone()[0])
