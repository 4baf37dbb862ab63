"""A source that grows, is rewound, is rewritten, keeps its time, or does not change: through the command line."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.process.conftest import long_talk
from tests.process.world import World, assert_sound, bytes_of, ended, lines, turn, until, visible
from tests.shared import SHARED, needs_shared

TURNS = ["Where is the heron?", "The heron is found at the pond."]
CASES = SHARED / "cases" / "inputs"
SEND = "tests.process.provider:Provider.send"


def _state(world: World, source: Path) -> str:
    listed = world.done("conversations")["conversations"]
    return next(str(one["state"]) for one in listed if one["source"] == str(source))


def _files(world: World) -> dict[str, Any]:
    return {path.name: bytes_of(path) for path in world.database.parent.rglob("*") if path.is_file()}


@pytest.mark.parametrize("model", ["openai/scripted", "offline"])
def test_an_unchanged_source_sends_nothing_and_writes_nothing(world: World, tmp_path: Path, model: str) -> None:
    world = World(world.home, model=model)
    source = world.log("heron", TURNS)
    sent = tmp_path / "sent"
    world.done("index", source, sent=str(sent))
    was_sent = bytes_of(sent)
    before = _files(world)
    assert set(before) == {"index.db"}
    for words in (["index", source], ["index-all"], ["index", source], ["index", source, "--dry-run"]):
        answer = world.done(*words, sent=str(sent))
        assert answer.get("calls", 0) == 0
        assert _files(world) == before, words
    assert bytes_of(sent) == was_sent
    assert list(world.database.with_name("index.db.owners").iterdir()) == []


def test_a_source_that_was_only_touched_or_copied_back_is_not_read_again(world: World, tmp_path: Path) -> None:
    source = world.log("heron", TURNS)
    world.done("index", source)
    expected = visible(world)
    shutil.copyfile(source, source.with_suffix(".copy"))
    os.replace(source.with_suffix(".copy"), source)
    os.utime(source, (1, 1))
    assert _state(world, source) == "changed"
    answer = world.done("index", source)
    assert (answer["calls"], answer["completed"][0]["unchanged"]) == (0, True)
    assert _state(world, source) == "indexed"
    assert visible(world) == expected


@pytest.mark.parametrize("keep_time", [False, True], ids=["", "with-the-old-time"])
def test_of_a_log_that_grew_only_the_new_part_is_sent(world: World, tmp_path: Path, keep_time: bool) -> None:
    source = world.log("long", long_talk())
    sent = tmp_path / "sent"
    world.done("index", source, sent=str(sent))
    first = sent.read_text().split()
    status = source.stat()
    number = 2 + 2 * 70
    mine = source.read_text().splitlines()[1].split('"id": "')[1][:4]
    with source.open("a", encoding="utf-8") as file:
        file.write(turn(number + 1, "Added later: a jackdaw plan.", mine))
        file.write(turn(number + 2, "The jackdaw plan works.", mine))
    if keep_time:
        os.utime(source, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert _state(world, source) == "grown"
    assert world.found("jackdaw") == set()
    answer = world.done("index", source, sent=str(sent))
    second = sent.read_text().split()[len(first) :]
    assert answer["calls"] == len(second) == 2  # the last chunk, and the joining; no facet of the old ones moved
    assert not set(first) & set(second)
    assert world.found("jackdaw") == {"5e551011-long"}
    assert _state(world, source) == "indexed"
    assert_sound(world)


@needs_shared
def test_the_appended_case(world: World) -> None:
    source = world.folder / "case.jsonl"
    source.parent.mkdir(parents=True)
    shutil.copyfile(CASES / "031-appended-tail.jsonl", source)
    world.done("index", source)
    status = source.stat()
    source.write_bytes((CASES / "031-appended-tail-v2.jsonl").read_bytes())
    os.utime(source, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert _state(world, source) == "grown"
    world.done("index", source)
    assert len(world.found("jackdaw")) == 1
    facets = next(parts["facets"] for name, parts in visible(world).items() if name != "topics")
    assert len({(title, description) for _, _, title, description, *_ in facets}) == len(facets)  # none stands twice
    assert_sound(world)


@needs_shared
def test_the_rewound_case(world: World) -> None:
    source = world.folder / "case.jsonl"
    source.parent.mkdir(parents=True)
    shutil.copyfile(CASES / "032-rewound-and-regrown.jsonl", source)
    world.done("index", source)
    shutil.copyfile(CASES / "032-rewound-v2.jsonl", source)
    assert _state(world, source) in {"grown", "changed"}
    world.done("index", source)
    fresh = World(world.home, variables={"HISTORY_RECALL_DB": str(world.home / "fresh" / "index.db")})
    fresh.done("index", source)
    mine, anew = visible(world), visible(fresh)
    name = next(name for name in anew if name != "topics")
    assert mine[name]["entries"] == anew[name]["entries"]
    assert_sound(world)


def test_what_was_rewound_is_no_longer_found(world: World) -> None:
    source = world.log("heron", [*TURNS, "What of the jackdaw?", "The jackdaw plan failed."])
    world.done("index", source)
    assert world.found("jackdaw") == {"5e551011-heron"}
    # Cut back, and grown past the old length with other things.
    world.log("heron", [*TURNS, "What of the magpie?", "The magpie plan works. " * 20])
    world.done("index", source)
    assert world.found("jackdaw") == set()
    assert world.found("magpie") == {"5e551011-heron"}
    assert not [one for one in world.rows("SELECT text FROM curated_texts") if "jackdaw" in one[0].split("\n")[0]]
    assert_sound(world)


def test_a_torn_tail_counts_once_it_is_whole(world: World) -> None:
    whole = "".join(lines("5e551011-torn", [*TURNS, "What of the jackdaw?"]))
    source = world.log("torn", TURNS)
    source.write_text(whole[:-40], encoding="utf-8")
    world.done("index", source)
    assert world.found("jackdaw") == set()
    source.write_text(whole, encoding="utf-8")
    world.done("index", source)
    assert world.found("jackdaw") == {"5e551011-torn"}
    assert_sound(world)


REWRITES: dict[str, Callable[[Path], object]] = {
    "rewritten": lambda path: path.write_text("".join(lines("5e551011-heron", ["Where is the crane?", "Gone."]))),
    "same-length": lambda path: path.write_text(path.read_text().replace("pond", "weir")),
    "cut-back": lambda path: path.write_text("".join(lines("5e551011-heron", TURNS[:1]))),
    "removed": lambda path: path.unlink(),
}


@pytest.mark.parametrize("kind", REWRITES)
@pytest.mark.parametrize("indexed_before", [False, True], ids=["new", "indexed"])
def test_a_source_rewritten_under_a_run_publishes_nothing(
    world: World, tmp_path: Path, kind: str, indexed_before: bool
) -> None:
    source = world.log("heron", TURNS)
    if indexed_before:
        world.done("index", source)
        source = world.log("heron", [*TURNS, "What of the jackdaw at the pond?"])
    before = visible(world)
    note = tmp_path / "sent"
    process = world.start("index", source, at="recall.curation:place", do="wait", note=str(note))
    until(note.exists, process)
    REWRITES[kind](source)
    Path(f"{note}.go").touch()
    ran = ended(process)
    assert ran.code == 1
    assert ran.error["code"] in {"stale_evidence", "source_missing"}
    assert (visible(world) == before) or (before == {"topics": {}} and set(visible(world)) == {"topics"})
    assert_sound(world)
    assert world.look()["jobs"] == []
    if kind != "removed":
        assert [(one["code"], one["attempts"]) for one in world.look()["queue"]["failed"]] == [("stale_evidence", 0)]
        world.done("index", source)
        assert_sound(world)


def test_a_source_that_only_grew_under_a_run_is_published_and_shown_as_grown(world: World, tmp_path: Path) -> None:
    source = world.log("heron", TURNS)
    note = tmp_path / "sent"
    process = world.start("index", source, at="recall.curation:place", do="wait", note=str(note))
    until(note.exists, process)
    with source.open("a", encoding="utf-8") as file:
        file.write(turn(3, "What of the jackdaw?"))
    Path(f"{note}.go").touch()
    assert ended(process).code == 0
    assert world.found("heron") == {"5e551011-heron"}
    assert _state(world, source) == "grown"
    world.done("index", source)
    assert world.found("jackdaw") == {"5e551011-heron"}
    assert_sound(world)
