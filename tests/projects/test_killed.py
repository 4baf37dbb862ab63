"""kill -9 at moments spread over each command that changes much: all of it, or nothing, and once more does the rest."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.indexing.product import Log
from tests.projects.person import Person
from tests.projects.test_assigning import dump
from tests.shared import ROOT, SHARED, needs_shared

WORDS = ("quillonbrok", "vermouthglat", "zephyrmantok")
MOMENTS = 6


@pytest.fixture
def seeded(person: Person, tmp_path: Path) -> Path:
    """An index with three conversations, two projects and a bundle of all that; a copy of it to begin anew with."""
    for name in ("heron", "stork"):
        person.done("project", "bind", person.folder(name), "--name", name)
    for number, word in enumerate(WORDS):
        turns = [(f"Why does the {word} engine {n} rattle?", f"The {word} bolt {n} is loose.") for n in range(40)]
        person.write(Log(f"{number}abc0001", str(person.folder("heron"))).talk(turns))
    person.index()
    person.done("export", "--output", tmp_path / "bundle.json")
    shutil.copytree(person.database.parent, tmp_path / "clean")
    return tmp_path / "clean"


def command(*words: str | Path) -> subprocess.Popen[bytes]:
    line = [sys.executable, "-m", "recall", *map(str, words), "--json"]
    return subprocess.Popen(line, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=dict(os.environ))


def killed_at_moments(person: Person, clean: Path | None, *words: str | Path) -> Iterator[None]:
    """Runs it again and again, each time from the beginning and killed later; the last time it ends by itself."""

    def begin() -> None:
        shutil.rmtree(person.database.parent)
        if clean is not None:
            shutil.copytree(clean, person.database.parent)

    begin()
    started = time.monotonic()
    assert command(*words).wait() == 0
    whole = time.monotonic() - started
    yield
    for moment in range(1, MOMENTS):
        begin()
        process = command(*words)
        # Much of the time goes into starting Python.
        time.sleep(whole * (0.4 + 0.6 * moment / MOMENTS))
        process.send_signal(signal.SIGKILL)
        process.wait()
        yield


def test_forget(person: Person, seeded: Path) -> None:
    name = "pi:0abc0001"
    for _ in killed_at_moments(person, seeded, "forget", name):
        gone = person.rows("SELECT count(*) FROM tombstones") == [(1,)]
        assert person.rows("SELECT count(*) FROM conversations") == [(2 if gone else 3,)]
        assert len(person.found(WORDS[0])) == (not gone)
        assert person.done("forget", name)["proof"]["ok"]
        for path in person.database.parent.iterdir():
            assert not path.is_file() or WORDS[0].encode() not in path.read_bytes().lower()
        assert person.done("doctor", "--deep")["ok"]


def test_import(person: Person, seeded: Path, tmp_path: Path) -> None:
    for _ in killed_at_moments(person, None, "import", tmp_path / "bundle.json"):
        held = person.done("status")["conversations"]
        assert held in (0, 3)
        done = person.done("import", tmp_path / "bundle.json")
        assert (done["imported"], done["unchanged"]) == (3 - held, held)
        assert person.done("doctor", "--deep")["ok"]
        assert len(person.found(WORDS[1])) == 1


def test_move(person: Person, seeded: Path) -> None:
    before = person.places()["0abc0001"][0]
    for _ in killed_at_moments(person, seeded, "project", "move", "pi:0abc0001", "stork"):
        project, why = person.places()["0abc0001"]
        decided = person.rows("SELECT count(*) FROM decisions")[0][0]
        assert (why == "moved", project != before) == (bool(decided),) * 2
        assert person.done("doctor", "--deep")["ok"]


@needs_shared
def test_assign_and_revert(person: Person, seeded: Path, tmp_path: Path) -> None:
    hermes = person.home / ".hermes"
    hermes.mkdir()
    for name, kept in (("state.db", "state_v30.db"), ("projects.db", "projects.db")):
        shutil.copyfile(SHARED / "sessions" / "shapes" / "hermes" / kept, hermes / name)
    person.index()
    shutil.rmtree(seeded)
    shutil.copytree(person.database.parent, seeded)
    before = dump(person.database)
    for _ in killed_at_moments(person, seeded, "project", "assign", "--from-host", "hermes"):
        for journal in person.database.with_name("index.db.journals").glob("*.json"):
            person.done("project", "revert", journal)
        assert dump(person.database) == before
        assert person.done("doctor", "--deep")["ok"]
    journal = person.done("project", "assign", "--from-host", "hermes")["journal"]
    after = dump(person.database)
    assert after != before
    shutil.rmtree(seeded)
    shutil.copytree(person.database.parent, seeded)
    for _ in killed_at_moments(person, seeded, "project", "revert", journal):
        assert dump(person.database) in (before, after)
        person.run("project", "revert", journal)
        assert dump(person.database) == before


def test_bind(person: Person, seeded: Path) -> None:
    """The marker is written before the commit: where only it is there, binding once more adopts it."""
    new = person.folder("crane")
    marker = new / ".history-recall-id"
    for _ in killed_at_moments(person, seeded, "project", "bind", new):
        said = marker.read_text() if marker.exists() else None
        bound = person.done("project", "bind", new)
        assert (bound["name"], bound["marker"]) == ("crane", True)
        assert said in (None, marker.read_text())
        assert person.rows("SELECT count(*) FROM projects WHERE name LIKE 'crane%'") == [(1,)]
        assert person.done("status", "--cwd", new)["current_project"]["project_id"] == bound["project_id"]
        assert person.done("doctor", "--deep")["ok"]
        marker.unlink()


def test_rebind(person: Person, seeded: Path) -> None:
    old, new = person.folder("heron"), person.folder("new")
    project = person.places()["0abc0001"][0]
    text = (old / ".history-recall-id").read_text()
    for _ in killed_at_moments(person, seeded, "project", "rebind", "heron", new):
        assert person.done("project", "rebind", "heron", new)["project_id"] == project
        assert person.done("status", "--cwd", new)["current_project"]["project_id"] == project
        assert not (old / ".history-recall-id").exists()
        assert {path.name for path in new.iterdir() if path.name == ".history-recall-id"} == {".history-recall-id"}
        assert person.done("doctor", "--deep")["ok"]
        (new / ".history-recall-id").unlink()
        (old / ".history-recall-id").write_text(text)
