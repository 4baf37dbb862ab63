"""Rewriting in search over a real server: one request for all queries, kept, charged, redacted; never in the way."""

from __future__ import annotations

import json

import pytest

from benchmarks.servers.chat_server import Turn, failing
from tests.indexing.product import Product, short

SECRET = "ghp_" + "Zx9Kq2Lm8Rt4Vb7Nc1Ws6Yd3Hf5Jg0Pa9Q4e"


@pytest.fixture
def indexed(product: Product) -> Product:
    """Two conversations, indexed with the model."""
    for subject in ("mill", "ferry"):
        product.add(short(f"e0{subject[:2]}", subject), subject)
    product.done("index-all", "--sessions", "10")
    return product


def _rewrites(*queries: str) -> Turn:
    return Turn(text=json.dumps({"rewrites": [{"query": 1, "queries": list(queries)}]}))


def test_a_rewrite_finds_what_the_query_does_not_say(indexed: Product) -> None:
    before = len(indexed.seen())
    indexed.answers(lambda _body: _rewrites("mill queue drained"))
    answer = indexed.done("search", "grinding came to a halt")
    assert (answer["used_mode"], answer["rewrite_status"], answer["semantic_status"]) == ("hybrid", "done", "ready")
    assert len(indexed.seen()) == before + 1
    assert indexed.ledger()[-1] == ("rewrite", "done", None)
    found = answer["conversations"][0]["entries"][0]
    assert "rewrite" in found["found_by"]
    assert "mill" in found["snippet"]

    again = indexed.done("search", "grinding came to a halt")
    assert again["rewrite_status"] == "cached"
    assert again["conversations"] == answer["conversations"]
    assert len(indexed.seen()) == before + 1


def test_semantic_ranks_by_rewrites_alone(indexed: Product) -> None:
    indexed.answers(lambda _body: _rewrites("ferry queue drained"))
    answer = indexed.done("search", "mill", "--mode", "semantic")
    assert answer["used_mode"] == "semantic"
    assert "ferry" in answer["conversations"][0]["entries"][0]["snippet"]


def test_keyword_asks_nobody(indexed: Product) -> None:
    before = len(indexed.seen())
    answer = indexed.done("search", "mill", "--mode", "keyword")
    assert (answer["rewrite_status"], answer["semantic_status"]) == ("not_asked", "disabled")
    assert len(indexed.seen()) == before


def test_nobody_is_asked_where_nothing_can_be_found(indexed: Product) -> None:
    before = len(indexed.seen())
    assert indexed.run("search", "mill", "--project", "nowhere").error["code"] == "unknown_project"
    assert indexed.run("search", "mill", "--conversation", "nowhere").error["code"] == "not_found"
    answer = indexed.done("search", "mill", "--scope", "project")
    assert (answer["reason"], answer["rewrite_status"]) == ("no_project", "not_asked")
    assert len(indexed.seen()) == before


@pytest.mark.parametrize(
    ("turn", "status"),
    [
        (failing(500), "unavailable"),
        (Turn(text="I would rather talk."), "unavailable"),
        (Turn("refusal", text="no"), "unavailable"),
        (Turn(text='{"rewrites": [{"query": 2, "queries": ["x"]}]}'), "unavailable"),
    ],
)
def test_what_stands_in_the_way_is_a_status(indexed: Product, turn: Turn, status: str) -> None:
    plain = indexed.done("search", "mill queue", "--mode", "keyword")
    indexed.answers(lambda _body: turn)
    answer = indexed.done("search", "mill queue")
    assert (answer["requested_mode"], answer["used_mode"], answer["rewrite_status"]) == ("hybrid", "keyword", status)
    assert answer["conversations"] == plain["conversations"]
    assert "keyword results" in answer["message"]
    semantic = indexed.done("search", "mill queue", "--mode", "semantic")
    assert semantic["conversations"] == []
    assert semantic["semantic_status"] == "unavailable"


def test_a_spent_budget_and_a_missing_consent(indexed: Product) -> None:
    indexed.set(daily_calls="1")
    assert indexed.done("search", "mill queue")["rewrite_status"] == "budget"
    indexed.set(daily_calls="2000", api_base="https://models.example.org/v1")
    refused = indexed.done("search", "mill queue")
    assert (refused["rewrite_status"], refused["semantic_status"]) == ("consent_required", "consent_required")
    assert refused["conversations"]


def test_the_query_is_redacted_before_it_is_sent(indexed: Product) -> None:
    before = len(indexed.seen())
    indexed.done("search", f"mill with {SECRET}")
    assert SECRET not in indexed.sent_since(before)
    assert "REDACTED" in indexed.sent_since(before)
    indexed.done("search", f"{SECRET} zeppelin", "--mode", "keyword")
    assert SECRET.encode() not in indexed.everything_written()


def test_an_exact_hit_is_not_pushed_down_by_rewrites(indexed: Product) -> None:
    plain = indexed.done("search", "the ferry queue is drained", "--mode", "keyword")
    indexed.answers(lambda _body: _rewrites("mill stalls dawn", "mill queue drained checks", "mill mill mill"))
    answer = indexed.done("search", "the ferry queue is drained")
    first = [one["conversations"][0]["entries"][0]["entry_id"] for one in (plain, answer)]
    assert first[0] == first[1]


def test_offline_says_whether_the_profile_had_names_for_the_query(indexed: Product) -> None:
    indexed.set(model="offline")
    named = indexed.done("search", "mill queue")
    assert (named["used_mode"], named["rewrite_status"], named["semantic_status"]) == ("hybrid", "done", "ready")
    for query in ("zeppelin", "harbour"):
        none = indexed.done("search", query)
        assert (none["used_mode"], none["rewrite_status"]) == ("keyword", "unavailable"), query
        assert none["conversations"] == indexed.done("search", query, "--mode", "keyword")["conversations"]


def test_what_the_built_in_analyser_named_is_no_rewrite(product: Product) -> None:
    product.set(model="offline")
    product.add(short("e0an", "mill"), "mill")
    product.done("index-all")
    plain = product.done("search", "mill queue", "--mode", "keyword")
    hybrid = product.done("search", "mill queue")
    assert (hybrid["requested_mode"], hybrid["used_mode"]) == ("hybrid", "keyword")
    assert hybrid["rewrite_status"] == "unavailable"
    assert hybrid["conversations"] == plain["conversations"] != []
    semantic = product.done("search", "mill queue", "--mode", "semantic")  # asks what was written, in the query's words
    assert (semantic["semantic_status"], semantic["message"]) == ("partial", "")
    assert semantic["conversations"]
