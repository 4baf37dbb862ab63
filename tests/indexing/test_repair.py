"""Topic repair over the real protocol: litellm, streamed tool calls, a server on this machine; what the server saw is
what was charged, and what was kept is not asked again.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from benchmarks.servers import replies
from benchmarks.servers.chat_server import ToolCall, Turn
from recall.models.turns import TurnRequest
from tests.indexing.product import Log, Product, short
from tests.repair.child import Child, Made, answers, errors


def serves(product: Product, child: Child) -> None:
    """The server makes the child's turns where it is given tools, and answers the other steps validly."""

    def responder(body: Mapping[str, Any]) -> Turn | str:
        if not body.get("tools"):
            return replies.answer(body)
        made = child.turn(TurnRequest("", tuple(body["messages"][1:]), (), ""))
        if isinstance(made, str):
            return Turn(text=made)
        calls = tuple(ToolCall(call.name, call.arguments, call.call_id) for call in made)
        return Turn("tools", finish="tool_calls", calls=calls)

    product.answers(responder)


@pytest.fixture
def ferries(product: Product) -> Product:
    """Two conversations of one topic, one of another; a fourth will join the first topic."""
    bread = Log("b2b1").talk([("Bread rises too slowly in winter", "Warm the oven to thirty degrees first.")])
    for name, log in (("n0", short("b0b1", "ferry")), ("n1", short("b1b1", "ferry")), ("n2", bread)):
        product.done("index", product.add(log, name))
    product.set(repair="due")
    return product


def test_an_audit_of_what_is_right_takes_two_requests(ferries: Product) -> None:
    child = Child()
    serves(ferries, child)
    seen = len(ferries.seen())

    answer = ferries.done("index", ferries.add(short("b9b1", "ferry"), "n9"))

    repair = answer["completed"][0]["repair"]
    assert (repair["state"], repair["receipts"]) == ("nothing", repair["audited"])
    assert repair["audited"] >= 2
    kinds = [kind for kind, _, _ in ferries.ledger()][seen:]
    assert kinds == ["analysis", "placement", "repair", "repair"]
    assert len(ferries.seen()) - seen == answer["calls"] == 4
    given = [request.body.get("tools") for request in ferries.seen()[seen:]]
    assert [bool(tools) for tools in given] == [False, False, True, True]
    assert '"name": "finish"' in json.dumps(given[-1])
    assert ferries.seen()[-1].body["stream"] is True


def test_a_merge_a_wrong_call_and_a_spent_budget_go_on_from_what_is_kept(ferries: Product) -> None:
    topics = [row[0] for row in ferries.rows("SELECT topic_id FROM topics WHERE state = 'live' ORDER BY topic_no")]
    words = {"title": "stalls", "description": "What stalls at dawn.", "aliases": [], "reason": "they stall"}
    wrong: Made = ("repair_topics", {"page": 9})

    def change(number: int, made: list[Made]) -> Sequence[Made]:
        return [wrong, *made] if number == 1 else made

    child = Child({"merge": {"topic_ids": topics[:2]} | words}, change=change)
    serves(ferries, child)
    source = ferries.add(short("b9b1", "ferry"), "n9")
    ferries.set(batch_calls="5")
    stopped = ferries.run("index", source)
    assert (stopped.code, stopped.error["code"]) == (3, "work_budget")
    assert ferries.done("status")["conversations"] == 3
    seen = len(ferries.seen())
    ferries.set(batch_calls="500")

    answer = ferries.done("index", source)

    assert answer["completed"][0]["repair"]["state"] == "done"
    assert answer["completed"][0]["topics"]["merged"] == [topics[1]]
    assert len(ferries.seen()) - seen == answer["calls"] == len(child.requests) - 3
    assert "no_such_page" in [head.get("error") for _, _, head in answers(child.requests[1])]
    assert errors(child.requests[-1]) == []
    assert ferries.done("browse", topics[1])["topic"]["topic_id"] == topics[0]
    assert ferries.done("doctor", "--deep")["ok"]


def test_malformed_and_concatenated_arguments_arrive_as_they_were_written(ferries: Product) -> None:
    child = Child()

    def responder(body: Mapping[str, Any]) -> Turn | str:
        if not body.get("tools"):
            return replies.answer(body)
        request = TurnRequest("", tuple(body["messages"][1:]), (), "")
        if len(request.messages) == 1:
            spelled = ['{"page": 1', '{"page": 1}{"page": 2}']
            bad = [ToolCall("repair_topics", one, f"call_{n}") for n, one in enumerate(spelled)]
            return Turn("tools", finish="tool_calls", calls=(*bad, ToolCall("repair_sing", "{}", "call_9")))
        made = child.turn(request)
        assert not isinstance(made, str)
        return Turn("tools", finish="tool_calls", calls=tuple(ToolCall(c.name, c.arguments, c.call_id) for c in made))

    ferries.answers(responder)

    answer = ferries.done("index", ferries.add(short("b9b1", "ferry"), "n9"))

    assert errors(child.requests[0]) == ["invalid_arguments", "invalid_arguments", "unknown_tool"]
    assert answer["completed"][0]["repair"]["state"] == "nothing"


def test_a_model_without_tools_is_refused_by_name_and_no_repair_is_the_way_on(ferries: Product) -> None:
    ferries.answers(lambda body: "I am but a poet." if body.get("tools") else replies.answer(body))
    source = ferries.add(short("b9b1", "ferry"), "n9")

    ran = ferries.run("index", source)

    assert (ran.code, ran.error["code"]) == (1, "unsupported_repair_model")
    assert "--no-repair" in ran.error["hint"]
    assert "HISTORY_RECALL_REPAIR=never" in ran.error["hint"]
    assert "nothing was published" in ran.error["message"]
    assert ferries.done("status")["conversations"] == 3
    calls = ferries.done("index", source, "--no-repair")
    assert calls["calls"] == 0
    assert calls["completed"][0]["repair"]["state"] == "skipped"
