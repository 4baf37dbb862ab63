"""A child that does something wrong: each is answered by a typed error, ends the run by its name, or both."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pytest

from recall.models.turns import ToolCall, TurnRequest
from repair.tools import BadCall, arguments_of
from tests.repair.child import Child, Literal, Made, answers, errors, facet, standing
from tests.repair.test_changes import kilns
from tests.repair.world import World, calls

INTO = "kilns crack"


def merging(world: World) -> Mapping[str, Any]:
    """The proposal to merge the two topics of `kilns`."""
    ids = [world.topic_id("kilns crack"), world.topic_id("bread rises")]
    words = {"title": "baking", "description": "What is baked, and in what.", "aliases": [], "reason": "both bake"}
    return {"merge": {"topic_ids": ids} | words}


def ends(world: World, code: str) -> None:
    """The next conversation fails with this code, stays queued, and nothing of it is seen."""
    before = world.state()
    ran = world.run("index", world.log("e", "kilns are bricked", into=INTO))
    assert (ran.code, ran.error["code"]) == (1, code), ran.answer
    assert world.state() == before
    assert world.rows("SELECT code FROM queue") == [(code,)]


@pytest.mark.parametrize(
    ("wrong", "code"),
    [
        ({"page_id": "pg_aaaaaaaaaaaa"}, "unknown_page"),  # a forged digest
        ({"receipt_id": "rc_aaaaaaaaaaaa"}, "wrong_receipt"),
    ],
)
def test_a_forged_page_or_receipt_is_refused_and_can_be_mended(world: World, wrong: dict[str, str], code: str) -> None:
    kilns(world)
    seen: list[str] = []

    def change(number: int, made: list[Made]) -> Sequence[Made]:
        for place, (name, arguments) in enumerate(made):
            if name == "repair_check" and not seen:
                made[place] = (name, {**arguments, **wrong})
                seen.append(name)
        return made

    child = Child(merging(world), change=change)
    world.child(child)

    done = world.index("e", "kilns are bricked", into=INTO)

    assert code in [one["error"] for _, _, one in answers(child.requests[-1]) if "error" in one]
    assert done["repair"]["state"] == "done"
    assert list(world.topics()) == ["baking"]


@pytest.mark.parametrize("left_out", ["repair_read", "repair_check", "the end page", "a page"])
def test_what_was_left_out_is_named_and_nothing_is_published(world: World, left_out: str) -> None:
    kilns(world)
    said: list[str] = []
    paged: list[str] = []

    def keeps(name: str, arguments: Mapping[str, Any], where: Mapping[str, Any]) -> bool:
        if name == "repair_coverage":
            end = next(one["end_page"] for one in where["to_cover"] if one["topic"] == arguments["topic"])
            return not (left_out == "the end page" and arguments["page"] == end) and not (
                left_out == "a page" and arguments["page"] == 2
            )
        return not (name == left_out and where["proposal_id"] and arguments.get("facet_id", "x") != "")

    def policy(request: TurnRequest) -> Sequence[ToolCall]:
        where = standing(request)
        planned = careful._next(request)
        if left_out == "repair_read" and where["proposal_id"] and not paged:
            # Unread members' pages are not offered; this child asks for them all the same.
            paged.append("all")
            planned = [("repair_coverage", {"topic": world.topic_id(INTO), "page": page}) for page in range(1, 7)]
            return calls(*planned)
        kept = [(name, arguments) for name, arguments in planned if keeps(name, arguments, where)]
        if kept:
            return calls(*kept)
        said.extend(one["message"] for _, _, one in answers(request) if one.get("error") == "not_proved")
        return calls(("finish", {"proposal_id": where["proposal_id"], "reason": "enough"}))

    careful = Child(merging(world))
    world.child(policy)

    ends(world, "repair_incomplete")

    named = {
        "repair_read": "the receipt of",
        "repair_check": "the check of",
        "the end page": "the end page of",
        "a page": "page 2 of",
    }
    assert said
    assert said[0].removeprefix("not ended: ").startswith(named[left_out]), said


def test_a_member_that_does_not_fit_stops_the_proposal(world: World) -> None:
    kilns(world)
    salt = world.facet_id("bread needs salt")
    said: list[str] = []

    def change(number: int, made: list[Made]) -> Sequence[Made]:
        if made[0][0] == "finish" and made[0][1]["proposal_id"]:
            if said:
                return [("finish", {"proposal_id": None, "reason": "one does not fit"})]
            said.append("tried")
        return made

    child = Child(merging(world), fits=lambda facet_id: facet_id != salt, change=change)
    world.child(child)

    done = world.index("e", "kilns are bricked", into=INTO)

    heads = [one for _, _, one in answers(child.requests[-1]) if one.get("error") == "not_proved"]
    assert f"{salt} in" in heads[0]["message"]
    assert "was found not to fit" in heads[0]["message"]
    assert done["repair"]["state"] == "nothing"
    assert len(world.topics()) == 2


def test_text_instead_of_calls(world: World) -> None:
    kilns(world)
    world.child(lambda request: "I would rather write.")
    ends(world, "unsupported_repair_model")

    turns: Iterator[str | Sequence[ToolCall]] = iter([calls(("repair_topics", {})), "Now I write.", "And on."])
    world.child(lambda request: next(turns))
    ran = world.run("index", world.logs["e"])
    assert ran.error["code"] == "invalid_model_output"


def test_once_in_text_is_forgiven(world: World) -> None:
    kilns(world)
    child = Child(change=lambda number, made: "Let me think." if number == 1 else made)
    world.child(child)
    assert world.index("e", "kilns are bricked", into=INTO)["repair"]["state"] == "nothing"
    assert "Only tool calls are read" in str(child.requests[1].messages[-1]["content"])


def test_calls_that_are_none_are_answered_one_by_one(world: World) -> None:
    kilns(world)
    bread = json.dumps({"topic_id": world.topic_id("bread rises")})
    bad = [
        ToolCall("1", "repair_members", bread[:-1]),
        ToolCall("2", "repair_members", bread + bread),
        ToolCall("3", "repair_members", '{"topic_id": "x", "topic_id": "y"}'),
        ToolCall("4", "repair_members", ""),
        ToolCall("5", "repair_remove", "{}"),
        ToolCall("6", "repair_topics", '{"page": NaN}'),
        ToolCall("7", "repair_topics", ""),
        ToolCall("8", "repair_topics", "null"),
        ToolCall("9", "finish", '{"proposal_id": null, "reason": "done"}'),
    ]
    child = Child()
    seen: list[TurnRequest] = []

    def policy(request: TurnRequest) -> str | Sequence[ToolCall]:
        seen.append(request)
        return bad if len(seen) == 1 else child.turn(request)

    world.child(policy)

    done = world.index("e", "kilns are bricked", into=INTO)

    invalid = "invalid_arguments"
    assert errors(seen[1]) == [invalid, invalid, invalid, invalid, "unknown_tool", invalid, "finish_alone"]
    heads = [json.loads(str(m["content"]).split("\n", 1)[0]) for m in seen[1].messages if m["role"] == "tool"]
    assert heads[6]["topics"] == 2
    assert heads[7] == {"duplicate_of_call": 7}
    assert done["repair"]["state"] == "nothing"


def test_too_many_calls_that_are_none_end_the_run(world: World) -> None:
    kilns(world)
    world.child(lambda request: [ToolCall(f"{n}", "repair_read", f"[{len(request.messages) + n}") for n in range(3)])
    ends(world, "invalid_model_output")


def test_the_third_identical_call_ends_the_run(world: World) -> None:
    kilns(world)
    turns: list[TurnRequest] = []

    def policy(request: TurnRequest) -> Sequence[ToolCall]:
        turns.append(request)
        return calls(("repair_topics", {"page": 1}))

    world.child(policy)
    ends(world, "repair_incomplete")
    assert len(turns) == 3
    said = [[head.get("warning", "") for _, _, head in answers(turn)] for turn in turns]
    assert [len(one) for one in said] == [0, 1, 2]
    assert said[1] == [""]
    assert said[2][1].startswith("the same call as before")


def test_the_word_null_is_no_proposal(world: World) -> None:
    """A small model writes the word for the value; what has to be read has to be read all the same."""
    kilns(world)
    said = ("finish", {"proposal_id": "null", "reason": "all is well"})
    child = Child(change=lambda number, made: [said] if number == 1 or made[0][0] == "finish" else made)
    world.child(child)
    done = world.index("e", "kilns are bricked", into=INTO)
    assert done["repair"] == {"state": "nothing", "deferred": [], "audited": 3, "receipts": 3}
    assert errors(child.requests[1]) == ["not_proved"]


def test_who_only_copies_the_call_that_is_named_comes_to_the_end(world: World) -> None:
    """As a small model works: one call a turn, its arguments copied, nothing understood."""
    kilns(world)
    child = Literal(merging(world))
    world.child(child.turn)
    assert world.index("e", "kilns are bricked", into=INTO)["repair"]["state"] == "done"
    assert list(world.topics()) == ["baking"]
    assert [errors(request) for request in child.requests[1:]] == [[]] * (len(child.requests) - 1)


def test_ending_before_the_audit_is_read_is_refused_by_name(world: World) -> None:
    kilns(world)
    child = Child(
        change=lambda number, made: [("finish", {"proposal_id": None, "reason": "fine"})] if number == 1 else made
    )
    world.child(child)
    assert world.index("e", "kilns are bricked", into=INTO)["repair"]["state"] == "nothing"
    assert errors(child.requests[1]) == ["not_proved"]


def test_more_calls_than_a_turn_may_have(near: World) -> None:
    kilns(near)
    many = [("repair_members", {"topic_id": f"t_{n}"}) for n in range(40)]
    child = Child(change=lambda number, made: many if number == 1 else made)
    near.child(child)
    assert near.index("e", "kilns are bricked", into=INTO)["repair"]["state"] == "nothing"
    assert errors(child.requests[1]) == ["unknown_topic"] * 32 + ["too_many_calls"] * 8


def test_calls_that_do_not_fit_count_as_not_made(world: World) -> None:
    """In a small room the first of many calls are answered; what is left is told, and no answer is lost."""
    kilns(world)
    many = [("repair_members", {"topic_id": f"t_{n}"}) for n in range(60)]
    end = ("finish", {"proposal_id": None, "reason": "done"})
    child = Child(change=lambda number, made: [*many, end] if number == 1 else made)
    world.child(child)
    assert world.index("e", "kilns are bricked", into=INTO)["repair"]["state"] == "nothing"
    told = errors(child.requests[1])
    assert 10 < len(told) < 60
    assert set(told) == {"unknown_topic"}
    assert len(child.requests) == 3


LONG = {"title": "t", "description": "d", "aliases": [], "reason": "r"}


@pytest.mark.parametrize(
    ("proposal", "code"),
    [
        ({}, "refused_nothing_to_change"),
        ({"drafts": [{"draft": 1} | LONG] * 6}, "invalid_arguments"),
        ({"drafts": [{"draft": 1} | LONG, {"draft": 1} | LONG]}, "refused_draft_twice"),
        ({"drafts": [{"draft": 1} | LONG]}, "refused_no_members"),
        ({"redefinitions": [{"topic_id": "t_unknown"} | LONG]}, "refused_unknown_topic"),
        ({"moves": [{"facet_id": "f_unknown", "to": "KILNS", "reason": "r"}]}, "refused_unknown_facet"),
        ({"moves": [{"facet_id": "SALT", "to": "draft:4", "reason": "r"}]}, "refused_unknown_draft"),
        ({"moves": [{"facet_id": "SALT", "to": "BREAD", "reason": "r"}] * 2}, "refused_facet_twice"),
        ({"moves": [{"facet_id": "SALT", "to": "KILNS", "reason": "r"}]}, "refused_nothing_to_change"),
        ({"merge": {"topic_ids": ["KILNS", "KILNS"]} | LONG}, "invalid_arguments"),
        (
            {"merge": {"topic_ids": ["KILNS", "BREAD"]} | LONG, "redefinitions": [{"topic_id": "KILNS"} | LONG]},
            "refused_topic_twice",
        ),
        ({"redefinitions": [{"topic_id": "KILNS"} | LONG | {"title": " "}]}, "refused_no_words"),
        ({"redefinitions": [{"topic_id": "KILNS"} | LONG | {"title": "x" * 101}]}, "invalid_arguments"),
        ({"surprise": 1}, "invalid_arguments"),
    ],
)
def test_a_proposal_that_breaks_a_rule_is_refused_softly(world: World, proposal: Mapping[str, Any], code: str) -> None:
    kilns(world)
    names = {
        "KILNS": world.topic_id("kilns crack"),
        "BREAD": world.topic_id("bread rises"),
        "SALT": world.facet_id("bread needs salt"),
    }
    spelled = json.dumps(proposal)
    for name, value in names.items():
        spelled = spelled.replace(f'"{name}"', f'"{value}"')
    child = Child(json.loads(spelled))
    world.child(child)

    done = world.index("e", "kilns are bricked", into=INTO)

    assert errors(child.requests[-1]) == [code]
    assert done["repair"]["state"] == "nothing"


@pytest.mark.parametrize(
    ("history", "incoming", "code"),
    [
        (8, 5, None),
        (9, 0, "refused_too_many_moves"),
        (8, 6, "invalid_arguments"),
        (7, 6, "refused_too_many_incoming_moves"),
    ],
)
def test_moves_of_history_and_of_what_comes_in_have_a_limit_each(
    world: World, history: int, incoming: int, code: str | None
) -> None:
    world.index("b", "bread rises")
    world.index("k", "kilns crack")
    for number in range(2):
        world.index(f"k{number}", *(f"kiln {number} {part}" for part in range(4)), into=INTO)
    world.index("l", "kiln x", into=INTO)
    world.set(repair="due")
    old = [title for title in world.topics()[INTO] if title.startswith("kiln ")][:history]
    new = [f"kiln new {part}" for part in range(incoming)]
    bread = world.topic_id("bread rises")
    # All conversations of a batch are incoming.
    for start in range(0, incoming, 5):
        world.log(f"n{start}", *new[start : start + 5], into=INTO)
    world.log("z", "kilns are bricked", into=INTO)

    def proposal(request: TurnRequest) -> Mapping[str, Any]:
        ids = [*map(world.facet_id, old), *(facet(request, title) for title in new)]
        return {"moves": [{"facet_id": one, "to": bread, "reason": "r"} for one in ids]}

    child = Child(proposal)
    world.child(child)

    answer = world.done("index-all")

    done = answer["completed"][-1]["repair"]
    assert done["state"] == ("done" if code is None else "nothing")
    told = [head["error"] for _, _, head in answers(child.requests[-1]) if "error" in head]
    assert told == ([code] if code is not None else [])
    assert len(world.topics()["bread rises"]) == 1 + (history + incoming if code is None else 0)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("repair_topics", {"page": 0}),
        ("repair_members", {"topic_id": "t" * 65}),
        ("repair_read", {"facet_id": "f", "entry_id": "e", "max_chars": 999}),
        ("repair_read", {"facet_id": "f", "entry_id": "e", "max_chars": 12_001}),
        ("repair_read", {"facet_id": "f", "entry_id": "e", "offset": -1}),
        ("repair_read", {"facet_id": "f", "entry_id": "e", "remember": "n" * 601}),
        ("repair_read", {"facet_id": "f", "entry_id": "e", "path": "/etc/passwd"}),
        ("repair_propose", {"redefinitions": [{"topic_id": "t"} | LONG] * 6}),
        ("repair_propose", {"moves": [{"facet_id": f"f{n}", "to": "t", "reason": "r"} for n in range(14)]}),
        ("repair_propose", {"drafts": [{"draft": 6} | LONG]}),
        ("repair_propose", {"merge": {"topic_ids": ["a", "b", "c"]} | LONG}),
        ("repair_propose", {"drafts": [{"draft": 1} | LONG | {"description": "d" * 501}]}),
        ("repair_propose", {"drafts": [{"draft": 1} | LONG | {"aliases": ["a"] * 13}]}),
        ("repair_coverage", {"topic": "t", "page": 1.5}),
        ("repair_check", {"page_id": "p", "receipt_id": "r", "fits": "true", "reason": "r"}),
        ("repair_check", {"page_id": "p", "receipt_id": "r", "fits": True, "reason": "r" * 301}),
        ("finish", {"proposal_id": None}),
        ("finish", {"proposal_id": False, "reason": "r"}),
    ],
)
def test_arguments_beyond_a_limit_are_refused_and_the_tool_does_not_run(name: str, arguments: dict[str, Any]) -> None:
    with pytest.raises(BadCall) as refused:
        arguments_of(ToolCall("call", name, json.dumps(arguments)))
    assert refused.value.code == "invalid_arguments"


def test_a_second_proposal_takes_the_place_of_the_first(world: World) -> None:
    """Two turns of self-correction: refused, refused, taken."""
    kilns(world)
    salt, bread = world.facet_id("bread needs salt"), world.topic_id("bread rises")
    tries = [
        {"moves": [{"facet_id": salt, "to": "t_none", "reason": "r"}]},
        {"moves": [{"facet_id": "f_none", "to": bread, "reason": "r"}]},
        {"moves": [{"facet_id": salt, "to": bread, "reason": "r"}]},
    ]
    asked: list[str] = []

    def change(number: int, made: list[Made]) -> Sequence[Made]:
        if number >= 2 and tries and (number == 2 or asked):
            asked.append("again")
            return [("repair_propose", tries.pop(0))]
        return made

    child = Child(change=change)
    world.child(child)

    done = world.index("e", "kilns are bricked", into=INTO)

    assert [errors(child.requests[n]) for n in (2, 3, 4)] == [["refused_unknown_topic"], ["refused_unknown_facet"], []]
    assert done["repair"]["state"] == "done"
    assert world.topics()["bread rises"] == ["bread rises", "bread needs salt"]
