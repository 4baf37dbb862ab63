"""Words as the text index holds them, and in how many entries each stands: what a forgetting is proved by."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Iterable, Sequence

from recall import segment
from recall.index import fulltext
from recall.index.layers import layer


def of_text(text: str) -> set[str]:
    """The words of a text."""
    return {word for piece in segment.pieces(text) for column in segment.both(piece) for word in column.split()}


def of_entries(connection: sqlite3.Connection, numbers: Sequence[int]) -> Counter[str]:
    """Word -> in how many of the entries of these conversations it stands."""
    counts: Counter[str] = Counter()
    rows = connection.execute(
        """SELECT text, role FROM entries WHERE text <> ''
           AND conversation_no IN (SELECT value FROM json_each(?))""",
        (json.dumps(list(numbers)),),
    )
    for row in rows:
        body, whole = fulltext.columns(row["text"], row["role"])
        counts.update({*body.split(), *whole.split()})
    return counts


def documents(connection: sqlite3.Connection, profile_no: int, wanted: Iterable[str]) -> dict[str, int]:
    """Word -> in how many entries of a profile it stands by the vocabulary of its text index."""
    index = layer(connection, profile_no, "text")
    sql = index.engine.documents(index.table)
    found = {}
    for word in wanted:
        row = connection.execute(sql, (word,)).fetchone()
        found[word] = int(row[0]) if row is not None else 0
    return found


def compact(connection: sqlite3.Connection, profile_no: int) -> None:
    """Merge the text index into one piece, in which nothing is left of what was taken out."""
    for name in ("text", "curated"):
        table = f"{name}_{profile_no}"
        connection.execute(f"INSERT INTO {table} ({table}) VALUES ('optimize')")
