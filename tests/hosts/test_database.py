"""Reading a database that its host has open: the newest rows, and not a trace in the host's folder."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from recall.errors import SourceError
from recall.hosts import database
from recall.hosts.catalogue import Catalogue
from recall.settings import load
from tests.hosts import stores
from tests.hosts.stores import hermes, hermes_said
from tests.hosts.test_same_turns import read, stamps
from tests.shared import ROOT

SESSION = "20260407_100000_abc123"


@pytest.fixture
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where private copies go."""
    folder = tmp_path / "scratch"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


@pytest.fixture
def written(home: Path) -> Iterator[tuple[Path, sqlite3.Connection]]:
    """A database whose host has it open: what it wrote last stands in the write-ahead log only."""
    path = hermes(home)
    with closing(sqlite3.connect(path, check_same_thread=False)) as connection:
        connection.execute("PRAGMA wal_autocheckpoint = 0")
        hermes_said(connection, SESSION, "user", "only in the log")
        connection.commit()
        yield path, connection


def texts(home: Path) -> list[str]:
    (item,), warnings = Catalogue(load({"HOME": str(home)}), []).listed()
    assert warnings == []
    return [entry.text for entry in read(item)[0]]


def test_what_stands_in_the_log_is_read_and_nothing_is_left(
    home: Path, scratch: Path, written: tuple[Path, sqlite3.Connection]
) -> None:
    path, connection = written
    assert sorted(file.name for file in path.parent.iterdir()) == ["state.db", "state.db-shm", "state.db-wal"]
    before = stamps(home / ".hermes")
    assert texts(home)[-1] == "only in the log"
    assert stamps(home / ".hermes") == before
    assert list(scratch.iterdir()) == []
    hermes_said(connection, SESSION, "user", "and one more")
    connection.commit()
    assert texts(home)[-1] == "and one more"


def test_without_a_log_the_file_itself_is_read(home: Path, scratch: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = hermes(home)
    before = stamps(home / ".hermes")

    def never(*_arguments: object) -> None:
        raise AssertionError("nothing needs a copy")

    monkeypatch.setattr(database, "_copied", never)
    assert len(texts(home)) == 7
    assert stamps(home / ".hermes") == before
    assert not path.with_name("state.db-shm").exists()


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_nobody_may_write_in_is_read(home: Path, written: tuple[Path, sqlite3.Connection]) -> None:
    path, _ = written
    path.parent.chmod(0o500)
    try:
        assert texts(home)[-1] == "only in the log"
    finally:
        path.parent.chmod(0o700)


def test_a_copy_serves_until_something_changes(
    home: Path, written: tuple[Path, sqlite3.Connection], monkeypatch: pytest.MonkeyPatch
) -> None:
    path, connection = written
    made: list[str] = []
    real = database._copied

    def counted(given: str) -> database._Copy:
        made.append(given)
        return real(given)

    monkeypatch.setattr(database, "_copied", counted)
    texts(home)
    texts(home)
    assert made == [str(path)]
    hermes_said(connection, SESSION, "user", "more")
    connection.commit()
    texts(home)
    assert made == [str(path)] * 2


def test_a_copy_is_not_taken_from_under_its_reader(home: Path, written: tuple[Path, sqlite3.Connection]) -> None:
    path, connection = written
    with database.connect(str(path)) as one:
        rows = iter(one.execute("SELECT content FROM messages ORDER BY id"))
        next(rows)
        hermes_said(connection, SESSION, "user", "later")
        connection.commit()
        with database.connect(str(path)) as other:
            assert other.execute("SELECT count(*) FROM messages").fetchone()[0] == 9
        assert len(list(rows)) == 7


def test_reading_while_the_host_writes(home: Path, written: tuple[Path, sqlite3.Connection]) -> None:
    """Each reading is one state: never fewer rows than the one before, never a torn one."""
    path, connection = written
    stop = threading.Event()

    def write() -> None:
        number = 0
        while not stop.is_set() and number < 400:
            hermes_said(connection, SESSION, "user", f"row {number}")
            connection.commit()
            if number % 20 == 0:
                connection.execute("PRAGMA wal_checkpoint(PASSIVE)")
            number += 1

    writer = threading.Thread(target=write)
    writer.start()
    counts = []

    def count(asked: sqlite3.Connection) -> int:
        rows = [row[0] for row in asked.execute("SELECT content FROM messages ORDER BY id")]
        assert rows[8:] == [f"row {number}" for number in range(len(rows) - 8)]
        return len(rows)

    try:
        for _ in range(5):
            with contextlib.suppress(SourceError):  # `source_busy`: it was written to each time
                counts.append(database.ask(str(path), count))
    finally:
        stop.set()
        writer.join()
    assert counts == sorted(counts)
    assert len(texts(home)) == database.ask(str(path), count)


def test_a_kill_leaves_no_copy(home: Path, scratch: Path, written: tuple[Path, sqlite3.Connection]) -> None:
    path, _ = written
    program = (
        "import os, signal, sys, tempfile\n"
        "from recall.hosts import database\n"
        "tempfile.tempdir = sys.argv[2]\n"
        "with database.connect(sys.argv[1]) as connection:\n"
        "    print(connection.execute('SELECT count(*) FROM messages').fetchone()[0], flush=True)\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    if not hasattr(os, "fork"):
        pytest.skip("an open file keeps its name on this system")
    done = subprocess.run(
        [sys.executable, "-c", program, str(path), str(scratch)], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.returncode) == ("8\n", -9)
    assert list(scratch.iterdir()) == []


def test_a_link_is_not_followed(home: Path) -> None:
    path = hermes(home)
    link = home / "link.db"
    link.symlink_to(path)
    with pytest.raises(SourceError) as error, database.connect(str(link)):
        pass
    assert error.value.code == "not_authorised"


def test_invalid_text_is_replaced(home: Path) -> None:
    path = hermes(home)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE messages SET content = CAST(x'61FF62' AS TEXT) WHERE id = 1")
        connection.commit()
    assert texts(home)[0] == "a\ufffdb"


@pytest.mark.parametrize("host", ["hermes", "opencode"])
def test_a_damage_that_sqlite_cannot_even_say_is_the_hosts_database_and_no_end(host: str, home: Path) -> None:
    """What it says quotes the file, and that is no UTF-8: it must not look like a damage of our index."""
    path = {"hermes": stores.hermes, "opencode": stores.opencode}[host](home)
    stores.pi(home)
    path.write_bytes(path.read_bytes().replace(b"CREATE TABLE", b"CREATE \xfe\xfe\xfe\xfe\xfe"))
    listed, warnings = Catalogue(load({"HOME": str(home)}), []).listed()
    assert [item.source.host for item in listed] == ["pi"]
    (warning,) = warnings
    assert (warning.code, str(path) in warning.message) == ("database_unreadable", True)
    with pytest.raises(SourceError) as error, database.connect(str(path)):
        pass
    assert error.value.code == "source_unreadable"
