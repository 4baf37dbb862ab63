"""kill -9 at each named stage of a run: what was published stays, nothing is half visible, the next run goes on."""

from __future__ import annotations

import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.process.world import Visible, World, assert_sound, visible

Seeded = tuple[Path, dict[str, Visible], dict[str, Visible], int]

_ROAD = "recall.models.sending:Sender"
_PUBLISH = "recall.index.publish"
_LEASE = "recall.index.lease"


def _stage(name: str, at: str, nth: int = 1, when: str = "before") -> Any:
    return pytest.param({"at": at, "nth": nth, "when": when, "do": "SIGKILL"}, id=name)


# The run makes five requests or more: the chunks side by side, the joining, a page of placement.
STAGES = [
    _stage("owner-made", f"{_LEASE}:Owner.prove", when="after"),
    _stage("lease-acquire", f"{_LEASE}:acquire"),
    _stage("lease-acquired-before-commit", f"{_LEASE}:acquire", when="after"),
    _stage("lease-renewal", f"{_LEASE}:progress"),
    _stage("lease-renewed-before-commit", f"{_LEASE}:progress", nth=2, when="after"),
    _stage("lease-renewal-late", f"{_LEASE}:progress", nth=3),
    _stage("reading-begins", "recall.hosts.log_file:LogFile.entries"),
    _stage("reading-in-the-middle", "recall.hosts.log_file:LogFile._value", nth=40),
    _stage("read", "recall.index.staging:Staging.mark"),
    _stage("before-first-charge", f"{_ROAD}._charge"),
    _stage("charge-before-commit", "recall.index.ledger:charge", when="after"),
    _stage("charged-not-sent", f"{_ROAD}._charge", when="after"),
    _stage("charged-not-sent-third", f"{_ROAD}._charge", nth=3, when="after"),
    _stage("last-charge", f"{_ROAD}._charge", nth=5, when="after"),
    _stage("sent", "tests.process.provider:Provider.send", nth=2),
    _stage("replied-not-settled", f"{_ROAD}._settle"),
    _stage("replied-not-settled-third", f"{_ROAD}._settle", nth=3),
    _stage("settle-before-commit", "recall.index.ledger:settle", nth=2, when="after"),
    _stage("cached-before-commit", "recall.index.cache:put", nth=2, when="after"),
    _stage("cached", f"{_ROAD}._settle", nth=1, when="after"),
    _stage("cached-third", f"{_ROAD}._settle", nth=3, when="after"),
    _stage("cached-joined", f"{_ROAD}._settle", nth=4, when="after"),
    _stage("cached-last", f"{_ROAD}._settle", nth=5, when="after"),
    _stage("repair-rehearsed", "recall.index.publish:rehearse", when="after"),
    _stage("repair-begins", "repair.run:mend"),
    _stage("repair-in-a-turn", "repair.agent:Agent.execute"),
    _stage("repair-ended", "repair.run:mend", when="after"),
    _stage("before-publication", "recall.curation:Curator._confirm_source"),
    _stage("publication-begun", f"{_PUBLISH}:publish"),
    _stage("conversation-written", f"{_PUBLISH}:_write_conversation", when="after"),
    _stage("entries-written", f"{_PUBLISH}:_write_entries", when="after"),
    _stage("entries-in-the-text-index", "recall.index.fulltext:add_entries", when="after"),
    _stage("one-facet-written", f"{_PUBLISH}:_write_facet", when="after"),
    _stage("facets-written", f"{_PUBLISH}:_write_facets", when="after"),
    _stage("curated-in-the-text-index", "recall.index.fulltext:add_curated", when="after"),
    _stage("job-dropped", "recall.index.jobs:drop", when="after"),
    _stage("published-before-commit", f"{_PUBLISH}:publish", when="after"),
    _stage("repair-to-be-proved", "repair.run:publish"),
    _stage("repair-written-before-commit", "repair.run:publish", when="after"),
    _stage("lease-release-before-commit", f"{_LEASE}:release", when="after"),
    _stage("published", "recall.curation:Curator._publish", when="after"),
    _stage("owner-leaves", f"{_LEASE}:Owner.__exit__"),
    _stage("owner-left", f"{_LEASE}:Owner.__exit__", when="after"),
]
AFTER_COMMIT = {"published", "owner-leaves", "owner-left"}
BEFORE_LEASE = {"owner-made", "lease-acquire", "lease-acquired-before-commit"}


@pytest.mark.parametrize("spec", STAGES)
def test_a_kill_loses_nothing_and_the_next_run_finishes(
    spec: dict[str, Any], seeded: Seeded, seed: Callable[[], World], request: pytest.FixtureRequest
) -> None:
    _, before, after, calls = seeded
    stage = request.node.callspec.id
    world = seed()
    source = world.folder / "long.jsonl"
    killed = world.run("index", source, **spec)
    assert killed.code == -signal.SIGKILL, (killed, "the stage was not reached")

    assert visible(world) == (after if stage in AFTER_COMMIT else before)
    assert_sound(world)
    jobs = world.look()["jobs"]
    assert [(job["source"], job["state"]) for job in jobs] == (
        [] if stage in AFTER_COMMIT | BEFORE_LEASE else [(str(source), "interrupted")]
    )

    cached = world.rows("SELECT count(*) FROM model_cache WHERE source = ?", str(source))[0][0]
    again = world.done("index", source)
    assert again["calls"] == (0 if stage in AFTER_COMMIT else calls - cached)
    assert visible(world) == after
    assert_sound(world)
    look = world.look()
    assert (look["jobs"], look["queue"]["waiting"]) == ([], 0)
    charged = world.rows("SELECT count(*) FROM ledger WHERE source = ? AND state = 'charged'", str(source))[0][0]
    assert charged <= 3  # what was under way when it was killed: told, and never settled by a guess
    assert sorted(p.name for p in world.database.parent.iterdir()) in (["index.db", "index.db.owners"], ["index.db"])
    left = list(world.database.with_name("index.db.owners").glob("*"))
    assert len(left) == (stage in {"published", "owner-leaves"})  # nobody has asked for a lease since


@pytest.mark.parametrize(
    "spec",
    [
        _stage("tables-made", "recall.index.file:install", when="after"),
        _stage("file-made", "recall.index.file:connect", when="after"),
        _stage("in-place", "recall.index.database:create", when="after"),
        _stage("opened", "recall.index.database:check_version"),
        _stage("profile", "recall.indexer:ensure_profile", when="after"),
    ],
)
def test_a_kill_while_the_index_is_made(spec: dict[str, Any], world: World) -> None:
    source = world.log("short", ["Where is the heron?", "The heron is found at the pond."])
    assert world.run("index", source, **spec).code == -signal.SIGKILL
    assert world.look()["conversations"] == 0
    assert_sound(world)
    world.done("index", source)
    assert world.found("heron") == {"5e551011-short"}
    assert_sound(world)
