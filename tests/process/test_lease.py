"""Leases: taken from the dead, never from the living, whatever lies in the folder of locks or in the table."""

from __future__ import annotations

import os
import signal
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from recall.index import lease
from tests.process.world import World, assert_sound, ended, until, visible

TURNS = ["Where is the heron?", "The heron is found at the pond."]
SEND = "tests.process.provider:Provider.send"
JUNK = ["", '{"pid":1}', '{"pid":99999999,"started":"2026-03-02T09:00:00Z"}', "not json\0"]
OWNERS = [
    "",
    ".",
    "..",
    '{"pid":1}',
    "1",
    "99999999-0123456789abcdef",
    "../index.db",
    "/etc/hostname",
    "a/b",
    "x\0y",
    "folder",
    "12-0123456789abcde\n",
]


def _lease(world: World, source: Path, owner: str) -> None:
    with closing(sqlite3.connect(world.database)) as connection:
        connection.execute(
            """INSERT INTO leases (profile_no, source, owner, acquired_at, progressed_at, stage)
               VALUES (1, ?, ?, 0, 0, 'analysing')""",
            (str(source), owner),
        )
        connection.commit()


@pytest.fixture
def waiting(world: World) -> tuple[World, Path]:
    """A world with an index, and a source that is not in it yet."""
    world.done("index", world.log("first", TURNS))
    return world, world.log("second", ["And the bittern?", "It works in the reeds."])


@pytest.mark.parametrize(
    "owner", [*OWNERS, pytest.param(f"{os.getpid()}-0123456789abcdef", id="the number of this process")]
)
def test_a_lease_of_nobody_alive_is_taken(waiting: tuple[World, Path], owner: str) -> None:
    world, source = waiting
    (world.database.with_name("index.db.owners") / "folder").mkdir(parents=True)
    _lease(world, source, owner)
    assert [job["state"] for job in world.look()["jobs"]] == ["interrupted"]
    world.done("index", source)
    assert world.look()["jobs"] == []
    assert_sound(world)


@pytest.mark.parametrize("contents", JUNK)
def test_junk_in_the_folder_of_locks_is_in_nobodys_way(waiting: tuple[World, Path], contents: str) -> None:
    world, source = waiting
    folder = world.database.with_name("index.db.owners")
    folder.mkdir(exist_ok=True)
    token = f"{os.getpid()}-0123456789abcdef"  # a process that lives, and is no owner: the number was given again
    for name in ("lock", "index.lock", "1", token):
        (folder / name).write_text(contents, encoding="utf-8")
    (folder / "2-0123456789abcdef").symlink_to(world.database)
    _lease(world, source, token)
    world.done("index", source)
    assert world.look()["jobs"] == []
    assert {path.name for path in folder.iterdir()} == {"lock", "index.lock", "1"}  # what is not ours stays
    assert_sound(world)


def test_who_lives_keeps_the_lease_and_is_named(waiting: tuple[World, Path], tmp_path: Path) -> None:
    world, source = waiting
    note = tmp_path / "held"
    process = world.start("index", source, at=SEND, do="hold", note=str(note))
    until(note.exists, process)
    assert [job["state"] for job in world.look()["jobs"]] == ["running"]
    refused = world.run("index", source)
    assert (refused.code, refused.error["code"]) == (3, "lease_held")
    assert f"process {process.pid}" in refused.error["message"]
    batch = world.done("index-all")
    assert [(one["source"], one["code"]) for one in batch["skipped"]] == [(str(source), "lease_held")]
    assert (batch["completed"], batch["failed"]) == ([], [])
    assert [job["state"] for job in world.look()["jobs"]] == ["running"]

    process.signal(signal.SIGKILL)
    ended(process)
    assert [job["state"] for job in world.look()["jobs"]] == ["interrupted"]
    batch = world.done("index-all")
    assert [one["source"] for one in batch["completed"]] == [str(source)]
    look = world.look()
    assert (look["jobs"], look["queue"]) == ([], {"waiting": 0, "failed": []})


def test_many_who_look_do_not_take_each_other_for_the_owner(waiting: tuple[World, Path]) -> None:
    world, source = waiting
    killed = world.run("index", source, at=SEND, do="SIGKILL")
    assert killed.code == -signal.SIGKILL
    token = world.rows("SELECT owner FROM leases")[0][0]
    with open(world.database.with_name("index.db.owners") / token, encoding="utf-8") as file:
        assert lease._lock(file.fileno(), shared=True)  # somebody looks just now
        assert not lease.is_alive(world.database, token)
        world.done("index", source)


def test_interrupted_work_whose_source_is_gone_ends_with_the_next_batch(waiting: tuple[World, Path]) -> None:
    world, source = waiting
    world.run("index", source, at=SEND, do="SIGKILL")
    source.unlink()
    assert [job["state"] for job in world.look()["jobs"]] == ["interrupted"]
    world.done("index-all")
    assert world.look()["jobs"] == []


def test_interrupted_work_that_another_run_made_needless_ends_too(waiting: tuple[World, Path]) -> None:
    world, source = waiting
    world.done("index", source)
    world.run("index", source, "--force", at="recall.curation:Curator._publish", do="SIGKILL")
    assert [job["state"] for job in world.look()["jobs"]] == ["interrupted"]
    before = visible(world)
    assert world.done("index", source)["completed"][0]["unchanged"]
    assert world.look()["jobs"] == []
    assert visible(world) == before


def test_a_killed_batch_goes_on_where_it_was(world: World) -> None:
    for name in ("one", "two", "three"):
        world.log(name, [f"Where is the {name} heron?", f"The {name} heron is found."])
    killed = world.run("index-all", at=SEND, nth=3, do="SIGKILL")
    assert killed.code == -signal.SIGKILL
    look = world.look()
    assert ([job["state"] for job in look["jobs"]], look["conversations"]) == (["interrupted"], 1)
    done = world.done("index-all")
    assert (len(done["completed"]), done["left"]) == (2, 0)
    assert world.look()["jobs"] == []
    assert_sound(world)


def test_a_provider_that_never_answers_ends_by_its_deadline(waiting: tuple[World, Path]) -> None:
    world, source = waiting
    ran = world.run("index", source, delay=3600, limits={"request_seconds": 0.5, "grace_seconds": 0.1})
    assert (ran.code, ran.error["code"]) == (1, "model_request_failed")
    look = world.look()
    assert look["jobs"] == []
    assert [(one["source"], one["code"]) for one in look["queue"]["failed"]] == [(str(source), "model_request_failed")]
    assert world.rows("SELECT state, code FROM ledger ORDER BY call_no DESC LIMIT 1") == [
        ("failed", "model_request_failed")
    ]
    world.done("index", source)


def test_while_a_provider_does_not_answer_everybody_else_is_answered(
    waiting: tuple[World, Path], tmp_path: Path
) -> None:
    world, source = waiting
    note = tmp_path / "asked"
    process = world.start("index", source, at=SEND, do="hold", note=str(note))
    until(note.exists, process)
    assert world.found("heron") == {"5e551011-first"}
    for words in (["status"], ["browse"], ["conversations"], ["doctor"]):
        world.done(*words)
    other = world.log("third", ["Who feeds the crane?", "The warden does, it was decided."])
    world.done("index", other)
    assert process.code is None
    process.signal(signal.SIGKILL)
    ended(process)


def test_a_rebuild_that_is_killed_leaves_everything_to_be_found(world: World, tmp_path: Path) -> None:
    gone = world.log("gone", TURNS)
    world.log("kept", ["Is the heron back?", "It was found again."])
    world.done("index-all")
    both = {"5e551011-gone", "5e551011-kept"}
    assert world.found("heron") == both
    gone.unlink()

    killed = world.run("rebuild", at="recall.index.fulltext:_drop", nth=2, when="after", do="SIGKILL")
    assert killed.code == -signal.SIGKILL
    assert world.found("heron") == both
    assert_sound(world)

    world.done("rebuild")
    note = tmp_path / "held"
    process = world.start("index-all", at=SEND, do="hold", note=str(note))
    until(note.exists, process)
    assert world.found("heron") == both
    process.signal(signal.SIGKILL)
    ended(process)
    assert world.found("heron") == both
    assert_sound(world)
    world.done("index-all")
    assert world.found("heron") == both
    states = {one["host_conversation_id"]: one["state"] for one in world.done("conversations")["conversations"]}
    assert states == {"5e551011-gone": "gone", "5e551011-kept": "indexed"}
