"""The text index in FTS4, for SQLite builds without FTS5, ranked by sqlite-fts4.

Only what both query grammars of FTS4 read alike is written: a list with OR, or quoted phrases side by side (all of
them). Ranking runs in Python, a row at a time.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from recall.query import Term

SCOPED = False  # both query grammars know no OR beside an AND
SEEKS = False  # all rows of a word are read, whatever range is asked for


def rank(matchinfo: bytes) -> float:
    """BM25 of matchinfo 'pcnalx', larger is better."""
    from sqlite_fts4 import rank_bm25

    return -float(rank_bm25(matchinfo))


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
        CREATE VIRTUAL TABLE text_{number} USING fts4(
            content="text_{number}_view", body, whole, scope, tokenize=simple)
        """,
        f"CREATE VIRTUAL TABLE text_{number}_words USING fts4aux(text_{number})",
        f"""
        CREATE VIEW curated_{number}_view AS
        SELECT curated_no AS rowid, segment_body(text) AS body, segment_whole(text) AS whole
        FROM curated_texts WHERE profile_no = {number}
        """,
        f"""
        CREATE VIRTUAL TABLE curated_{number} USING fts4(
            content="curated_{number}_view", body, whole, tokenize=simple)
        """,
        f"CREATE VIRTUAL TABLE curated_{number}_words USING fts4aux(curated_{number})",
    )


def remove(table: str, columns: str) -> str:  # noqa: ARG001 - FTS4 reads the old words itself
    """The statement that takes rows out of an index table; one parameter, a JSON list of rowids."""
    return f"DELETE FROM {table} WHERE docid IN (SELECT value FROM json_each(?))"


def integrity(table: str) -> str:
    """The check against the content."""
    return f"INSERT INTO {table} ({table}) VALUES ('integrity-check')"


def vocabulary(table: str) -> str:
    """A TEMP table of every word of an index table."""
    return f"CREATE VIRTUAL TABLE temp.{table}_seen USING fts4aux(main, {table})"


def occurrences(table: str) -> str:
    """How many words can be read through that."""
    return f"SELECT sum(occurrences) FROM temp.{table}_seen WHERE col = '*'"


def recorded(connection: sqlite3.Connection, table: str) -> int | None:  # noqa: ARG001 - the face of both engines
    """FTS4 counts characters and not words: nothing to compare with."""
    return None


def broken(connection: sqlite3.Connection, table: str, words: Sequence[str]) -> str | None:  # noqa: ARG001
    """What of the list of segments is gone; FTS4 says of the segments themselves that they are damaged."""
    held = connection.execute(f"SELECT 1 FROM {table}_docsize LIMIT 1").fetchone() is not None
    if connection.execute(f"SELECT 1 FROM {table}_segdir LIMIT 1").fetchone() is None:
        return "its list of segments is empty" if held else None
    counted = connection.execute(f"SELECT value FROM {table}_stat WHERE id = 0").fetchone()
    if held != (counted is not None and counted[0][:1] > b"\0"):  # the number of rows comes first
        return "its record of lengths is empty"
    gap = connection.execute(
        f"SELECT 1 FROM {table}_segdir GROUP BY level HAVING max(idx) >= count(*) LIMIT 1"
    ).fetchone()
    return None if gap is None else "a segment is gone"


def empty(table: str) -> tuple[str, ...]:
    """Bring a table that cannot be opened into a shape that can be dropped."""
    return (f"DELETE FROM {table}_segments", f"DELETE FROM {table}_segdir", f"DELETE FROM {table}_stat")


def merge(connection: sqlite3.Connection, table: str, *, begun: bool) -> bool:  # noqa: ARG001 - it is whole at once
    """Merge the pieces of an index table; whether more is left."""
    connection.execute(f"INSERT INTO {table} ({table}) VALUES ('optimize')")
    return False


def documents(table: str) -> str:
    """How many rows have a word; the parameter is the word."""
    return f"SELECT documents FROM {table}_words WHERE term = ? AND col = '*'"


def common(table: str) -> str:
    """The words of at least so many rows, each with their number; the parameter is the least."""
    return f"SELECT term, documents FROM {table}_words WHERE col = '*' AND documents >= ?"


def score(table: str, *, scoped: bool) -> str:  # noqa: ARG001 - no scope word is ever matched here
    """BM25 of the row at hand, larger is better."""
    return f"rank_fts4(matchinfo({table}, 'pcnalx'))"


def drawing(draws: Sequence[Term], scores: Sequence[Term]) -> tuple[str, int]:  # noqa: ARG001 - see SCOPED
    """Rows that hold any of what draws, and how often each term counts in their score."""
    return any_of(draws), 1


def pairing(one: Sequence[Term], other: Sequence[Term], scores: Sequence[Term]) -> tuple[str, int]:  # noqa: ARG001 - see SCOPED
    """Rows that hold the rarest term of each group."""
    return all_of((*one[:1], *other[:1])), 1


def requiring(required: Sequence[Term], scores: Sequence[Term]) -> str:  # noqa: ARG001 - see SCOPED
    """Rows that hold each required phrase."""
    return all_of(required)


def narrowed(expression: str, scope: Sequence[Sequence[str]]) -> str:  # noqa: ARG001 - as above
    """The expression as it is."""
    return expression


def any_of(terms: Sequence[Term]) -> str:
    """Rows that hold any of the terms."""
    return " OR ".join(_term(term) for term in terms)


def all_of(terms: Sequence[Term]) -> str:
    """Rows that hold all of the terms."""
    return " ".join(_term(term) for term in terms)


def at_the_start(word: str) -> str:
    """Rows that begin with a word."""
    return f"body:^{word}"


def _term(term: Term) -> str:
    text = " ".join(term.words)
    return f'"{text}*"' if term.prefix else f'"{text}"'
