"""What SQLite can meet: damage in the text index, no WAL, other writers, loose modes, files of others."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import sqlite3
import stat
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from recall.index.file import APPLICATION_ID, SCHEMA_VERSION
from tests.process.world import World, assert_sound, bytes_of, ended, until, visible

TURNS = ["Where is the heron?", "The heron is found at the pond.", "And the bittern?", "It works in the reeds."]
OTHER = ["Where is the heron now?", "The heron moved to the weir."]


def _damage(database: Path, statement: str) -> None:
    with closing(sqlite3.connect(database, isolation_level=None)) as connection:
        connection.execute(statement)


DAMAGE = {
    "segments-gone": "DELETE FROM text_1_data WHERE id > 10",
    "blob-zeroed": "UPDATE text_1_data SET block = zeroblob(length(block)) WHERE id > 10",
    "blob-overwritten": "UPDATE text_1_data SET block = randomblob(length(block)) WHERE id > 10",
    "structure-gone": "DELETE FROM text_1_data WHERE id = 10",
    "structure-zeroed": "UPDATE text_1_data SET block = zeroblob(length(block)) WHERE id = 10",
    "pages-forgotten": "DELETE FROM text_1_docsize",
    "curated-zeroed": "UPDATE curated_1_data SET block = zeroblob(length(block)) WHERE id > 10",
    "curated-gone": "DELETE FROM curated_1_data WHERE id > 10",
}


@pytest.mark.parametrize("healing", ["rebuild", "doctor --rebuild-text-index"])
@pytest.mark.parametrize("damage", DAMAGE)
def test_damage_in_the_text_index_is_named_and_healed(world: World, damage: str, healing: str) -> None:
    world = World(world.home, model="offline")
    source = world.log("heron", TURNS)
    world.done("index", source)
    expected = visible(world)
    if not world.rows("SELECT 1 FROM sqlite_master WHERE name = 'text_1_data'"):
        pytest.skip("the damage is described for FTS5")
    _damage(world.database, DAMAGE[damage])

    health = world.look()["text_index"]
    assert health["healthy"] is False
    assert any("damaged" in problem for problem in health["problems"]), health
    assert world.run("doctor").code == 1
    ran = world.run("search", "heron")
    assert "Traceback" not in ran.err
    assert "internal" not in ran.out
    assert ran.code == 0
    assert ran.answer["conversations"]  # by the stored text
    assert "damaged" in ran.answer["message"]
    assert "doctor --rebuild-text-index" in ran.answer["message"]
    number = expected["5e551011-heron"]["conversation"][0][0]
    if damage in ("structure-zeroed", "blob-overwritten", "structure-gone"):
        forgetting = world.run("forget", number)  # its words cannot be taken out of what is damaged
        assert (forgetting.code, forgetting.error["code"]) == (1, "index_damaged")
        assert "doctor" in forgetting.error["hint"]
        assert visible(world) == expected
    assert world.done("read", number)["fragments"]
    assert world.done("browse")["entries"]

    world.done(*healing.split())
    assert world.look()["text_index"]["healthy"]
    assert world.found("heron") == {"5e551011-heron"}
    assert visible(world) == expected
    assert_sound(world)


def _torn(path: Path, size: int) -> None:
    with path.open("r+b") as file:
        file.truncate(size)


def _overwritten(path: Path) -> None:
    """Every fifth page behind the first ones is noise, but for those that say which tables there are."""
    data = bytearray(path.read_bytes())
    for start in range(5 * 4096, len(data), 5 * 4096):
        if b"CREATE " in data[start : start + 4096]:
            continue
        data[start : start + 4096] = b"\xa5" * len(data[start : start + 4096])
    path.write_bytes(data)


TORN = {
    "half": lambda path: _torn(path, path.stat().st_size // 8192 * 4096),
    "a-page-and-a-bit": lambda path: _torn(path, 5000),
    "header-alone": lambda path: _torn(path, 100),
    "pages-overwritten": _overwritten,
}


@pytest.mark.parametrize("damage", TORN)
@pytest.mark.parametrize("deep", [(), ("--deep",)])
def test_a_damaged_file_still_gets_every_check_and_stays_as_it_is(
    world: World, damage: str, deep: tuple[str, ...]
) -> None:
    world = World(world.home, model="offline")
    world.done("index", world.log("heron", TURNS))
    with closing(sqlite3.connect(world.database)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    TORN[damage](world.database)
    before = bytes_of(world.database)
    ran = world.run("doctor", *deep)
    assert ran.code == 1
    checks = {check["name"]: check for check in json.loads(ran.out)["checks"]}
    assert {"index", "hosts", "permissions", "database", "readable"} <= set(checks)
    assert checks["database"]["ok"] is False
    assert checks["database"]["hint"]
    assert "Traceback" not in ran.err
    assert bytes_of(world.database) == before
    told = checks["readable"]["detail"]
    assert ("nothing" in told) == (damage != "pages-overwritten"), told
    if damage == "pages-overwritten":
        assert re.search(r"[a-z_]+ [1-9]", told), "a table that is whole is told with its rows"
    else:
        assert checks["index"]["ok"] is False


def test_without_wal_it_works_and_says_so(world: World) -> None:
    source = world.log("heron", TURNS)
    world.done("index", source, wal="refused")
    assert world.done("search", "heron", wal="refused")["conversations"]
    assert world.done("status", wal="refused")["database"]["journal_mode"] == "delete"
    report = world.done("doctor", "--deep", wal="refused")
    assert any(check["name"] == "journal" and "delete" in check["detail"] for check in report["checks"])
    assert sorted(path.name for path in world.database.parent.iterdir()) == ["index.db", "index.db.owners"]


def test_without_wal_a_writer_waits_for_the_readers(world: World) -> None:
    world.done("index", world.log("heron", TURNS), wal="refused")
    with closing(sqlite3.connect(world.database, isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT * FROM conversations").fetchall()
        process = world.start("index", world.log("weir", OTHER), wal="refused")
        until(world.database.with_name("index.db-journal").exists, process)
        assert process.code is None
        reader.execute("COMMIT")
    assert ended(process).code == 0
    assert world.found("weir") == {"5e551011-weir"}


@pytest.mark.parametrize("words", [["index", "FILE"], ["status"], ["search", "heron"]])
def test_a_file_system_that_cannot_lock_is_named(world: World, words: list[str]) -> None:
    source = world.log("heron", TURNS)
    if words[0] != "index":
        world.done("index", source)
    ran = world.run(*(str(source) if word == "FILE" else word for word in words), wal="raises")
    assert ran.code == 1
    assert ran.error["code"] == "index_unavailable"
    assert str(world.database) in ran.error["message"]
    assert "HISTORY_RECALL_DB" in ran.error["hint"]
    assert "Traceback" not in ran.err


@pytest.mark.parametrize("at", ["recall.curation:Curator._read", "recall.curation:Curator._publish"])
def test_what_was_read_before_another_wrote_is_no_reason_to_fail(world: World, tmp_path: Path, at: str) -> None:
    world.done("index", world.log("heron", TURNS))
    note = tmp_path / "waits"
    process = world.start("index", world.log("weir", OTHER), at=at, do="wait", note=str(note))
    until(note.exists, process)
    world.done("index", world.log("pond", ["Where is the heron?", "At the pond, it was found."]))
    Path(f"{note}.go").touch()
    assert ended(process).code == 0
    assert_sound(world)


def test_who_only_looks_never_needs_the_write_lock(world: World) -> None:
    source = world.log("heron", TURNS)
    world.done("index", source)
    identity = visible(world)["5e551011-heron"]["conversation"][0][0]
    with closing(sqlite3.connect(world.database, isolation_level=None)) as writer:
        writer.execute("BEGIN IMMEDIATE")
        look = world.done("status")
        assert (look["text_index"]["healthy"], look["text_index"]["problems"]) == (True, [])
        assert world.found("heron") == {"5e551011-heron"}
        for words in (["browse"], ["conversations"], ["read", identity], ["index", str(source)], ["index-all"]):
            world.done(*words)  # the last two find nothing to do, and do not write
        writer.execute("ROLLBACK")


def test_a_writer_waits_for_a_writer(world: World) -> None:
    world.done("index", world.log("heron", TURNS))
    with closing(sqlite3.connect(world.database, isolation_level=None)) as writer:
        writer.execute("BEGIN IMMEDIATE")
        process = world.start("index", world.log("weir", OTHER))
        # longer than SQLite itself waits
        time.sleep(1.0)
        assert process.code is None
        writer.execute("ROLLBACK")
    assert ended(process).code == 0


def test_nothing_can_be_read_by_others_whatever_the_umask(world: World, tmp_path: Path) -> None:
    note = tmp_path / "held"
    process = world.start(
        "index",
        world.log("heron", TURNS),
        umask=0,
        at="tests.process.provider:Provider.send",
        do="hold",
        note=str(note),
    )
    until(note.exists, process)
    with closing(sqlite3.connect(world.database)) as reader:
        reader.execute("SELECT * FROM leases").fetchall()
        made = [world.home / ".local", *(world.home / ".local").rglob("*")]
        names = {path.name for path in made}
        assert {"share", "history-recall", "index.db", "index.db-wal", "index.db-shm", "index.db.owners"} <= names
        assert len([path for path in made if path.parent.name == "index.db.owners"]) == 1
        modes = {str(path): stat.filemode(path.stat().st_mode) for path in made}
        assert set(modes.values()) == {"drwx------", "-rw-------"}, modes
    process.signal(signal.SIGKILL)
    ended(process)


def test_files_that_became_loose_are_closed_again(world: World) -> None:
    world.done("index", world.log("heron", TURNS))
    world.database.chmod(0o644)
    world.done("search", "heron")
    assert stat.S_IMODE(world.database.stat().st_mode) == 0o600


def _other_version(path: Path, version: int) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {version}")
        connection.execute("CREATE TABLE of_another_time (x)")
        connection.commit()


def _other_program(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE a (b)")


def _newer_with_log(path: Path, *, shared: bool) -> None:
    """A newer version whose stamp stands in the log only, left by a process that was killed."""
    _other_version(path, SCHEMA_VERSION)
    pid = os.fork()
    if pid == 0:
        connection = sqlite3.connect(path, isolation_level=None)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("CREATE TABLE newer (x)")
        connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 1}")
        os._exit(0)
    os.waitpid(pid, 0)
    assert path.with_name(path.name + "-wal").stat().st_size > 0
    if not shared:
        path.with_name(path.name + "-shm").unlink()


FOREIGN: dict[str, Callable[[Path], object]] = {
    "newer": lambda path: _other_version(path, 999),
    "older": lambda path: _other_version(path, 0),
    "newer-in-the-log": lambda path: _newer_with_log(path, shared=False),
    "newer-in-the-log-with-memory": lambda path: _newer_with_log(path, shared=True),
    "another-program": _other_program,
    "text": lambda path: path.write_text("not a database\n" * 100),
    "zero-bytes": lambda path: path.write_bytes(b""),
    "folder": lambda path: path.mkdir(),
}
COMMANDS = [["status"], ["search", "heron"], ["index", "FILE"], ["index-all"], ["doctor"], ["rebuild"], ["browse"]]


def _snapshot(folder: Path) -> dict[str, Any]:
    # The shared memory of a log says who reads; it holds nothing.
    return {
        path.name: "shared memory" if path.name.endswith("-shm") else bytes_of(path) if path.is_file() else "folder"
        for path in folder.iterdir()
    }


@pytest.mark.parametrize("kind", FOREIGN)
def test_what_is_not_ours_or_of_another_version_is_refused_untouched(world: World, kind: str) -> None:
    source = world.log("heron", TURNS)
    world.database.parent.mkdir(parents=True, mode=0o700)
    FOREIGN[kind](world.database)
    before = _snapshot(world.database.parent)
    for words in COMMANDS:
        ran = world.run(*(str(source) if word == "FILE" else word for word in words))
        assert ran.code == 1
        assert ran.error["code"] == "unsupported_index", words
        assert str(world.database) in ran.error["message"]
        assert "index-all" in ran.error["hint"]
        assert "Traceback" not in ran.err
        assert _snapshot(world.database.parent) == before, words


def test_a_live_newer_version_is_refused_beside_the_program_that_uses_it(world: World) -> None:
    source = world.log("heron", TURNS)
    world.done("index", source)
    with closing(sqlite3.connect(world.database, isolation_level=None)) as newer:
        newer.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 1}")
        before = _snapshot(world.database.parent)
        assert "index.db-wal" in before
        for words in COMMANDS:
            ran = world.run(*(str(source) if word == "FILE" else word for word in words))
            assert ran.error["code"] == "unsupported_index"
        assert _snapshot(world.database.parent) == before


def test_an_index_of_ours_that_was_killed_is_taken_up_without_its_shared_memory(world: World) -> None:
    source = world.log("heron", TURNS)
    killed = world.run("index", source, at="recall.curation:Curator._publish", when="after", do="SIGKILL")
    assert killed.code == -signal.SIGKILL
    world.database.with_name("index.db-shm").unlink()
    assert world.found("heron") == {"5e551011-heron"}
    assert_sound(world)


def test_an_index_can_be_moved_away_and_made_again(world: World) -> None:
    source = world.log("heron", TURNS)
    world.done("index", source)
    shutil.move(world.database, world.database.with_name("kept.db"))
    assert world.done("status")["conversations"] == 0
    world.done("index-all")
    assert world.found("heron") == {"5e551011-heron"}


def test_what_a_killed_creation_left_goes_with_the_next_one(world: World) -> None:
    source = world.log("heron", TURNS)
    world.run("index", source, at="recall.index.file:install", when="after", do="SIGKILL")
    left = list(world.database.parent.glob("index.db.new-*"))
    assert left
    world.done("index", source)
    assert set(left) <= set(world.database.parent.iterdir())  # somebody could be at it
    for path in left:
        os.utime(path, (0, 0))
    world.done("index", source)
    assert not list(world.database.parent.glob("index.db.new-*"))
