"""The text index in FTS5: its statements, and how a query is written for it.

The tokenizer `ascii` keeps letters, digits and everything beyond ASCII together and splits at the spaces that the
segmenter wrote, so it decides nothing.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence

from recall.query import Term

SCOPED = True  # a query can be narrowed by the scope column
SEEKS = True  # a range of rows is looked up without walking to it
MERGED = 1000  # pages that are written in one go
BODY_WEIGHT, WHOLE_WEIGHT, SCOPE_WEIGHT = 1.0, 1.0, 0.0

_AVERAGES, _STRUCTURE = 1, 10  # the rows of the records of averages and of segments
_SECOND_FORM = b"\xff\x00\x00\x01"
_PAGE_BITS = 37  # of a row's number below its segment's
_HEAD = 4  # bytes before the rows of a page
_ZEROS = bytes(8)


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
    row = connection.execute(f"SELECT block FROM {table}_data WHERE id = {_AVERAGES}").fetchone()
    return sum(list(_varints(row[0] if row is not None else b""))[1:])


def broken(connection: sqlite3.Connection, table: str, words: Sequence[str]) -> str | None:
    """What of the pages that these words lead to is damaged. FTS5 itself takes zeros there for "no such word"."""
    record = connection.execute(f"SELECT block FROM {table}_data WHERE id = {_STRUCTURE}").fetchone()
    segments = _segments(bytes(record[0])) if record is not None else []
    held = connection.execute(f"SELECT 1 FROM {table}_docsize LIMIT 1").fetchone() is not None
    if not segments:
        return "its record of segments is empty" if held else None
    averages = connection.execute(f"SELECT block FROM {table}_data WHERE id = {_AVERAGES}").fetchone()
    counted = next(_varints(averages[0]), 0) if averages is not None else 0  # rows
    if held != (counted > 0):  # a search that has few rows to choose from asks for no lengths
        return "its record of lengths is empty"
    rows = connection.execute(
        f"""
        WITH segments AS MATERIALIZED (
            SELECT json_extract(value, '$[0]') AS segment, json_extract(value, '$[1]') AS first,
                   json_extract(value, '$[2]') AS last FROM json_each(:segments)),
        places AS MATERIALIZED (
            SELECT DISTINCT segment, first, last, (
                SELECT pgno >> 1 FROM {table}_idx WHERE segid = segment AND term <= CAST('0' || value AS BLOB)
                ORDER BY term DESC LIMIT 1) AS page
            FROM segments CROSS JOIN json_each(:words))
        -- Of what a merge that has not ended took over already, the list of pages still tells.
        SELECT segment, page, last > first AS several, block
        FROM places LEFT JOIN {table}_data ON id = (segment << {_PAGE_BITS}) + max(coalesce(page, 0), first)
        """,
        {"segments": json.dumps(segments), "words": json.dumps(list(words))},
    )
    for row in rows:
        if row["page"] is None and row["several"]:
            return f"segment {row['segment']} has lost the list of its pages"
        if not _is_leaf(row["block"]):
            return f"page {row['page']} of segment {row['segment']} was overwritten or is gone"
    return None


def _segments(record: bytes) -> list[tuple[int, int, int]]:
    """(number, first page, last page) of each segment, from the record of FTS5 (fts5_index.c, fts5StructureDecode).

    Behind four bytes, and four more that mark its second form: levels, segments, a counter; then for each level two
    numbers, the second how many segments it has; for each of these three numbers, and five more in the second form.
    """
    more = record[4:8] == _SECOND_FORM
    numbers = _varints(record[8 if more else 4 :])
    found = []
    try:
        levels, _, _ = next(numbers), next(numbers), next(numbers)
        for _ in range(levels):
            next(numbers)
            for _ in range(next(numbers)):
                segment = (next(numbers), next(numbers), next(numbers))
                found.append(segment)
                for _ in range(5 if more else 0):
                    next(numbers)
    except StopIteration:
        return []
    return found


def _is_leaf(block: bytes | None) -> bool:
    """Whether it can be a page of words: the end of its rows inside it, and never so many zeros side by side."""
    if block is None or len(block) < _HEAD or not _HEAD <= int.from_bytes(block[2:4], "big") <= len(block):
        return False
    return _ZEROS not in block


def _varints(data: bytes) -> Iterator[int]:
    """SQLite's numbers of seven bits a byte (none here has nine)."""
    value = 0
    for byte in data:
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            yield value
            value = 0


def empty(table: str) -> tuple[str, ...]:
    """Bring a table that cannot be opened into a shape that can be dropped: the records of an empty index."""
    return (
        f"DELETE FROM {table}_data",
        f"DELETE FROM {table}_idx",
        f"DELETE FROM {table}_config",
        f"INSERT INTO {table}_config (k, v) VALUES ('version', 4)",
        f"INSERT INTO {table}_data (id, block) VALUES (1, x''), (10, x'00000000000000')",
    )


def merge(connection: sqlite3.Connection, table: str, *, begun: bool) -> bool:
    """Merge a part of the pieces of an index table; whether more is left. `begun`: it goes on with what was begun."""
    before = connection.total_changes
    part = MERGED if begun else -MERGED  # less than none: all pieces are to become one
    connection.execute(f"INSERT INTO {table} ({table}, rank) VALUES ('merge', ?)", (part,))
    return connection.total_changes - before > 1


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
