"""Whether a profile's text index still answers for what it holds: looked at beside each search, at next to no cost.

SQLite says itself of most damage that it is there. What was overwritten with zeros, or a list of segments that is
empty, it takes for "no such word" and says nothing. Two looks see this: at the index's own records in the very places
that the words of the query lead to, always; and, where the query drew little, at rows over the whole of the table,
which have to be found by a word of their own. What neither sees is left to `status` and `doctor`, which read all:
zeros in a further page of a word that fills several, and lengths of rows that are not those of the text.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable

from recall import segment
from recall.index import frequencies, fulltext
from recall.index.layers import Layer, layer

MOST_WORDS = 64  # of a query that are looked at
_ROWS = 8  # over the table
_NEAR = 50  # rows behind each step, among which one of this profile is taken
_CHARS = 300  # of each
_CHOSEN = {
    "text": """
        SELECT e.entry_no AS number, e.text, e.role
        FROM entries AS e CROSS JOIN conversations AS c USING (conversation_no)
        WHERE e.entry_no >= :from AND e.entry_no < :from + :near AND e.text <> '' AND c.profile_no = :profile
        ORDER BY e.entry_no LIMIT 1
    """,
    "curated": """
        SELECT curated_no AS number, text, NULL AS role FROM curated_texts
        WHERE curated_no >= :from AND curated_no < :from + :near
          AND +profile_no = :profile  -- by an index on it all texts of the profile would be read
        ORDER BY curated_no LIMIT 1
    """,
}
_ENDS = {
    "text": "SELECT (SELECT min(entry_no) FROM entries), (SELECT max(entry_no) FROM entries)",
    "curated": "SELECT (SELECT min(curated_no) FROM curated_texts), (SELECT max(curated_no) FROM curated_texts)",
}


def problem(connection: sqlite3.Connection, profile_no: int, words: Iterable[str], *, little: bool) -> str | None:
    """What the words of a query show of damage, in words. `little`: they drew next to nothing from the entries."""
    asked = list(dict.fromkeys(words))[:MOST_WORDS]
    for index in (layer(connection, profile_no, "text"), layer(connection, profile_no, "curated")):
        said: str | None = index.engine.broken(connection, index.table, asked)
        if said is None and little:
            said = _unfound(connection, index)
        if said is not None:
            return f"{index.table}: {said}"
    return None


def _unfound(connection: sqlite3.Connection, index: Layer) -> str | None:
    """Rows that a word of their own does not find."""
    low, high = connection.execute(_ENDS[index.name]).fetchone()
    if high is None:
        return None
    for first in sorted({high - (high - low) * step // (_ROWS - 1) for step in range(_ROWS)}):
        values = {"from": first, "near": _NEAR, "profile": index.profile_no}
        row = connection.execute(_CHOSEN[index.name], values).fetchone()
        if row is not None and (word := _missing(connection, index, row)):
            return f"row {row['number']} is not found by its word '{word}'"
    return None


def _missing(connection: sqlite3.Connection, index: Layer, row: sqlite3.Row) -> str | None:
    words = _words(row["text"][:_CHARS], row["role"])[:-1]  # the last one may be cut
    common = frequencies.common(connection, index, words)  # to find one row by these is long
    rare = [word for word in words if word not in common]
    if not rare:
        return None
    word = max(rare, key=len)
    found = connection.execute(
        f"SELECT 1 FROM {index.table} WHERE {index.table} MATCH ? AND rowid = ?", (f'"{word}"', row["number"])
    ).fetchone()
    if found is not None or word not in _words(row["text"], row["role"]):  # a label that goes on may be no text
        return None
    return word


def _words(text: str, role: str | None) -> list[str]:
    body = fulltext.columns(text, role)[0] if role is not None else segment.body(text)
    return body.split()
