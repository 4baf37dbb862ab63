"""Caps: checked before each request, counted with the failures, and what was paid for is kept when one is reached."""

from __future__ import annotations

from tests.indexing.product import Product, long, short


def test_a_batch_stops_after_two_conversations(product: Product) -> None:
    for subject in ("mill", "ferry", "kiln", "loom", "weir"):
        product.add(short(f"a3{subject[:2]}", subject), subject)

    first, second, third = (product.done("index-all") for _ in range(3))

    assert [len(run["completed"]) for run in (first, second, third)] == [2, 2, 1]
    assert [run["left"] for run in (first, second, third)] == [3, 1, 0]
    assert product.done("index-all")["requested"] == 0


def test_sessions_can_be_named(product: Product) -> None:
    for subject in ("mill", "ferry", "kiln"):
        product.add(short(f"a4{subject[:2]}", subject), subject)

    assert len(product.done("index-all", "--sessions", "3")["completed"]) == 3


def test_a_batch_cap_inside_a_conversation_keeps_what_is_paid(product: Product) -> None:
    source = product.add(long("a500", 40), "long")
    product.set(batch_calls="3", concurrency="2")

    runs = 0
    while (ran := product.run("index", source)).code:
        assert (ran.code, ran.error["code"]) == (3, "work_budget")
        runs += 1
        assert len(product.seen()) == len(product.ledger()) == 3 * runs
        assert product.rows("SELECT count(*) FROM model_cache") == [(3 * runs,)]
        status = product.done("status")
        assert status["conversations"] == 0
        assert [(one["code"], one["attempts"]) for one in status["queue"]["failed"]] == [("work_budget", 0)]

    assert runs >= 2
    bodies = [product.body(number) for number in range(len(product.seen()))]
    assert len(set(bodies)) == len(bodies)
    assert product.done("status")["queue"]["waiting"] == 0


def test_calls_can_be_named_for_one_batch(product: Product) -> None:
    product.add(long("a501", 40), "long")

    ran = product.run("index-all", "--calls", "2")

    assert (ran.code, ran.answer["aborted"]["code"], ran.answer["calls"]) == (3, "work_budget", 2)
    assert ran.answer["left"] == 1
    assert [one["counts_as_attempt"] for one in ran.failed] == [False]
    assert product.done("index-all", "--calls", "100")["left"] == 0


def test_no_calls_at_all(product: Product) -> None:
    product.add(short("a502", "mill"), "one")

    ran = product.run("index-all", "--calls", "0")

    assert (ran.code, ran.answer["aborted"]["code"], ran.answer["calls"]) == (3, "work_budget", 0)
    assert product.seen() == ()


def test_the_cap_of_a_day_counts_every_run(product: Product) -> None:
    for subject in ("mill", "ferry", "kiln"):
        product.add(short(f"a6{subject[:2]}", subject), subject)
    product.set(daily_calls="3", concurrency="1")

    first = product.run("index-all", "--sessions", "1")
    assert (first.code, first.answer["calls"]) == (0, 1)
    second = product.run("index-all")

    assert (second.code, second.answer["aborted"]["code"]) == (3, "daily_budget")
    assert len(product.seen()) == len(product.ledger()) == 3
    assert [len(second.answer["completed"]), second.answer["left"]] == [1, 1]
    status = product.done("status")
    assert (status["calls_today"], status["caps"]["daily_calls"]) == (3, 3)


def test_offline_takes_the_whole_queue(product: Product) -> None:
    product.set(model="offline", batch_calls="0", daily_calls="0")
    for subject in ("mill", "ferry", "kiln"):
        product.add(short(f"a7{subject[:2]}", subject), subject)

    answer = product.done("index-all")

    assert (len(answer["completed"]), answer["left"], answer["calls"]) == (3, 0, 0)
    assert product.ledger() == []
