"""A server that misbehaves: every request it saw is charged, the failure is named, nothing is published, and the next
run pays only for what is missing."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace

import pytest

from benchmarks.servers.chat_server import Turn, chatty, failing, fenced
from benchmarks.servers.replies import answer
from recall import fence
from recall.models import calls
from recall.models.calls import CallLimits
from tests.indexing.product import Product, long, short

GOOD_ENOUGH = '{"summary": "s", "facets": []}'
DEADLINE = 1.5


@dataclass(frozen=True)
class Fault:
    """How the server answers again and again, and what comes of it."""

    turn: Turn
    code: str
    requests: int
    settled: str = "failed"


SCRIPTED = {
    "401": Fault(failing(401, "bad key"), "auth_unavailable", 1),
    "403": Fault(failing(403, "not for you"), "auth_unavailable", 1),
    "404": Fault(failing(404, "no such model"), "model_unavailable", 1),
    "400": Fault(failing(400, "no"), "model_request_failed", 1),
    "429 at once": Fault(failing(429, "slow down", Retry_After="0"), "rate_limited", 3),
    "429 too long": Fault(failing(429, "slow down", Retry_After="600"), "rate_limited", 1),
    "429 without a time": Fault(failing(429, "slow down"), "rate_limited", 3),
    "500": Fault(failing(500), "model_request_failed", 3),
    "503": Fault(failing(503), "model_unavailable", 3),
    "html": Fault(Turn("html"), "model_request_failed", 2),
    "cut": Fault(Turn("cut", text=GOOD_ENOUGH), "model_request_failed", 2),
    "clean end": Fault(Turn("eof", text=GOOD_ENOUGH), "model_request_failed", 2),
    "broken line": Fault(Turn("broken_line", text=GOOD_ENOUGH), "model_request_failed", 2),
    "error in the stream": Fault(Turn("error_in_stream", text=GOOD_ENOUGH), "model_request_failed", 2),
    "no choices": Fault(Turn("no_choices"), "model_request_failed", 2),
    "null content": Fault(Turn("null_content"), "invalid_model_output", 2),
    "refusal": Fault(Turn("refusal", text="I can not help with that"), "model_refused", 1),
    "length": Fault(Turn(text=GOOD_ENOUGH, finish="length"), "model_output_truncated", 3),
    "reasoning only": Fault(Turn("reasoning"), "model_output_truncated", 2),
    "no json": Fault(Turn(text="I would rather talk."), "invalid_model_output", 2, "done"),
    "a key twice": Fault(
        Turn(text='{"summary": "a", "summary": "b", "facets": []}'), "invalid_model_output", 2, "done"
    ),
    "NaN": Fault(Turn(text='{"summary": NaN, "facets": []}'), "invalid_model_output", 2, "done"),
    "no facet": Fault(Turn(text=GOOD_ENOUGH), "invalid_model_output", 2, "done"),
    "tool calls only": Fault(Turn("tools"), "invalid_model_output", 2),
}


@pytest.mark.parametrize("name", SCRIPTED)
def test_fault_is_charged_named_and_kept_in_the_queue(product: Product, name: str) -> None:
    fault = SCRIPTED[name]
    source = product.add(short("d1d1", "mill"), "one")
    product.server.add(*[fault.turn] * fault.requests)

    ran = product.run("index-all")

    assert [(one["source"], one["code"], one["counts_as_attempt"]) for one in ran.failed] == [
        (str(source), fault.code, True)
    ]
    assert ran.answer["calls"] == fault.requests
    _charged(product, fault.requests)
    assert {state for _, state, _ in product.ledger()} == {fault.settled}
    assert all(code is not None for _, _, code in product.ledger())
    _nothing_published(product, fault.code, attempts=1)

    # The server is well again: a named file works, and what failed is paid anew.
    assert product.done("index", source)["calls"] == 1
    assert product.done("status")["queue"]["waiting"] == 0


def test_what_is_too_much_for_one_reply_is_asked_about_in_halves(product: Product) -> None:
    source = product.add(short("d1d9", "mill"), "one")
    product.server.add(Turn(text=GOOD_ENOUGH, finish="length"))

    done = product.done("index", source)

    assert [kind for kind, _, _ in product.ledger()] == ["analysis", "analysis", "map", "final"]
    assert done["calls"] == 4
    assert product.done("search", "mill")["conversations"]


@pytest.mark.parametrize("how", ["fenced", "chatty", "list_content", "slow"])
def test_odd_but_good_replies_cost_one_request(product: Product, how: str) -> None:
    source = product.add(short("d2d2", "mill"), "one")

    def odd(body: object) -> Turn:
        text = answer(body)  # type: ignore[arg-type]
        turns = {
            "fenced": Turn(text=fenced(text)),
            "chatty": Turn(text=chatty(text)),
            "list_content": Turn("list_content", text=text),
            "slow": Turn(text=text, pause=0.01),
        }
        return turns[how]

    product.answers(odd)

    assert product.done("index", source)["calls"] == 1
    _charged(product, 1)


def test_a_server_that_hangs_is_left_at_the_deadline(product: Product, monkeypatch: pytest.MonkeyPatch) -> None:
    _with_deadline(monkeypatch)
    product.add(short("d3d3", "mill"), "one")
    product.server.add(Turn("hang"))

    ran = product.run("index-all")

    assert [one["code"] for one in ran.failed] == ["model_request_failed"]
    _charged(product, 1)
    _nothing_published(product, "model_request_failed", attempts=1)
    product.server.wait_until_idle()


def test_a_server_that_stops_in_the_middle_of_a_reply(product: Product, monkeypatch: pytest.MonkeyPatch) -> None:
    _with_deadline(monkeypatch)
    product.add(short("d4d4", "mill"), "one")
    product.server.add(Turn("hang", text=GOOD_ENOUGH[:10]))

    ran = product.run("index-all")

    assert [one["code"] for one in ran.failed] == ["model_request_failed"]
    _charged(product, 1)


def test_no_server_at_all(product: Product) -> None:
    product.set(api_base="http://127.0.0.1:9/v1")
    product.add(short("d5d5", "mill"), "one")

    ran = product.run("index-all")

    assert [one["code"] for one in ran.failed] == ["model_unavailable"]
    assert ran.answer["calls"] == len(product.ledger()) == 3
    _nothing_published(product, "model_unavailable", attempts=1)


def test_a_quote_under_another_id_is_not_taken_and_the_model_is_told_where_it_stands(product: Product) -> None:
    log = short("da00", "mill")
    source = product.add(log, "one")
    first, second = log.records[0]["id"], log.records[1]["id"]
    bad = json.loads(answer({"messages": _asked(first, second), "response_format": _format()}))
    for citation in (*bad["facets"][0]["evidence"], *bad["facets"][0]["findings"]):
        citation["entry_id"] = {first: second, second: first}[citation["entry_id"]]
    product.server.add(Turn(text=json.dumps(bad)))

    assert product.done("index", source)["calls"] == 2

    assert f"does not stand word for word in this entry; it stands in {first}" in product.sent_since(1)
    assert product.done("doctor", "--deep")["ok"]


@pytest.mark.parametrize(("turn", "goes_on"), [(failing(401), False), (failing(429), False), (failing(400), True)])
def test_a_batch_stops_where_the_next_source_would_meet_the_same(product: Product, turn: Turn, goes_on: bool) -> None:
    for name in ("mill", "ferry", "kiln"):
        product.add(short(f"dd{name[:2]}", name), name)
    product.answers(lambda _body: turn)

    ran = product.run("index-all", "--sessions", "10")

    assert (ran.code, len(ran.failed), ran.answer["left"]) == (1, 3 if goes_on else 1, 3)
    assert (ran.answer["aborted"] is None) == goes_on
    _charged(product, ran.answer["calls"])


def test_with_a_wrong_key_a_long_conversation_costs_what_is_under_way(product: Product) -> None:
    source = product.add(long("dd00", 60), "long")
    product.set(concurrency="2")
    product.answers(lambda _body: failing(401))

    assert product.run("index", source).error["code"] == "auth_unavailable"

    assert len(product.seen()) <= 2
    _charged(product, len(product.seen()))


def test_good_siblings_of_a_bad_reply_stay_paid(product: Product) -> None:
    source = product.add(long("d6d6", 30), "long")
    product.set(concurrency="1")
    product.answers(lambda body: failing(400, "no") if len(product.seen()) == 3 else Turn(text=answer(body)))

    first = product.run("index", source)
    assert (first.code, first.error["code"]) == (1, "model_request_failed")
    _charged(product, 3)
    assert product.rows("SELECT count(*) FROM model_cache") == [(2,)]
    good = {product.body(0), product.body(1)}

    again = product.done("index", source)["calls"]

    rest = [product.body(number) for number in range(3, len(product.seen()))]
    assert not good & set(rest)
    assert product.body(2) in rest
    _charged(product, 3 + again)


def test_a_server_that_knows_no_schema_is_asked_so_once(product: Product) -> None:
    product.refuses("json_schema", "json_object")
    first, second = product.add(short("d7d7", "mill"), "one"), product.add(short("d8d8", "ferry"), "two")

    assert product.done("index", first)["calls"] == 3
    assert product.done("index", second)["calls"] == 2
    _charged(product, 5)


def test_invented_evidence_is_asked_about_once_and_never_published(product: Product) -> None:
    source = product.add(short("d9d9", "mill"), "one")
    invented = (
        '{"summary": "s", "facets": [{"title": "t", "description": "d", "aliases": [], "findings": [], '
        '"evidence": [{"entry_id": "00000000", "quote": "The mill"}]}]}'
    )
    product.server.add(Turn(text=invented))

    assert product.done("index", source)["calls"] == 2

    assert "no entry with this entry_id was shown" in product.sent_since(1)
    assert product.rows("SELECT count(*) FROM evidence WHERE entry_id = '00000000'") == [(0,)]
    assert product.ledger()[0] == ("analysis", "done", "invalid_model_output")


def _asked(first: str, second: str) -> list[dict[str, str]]:
    """The first two entries of a short log, as the product shows them."""
    texts = ("Why does the mill stall at dawn?", "The mill stalls because its queue is never drained.")
    blocks = [
        fence.Block(f'entry_id "{name}", role {role}', text)
        for name, role, text in zip((first, second), ("user", "assistant"), texts, strict=True)
    ]
    return [{"role": "user", "content": fence.fenced(blocks)}]


def _format() -> dict[str, object]:
    return {"json_schema": {"schema": {"title": "analysis"}}}


def _with_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    """No setting shortens the deadline, so the limits that a command makes are changed here."""
    made = CallLimits.of
    monkeypatch.setattr(
        calls.CallLimits, "of", lambda *a, **k: replace(made(*a, **k), request_seconds=DEADLINE, grace_seconds=0.5)
    )


def _charged(product: Product, count: int) -> None:
    assert len(product.seen()) == len(product.ledger()) == count
    assert product.done("status")["calls_today"] == count


def _nothing_published(product: Product, code: str, *, attempts: int) -> None:
    status = product.done("status")
    assert (status["conversations"], status["topics"], status["entries"]) == (0, 0, 0)
    assert [(one["code"], one["attempts"]) for one in status["queue"]["failed"]] == [(code, attempts)]
    assert product.done("browse")["entries"] == []
