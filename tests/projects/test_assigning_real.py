"""`project assign --from-host` on stores as Hermes and OpenCode keep them: shown first, backed up, undone exactly."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from recall.surfaces.cli import main
from tests.projects.test_assigning import dump
from tests.shared import SHARED, needs_shared

SHAPES = SHARED / "sessions" / "shapes"
Answer = Callable[..., Any]
Kept = dict[Path, tuple[bytes, int]]


@pytest.fixture
def answer(capsys: pytest.CaptureFixture[str]) -> Answer:
    """The JSON answer of a command that ends well."""

    def run(*words: str) -> Any:
        done = main([*words, "--json"])
        out = capsys.readouterr().out
        assert done == 0, out
        return json.loads(out)

    return run


def stored(folder: Path) -> Kept:
    """The bytes and the time of every file that the host keeps there."""
    return {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in sorted(folder.iterdir())}


def index_of(home: Path) -> Path:
    return home / ".local/share/history-recall/index.db"


def projects(answer: Answer) -> dict[str, str | None]:
    """Each conversation's project, by the host's id."""
    rows = answer("conversations", "--limit", "50")["conversations"]
    return {row["host_conversation_id"]: row["project"] for row in rows}


@needs_shared
@pytest.mark.parametrize("version", ["22", "30"])
def test_hermes(version: str, home: Path, answer: Answer) -> None:
    folder = home / ".hermes"
    folder.mkdir()
    shutil.copyfile(SHAPES / "hermes" / f"state_v{version}.db", folder / "state.db")
    shutil.copyfile(SHAPES / "hermes" / "projects.db", folder / "projects.db")
    theirs = stored(folder)
    answer("index-all")
    before, none = dump(index_of(home)), projects(answer)
    assert set(none.values()) == {None}

    planned = answer("project", "assign", "--from-host", "hermes", "--dry-run")
    assert dump(index_of(home)) == before
    shop = planned["projects"][0]
    assert (shop["name"], shop["host_project_id"], shop["created"]) == ("Shop", "p_abc123", True)
    with closing(sqlite3.connect(folder / "projects.db")) as connection:
        theirs_to_say = [path for (path,) in connection.execute("SELECT path FROM project_folders")]
    assert len(theirs_to_say) == 1
    assert (shop["folders"], planned["assigned"]) == (theirs_to_say, 1)
    assert planned["journal"] is None

    done = answer("project", "assign", "--from-host", "hermes")
    assert done["projects"][0]["conversations"] == shop["conversations"]
    assert done["unplaced"] == planned["unplaced"]
    made = done["projects"][0]["project_id"]
    assert {name for name, project in projects(answer).items() if project == made} == {"20261102_090000_a1b2c3"}
    assert len(done["unplaced"]) + done["assigned"] == answer("status")["conversations"]
    kept = json.loads(Path(done["journal"]).read_text())
    assert [change["conversation_id"] for change in kept["changes"]] == shop["conversations"]
    assert dump(Path(done["backup"])) == before

    undone = answer("project", "revert", done["journal"])
    assert (undone["reverted"], undone["kept"]) == (1, [])
    assert (dump(index_of(home)), projects(answer)) == (before, none)
    assert stored(folder) == theirs


@needs_shared
def test_opencode(home: Path, answer: Answer) -> None:
    folder = home / ".local/share/opencode"
    folder.mkdir(parents=True)
    shutil.copyfile(SHAPES / "opencode" / "opencode.db", folder / "opencode.db")
    answer("index-all")
    nothing = answer("project", "assign", "--from-host", "opencode")
    assert (nothing["assigned"], nothing["journal"]) == (0, None), "`global` is no project"
    with closing(sqlite3.connect(folder / "opencode.db")) as connection:
        columns = [row[1] for row in connection.execute("PRAGMA table_info(project)")]
        copied = ", ".join({"id": "'4b825dc6'", "worktree": "'/home/dev/shop'"}.get(one, one) for one in columns)
        connection.execute(f"INSERT INTO project SELECT {copied} FROM project WHERE id = 'global'")
        connection.execute("UPDATE session SET project_id = '4b825dc6' WHERE id = 'ses_1'")
        connection.commit()
    theirs, before = stored(folder), dump(index_of(home))
    assert answer("project", "assign", "--from-host", "opencode", "--dry-run")["assigned"] == 1
    assert dump(index_of(home)) == before
    done = answer("project", "assign", "--from-host", "opencode")
    made = done["projects"][0]
    assert (made["name"], projects(answer)) == ("shop", {"ses_1": made["project_id"]})
    answer("project", "revert", done["journal"])
    assert (dump(index_of(home)), stored(folder)) == (before, theirs)
