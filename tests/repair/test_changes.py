"""Each kind of change, by a careful child: what is published, and what its event says."""

from __future__ import annotations

import json

from tests.repair.child import Child
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
