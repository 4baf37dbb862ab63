"""A bundle of what every host and every kind of change leaves in an index: whatever we write, we take in."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from recall.bundle import TABLES
from tests.projects.person import Person
from tests.repair import test_changes
from tests.repair.conftest import near, world  # noqa: F401 - fixtures
from tests.repair.world import World
from tests.shared import SHARED, needs_shared

SHAPES = SHARED / "sessions" / "shapes"
QUERIES = ("shop cart", "token", "搜索", "why does it fail", "deploy")


@needs_shared
def test_of_every_host(person: Person, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(SHAPES / "gemini", person.home / ".gemini")
    for name, kept in ((".hermes/state.db", "hermes/state_v30.db"), (".hermes/projects.db", "hermes/projects.db")):
        (person.home / ".hermes").mkdir(exist_ok=True)
        shutil.copyfile(SHAPES / kept, person.home / name)
    (person.home / ".local/share/opencode").mkdir(parents=True)
    shutil.copyfile(SHAPES / "opencode" / "opencode.db", person.home / ".local/share/opencode/opencode.db")
    for path in sorted(SHAPES.rglob("*.jsonl")):
        person.run("sources", "add", path)
    person.index()
    person.done("project", "assign", "--from-host", "hermes")
    hosts = {row[0] for row in person.rows("SELECT host FROM conversations")}
    assert hosts == {"omp", "pi", "claude-code", "codex", "gemini", "hermes", "opencode"}
    person.done("export", "--output", tmp_path / "bundle.json")
    for query in QUERIES:
        person.done("search", query)
    before = person.printed[-len(QUERIES) :]
    monkeypatch.setenv("HISTORY_RECALL_DB", str(tmp_path / "else" / "index.db"))
    taken = person.done("import", tmp_path / "bundle.json")
    assert taken["conflicts"] == []
    for query in QUERIES:
        person.done("search", query)
    assert person.printed[-len(QUERIES) :] == before
    assert person.done("doctor", "--deep")["ok"]


@pytest.mark.filterwarnings("ignore:Accessing the .* attribute on the instance is deprecated")
@pytest.mark.parametrize(
    "change",
    [
        test_changes.test_a_move,
        test_changes.test_a_redefinition_keeps_the_old_title_as_an_alias,
        test_changes.test_a_merge_keeps_the_older_id_and_the_other_leads_to_it,
        test_changes.test_a_split_is_drafts_and_moves_and_an_emptied_topic_leads_to_its_heirs,
    ],
)
def test_of_every_kind_of_change(
    world: World,  # noqa: F811
    change: Callable[[World], None],
    tmp_path: Path,
) -> None:
    change(world)
    bundle, again = tmp_path / "bundle.json", tmp_path / "again.json"
    world.done("export", "--output", bundle)
    tables = json.loads(bundle.read_text())["tables"]
    assert any(row[tables["topic_events"]["columns"].index("proof")] for row in tables["topic_events"]["rows"])
    before = [world.done("browse", row[1], "--history") for row in tables["topics"]["rows"]]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HISTORY_RECALL_DB", str(tmp_path / "else" / "index.db"))
        assert world.done("import", bundle)["conflicts"] == []
        assert [world.done("browse", row[1], "--history") for row in tables["topics"]["rows"]] == before
        assert world.done("doctor", "--deep")["ok"]
        world.done("export", "--output", again)
    assert json.loads(again.read_text())["tables"] == json.loads(bundle.read_text())["tables"]
    assert set(tables) == {table.name for table in TABLES}
