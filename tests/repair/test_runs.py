"""When repair runs, with what, and what it leaves for later."""

from __future__ import annotations

import pytest

from recall.index.audits import Standing
from recall.types import Placed, Placement
from repair import selection
from tests.repair.child import Child
from tests.repair.test_changes import kilns
from tests.repair.world import World

INTO = "kilns crack"


def test_it_is_due_by_a_join_a_candidate_or_eight_publications(world: World) -> None:
    world.index("a", "kilns crack")
    world.set(repair="due")
    child = Child()
    world.child(child)

    assert world.index("b", "bread rises")["repair"]["state"] == "not_due"
    assert child.requests == []
    assert world.index("c", "tides turn\nnear: kilns crack;")["repair"]["state"] == "nothing"
    assert world.index("d", "kilns cool", into=INTO)["repair"]["state"] == "nothing"


def test_it_is_due_for_a_topic_that_eight_publications_touched() -> None:
    placement = Placement((Placed(0, None, 0, "new"),), (), {})
    for publications, expected in ((7, False), (8, True)):
        touched = {"t_a": Standing(0, publications, queued=False)}
        assert selection.due("due", placement, touched, history=True, waiting=False) is expected
        assert not selection.due("due", placement, touched, history=False, waiting=True)
        assert not selection.due("never", placement, touched, history=True, waiting=True)


def test_publications_are_counted_and_an_audit_begins_anew(world: World) -> None:
    kilns(world)
    count = "SELECT publications FROM topic_audits JOIN topics USING (topic_no) WHERE title = 'kilns crack'"
    assert world.rows(count) == [(3,)]
    world.child(Child())
    world.index("e", "kilns are bricked", into=INTO)
    assert world.rows(count) == [(0,)]


@pytest.mark.parametrize(("policy", "state"), [("always", "nothing"), ("never", "skipped")])
def test_always_and_never(world: World, policy: str, state: str) -> None:
    world.index("a", "kilns crack")
    world.set(repair=policy)
    world.child(Child())
    assert world.index("b", "bread rises")["repair"]["state"] == state


def test_without_history_nothing_runs(world: World) -> None:
    world.set(repair="always")
    assert world.index("a", "kilns crack")["repair"]["state"] == "not_due"


def test_a_batch_runs_it_once_with_the_last_and_all_of_it_is_incoming(world: World) -> None:
    kilns(world)
    child = Child()
    world.child(child)
    for name in ("e", "f", "g"):
        world.log(name, f"kilns {name}", into=INTO)

    answer = world.done("index-all")

    assert [one["repair"]["state"] for one in answer["completed"]] == ["deferred", "deferred", "nothing"]
    assert len(child.requests) == 2
    opening = str(child.requests[0].messages[0]["content"])
    assert opening.count(", incoming, in ") == 3
    assert world.rows("SELECT count(*) FROM topic_audits WHERE queued_at IS NOT NULL") == [(0,)]


def test_a_batch_whose_last_cannot_carry_it_is_repaired_all_the_same(world: World) -> None:
    kilns(world)
    child = Child()
    world.child(child)
    world.log("e", "kilns e", into=INTO)
    world.log("f").write_text("no log\n", encoding="utf-8")
    world.change("UPDATE queue SET failed_at = NULL")

    ran = world.run("index-all")

    states = [one["repair"]["state"] for one in ran.answer["completed"]]
    assert states in (["deferred"], ["nothing"])
    if states == ["deferred"]:
        assert ran.answer["maintenance"]["repair"]["state"] == "nothing"
    assert len(child.requests) == 2


def test_no_repair_publishes_and_leaves_it_waiting_for_repair(world: World) -> None:
    kilns(world)
    topic = world.topic_id(INTO)
    done = world.done("index", world.log("e", "kilns are bricked", into=INTO), "--no-repair")["completed"][0]
    assert done["repair"] == {"state": "skipped", "deferred": [], "audited": 0, "receipts": 0}
    assert world.rows("SELECT topic_id FROM topic_audits JOIN topics USING (topic_no) WHERE queued_at IS NOT NULL") == [
        (topic,)
    ]

    salt, bread = world.facet_id("bread needs salt"), world.topic_id("bread rises")
    world.child(Child({"moves": [{"facet_id": salt, "to": bread, "reason": "it is bread"}]}))
    answer = world.done("repair")

    assert answer["runs"][0]["repair"]["state"] == "done"
    assert answer["runs"][0]["topics"]["moved"] == [bread]
    assert answer["left"] == 0
    assert world.topics()["bread rises"] == ["bread rises", "bread needs salt"]


def test_repair_of_one_topic_and_of_none(world: World) -> None:
    kilns(world)
    child = Child()
    world.child(child)
    gone = world.run("repair", "t_none")
    assert (gone.code, gone.error["code"]) == (1, "not_found")
    assert world.done("repair", world.topic_id("bread rises"))["runs"][0]["repair"]["audited"] >= 1
    assert world.rows("SELECT count(*) FROM topic_events WHERE proof IS NOT NULL") == [(0,)]


def test_the_ring_goes_on_where_the_last_run_stopped(world: World) -> None:
    world.index("a", "kilns 0")
    for number in range(1, 12):
        world.index(f"k{number}", f"kilns {number}", into="kilns 0")
    topic = world.topic_id("kilns 0")
    seen: list[str] = []
    for _ in range(3):
        child = Child()
        world.child(child)
        world.done("repair", topic)
        opening = str(child.requests[0].messages[0]["content"])
        seen += [f"kilns {n}" for n in range(12) if f'"title":"kilns {n}"' in opening.split("facet_id", 1)[1]]
    assert sorted(set(seen)) == sorted(f"kilns {n}" for n in range(12))
    assert len(seen) == 24


def test_receipts_of_published_runs_count_for_membership_not_for_words(world: World) -> None:
    kilns(world)
    topic = world.topic_id(INTO)
    world.child(Child())
    world.done("repair", topic)
    kept = world.rows("SELECT count(*) FROM receipts")[0][0]
    assert kept == 3

    child = Child()
    world.child(child)
    done = world.done("repair", topic)["runs"][0]["repair"]
    assert done == {"state": "nothing", "deferred": [], "audited": 3, "receipts": 3}
    assert len(child.requests) == 1  # nothing was read again

    new = {"topic_id": topic, "title": "kilns", "description": "Kilns.", "aliases": [], "reason": "shorter"}
    child = Child({"redefinitions": [new]})
    world.child(child, "another")  # the same one has answered this very question
    world.done("repair", topic)
    reads = [call for request in child.requests for call in request.messages if call["role"] == "tool"]
    assert sum('"read_to"' in str(call["content"]) for call in reads) >= 3
    assert world.topics()["kilns"]


def test_a_changed_entry_has_no_receipt_any_more(world: World) -> None:
    kilns(world)
    topic = world.topic_id(INTO)
    world.child(Child())
    world.done("repair", topic)
    log = world.logs["c"]
    log.write_text(log.read_text(encoding="utf-8").replace("kilns cool slowly", "kilns cool slower"), encoding="utf-8")
    world.set(repair="never")
    world.done("index", log)
    child = Child()
    world.child(child)

    world.done("repair", topic)

    assert len(child.requests) == 2
    assert len(child.requests[1].messages) - len(child.requests[0].messages) == 2  # one entry was read


def test_the_host_model_is_unsupported_and_does_not_block(near: World) -> None:
    kilns(near)
    near.set(model="host")
    done = near.index("e", "kilns are bricked", into=INTO)
    assert done["repair"]["state"] == "unsupported"


def test_the_child_sees_no_path_no_directory_and_no_clock(world: World) -> None:
    kilns(world)
    child = Child({"moves": [{"facet_id": world.facet_id("bread needs salt"), "to": "x", "reason": "r"}]})
    world.child(child)
    world.index("e", "kilns are bricked", into=INTO)
    shown = "".join(str(message) for request in child.requests for message in request.messages)
    for hidden in (str(world.home), "lantern", ".jsonl", "2026", "sessions"):
        assert hidden not in shown
    assert [tool.name for tool in child.requests[0].tools] == [
        "repair_topics",
        "repair_members",
        "repair_read",
        "repair_propose",
        "repair_coverage",
        "repair_check",
        "finish",
    ]


def test_topics_take_turns_and_the_neighbours_come_last(world: World) -> None:
    """Assigned topics first, one facet of each in turn, then the candidate that was not chosen; eight at most."""
    for number in range(6):
        world.index(f"k{number}", f"kilns {number}", into="kilns 0")
        world.index(f"b{number}", f"bread {number}", into="bread 0")
        world.index(f"t{number}", f"tides {number}", into="tides 0")
    world.set(repair="due")
    child = Child()
    world.child(child)

    done = world.index("e", "kilns e\ninto: kilns 0;\nnear: tides 0;", "bread e\ninto: bread 0;")

    assert done["repair"]["audited"] == 8
    opening = str(child.requests[0].messages[0]["content"])
    heads = [line for line in opening.splitlines() if ", audited, in " in line]
    ids = {world.topic_id(f"{name} 0"): name for name in ("kilns", "bread", "tides")}
    turns = [next(name for topic, name in ids.items() if f'in "{topic}"' in head) for head in heads]
    assert turns == ["kilns", "bread", "tides"] * 2 + ["kilns", "bread"]
