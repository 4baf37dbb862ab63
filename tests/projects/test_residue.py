"""The search of the index's files for what may be left: all of their bytes, and no lock of SQLite's let go by it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from recall.index import raw_scan, residue
from recall.index.database import Database
from tests.projects.person import Person
from tests.projects.test_forgetting import WORDS, write

_ELSEWHERE = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=0.2)
connection.execute("UPDATE profiles SET created_at = created_at + 1")
print(connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0])
"""


def busy(path: Path) -> bool:
    """Whether another process that writes and then wants the log in the file finds that somebody reads it."""
    done = subprocess.run([sys.executable, "-c", _ELSEWHERE, str(path)], capture_output=True, text=True, check=True)
    return done.stdout.strip() == "1"


def test_who_reads_the_index_goes_on_holding_it(person: Person) -> None:
    write(person, 0)
    person.index()
    database = Database.open(person.database)
    with database.read() as connection:
        assert busy(person.database)
        left = residue.left_over(connection, person.database, [WORDS[0]])
        assert left == {}  # stored now, so it is not left over
        assert busy(person.database)
    database.close()
    assert not busy(person.database)


@pytest.mark.parametrize("place", [0, 1000, raw_scan.CHUNK - 5, raw_scan.CHUNK, 3 * raw_scan.CHUNK - 11])
def test_a_word_is_found_wherever_it_stands(tmp_path: Path, place: int) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"\x00" * place + b"xQuillonBrok\xff" + b"\x00" * 1000)
    assert raw_scan.words_in(str(path), ["quillonbrok", "vermouthglat"]) == ["quillonbrok"]


def test_of_an_empty_file_and_one_that_is_not_there_nothing(tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    for name in ("empty", "nowhere"):
        assert raw_scan.words_in(str(tmp_path / name), ["quillonbrok"]) == []


@pytest.mark.parametrize("gone", ["interpreter", "program"])
def test_a_search_that_cannot_be_made_is_no_proof(person: Person, gone: str) -> None:
    write(person, 0)
    person.index()
    with pytest.MonkeyPatch.context() as patch:
        if gone == "interpreter":
            patch.setattr(sys, "executable", str(person.home / "nowhere"))
        else:
            patch.setattr(raw_scan, "__file__", str(person.home / "nowhere.py"))
        assert person.refused("forget", "pi:0abc0001") == "index_unavailable"
    assert person.found(WORDS[0]) == []  # what could be done is done
    assert person.done("forget", "pi:0abc0001")["proof"]["ok"]
