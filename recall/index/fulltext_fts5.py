"""The text index in FTS5: its statements, and how a query is written for it.

The tokenizer `ascii` keeps letters, digits and everything beyond ASCII together and splits at the spaces that the
segmenter wrote, so it decides nothing.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from recall.query import Term

SCOPED = True  # a query can be narrowed by the scope column
BODY_WEIGHT, WHOLE_WEIGHT, SCOPE_WEIGHT = 1.0, 1.0, 0.0


def tables(number: int) -> tuple[str, ...]:
    """The statements that make a profile's views, index tables and vocabulary."""
    return (
        f"""
        CREATE VIEW text_{number}_view AS
        SELECT e.entry_no AS rowid, segment_body(e.text, e.role) AS body, segment_whole(e.text, e.role) AS whole,
               scope_words(e.role, e.marks, e.at, e.conversation_no) AS scope
        FROM entries AS e JOIN conversations AS c USING (conversation_no)
        WHERE c.profile_no = {number} AND e.text <> ''
        """,
        f"""
        CREATE VIRTUAL TABLE text_{number} USING fts5(
            body, whole, scope, content='text_{number}_view', content_rowid='rowid', tokenize='ascii')
        """,
        f"CREATE VIRTUAL TABLE text_{number}_words USING fts5vocab('text_{number}', 'row')",
        f"""
        CREATE VIEW curated_{number}_view AS
        SELECT curated_no AS rowid, segment_body(text) AS body, segment_whole(text) AS whole
        FROM curated_texts WHERE profile_no = {number}
        """,
        f"""
        CREATE VIRTUAL TABLE curated_{number} USING fts5(
            body, whole, content='curated_{number}_view', content_rowid='rowid', tokenize='ascii')
        """,
        f"CREATE VIRTUAL TABLE curated_{number}_words USING fts5vocab('curated_{number}', 'row')",
    )


def remove(table: str, columns: str) -> str:
    """The statement that takes rows out of an index table, by their old words; one parameter, a JSON list of rowids."""
    return f"""
        INSERT INTO {table} ({table}, rowid, {columns})
        SELECT 'delete', v.rowid, {columns} FROM json_each(?) AS n CROSS JOIN {table}_view AS v ON v.rowid = n.value
    """


def integrity(table: str) -> str:
    """The check against the content. Without rank 1 it would not see words of rows that are gone."""
    return f"INSERT INTO {table} ({table}, rank) VALUES ('integrity-check', 1)"


def vocabulary(table: str) -> str:
    """A TEMP table of every word of an index table."""
    return f"CREATE VIRTUAL TABLE temp.{table}_seen USING fts5vocab('main', '{table}', 'row')"


def occurrences(table: str) -> str:
    """How many words can be read through that."""
    return f"SELECT sum(cnt) FROM temp.{table}_seen"


def recorded(connection: sqlite3.Connection, table: str) -> int | None:
    """How many words FTS5 itself says there are: its record of averages holds the rows, then the words by column."""
    row = connection.execute(f"SELECT block FROM {table}_data WHERE id = 1").fetchone()
    value = 0
    numbers = []
    for byte in row[0] if row is not None else b"":
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            numbers.append(value)
            value = 0
    return sum(numbers[1:])


def empty(table: str) -> tuple[str, ...]:
    """Bring a table that cannot be opened into a shape that can be dropped: the records of an empty index."""
    return (
        f"DELETE FROM {table}_data",
        f"DELETE FROM {table}_idx",
        f"DELETE FROM {table}_config",
        f"INSERT INTO {table}_config (k, v) VALUES ('version', 4)",
        f"INSERT INTO {table}_data (id, block) VALUES (1, x''), (10, x'00000000000000')",
    )


def documents(table: str) -> str:
    """How many rows have a word; the parameter is the word."""
    return f"SELECT doc FROM {table}_words WHERE term = ?"


def common(table: str) -> str:
    """The words of at least so many rows, each with their number; the parameter is the least."""
    return f"SELECT term, doc FROM {table}_words WHERE doc >= ?"


def score(table: str, *, scoped: bool) -> str:
    """BM25 of the row at hand, larger is better."""
    weights = f"{BODY_WEIGHT}, {WHOLE_WEIGHT}" + (f", {SCOPE_WEIGHT}" if scoped else "")
    return f"-bm25({table}, {weights})"


def drawing(draws: Sequence[Term], scores: Sequence[Term]) -> tuple[str, int]:
    """Rows that hold any of what draws; the other terms only score them. With how often each term then counts.

    What draws counts twice, so the others stand twice as well, which keeps the exact order.
    """
    if not scores:
        return any_of(draws), 1
    return f"({any_of(draws)} AND {any_of([*draws, *scores, *scores])})", 2


def pairing(one: Sequence[Term], other: Sequence[Term], scores: Sequence[Term]) -> tuple[str, int]:
    """Rows that hold a term of each group; the same otherwise."""
    pair = f"{any_of(one)} AND {any_of(other)}"
    if not scores:
        return f"({pair})", 1
    return f"({pair} AND {any_of([*one, *other, *scores, *scores])})", 2


def requiring(required: Sequence[Term], scores: Sequence[Term]) -> str:
    """Rows that hold each required phrase; the other terms only score them."""
    return f"({all_of(required)} AND {any_of([*required, *scores])})"


def narrowed(expression: str, scope: Sequence[Sequence[str]]) -> str:
    """The expression, among the rows that have a word of each list in their scope column."""
    clauses = ["(" + " OR ".join(f'"{word}"' for word in words) + ")" for words in scope]
    return " AND ".join([expression, *clauses])


def at_the_start(word: str) -> str:
    """Rows that begin with a word."""
    return f'body : ^ "{word}"'


def any_of(terms: Sequence[Term]) -> str:
    """Rows that hold any of the terms."""
    return "(" + " OR ".join(_term(term) for term in terms) + ")"


def all_of(terms: Sequence[Term]) -> str:
    """Rows that hold all of the terms."""
    return "(" + " AND ".join(_term(term) for term in terms) + ")"


def _term(term: Term) -> str:
    return f'"{" ".join(term.words)}"' + (" *" if term.prefix else "")
