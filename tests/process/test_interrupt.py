"""SIGINT and SIGTERM at any point: 130, soon, without a traceback, and nothing of it is left in anybody's way."""

from __future__ import annotations

import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from recall.models.calls import CallLimits
from tests.process.forks import Child
from tests.process.world import Ran, Visible, World, assert_sound, ended, until, visible
from tests.shared import ROOT

Seeded = tuple[Path, dict[str, Visible], dict[str, Visible], int]

SOON = 5.0
SEND = "tests.process.provider:Provider.send"
POINTS: dict[str, dict[str, Any]] = {
    "before-the-lease": {"at": "recall.curation:stand"},
    "in-the-lease": {"at": "recall.index.lease:acquire"},
    "reading": {"at": "recall.hosts.log_file:LogFile._value", "nth": 60},
    "read": {"at": "recall.index.staging:Staging.mark"},
    "charged": {"at": "recall.models.sending:Sender._charge", "nth": 2, "when": "after"},
    "in-a-request": {"at": SEND, "nth": 2, "delay": 0.3},
    "in-a-request-that-hangs": {"at": SEND, "nth": 2, "delay": 3600, "limits": {"grace_seconds": 0.5}},
    "replied": {"at": "recall.models.sending:Sender._settle", "nth": 3},
    "placing": {"at": "recall.curation:place"},
    "before-publication": {"at": "recall.curation:Curator._confirm_source"},
    "in-publication": {"at": "recall.index.publish:_write_facets"},
    "at-the-end-of-publication": {"at": "recall.index.publish:publish", "when": "after"},
}


def _assert_gone(ran: Ran, process: Child, note: Path, world: World) -> None:
    assert ran.code == 130, ran
    assert process.ended_at - float(note.read_text()) < SOON
    assert ran.error["code"] == "cancelled"
    assert "Traceback" not in ran.err
    with closing(sqlite3.connect(world.database, isolation_level=None, timeout=0)) as writer:
        writer.execute("BEGIN IMMEDIATE")
        writer.execute("ROLLBACK")
    assert world.look()["jobs"] == []
    assert list(world.database.with_name("index.db.owners").glob("*")) == []
    assert world.rows("SELECT count(*) FROM ledger WHERE state = 'charged'") == [(0,)]


# One handler serves both signals, so each point is tried with one of them, then with more than one.
@pytest.mark.parametrize(
    ("point", "signals"),
    [
        (point, sent)
        for n, point in enumerate(POINTS)
        for sent in (("SIGINT", "SIGTERM")[n % 2], "SIGINT SIGTERM SIGINT")
    ],
)
def test_a_signal_ends_a_run_in_order(
    point: str, signals: str, seeded: Seeded, seed: Callable[[], World], tmp_path: Path
) -> None:
    _, before, after, calls = seeded
    world, note = seed(), tmp_path / "signalled"
    source = world.folder / "long.jsonl"
    process = world.start("index", source, do=signals, note=str(note), **POINTS[point])
    ran = ended(process)
    _assert_gone(ran, process, note, world)
    assert visible(world) == before
    assert_sound(world)
    assert [(one["code"], one["attempts"]) for one in world.look()["queue"]["failed"]] == [("cancelled", 0)]
    cached = world.rows("SELECT count(*) FROM model_cache WHERE source = ?", str(source))[0][0]
    done = world.rows("SELECT count(*) FROM ledger WHERE source = ? AND state = 'done'", str(source))[0][0]
    assert cached == done  # what was answered while it ended is kept too
    assert world.done("index", source)["calls"] == calls - cached
    assert visible(world) == after


def test_signals_while_a_batch_waits_for_the_write_lock(seed: Callable[[], World], tmp_path: Path) -> None:
    world, note = seed(), tmp_path / "waiting"
    process = world.start("index-all", at="recall.curation:stand", do="wait", note=str(note))
    until(note.exists, process)
    with closing(sqlite3.connect(world.database, isolation_level=None)) as writer:
        writer.execute("BEGIN IMMEDIATE")
        Path(f"{note}.go").touch()
        process.signal(signal.SIGINT)
        ran = ended(process)
        writer.execute("ROLLBACK")
    assert (ran.code, "Traceback" in ran.err) == (130, False)
    assert ran.answer["aborted"]["code"] == "cancelled"
    assert_sound(world)


def test_an_interrupted_batch_keeps_what_it_did(world: World, tmp_path: Path) -> None:
    for name in ("one", "two", "three"):
        world.log(name, [f"Where is the {name} heron?", f"The {name} heron is found."])
    note = tmp_path / "signalled"
    process = world.start("index-all", at=SEND, nth=3, do="SIGINT", delay=0.1, note=str(note))
    ran = ended(process)
    assert ran.code == 130
    assert process.ended_at - float(note.read_text()) < SOON
    assert len(ran.answer["completed"]) == 1
    assert ran.answer["aborted"]["code"] == "cancelled"
    assert world.look()["conversations"] == 1
    world.done("index-all")
    assert world.look()["conversations"] == 3


def seed_again(world: World) -> World:
    """The same sources, with an index as it was before anything was tried."""
    fresh = Path(tempfile.mkdtemp(dir=world.database.parent.parent)) / "data"
    shutil.copytree(World(world.home).database.parent, fresh)
    return World(world.home, variables={"HISTORY_RECALL_DB": str(fresh / "index.db")})


def test_a_signal_does_not_wait_for_the_end_of_a_long_line(world: World, tmp_path: Path) -> None:
    # Two megabytes in one record: some seconds of reading, redacting and cutting, without a look at the flag.
    source = world.log("line", ["lorem ipsum " * 200_000, "And the heron?"])
    world.done("index", world.log("first", ["Where is the heron?", "The heron is found at the pond."]))
    for at in ("recall.hosts.parse:Decoded.value", "recall.redact.engine:find", "recall.segment:_both"):
        note = tmp_path / at.rpartition(":")[2]
        process = world.start("index", source, at=at, nth=2, do="SIGINT", note=str(note))
        ran = ended(process)
        _assert_gone(ran, process, note, world)
        assert world.found("heron") == {"5e551011-first"}
        assert_sound(world)


def test_signals_at_drawn_moments(seeded: Seeded, seed: Callable[[], World]) -> None:
    _, before, after, _ = seeded
    draw = random.Random(67)
    world = seed()
    begun = time.monotonic()
    seed_again(world).done("index", world.folder / "long.jsonl", delay=0.01)
    whole = time.monotonic() - begun
    for _ in range(int(os.environ.get("KILLS", "8"))):
        process = world.start("index", world.folder / "long.jsonl", delay=0.01)
        assert process.pid
        time.sleep(draw.uniform(0.0, whole))
        sent = time.monotonic()
        process.signal(draw.choice([signal.SIGINT, signal.SIGTERM]))
        ran = ended(process)
        # Before there is a handler, a signal ends the process as it ends any.
        assert ran.code in (0, 130, -signal.SIGINT, -signal.SIGTERM), ran
        assert process.ended_at - sent < SOON
        assert "Traceback" not in ran.err
        assert visible(world) == (after if ran.code == 0 else before)
        assert_sound(world)
        assert world.look()["jobs"] == []
        if ran.code == 0:
            world = seed_again(world)
    assert world.done("index", world.folder / "long.jsonl")["failed"] == []
    assert visible(world) == after


def test_what_is_under_way_has_less_than_the_five_seconds_that_a_cancel_may_take() -> None:
    assert CallLimits(1, 1, 1).grace_seconds < SOON - 0.5


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_while_the_program_is_loading_says_nothing(world: World, number: signal.Signals) -> None:
    script = f"""
import os, sys
class Loading:
    def find_spec(self, name, path=None, target=None):
        if name == "recall.surfaces.commands":
            os.kill(os.getpid(), {int(number)})
sys.meta_path.insert(0, Loading())
import runpy
sys.argv = ["history-recall", "status"]
runpy.run_module("recall", run_name="__main__")
"""
    ran = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, env=world.environment, capture_output=True, text=True, check=False
    )
    assert (ran.returncode, ran.stdout, ran.stderr) in {(-number, "", ""), (130, "", "")}
