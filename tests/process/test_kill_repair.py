"""kill -9 at each stage of a repair with every kind of change: nothing of it is seen, and the next run finishes."""

from __future__ import annotations

import shutil
import signal
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.process.test_kill import _stage
from tests.process.world import World, assert_sound, visible

TALKS = {
    "k1": "The kiln cracks when it cools too fast",
    "k2": "The kiln cracks when it cools too slowly",
    "o1": "An oven door leaks heat at night",
    "b1": "Bread rises slowly in winter mornings",
    "b2": "Bread rises slowly in winter evenings",
    "t1": "Tides turn twice a day here",
}
WORDS = {"description": "As it was read.", "aliases": [], "reason": "as it was read"}
Planned = tuple[World, Mapping[str, Any], Mapping[str, Any], int]

_MEND = "recall.index.mending:_Mender"
STAGES = [
    _stage("views-frozen", "recall.repairing:freeze", when="after"),
    _stage("audit-selected", "repair.run:select", when="after"),
    _stage("first-turn-asked", "repair.agent:Agent.query"),
    _stage("first-turn-paid", "repair.agent:Agent.query", when="after"),
    _stage("first-turn-served", "repair.agent:Agent.execute", when="after"),
    _stage("proposed", "repair.serving:propose", when="after"),
    _stage("covered", "repair.serving:coverage", nth=3, when="after"),
    _stage("checked", "repair.serving:check", nth=3, when="after"),
    _stage("to-finish", "repair.serving:finish"),
    _stage("proof-made", "repair.proof:make", when="after"),
    _stage("to-be-proved", "repair.run:publish"),
    _stage("proved-again", "repair.proof:verify", when="after"),
    _stage("sources-looked-at", "repair.run:_proved", when="after"),
    _stage("topic-made", f"{_MEND}._make", when="after"),
    _stage("one-facet-moved", f"{_MEND}._move", when="after"),
    _stage("all-facets-moved", f"{_MEND}._move", nth=2, when="after"),
    _stage("merged", f"{_MEND}._merge", when="after"),
    _stage("redefined", f"{_MEND}._redefine", when="after"),
    _stage("one-event-written", f"{_MEND}._event"),
    _stage("retired", f"{_MEND}._retire", when="after"),
    _stage("in-the-text-index", "recall.index.fulltext:refresh_topics", when="after"),
    _stage("receipts-kept", "recall.index.mending:keep_receipts", when="after"),
    _stage("rings-moved", "recall.index.audits:audited", when="after"),
    _stage("written-before-commit", "recall.index.publish:bump_generation", when="after"),
    _stage("published", "recall.repairing:Repairer.maintain", when="after"),
]


@pytest.fixture(scope="module")
def planned(tmp_path_factory: pytest.TempPathFactory) -> Planned:
    """Six conversations in four topics, a proposal with each kind of change, what comes of it, in how many turns."""
    world = World(tmp_path_factory.mktemp("planned") / "home")
    for name, opening in TALKS.items():
        world.done("index", world.log(name, [opening, f"{opening}: so it was found."]), "--no-repair")
    topics = dict(world.rows("SELECT title, topic_id FROM topics ORDER BY topic_no DESC"))
    facets = dict(world.rows("SELECT title, facet_id FROM facets"))
    kiln, oven, bread, tides = (topics[TALKS[name]] for name in ("k1", "o1", "b1", "t1"))
    proposal = {
        "merge": {"topic_ids": [kiln, oven], "title": "kilns and ovens"} | WORDS,
        "redefinitions": [{"topic_id": bread, "title": "bread"} | WORDS],
        "drafts": [{"draft": 1, "title": "the sea"} | WORDS],
        "moves": [
            {"facet_id": facets[TALKS["t1"]], "to": "draft:1", "reason": "the sea"},
            {"facet_id": facets[TALKS["b2"]], "to": kiln, "reason": "baked"},
        ],
    }
    whole = copied(world, world.home.parent / "whole")
    answer = whole.done("repair", proposal=proposal)
    changed = {name: len(ids) for name, ids in answer["runs"][0]["topics"].items()}
    assert changed == {"created": 1, "updated": 2, "merged": 1, "moved": 2, "retired": 1}, answer
    assert tides not in [row[0] for row in whole.rows("SELECT topic_id FROM topics WHERE state = 'live'")]
    return world, proposal, visible(whole), int(answer["calls"])


def copied(world: World, folder: Path) -> World:
    """An index of its own on the same sources."""
    shutil.copytree(world.database.parent, folder)
    return World(world.home, variables={"HISTORY_RECALL_DB": str(folder / "index.db")})


@pytest.mark.parametrize("spec", STAGES)
def test_a_kill_in_repair_shows_nothing_and_the_next_run_finishes(
    spec: dict[str, Any], planned: Planned, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    base, proposal, after, calls = planned
    world = copied(base, tmp_path / "data")
    before, stage = visible(world), request.node.callspec.id
    sent = tmp_path / "sent"
    killed = world.run("repair", proposal=proposal, sent=str(sent), **spec)
    assert killed.code == -signal.SIGKILL, (killed, "the stage was not reached")

    assert visible(world) == (after if stage == "published" else before)
    assert_sound(world)
    kept = world.rows("SELECT count(*) FROM model_cache WHERE kind = 'repair'")[0][0]

    again = world.done("repair", proposal=proposal, sent=str(sent)) if stage != "published" else {"calls": 0}

    assert again["calls"] == (calls - kept if stage != "published" else 0)
    assert visible(world) == after
    assert_sound(world)
    ledger = world.rows("SELECT state FROM ledger WHERE kind = 'repair'")
    assert len(ledger) == len(sent.read_text(encoding="utf-8").splitlines()) == calls
    assert world.look()["jobs"] == []
