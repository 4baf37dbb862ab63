"""Many processes at once on one index: the same file, the same queue, the same topics."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.process.world import Visible, World, assert_sound, ended, until, visible

MANY = 8
BIRDS = ["heron", "bittern", "crane"]


def _talks(world: World, copies: int = 2) -> None:
    """Talks that share a subject, bird by bird, so that whoever comes second joins the topic of the first."""
    for bird in BIRDS:
        for number in range(copies):
            opening = f"{bird}s of {bird}wood"
            world.log(f"{bird}-{number}", [opening, f"It is found there. Count {bird} {number} was made in May."])


def _by_conversation(seen: dict[str, Visible]) -> dict[str, Any]:
    """What does not depend on who came first: everything but how a topic's text grew."""
    facets = {name: [facet[:6] for facet in parts["facets"]] for name, parts in seen.items() if name != "topics"}
    others = {
        name: {part: value for part, value in parts.items() if part != "facets"}
        for name, parts in seen.items()
        if name != "topics"
    }
    topics = [(title, state, members) for title, _, _, _, state, _, members, *_ in seen["topics"]["topics"]]
    return {"facets": facets, "others": others, "topics": topics}


def test_eight_at_the_same_file_on_a_fresh_home(world: World, tmp_path: Path) -> None:
    source = world.log("heron", ["Where is the heron?", "The heron is found at the pond."])
    alone = World(world.home, variables={"HISTORY_RECALL_DB": str(tmp_path / "alone" / "index.db")})
    alone.done("index", source)
    ran = [ended(process) for process in [world.start("index", source, delay=0.05) for _ in range(MANY)]]
    for one in ran:
        assert one.code in (0, 3), one
        assert one.code == 0 or one.error["code"] == "lease_held"
        assert "UNIQUE" not in one.out + one.err
    assert any(one.code == 0 for one in ran)
    assert visible(world) == visible(alone)
    assert_sound(world)
    assert world.rows("SELECT count(*) FROM ledger") == [(1,)]  # nobody paid twice
    look = world.look()
    assert (look["jobs"], look["queue"]) == ([], {"waiting": 0, "failed": []})


def test_eight_batches_at_once_on_a_fresh_home(world: World, tmp_path: Path) -> None:
    _talks(world)
    alone = World(world.home, variables={"HISTORY_RECALL_DB": str(tmp_path / "alone" / "index.db")})
    alone.done("index-all")
    ran = [ended(process) for process in [world.start("index-all", delay=0.02) for _ in range(MANY)]]
    for one in ran:
        assert one.code == 0, one
        assert one.answer["failed"] == []
    published = [c["source"] for one in ran for c in one.answer["completed"] if not c["unchanged"]]
    assert len(published) == len(set(published)) == 2 * len(BIRDS)
    assert _by_conversation(visible(world)) == _by_conversation(visible(alone))
    assert_sound(world)
    look = world.look()
    assert (look["jobs"], look["queue"]) == ([], {"waiting": 0, "failed": []})


def test_two_at_different_sources_of_the_same_topics(world: World, tmp_path: Path) -> None:
    _talks(world, copies=4)
    alone = World(world.home, variables={"HISTORY_RECALL_DB": str(tmp_path / "alone" / "index.db")})
    alone.done("index-all")
    sources = sorted(world.folder.iterdir())
    for pair in zip(sources[::2], sources[1::2], strict=True):
        for process in [world.start("index", source, delay=0.03) for source in pair]:
            assert ended(process).code == 0
    assert _by_conversation(visible(world)) == _by_conversation(visible(alone))
    assert_sound(world)


def test_a_topic_that_changed_while_a_run_was_placing_is_looked_at_again(world: World, tmp_path: Path) -> None:
    _talks(world, copies=3)
    first, second, third = (world.folder / f"heron-{number}.jsonl" for number in range(3))
    world.done("index", first)
    note = tmp_path / "placed"
    process = world.start("index", second, at="recall.curation:Curator._publish", do="wait", note=str(note))
    until(note.exists, process)
    world.done("index", third)
    Path(f"{note}.go").touch()
    ran = ended(process)
    assert ran.code == 0, ran
    assert [(t[0], t[6]) for t in visible(world)["topics"]["topics"]] == [("herons of heronwood", 3)]
    # It went through twice; its analysis was not asked for again.
    kinds = [kind for (kind,) in world.rows("SELECT kind FROM ledger WHERE source = ?", str(second))]
    assert kinds.count("analysis") == 1
    assert world.rows("SELECT version FROM topics") == [(3,)]
    assert_sound(world)


def test_a_topic_that_came_while_a_run_was_placing_is_not_made_twice(world: World, tmp_path: Path) -> None:
    _talks(world)
    note = tmp_path / "placed"
    first, second = (world.folder / f"heron-{number}.jsonl" for number in range(2))
    process = world.start("index", first, at="recall.curation:Curator._publish", do="wait", note=str(note))
    until(note.exists, process)
    world.done("index", second)
    Path(f"{note}.go").touch()
    assert ended(process).code == 0
    assert [t[6] for t in visible(world)["topics"]["topics"]] == [2]
    assert_sound(world)


def test_one_conversation_from_two_files_at_once(world: World, tmp_path: Path) -> None:
    turns = ["Where is the heron?", "The heron is found at the pond."]
    first = world.log("first", turns, identity="5e551011-same")
    second = world.log("second", turns, identity="5e551011-same")
    note = tmp_path / "read"
    process = world.start("index", first, at="recall.curation:Curator._publish", do="wait", note=str(note))
    until(note.exists, process)
    world.done("index", second)
    before = visible(world)
    Path(f"{note}.go").touch()
    ran = ended(process)
    assert (ran.code, ran.error["code"]) == (1, "source_busy")
    assert visible(world) == before
    assert_sound(world)
    assert world.run("index", first).error["code"] == "duplicate_conversation"


def test_who_comes_second_begins_from_what_the_first_made(world: World, tmp_path: Path) -> None:
    source = world.log("heron", ["Where is the heron?", "The heron is found at the pond."])
    note = tmp_path / "stands"
    process = world.start("index", source, at="recall.curation:stand", when="after", do="wait", note=str(note))
    until(note.exists, process)
    world.done("index", source)
    Path(f"{note}.go").touch()
    ran = ended(process)
    assert (ran.code, ran.answer["completed"][0]["unchanged"]) == (0, True)
    assert world.rows("SELECT count(*) FROM ledger") == [(1,)]
    assert_sound(world)
