"""Reading originals: side by side, in order, joined from the first character on."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from recall.index.members import Member
from recall.originals import Originals
from tests.repair.child import Child, Made, answers
from tests.repair.test_changes import kilns
from tests.repair.world import World

INTO = "kilns crack"


def test_the_reads_of_one_turn_look_at_their_sources_side_by_side(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    kilns(world)
    together = threading.Barrier(3)
    look = Originals.look
    reading = threading.Event()

    def watched(self: Originals, member: Member, entry_ids: Sequence[str]) -> Callable[[], str | None]:
        job = look(self, member, entry_ids)

        def wait() -> str | None:
            together.wait(timeout=20)  # broken, where one is looked at after the other
            return job()

        return wait if reading.is_set() else job

    def change(number: int, made: list[Made]) -> Sequence[Made]:
        (reading.set if number == 1 else reading.clear)()
        return list(reversed(made))

    child = Child(change=change)
    world.child(child)
    monkeypatch.setattr(Originals, "look", watched)

    done = world.index("e", "kilns are bricked", into=INTO)

    assert done["repair"]["receipts"] == 3
    # The answers stand in the order of the calls, whichever source was looked at first.
    made = [(name, head["chars"]) for name, _, head in answers(child.requests[1])]
    assert made == [("repair_read", 35), ("repair_read", 36), ("repair_read", 11)]


LONG = "".join(f"kiln {number} glows. " for number in range(300))


@pytest.mark.parametrize(
    ("ranges", "read_to"),
    [
        ([(0, 1000), (1000, 12_000)], None),
        ([(1000, 12_000), (0, 1000)], None),
        ([(0, 2000), (1500, 12_000)], None),
        ([(1, 12_000)], 0),
        ([(0, 1000), (1001, 12_000)], 1000),
        ([(4000, 1000), (0, 1000)], 1000),
    ],
)
def test_ranges_join_from_the_first_character(world: World, ranges: list[tuple[int, int]], read_to: int | None) -> None:
    world.index("a", f"kilns crack\n{LONG}")
    topic, facet_id = world.topic_id(INTO), world.facet_id(INTO)
    entry, chars = world.rows("SELECT entry_id, chars FROM entries")[0]

    def change(number: int, made: list[Made]) -> Sequence[Made]:
        if number > 1:
            return made
        read = {"facet_id": facet_id, "entry_id": entry}
        return [("repair_read", {**read, "offset": start, "max_chars": size}) for start, size in ranges]

    child = Child(change=change)
    world.child(child)

    assert world.done("repair", topic)["runs"][0]["repair"]["receipts"] == 1

    last: dict[str, Any] = dict(answers(child.requests[1])[-1][2])
    assert last["read_to"] == (chars if read_to is None else read_to)
    assert ("receipt_id" in last) == (read_to is None)
    assert len(child.requests) == (2 if read_to is None else 3)  # what is missing is read from there on
