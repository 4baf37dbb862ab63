"""Whether words that nobody holds any more still stand in the files: the proof of a forgetting by their raw bytes.

A word counts as left over where the bytes of the index, its log or its side files hold it and no text that is stored
now does. Terms of the text index are prefix-compressed, so its vocabulary is checked apart from this (`words.py`).
"""

from __future__ import annotations

import json
import re
import sqlite3
import subprocess
import sys
from collections.abc import Collection, Sequence
from pathlib import Path

from recall.errors import StateError
from recall.index import raw_scan

SAMPLE, SHORTEST = 64, 8  # bytes: a shorter run can stand in a binary file by chance
_SIDE_FILES = ("", "-wal", "-shm", "-journal")


def sample(distinct: Collection[str]) -> list[str]:
    """The words to look for: the longest."""
    fitting = [word for word in distinct if len(word.encode("utf-8")) >= SHORTEST]
    return sorted(fitting, key=lambda word: (-len(word), word))[:SAMPLE]


def files_of(database: Path) -> list[Path]:
    """The index with its side files, there or not: SQLite makes and removes these under our hands."""
    return [database.with_name(database.name + suffix) for suffix in _SIDE_FILES]


def left_over(connection: sqlite3.Connection, database: Path, wanted: Sequence[str]) -> dict[str, list[str]]:
    """File name -> the words that only its bytes hold."""
    if not wanted:
        return {}
    in_files = _in_files(database, wanted)
    suspects = sorted(set().union(*in_files.values()))
    held = _in_text(connection, suspects) if suspects else set()
    return {name: sorted(words - held) for name, words in in_files.items() if words - held}


def _in_files(database: Path, wanted: Sequence[str]) -> dict[str, set[str]]:
    """File name -> the words in its bytes, as a process finds them that holds no lock on these files (`raw_scan`)."""
    paths = {str(path): path.name for path in files_of(database)}
    try:
        scan = subprocess.run(
            [sys.executable, "-I", raw_scan.__file__],
            input=json.dumps({"words": list(wanted), "paths": list(paths)}).encode("utf-8"),
            capture_output=True,
            check=True,
        )
        found: dict[str, list[str]] = json.loads(scan.stdout)
    except (OSError, subprocess.CalledProcessError, ValueError) as error:
        message = "It is gone from the index, but the files could not be searched for what may be left of it"
        raise StateError("index_unavailable", message, "forget it once more", {"path": str(database)}) from error
    return {paths[path]: set(words) for path, words in found.items()}


def _in_text(connection: sqlite3.Connection, suspects: Sequence[str]) -> set[str]:
    """Those of the words that a text in a row of our tables holds, as a part of another word too, or our schema."""
    pattern = re.compile("|".join(map(re.escape, suspects)), re.IGNORECASE)
    found: set[str] = set()
    for (statement,) in connection.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL"):
        found |= {match[0].lower() for match in pattern.finditer(statement)}
    tables = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND sql LIKE '%STRICT'").fetchall()
    for (table,) in tables:
        columns = [row["name"] for row in connection.execute(f'PRAGMA table_info("{table}")') if row["type"] == "TEXT"]
        for column in columns:
            for (text,) in connection.execute(f'SELECT "{column}" FROM "{table}" WHERE "{column}" IS NOT NULL'):
                found |= {match[0].lower() for match in pattern.finditer(text)}
    return found
