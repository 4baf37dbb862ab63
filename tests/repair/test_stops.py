"""What ends a run before its end, at every step: nothing half done, nothing paid twice, the work stays."""

from __future__ import annotations

import signal
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.repair.child import Child, Literal, Made, answers, errors, standing
from tests.repair.test_changes import kilns
from tests.repair.world import World

INTO = "kilns crack"


def redefinition(world: World, title: str, new: str) -> Mapping[str, Any]:
    words = {"title": new, "description": f"About {new}.", "aliases": [], "reason": "clearer"}
    return {"redefinitions": [{"topic_id": world.topic_id(title)} | words]}


@pytest.mark.parametrize("at", [1, 2, 3, 4, 5, 6])
def test_a_cancel_at_each_turn_publishes_nothing(world: World, at: int) -> None:
    kilns(world)

    def change(number: int, made: list[Made]) -> Sequence[Made]:
        if number == at:
            signal.raise_signal(signal.SIGINT)
        return made

    child = Child(redefinition(world, INTO, "kilns"), change=change)
    world.child(child)
    before = world.state()

    ran = world.run("index", world.log("e", "kilns are bricked", into=INTO))

    assert (ran.code, ran.error["code"]) == (130, "cancelled")
    assert len(child.requests) == at
    assert world.state() == before
    assert world.rows("SELECT * FROM leases") == []
    world.child(Child(redefinition(world, INTO, "kilns")))
    assert world.done("index", world.logs["e"])["completed"][0]["repair"]["state"] == "done"


def test_a_spent_budget_at_each_turn_keeps_what_was_paid_for(world: World) -> None:
    """One call a run: each run replays the turns before at no cost, runs the tools again for real, and goes one on."""
    kilns(world)
    topic = world.topic_id(INTO)
    child = Child(redefinition(world, INTO, "kilns"))
    world.child(child)
    world.set(batch_calls="1")
    before = world.state()
    codes = []
    for _ in range(20):
        ran = world.run("repair", topic)
        codes.append(ran.code)
        if ran.code == 0:
            break
        assert ran.error["code"] == "work_budget"
        assert world.state() == before

    assert codes[-1] == 0
    assert set(codes[:-1]) == {3}
    assert world.turns() == len(codes) >= 5
    assert world.rows("SELECT count(*) FROM ledger WHERE kind = 'repair'") == [(len(codes),)]
    assert "kilns" in world.topics()


@pytest.mark.parametrize(("cap", "code"), [("batch_calls", "work_budget"), ("daily_calls", "daily_budget")])
def test_a_spent_budget_at_each_request_of_an_index_run(world: World, cap: str, code: str) -> None:
    """One request more a run, by either cap: analysis, placement, the child's turns; the last one publishes all."""
    kilns(world)
    world.child(Child(redefinition(world, INTO, "kilns")))
    source = world.log("e", "kilns are bricked", into=INTO)
    before, asked = world.state(), len(world.server.requests) if world.server is not None else 0
    codes = []
    for run in range(1, 20):
        world.set(**{cap: str(asked + run if cap == "daily_calls" else 1)})
        ran = world.run("index", source)
        codes.append(ran.code)
        if ran.code == 0:
            break
        assert ran.error["code"] == code
        assert world.state() == before
        assert world.rows("SELECT code, attempts FROM queue") == [(code, 0)]
    assert codes == [3] * 7 + [0]
    assert "kilns" in world.topics()
    assert world.rows("SELECT kind, count(*) FROM ledger WHERE source = ? GROUP BY kind", str(source)) == [
        ("analysis", 1),
        ("placement", 1),
        ("repair", 6),
    ]


def test_a_damaged_kept_reply_is_dropped_alone(world: World) -> None:
    kilns(world)
    topic = world.topic_id(INTO)
    world.child(Child(redefinition(world, INTO, "kilns")))
    world.set(batch_calls="3")
    assert world.run("repair", topic).error["code"] == "work_budget"
    world.change(
        "UPDATE model_cache SET reply = 'x' WHERE rowid = "
        "(SELECT rowid FROM model_cache WHERE kind = 'repair' LIMIT 1 OFFSET 1)"
    )
    world.set(batch_calls="99")

    world.done("repair", topic)

    turns = world.turns() - 1
    assert world.rows("SELECT count(*) FROM model_cache WHERE kind = 'repair'") == [(turns,)]


def test_a_kept_reply_that_would_end_the_run_is_asked_anew(world: World) -> None:
    kilns(world)
    topic = world.topic_id(INTO)
    words = Child(change=lambda number, made: "words")
    world.child(words)
    assert world.run("repair", topic).error["code"] == "unsupported_repair_model"
    # The reply that ended the run is not kept; the one before it is, and is forgiven.
    assert world.turns() == 2
    assert world.rows("SELECT count(*) FROM model_cache WHERE kind = 'repair'") == [(1,)]
    world.child(Child())
    assert world.done("repair", topic)["runs"][0]["repair"]["state"] == "nothing"
    assert world.turns() == 4


def rewrite(log: Path) -> None:
    log.write_text(log.read_text(encoding="utf-8").replace("kilns cool slowly", "kilns cool at once"), encoding="utf-8")


def cut(log: Path) -> None:
    log.write_bytes(log.read_bytes()[:200])


@pytest.mark.parametrize("with_plan", [False, True])
@pytest.mark.parametrize("spoil", [rewrite, Path.unlink, cut])
def test_a_source_that_changes_after_it_was_read(world: World, spoil: Callable[[Path], None], with_plan: bool) -> None:
    kilns(world)

    def change(number: int, made: list[Made]) -> Sequence[Made]:
        if made[0][0] == "finish":
            spoil(world.logs["c"])
        return made

    world.child(Child(redefinition(world, INTO, "kilns") if with_plan else None, change=change))
    before = world.state()

    ran = world.run("index", world.log("e", "kilns are bricked", into=INTO))

    assert (ran.code, ran.error["code"]) == (1, "stale_evidence")
    assert world.state() == before
    assert world.rows("SELECT attempts FROM queue") == [(0,)]


def test_a_source_that_grows_is_good_evidence_still(world: World) -> None:
    kilns(world)

    def change(number: int, made: list[Made]) -> Sequence[Made]:
        with world.logs["c"].open("a", encoding="utf-8") as file:
            file.write('{"type": "custom", "id": "more"}\n')
        return made

    world.child(Child(change=change))
    assert world.index("e", "kilns are bricked", into=INTO)["repair"]["state"] == "nothing"


@pytest.mark.parametrize(("spoil", "code"), [(rewrite, "stale_evidence"), (Path.unlink, "source_missing")])
def test_a_source_that_was_bad_before_is_deferred(world: World, spoil: Callable[[Path], None], code: str) -> None:
    kilns(world)
    conversation = world.rows("SELECT conversation_id FROM conversations WHERE source LIKE '%_c.jsonl'")[0][0]
    spoil(world.logs["c"])
    child = Child(redefinition(world, INTO, "kilns"))
    world.child(child)

    done = world.index("e", "kilns are bricked", into=INTO)

    # The others go on; the topic that holds it may not be redefined.
    assert done["repair"]["deferred"] == [{"conversation_id": conversation, "code": code}]
    assert done["repair"]["audited"] == 2
    assert done["repair"]["state"] == "nothing"
    assert errors(child.requests[-1]) == ["refused_holds_deferred"]


def test_a_facet_of_a_deferred_source_is_not_moved(world: World) -> None:
    kilns(world)
    world.logs["d"].unlink()
    move = {
        "facet_id": world.facet_id("bread needs salt"),
        "to": world.topic_id("bread rises"),
        "reason": "it is bread",
    }
    child = Child({"moves": [move]})
    world.child(child)
    done = world.index("e", "kilns are bricked", into=INTO)["repair"]
    assert (done["state"], done["audited"]) == ("nothing", 2)
    assert errors(child.requests[-1]) == ["refused_deferred"]
    assert "bread needs salt" in world.topics()[INTO]


def test_where_all_are_bad_nothing_is_audited_and_the_incoming_is_published(world: World) -> None:
    world.index("a", "kilns crack")
    world.set(repair="due")
    world.logs["a"].unlink()
    done = world.index("e", "kilns are bricked", into=INTO)
    assert done["repair"]["state"] == "deferred"
    assert world.topics()[INTO] == ["kilns crack", "kilns are bricked"]


def test_two_runs_at_once_on_different_topics_both_publish(world: World) -> None:
    kilns(world)
    other = Child(redefinition(world, "bread rises", "bread"))

    def change(number: int, made: list[Made]) -> Sequence[Made]:
        if made[0][0] == "finish":
            world.child(other, "other")
            other_run.append(world.beside("repair", world.topic_id("bread rises")))
        return made

    other_run: list[dict[str, Any]] = []
    first = Child(redefinition(world, INTO, "kilns"), change=change)
    world.child(first)

    done = world.index("e", "kilns are bricked", into=INTO)

    assert other_run[0]["runs"][0]["repair"]["state"] == "done"
    assert done["repair"]["state"] == "done"
    assert sorted(world.topics()) == ["bread", "kilns"]
    assert [name for name, _, _ in answers(first.requests[-1])].count("repair_propose") == 1


def test_two_runs_at_once_on_the_same_topic_one_plans_again(world: World) -> None:
    kilns(world)
    topic = world.topic_id(INTO)
    other = Child(redefinition(world, INTO, "ovens"))
    other_run: list[dict[str, Any]] = []

    def change(number: int, made: list[Made]) -> Sequence[Made]:
        if made[0][0] == "finish" and not other_run:
            world.child(other, "other")
            other_run.append(world.beside("repair", topic))
        return made

    first = Child(redefinition(world, INTO, "kilns"), change=change)
    world.child(first)

    done = world.index("e", "kilns are bricked", into="ovens")

    assert other_run[0]["runs"][0]["repair"]["state"] == "done"
    assert done["repair"]["state"] == "done"
    openings = {str(request.messages[0]["content"]) for request in first.requests}
    assert len(openings) == 2  # the second plan was made on what the other run had published
    assert '"title":"ovens"' in str(first.requests[-1].messages[0]["content"])
    words = [event["words"] for event in world.done("browse", topic, "--history", "--limit", "50")["entries"]]
    assert [one for one in words if one.startswith("Redefined")] == [
        'Redefined: "kilns crack" is now "ovens". clearer',
        'Redefined: "ovens" is now "kilns". clearer',
    ]
    # Who plans again pays for what it asks anew, and for nothing else.
    assert world.rows("SELECT state, count(*) FROM ledger WHERE kind = 'repair'") == [("done", world.turns())]


def glowing(world: World) -> str:
    """A topic of eight long members."""
    world.index("a", "kilns crack")
    for number in range(7):
        world.index(f"k{number}", f"kiln {number}\n" + f"the kiln {number} glows. " * 120, into=INTO)
    return world.topic_id(INTO)


def test_a_small_room_audits_what_it_can_read_in_one_turn(world: World) -> None:
    topic = glowing(world)
    world.child(Child())

    done = world.done("repair", topic)["runs"][0]["repair"]

    assert 1 < done["audited"] == done["receipts"] < 8
    assert world.turns() == 2


def test_a_full_context_never_leaves_out_the_answer_to_the_last_turn(world: World) -> None:
    """A proposal that is longer than the room that the texts leave: its answer is there, its own words are not."""
    topic = glowing(world)
    words = {"description": "窑" * 500, "aliases": [f"{n:02}" + "窑" * 98 for n in range(12)], "reason": "clearer"}
    wanted = {"redefinitions": [{"topic_id": topic, "title": "kilns"} | words]}

    def change(number: int, made: list[Made]) -> Sequence[Made]:
        return _notes(child) or made

    child = Child(wanted, change=change)
    world.child(child)

    done = world.done("repair", topic)["runs"][0]["repair"]

    after_it = answers(child.requests[2])
    assert after_it[0][0] == "repair_read"  # nothing stands in for what was read, so it is in sight still
    name, arguments, head = after_it[-1]
    assert (name, list(arguments)) == ("repair_propose", ["left_out"])
    assert head["proposal_id"] == standing(child.requests[2])["proposal_id"]
    assert (done["state"], done["receipts"]) == ("done", 8)
    assert "kilns" in world.topics()


def _notes(child: Child) -> list[Made]:
    """A note for each text in sight, where the child was just told that no more fits."""
    if child.requests[-1].messages[-1]["role"] != "tool" or "context_full" not in errors(child.requests[-1]):
        return []
    read = [a for name, a, head in answers(child.requests[-1]) if "read_to" in head]
    return [("repair_read", {k: a[k] for k in ("facet_id", "entry_id")} | {"remember": "glows"}) for a in read]


def test_long_entries_in_a_small_room_go_by_with_notes(world: World) -> None:
    """Eight entries that do not fit together: the child is told, writes notes and reads on; no request is too long."""
    topic = glowing(world)
    world.index("b", "bread rises")
    moved = [world.facet_id(title) for title in world.topics()[INTO]]
    bread = world.topic_id("bread rises")
    child = Literal({"moves": [{"facet_id": one, "to": bread, "reason": "warm"} for one in moved]}, wide=True)
    world.child(child.turn)

    done = world.done("repair", topic)["runs"][0]["repair"]

    assert (done["state"], done["receipts"]) == ("done", 8)
    assert any("context_full" in str(request.messages) for request in child.requests)
    assert any("your note on entry_id" in str(request.messages) for request in child.requests)
    sizes = [sum(len(str(m.get("content"))) for m in request.messages) for request in child.requests]
    assert max(sizes) < 24_000


def test_a_run_that_came_to_its_limit_of_turns_goes_on_with_the_next(world: World) -> None:
    kilns(world)
    topic = world.topic_id(INTO)

    def change(number: int, made: list[Made]) -> Sequence[Made]:
        return [("repair_members", {"topic_id": f"t_{number}"})] if number <= 60 else made

    child = Child(redefinition(world, INTO, "kilns"), change=change)
    world.child(child)
    before = world.state()

    ran = world.run("repair", topic)

    assert (ran.code, ran.error["code"]) == (1, "repair_incomplete")
    assert "40 turns a run are the most" in ran.error["message"]
    assert (world.state(), world.turns()) == (before, 40)
    assert world.done("repair", topic)["runs"][0]["repair"]["state"] == "done"
    assert world.turns() == len(child.requests) == 65
    assert world.rows("SELECT count(*) FROM ledger WHERE kind = 'repair'") == [(65,)]
