"""Each kind of change, by a careful child: what is published, and what its event says."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from recall.models.turns import TurnRequest
from tests.repair.child import Child, Literal, answers, facet
from tests.repair.world import World


def kilns(world: World) -> None:
    """Two topics of history, and a facet of bread among the kilns."""
    world.index("a", "kilns crack")
    world.index("b", "bread rises")
    world.index("c", "kilns cool slowly", into="kilns crack")
    world.index("d", "bread needs salt", into="kilns crack")
    world.set(repair="due")


def test_nothing_to_do_ends_in_two_turns(world: World) -> None:
    kilns(world)
    child = Child()
    world.child(child)

    done = world.index("e", "kilns are bricked", into="kilns crack")

    assert done["repair"] == {"state": "nothing", "deferred": [], "audited": 3, "receipts": 3}
    assert len(child.requests) == 2
    assert world.topics()["kilns crack"][-1] == "kilns are bricked"


def test_a_move(world: World) -> None:
    kilns(world)
    bread, salt = world.topic_id("bread rises"), world.facet_id("bread needs salt")
    world.child(Child({"moves": [{"facet_id": salt, "to": bread, "reason": "it is about bread"}]}))

    done = world.index("e", "kilns are bricked", into="kilns crack")

    assert done["repair"]["state"] == "done"
    assert done["topics"]["moved"] == [bread]
    assert world.topics() == {
        "kilns crack": ["kilns crack", "kilns cool slowly", "kilns are bricked"],
        "bread rises": ["bread rises", "bread needs salt"],
    }
    events = world.rows("SELECT kind, reason, before, after, evidence, proof FROM topic_events WHERE proof IS NOT NULL")
    assert [event[0] for event in events] == ["moved", "joined"]
    _, reason, before, after, evidence, proof = events[0]
    assert reason == "it is about bread"
    assert json.loads(before)["topic_id"] == world.topic_id("kilns crack")
    assert json.loads(after)["topic_id"] == bread
    assert [one["facet_id"] for one in json.loads(evidence)] == [salt]
    assert len(proof) == 64
    assert world.done("doctor", "--deep")["ok"]


WORDS = {"aliases": ["stoves"], "reason": "as I read it"}


def test_a_redefinition_keeps_the_old_title_as_an_alias(world: World) -> None:
    kilns(world)
    topic = world.topic_id("kilns crack")
    new = {"topic_id": topic, "title": "kilns and salt", "description": "How kilns crack and cool."} | WORDS
    child = Child({"redefinitions": [new]})
    world.child(child)

    done = world.index("e", "kilns are bricked", into="kilns crack")

    assert done["repair"]["state"] == "done"
    assert done["topics"]["updated"] == [topic]
    shown = next(one for one in world.done("browse")["entries"] if one["topic_id"] == topic)
    assert shown["title"] == "kilns and salt"
    assert shown["aliases"][:2] == ["kilns crack", "stoves"]
    # Every final member was shown on a page of its own, the incoming one among them, then the end.
    pages = [head for name, _, head in answers(child.requests[-1]) if name == "repair_coverage"]
    shown = [str(m["content"]) for m in child.requests[-1].messages if str(m["content"]).startswith('{"page_id"')]
    assert sorted(one for text in shown for one in re.findall(r'facet_id "(\w+)"', text)) == sorted(
        world.facet_id(title) for title in ("kilns crack", "kilns cool slowly", "bread needs salt", "kilns are bricked")
    )
    assert pages[-1]["end"] is True
    words = [event["words"] for event in world.done("browse", topic, "--history")["entries"]]
    assert words[-1] == 'Redefined: "kilns crack" is now "kilns and salt". as I read it'
    assert world.done("search", "stoves")["conversations"]


def test_a_merge_keeps_the_older_id_and_the_other_leads_to_it(world: World) -> None:
    kilns(world)
    kept, gone = world.topic_id("kilns crack"), world.topic_id("bread rises")
    merge = {"topic_ids": [gone, kept], "title": "baking", "description": "What is baked, and in what."} | WORDS
    world.child(Child({"merge": merge}))

    done = world.index("e", "kilns are bricked", into="kilns crack")

    assert done["topics"]["merged"] == [gone]
    assert list(world.topics()) == ["baking"]
    answer = world.done("browse", gone)
    assert answer["topic"] == {"topic_id": kept, "title": "baking", "state": "live", "asked_for": gone}
    assert len(answer["entries"]) == 5
    words = [event["words"] for event in world.done("browse", kept, "--history", "--limit", "50")["entries"]]
    assert 'Merged: "kilns crack" and "bread rises" are now "baking". as I read it' in words
    assert f'Merged into {kept}: "bread rises". as I read it' in words


def test_a_split_is_drafts_and_moves_and_an_emptied_topic_leads_to_its_heirs(world: World) -> None:
    world.index("a", "kilns crack")
    world.index("b", "bread rises", into="kilns crack")
    world.index("c", "tides turn")
    world.set(repair="due")
    mixed = world.topic_id("kilns crack")
    drafts = [
        {"draft": 1, "title": "kilns", "description": "Kilns that crack."} | WORDS,
        {"draft": 2, "title": "bread", "description": "Bread that rises."} | WORDS,
    ]

    def proposal(request: TurnRequest) -> Mapping[str, Any]:
        held = {"kilns crack": 1, "bread rises": 2, "kilns are bricked": 1}
        moves = [
            {"facet_id": facet(request, title), "to": f"draft:{number}", "reason": "of this"}
            for title, number in held.items()
        ]
        return {"drafts": drafts, "moves": moves}

    world.child(Child(proposal))

    done = world.index("e", "kilns are bricked", into="kilns crack")

    assert world.topics() == {
        "tides turn": ["tides turn"],
        "kilns": ["kilns crack", "kilns are bricked"],
        "bread": ["bread rises"],
    }
    made = [world.topic_id("kilns"), world.topic_id("bread")]
    assert done["topics"] | {"updated": []} == {
        "created": made,
        "updated": [],
        "merged": [],
        "moved": made,
        "retired": [mixed],
    }
    answer = world.done("browse", mixed)
    assert answer["topic"]["state"] == "retired"
    assert sorted(answer["topic"]["became"]) == sorted(made)
    assert answer["message"].startswith("This topic was retired; its facets went to t_")
    words = [event["words"] for event in world.done("browse", mixed, "--history")["entries"]]
    assert words[-1].startswith("Retired: its facets went to t_")
    assert world.done("doctor", "--deep")["ok"]


def test_a_topic_emptied_into_one_other_is_that_one(world: World) -> None:
    kilns(world)
    bread, crack = world.topic_id("bread rises"), world.topic_id("kilns crack")
    world.child(Child({"moves": [{"facet_id": world.facet_id("bread rises"), "to": crack, "reason": "the same"}]}))
    world.index("e", "kilns are bricked\nnear: bread rises;", into="kilns crack")
    assert world.done("browse", bread)["topic"] == {
        "topic_id": crack,
        "title": "kilns crack",
        "state": "live",
        "asked_for": bread,
    }


def test_an_incoming_facet_is_moved_before_anyone_saw_it_elsewhere(world: World) -> None:
    kilns(world)
    bread = world.topic_id("bread rises")

    def proposal(request: TurnRequest) -> Mapping[str, Any]:
        return {"moves": [{"facet_id": facet(request, "bread is sour"), "to": bread, "reason": "it is bread"}]}

    world.child(Child(proposal))

    done = world.index("e", "bread is sour\nnear: bread rises;", into="kilns crack")

    assert done["topics"]["moved"] == [bread]
    assert world.topics()["bread rises"] == ["bread rises", "bread is sour"]


def warm(world: World) -> Mapping[str, Any]:
    """Two topics of 66 members each, in 26 conversations, and the proposal to merge them."""
    for number in range(13):
        world.log(f"k{number}", *(f"kiln {number} {part}" for part in range(5)), into="kilns")
        world.log(f"o{number}", *(f"oven {number} {part}" for part in range(5)), into="ovens")
    world.index("a", "kilns")
    world.index("b", "ovens")
    world.done("index-all")
    world.set(repair="due")
    ids = [world.topic_id("kilns"), world.topic_id("ovens")]
    return {"merge": {"topic_ids": ids, "title": "heat", "description": "Kilns and ovens."} | WORDS}


def test_a_merge_of_130_members_to_the_end_page(near: World) -> None:
    """Many calls a turn, pages by their numbers, in the room of a model of no great size."""
    near.monkeypatch.setattr("recall.models.tokens.OFFLINE_DIALOGUE_BYTES", 64_000)
    child = Child(warm(near))
    near.child(child)

    done = near.index("z", "a kiln\nnear: ovens;", into="kilns")

    assert (done["repair"]["state"], done["repair"]["receipts"]) == ("done", 133)
    assert len(near.topics()["heat"]) == 133
    assert len(child.requests) <= 18  # ten members a turn: read, then paged, then checked
    largest = max(len(json.dumps(list(request.messages))) for request in child.requests)
    assert largest < 64_000


def test_a_merge_of_130_members_in_the_room_of_a_small_model(world: World) -> None:
    """Over the real protocol, in 24,000 bytes: it takes a second run, which pays for what is left only."""
    child = Literal(warm(world), wide=True)
    world.child(child.turn)
    source = world.log("z", "a kiln\nnear: ovens;", into="kilns")
    before = world.state()

    stopped = world.run("index", source)

    assert (stopped.code, stopped.error["code"]) == (1, "repair_incomplete")
    assert (world.state(), world.turns()) == (before, 40)
    done = world.done("index", source)
    assert done["completed"][0]["repair"]["state"] == "done"
    assert done["completed"][0]["calls"] == world.turns() - 40 == len(child.requests) - 40
    assert len(world.topics()["heat"]) == 133
