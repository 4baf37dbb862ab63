"""What is left out of a child's context where the room ends."""

from __future__ import annotations

from typing import Any

from recall.models.turns import ToolCall, Turn
from repair import context
from repair.context import Record
from repair.serving import error


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
