"""A run with a model through litellm and real sockets: what was sent, charged, answered and shown is one number."""

from __future__ import annotations

from collections.abc import Mapping

from benchmarks.servers.chat_server import Turn, failing
from tests.indexing.product import Log, Product, append, long, marker, short, turn


def test_demo_requests_are_the_ledger_and_the_answer(product: Product) -> None:
    sources = product.demo()

    answer = product.done("index-all", "--sessions", "100")

    assert len(answer["completed"]) == len(sources) > 2
    assert answer["left"] == 0
    _one_number(product, answer["calls"])
    assert all(state == "done" and code is None for _, state, code in product.ledger())
    assert product.done("doctor", "--deep")["ok"]
    assert product.done("status")["topics"] == len(product.done("browse", "--limit", "50")["entries"]) > 0


def test_long_conversation_is_mapped_and_joined(product: Product) -> None:
    source = product.add(long("a1a1", 30), "long")

    answer = product.done("index", source)

    kinds = [kind for kind, _, _ in product.ledger()]
    assert kinds.count("analysis") == 1
    assert kinds.count("map") >= 3
    assert kinds[-1] == "final"
    _one_number(product, answer["calls"])
    assert answer["completed"][0]["calls"] == answer["calls"]


def test_first_short_conversation_is_one_request_and_the_second_two(product: Product) -> None:
    first, second = product.add(short("b1b1", "ferry"), "one"), product.add(short("b2b2", "kiln"), "two")

    assert product.done("index", first)["calls"] == 1
    assert product.done("index", second)["calls"] == 2

    assert [kind for kind, _, _ in product.ledger()] == ["analysis", "analysis", "placement"]
    _one_number(product, 3)


def test_an_empty_conversation_asks_nothing(product: Product) -> None:
    answer = product.done("index", product.add(Log("c1c1"), "empty"))

    assert answer["calls"] == 0
    assert [one["code"] for one in answer["skipped"]] == ["source_empty"]
    assert product.seen() == ()


def _one_number(product: Product, calls: int) -> None:
    assert calls > 0
    assert len(product.seen()) == len(product.ledger()) == product.done("status")["calls_today"] == calls


def test_no_more_requests_at_once_than_allowed(product: Product) -> None:
    source = product.add(long("a1a2", 40), "long")
    product.set(concurrency="2")
    valid = product.server.responder
    assert valid is not None
    product.answers(lambda body: Turn(text=str(valid(body)), piece=100_000, pause=0.02))

    product.done("index", source)

    assert product.server.most_at_once == 2


def test_a_context_that_is_too_small_is_found_out_once(product: Product) -> None:
    """The server refuses what is too long; halves go through, without loss, and a later run begins with them."""
    log = long("a1a3", 12)
    source = product.add(log, "long")
    valid = product.server.responder
    assert valid is not None

    def narrow(body: Mapping[str, object]) -> Turn:
        if len(str(body["messages"])) > 10_000:
            return failing(400, "This model's maximum context length is 2048 tokens, however you requested 4096")
        return Turn(text=str(valid(body)))

    product.answers(narrow)
    first = product.done("index", source)
    refused = _too_long(product)
    assert refused > 0
    _one_number(product, first["calls"])

    append(source, log, [turn(100, 300)])
    product.done("index", source)

    assert _too_long(product) == refused
    sent = product.sent_since()
    assert all(f"end of {marker(number)}" in sent for number in range(12))
    assert product.done("doctor", "--deep")["ok"]


def _too_long(product: Product) -> int:
    """How many requests of the first level were refused for their length. Joining more parts can be too long anew."""
    return sum(code == "model_context_too_small" and kind in ("analysis", "map") for kind, _, code in product.ledger())
