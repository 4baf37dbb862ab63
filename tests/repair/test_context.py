"""What is left out of a child's context where the room ends, and that the work gets done in any room."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recall.models.extractive.child import take_turn
from recall.models.turns import ToolCall, Turn
from repair import context
from repair.context import Record
from repair.serving import error
from tests.repair.child import Literal
from tests.repair.world import World


def _failed(number: int) -> Record:
    turn = Turn("", (ToolCall(f"call_{number}", "repair_topics", "{}"),), cached=False, key="")
    return Record(turn, (error("context_full", "no more fits"),))


def test_of_turns_that_were_seen_the_oldest_go_and_the_newest_answer_never_does() -> None:
    records = [_failed(number) for number in range(3)]
    case: Any = None  # nothing in these answers is covered by anything
    kept, size = context._shrunk({"role": "user", "content": ""}, records, case, 0, len, seen=2)
    assert kept == records[2:]
    assert size > 0
    kept, _ = context._shrunk({"role": "user", "content": ""}, records, case, 0, len, seen=3)
    assert kept == []


LENGTHS = (20, 300, 4000, 900, 1800, 60, 2500)
WORDS = {"aliases": [], "reason": "as told"}


def glowing(world: World) -> Path:
    """Two topics of seven members each, of all lengths, in two scripts; the index as it is then."""
    for topic, text in (("kilns", "the kiln glows. "), ("窑", "窑里的火很旺。")):
        for number, length in enumerate(LENGTHS):
            world.index(f"{topic}{number}", f"{topic} {number}\n{(text * length)[:length]}", into=f"{topic} 0")
    kept = world.database.with_suffix(".kept")
    shutil.copyfile(world.database, kept)
    return kept


def proposals(world: World) -> list[Mapping[str, Any] | None]:
    one, other = world.topic_id("kilns 0"), world.topic_id("窑 0")
    words = {"title": "heat", "description": "What glows."} | WORDS
    moved = [world.facet_id(f"kilns {number}") for number in range(7)]
    return [
        None,
        {"redefinitions": [{"topic_id": one} | words]},
        {"merge": {"topic_ids": [one, other]} | words},
        {"moves": [{"facet_id": facet_id, "to": other, "reason": "as told"} for facet_id in moved]},
    ]


def test_who_makes_the_call_that_is_named_comes_to_the_end_in_any_room(
    near: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It needs nothing but to copy; where the room is too small that is said, and no run goes round in a circle."""
    kept = glowing(near)
    plans = proposals(near)
    topic = near.topic_id("kilns 0")
    ended: Counter[str] = Counter()

    @settings(max_examples=40)
    @given(room=st.integers(8_000, 40_000), plan=st.sampled_from(plans), wide=st.booleans())
    def drawn(room: int, plan: Mapping[str, Any] | None, wide: bool) -> None:
        for suffix in ("-wal", "-shm"):
            Path(str(near.database) + suffix).unlink(missing_ok=True)
        shutil.copyfile(kept, near.database)
        monkeypatch.setattr("recall.models.tokens.OFFLINE_DIALOGUE_BYTES", room)
        child = Literal(plan, wide)
        near.child(child.turn)

        ran = near.run("repair", topic)

        code = ran.answer["runs"][0]["repair"]["state"] if ran.code == 0 else ran.error["code"]
        ended[code] += 1
        sizes = [sum(len(json.dumps(m, ensure_ascii=False).encode()) for m in one.messages) for one in child.requests]
        assert max(sizes, default=0) <= room
        if code == "repair_incomplete":
            # Forty turns of one call each are too few for some of this; a circle is another thing.
            assert "40 turns a run are the most" in ran.error["message"], (room, wide, plan, ran.error)
            assert not wide or room < 24_000
        else:
            assert code in ("model_context_too_small", "nothing" if plan is None else "done"), (room, wide, plan)
        assert code != "model_context_too_small" or room < 16_000

    drawn()
    assert ended["done"] > 10, ended


def test_the_built_in_child_ends_in_any_room(near: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the members of all topics in sight do not fit, it judges by what does, and goes round in no circle."""
    names = [f"kiln {number} at shelf 0" for number in range(18)]
    for number, name in enumerate(names):
        text = f"\nThe door of oven {number} was oiled with care. " + "It glows in the dark of the night. " * 14
        near.index(f"k{number}", *(f"kiln {number} at shelf {part}{text}" for part in range(3)), into=name)
        near.index(f"l{number}", *(f"kiln {number} at shelf {part}{text}" for part in range(3, 6)), into=name)
    kept = near.database.with_suffix(".kept")
    shutil.copyfile(near.database, kept)
    near.child(lambda request: list(take_turn(request).calls))
    for room in (12_000, 16_000, 20_000, 24_000, 32_000, 48_000, 256_000):
        for suffix in ("-wal", "-shm"):
            Path(str(near.database) + suffix).unlink(missing_ok=True)
        shutil.copyfile(kept, near.database)
        monkeypatch.setattr("recall.models.tokens.OFFLINE_DIALOGUE_BYTES", room)
        states = [run["repair"]["state"] for _ in range(2) for run in near.done("repair")["runs"]]
        assert set(states) <= {"nothing", "done"}, room
