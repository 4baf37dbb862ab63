"""Taking over what a host knows of projects, shown with a small host of the tests; undone exactly."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from recall.hosts import project_records
from recall.hosts.project_records import HostProject
from tests.projects.person import OMP, Person


@pytest.fixture
def records(person: Person, monkeypatch: pytest.MonkeyPatch) -> list[HostProject]:
    """Pi, as if it kept projects: one by folders, one that names its conversations."""
    kept = [
        HostProject("pi", "h1", "Heron", (str(person.folder("heron")),)),
        HostProject("pi", "h2", "Stork", (), frozenset({"named001"})),
    ]
    monkeypatch.setitem(project_records.READERS, "pi", lambda _settings: kept)
    return kept


def indexed_before(person: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    """Conversations that were indexed when the host's records were not taken over yet."""
    person.talks("folder01", person.folder("heron", "deep"), "gearbox")
    person.talks("named001", "/elsewhere", "rudder")
    person.talks("nobody01", "/elsewhere", "keel")
    person.talks("other001", person.folder("heron"), "mast", OMP, title="x")
    person.talks("moved001", person.folder("heron"), "sail")
    person.index()
    person.done("project", "move", "pi:moved001", "")


def dump(path: Path) -> list[str]:
    """Every row of every table, those of the text index as SQLite keeps them."""
    with closing(sqlite3.connect(path)) as connection:
        tables = connection.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%' ORDER BY name"
        ).fetchall()
        return [f"{name}: {row!r}" for (name,) in tables for row in connection.execute(f'SELECT * FROM "{name}"')]


def test_dry_run_assign_and_revert(person: Person, records: list[HostProject], monkeypatch: pytest.MonkeyPatch) -> None:
    indexed_before(person, monkeypatch)
    before = dump(person.database)
    listed = person.done("project", "assign", "--from-host", "pi", "--dry-run")
    assert listed["assigned"] == 2
    assert [row["cwd"] for row in listed["unplaced"]] == ["/elsewhere"]
    assert dump(person.database) == before

    done = person.done("project", "assign", "--from-host", "pi")
    assert done["assigned"] == 2
    heron, stork = (row["project_id"] for row in done["projects"])
    places = person.places()
    assert places["folder01"] == (heron, "host")
    assert places["named001"] == (stork, "host")
    assert places["nobody01"] == (None, "none")
    assert places["other001"] == (None, "none")  # of another host
    assert places["moved001"] == (None, "moved")
    assert dump(Path(done["backup"])) == before
    assert Path(done["backup"]).stat().st_mode & 0o777 == 0o600
    person.talks("later001", "/elsewhere", "anchor")
    assert person.done("project", "assign", "--from-host", "pi")["journal"] is None  # nothing is left to do

    reverted = person.done("project", "revert", done["journal"])
    assert (reverted["reverted"], reverted["kept"]) == (2, [])
    assert dump(person.database) == dump(Path(done["backup"]))
    assert person.refused("project", "revert", done["journal"]) == "not_found"


def test_what_was_moved_since_stays(
    person: Person, records: list[HostProject], monkeypatch: pytest.MonkeyPatch
) -> None:
    indexed_before(person, monkeypatch)
    done = person.done("project", "assign", "--from-host", "pi")
    own = person.done("project", "create", "Own")["project_id"]
    person.done("project", "move", "pi:folder01", own)
    reverted = person.done("project", "revert", Path(done["journal"]).name)
    assert (reverted["reverted"], len(reverted["kept"])) == (1, 1)
    assert person.places()["folder01"] == (own, "moved")


def test_what_is_indexed_afterwards_goes_by_the_record(
    person: Person, records: list[HostProject], monkeypatch: pytest.MonkeyPatch
) -> None:
    done = person.done("project", "assign", "--from-host", "pi")
    heron, stork = (row["project_id"] for row in done["projects"])
    person.talks("named001", "/elsewhere", "rudder")
    person.talks("folder01", person.folder("heron"), "gearbox")
    person.index()
    assert person.places() == {"named001": (stork, "host"), "folder01": (heron, "folder")}


def test_a_record_leads_to_the_project_its_folder_is_bound_to(person: Person, records: list[HostProject]) -> None:
    bound = person.done("project", "bind", person.folder("heron"), "--name", "Mine")
    done = person.done("project", "assign", "--from-host", "pi")
    assert done["projects"][0]["project_id"] == bound["project_id"]
    assert not done["projects"][0]["created"]


def test_a_host_without_records_is_named(person: Person) -> None:
    assert person.refused("project", "assign", "--from-host", "omp") == "usage"


@pytest.mark.parametrize(
    "damage",
    [
        lambda j: j | {"version": 2},
        lambda j: j | {"profile": None},
        lambda j: j | {"created": [1]},
        lambda j: j | {"generation_before": 2**70},
        lambda j: j | {"generation_after": "1"},
        lambda j: j | {"changes": [{"conversation_id": "c", "before": [], "after": [None, "none"]}]},
        lambda j: j | {"changes": [{"conversation_id": "\ud800", "before": [None, "x"], "after": [None, "none"]}]},
        lambda j: j | {"bindings": [["folder", 1, "p"]]},
        lambda j: [],
    ],
)
def test_what_is_no_journal_of_ours_undoes_nothing(
    person: Person, records: list[HostProject], monkeypatch: pytest.MonkeyPatch, damage: Callable[[Any], Any]
) -> None:
    indexed_before(person, monkeypatch)
    path = Path(person.done("project", "assign", "--from-host", "pi")["journal"])
    before = dump(person.database)
    path.write_text(json.dumps(damage(json.loads(path.read_text()))))
    assert person.refused("project", "revert", path) == "not_found"
    assert dump(person.database) == before
    assert path.exists()
    assert person.refused("project", "revert", "../../../etc/passwd") == "not_found"


def test_revert_after_much_has_changed(
    person: Person, records: list[HostProject], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What came since stays: a conversation, a folder, a name; what was forgotten does not come back."""
    indexed_before(person, monkeypatch)
    done = person.done("project", "assign", "--from-host", "pi")
    heron, stork = (row["project_id"] for row in done["projects"])
    person.talks("later001", person.folder("heron"), "anchor")
    person.index()
    person.done("project", "rename", stork, "Crane")
    person.done("forget", "pi:folder01")
    person.done("project", "bind", person.folder("new"), "--project", "Crane", "--no-marker")
    revision = person.done("status")["revision"]
    reverted = person.done("project", "revert", done["journal"])
    assert (reverted["reverted"], len(reverted["kept"])) == (1, 1)
    assert person.places() == {
        "named001": (None, "none"),
        "nobody01": (None, "none"),
        "other001": (None, "none"),
        "moved001": (None, "moved"),
        "later001": (heron, "folder"),
    }
    left = {one["project_id"]: one for one in person.done("project", "list")["projects"]}
    assert left[heron]["bindings"] == []
    assert [one["path"] for one in left[stork]["bindings"]] == [str(person.folder("new"))]
    assert person.done("status")["revision"] > revision
    assert person.done("doctor", "--deep")["ok"]


def test_a_journal_of_a_run_that_was_never_committed_undoes_nothing(
    person: Person, records: list[HostProject], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The process died between its journal and its commit."""
    indexed_before(person, monkeypatch)
    before = dump(person.database)
    done = person.done("project", "assign", "--from-host", "pi")
    shutil.copyfile(done["backup"], person.database)
    for suffix in ("-wal", "-shm"):
        person.database.with_name(person.database.name + suffix).unlink(missing_ok=True)
    reverted = person.done("project", "revert", done["journal"])
    assert (reverted["reverted"], len(reverted["kept"])) == (0, 2)
    assert dump(person.database) == before
