"""A run with a model through litellm and real sockets: what was sent, charged, answered and shown is one number."""

from __future__ import annotations

from tests.indexing.product import Log, Product, long, short


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
