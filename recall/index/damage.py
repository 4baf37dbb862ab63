"""What is left of an index file that SQLite calls damaged: its words for it, and how far each table can be read.

Nothing is written, and nothing is asked of the file that it cannot say: a table is read row by row until it breaks off.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

TABLES = ("conversations", "entries", "topics", "facets", "findings", "projects", "ledger", "model_cache")
_MOST_WORDS = 5


@dataclass(frozen=True, slots=True)
class Left:
    """`rows` has for each table how many rows were read, and whether that was the end of the table."""

    problems: tuple[str, ...]
    rows: Mapping[str, tuple[int, bool]]


def left_of(path: Path) -> Left:
    """Read what can be read of the file at this path."""
    flags = "mode=ro" if path.with_name(f"{path.name}-wal").exists() else "mode=ro&immutable=1"
    with closing(sqlite3.connect(f"file:{quote(str(path))}?{flags}", uri=True, isolation_level=None)) as connection:
        connection.text_factory = bytes  # what is damaged need not be UTF-8
        return Left(_problems(connection), {table: _read(connection, table) for table in TABLES})


def _problems(connection: sqlite3.Connection) -> tuple[str, ...]:
    try:
        found = [row[0].decode("utf-8", "replace") for row in connection.execute(f"PRAGMA quick_check({_MOST_WORDS})")]
    except (sqlite3.Error, UnicodeDecodeError) as error:
        return (str(error),)
    return () if found == ["ok"] else tuple(found)


def _read(connection: sqlite3.Connection, table: str) -> tuple[int, bool]:
    rows = 0
    try:
        for _ in connection.execute(f"SELECT * FROM {table}"):
            rows += 1
    except (sqlite3.Error, UnicodeDecodeError):
        return rows, False
    return rows, True
