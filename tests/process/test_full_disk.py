"""No space left: a clear error, nothing lost, and it works again once there is some."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.process.conftest import long_talk
from tests.process.world import Ran, Visible, World, assert_sound, visible
from tests.shared import ROOT

Seeded = tuple[Path, dict[str, Visible], dict[str, Visible], int]


def _assert_said(ran: Ran, *codes: str) -> None:
    assert ran.code == 1, ran
    assert "Traceback" not in ran.err
    assert ran.error["code"] in codes
    assert ran.error["hint"]


# The index has some 300 kB, the log of changes takes up to 700 more: from nothing at all to almost enough.
@pytest.mark.parametrize("room", [4_096, 60_000, 150_000, 250_000, 400_000])
def test_files_that_may_not_grow(room: int, seeded: Seeded, seed: Callable[[], World]) -> None:
    _, before, after, _ = seeded
    world = seed()
    source = world.folder / "long.jsonl"
    _assert_said(world.run("index", source, file_size=room), "disk_full", "index_unavailable")
    assert visible(world) == before
    assert_sound(world)
    world.done("index", source)
    assert visible(world) == after
    assert_sound(world)


def test_an_index_that_cannot_be_made(world: World) -> None:
    source = world.log("heron", ["Where is the heron?", "The heron is found."])
    _assert_said(world.run("index", source, file_size=4_096), "disk_full", "index_unavailable")
    assert list(world.database.parent.iterdir()) == []
    world.done("index", source)


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Path]:
    """A folder on a disk of its own with 4 MB."""
    folder = tmp_path / "small"
    folder.mkdir()
    if shutil.which("mount") is None or not hasattr(os, "geteuid") or os.geteuid() != 0:
        pytest.skip("needs a user who may mount")
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=4m", "none", str(folder)], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("needs a user who may mount")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def _fill(folder: Path, leave: int) -> Path:
    filler = folder / "filler"
    left = os.statvfs(folder).f_bavail * os.statvfs(folder).f_bsize
    filler.write_bytes(b"x" * (left - leave))
    return filler


@pytest.mark.parametrize("leave", [0, 40_000, 200_000])
def test_a_disk_that_is_full(seeded: Seeded, seed: Callable[[], World], small: Path, leave: int) -> None:
    _, before, after, _ = seeded
    shutil.copytree(seed().database.parent, small / "data")
    world = World(seeded[0], variables={"HISTORY_RECALL_DB": str(small / "data" / "index.db")})
    source = world.folder / "long.jsonl"
    filler = _fill(small, leave)
    _assert_said(world.run("index", source), "disk_full", "index_unavailable")
    batch = world.run("index-all")
    assert batch.code == 1
    assert "Traceback" not in batch.err
    if "error" in batch.answer:
        assert batch.error["code"] in {"disk_full", "index_unavailable"}
    else:
        assert batch.answer["aborted"]["code"] in {"disk_full", "index_unavailable"}
    filler.unlink()
    assert visible(world) == before
    assert_sound(world)
    world.done("index", source)
    assert visible(world) == after
    assert_sound(world)


@pytest.mark.parametrize("leave", [0, 30_000])
def test_a_full_disk_while_forgetting_loses_nothing(
    seeded: Seeded, seed: Callable[[], World], small: Path, leave: int
) -> None:
    shutil.copytree(seed().database.parent, small / "data")
    world = World(seeded[0], variables={"HISTORY_RECALL_DB": str(small / "data" / "index.db")})
    before = visible(world)
    identity = before["5e551011-short"]["conversation"][0][0]
    filler = _fill(small, leave)
    _assert_said(world.run("forget", identity), "disk_full")
    filler.unlink()
    assert visible(world) == before
    assert_sound(world)
    assert world.found("gannet")
    assert world.done("forget", identity)["proof"]["ok"]
    assert not world.found("gannet")
    assert_sound(world)


@pytest.mark.parametrize("leave", [0, 60_000, 200_000])
def test_a_full_disk_while_importing_loses_nothing(
    seeded: Seeded, seed: Callable[[], World], small: Path, tmp_path: Path, leave: int
) -> None:
    there = seed()
    there.done("index", there.folder / "long.jsonl")
    bundle = tmp_path / "bundle.json"
    there.done("export", "--output", bundle)
    (small / "data").mkdir()
    world = World(seeded[0], variables={"HISTORY_RECALL_DB": str(small / "data" / "index.db")})
    world.done("index", world.folder / "short.jsonl")
    before = visible(world)
    filler = _fill(small, leave)
    _assert_said(world.run("import", bundle), "disk_full")
    filler.unlink()
    assert visible(world) == before
    assert_sound(world)
    world.done("import", bundle)
    assert visible(world).keys() == visible(there).keys()
    assert_sound(world)


def test_a_full_disk_for_what_is_kept_while_reading(world: World, small: Path) -> None:
    source = world.log("big", long_talk(600))
    world.log("short", ["Where is the heron?", "The heron is found."])
    # A program of its own: SQLite looks for its folder of temporary files once, when it is loaded.
    narrow = world.environment | {"SQLITE_TMPDIR": str(small), "HISTORY_RECALL_MODEL": "offline"}

    def run(*words: str | Path) -> Ran:
        command = [sys.executable, "-m", "recall", *map(str, words), "--json"]
        ran = subprocess.run(command, cwd=ROOT, env=narrow, capture_output=True, text=True, check=False)
        return Ran(ran.returncode, ran.stdout, ran.stderr)

    filler = _fill(small, 100_000)
    _assert_said(run("index", source), "disk_full", "index_unavailable")
    batch = run("index-all")
    assert batch.code == 1
    assert batch.answer["aborted"]["code"] == "disk_full"
    assert world.look()["jobs"] == []
    filler.unlink()
    assert run("index-all").code == 0
    assert world.found("heron") == {"5e551011-short"}
    assert_sound(world)
