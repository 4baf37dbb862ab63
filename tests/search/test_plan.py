"""The plan of a query: few rows are ranked, in the order that ranking all of them gives, and filters come first."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall import query as querying
from recall.index import frequencies, layers, matches, plan
from recall.index.filters import Filters
from recall.query import Term
from recall.searcher import SearchRequest, default_filters, search
from recall.timewindow import parse
from tests.search.builder import DAY, PROFILE, START, Index, Turn

FOUND = st.dictionaries(st.text("abc", min_size=1, max_size=4).map(lambda word: Term((word,))), st.integers(0, 200_000))


@given(found=FOUND, share=st.floats(0.01, 1.0))
def test_a_plan_keeps_to_its_budget(found: dict[Term, int], share: float) -> None:
    chosen = plan.plan(found, 200_000, share)
    used = chosen.terms()
    assert len(set(used)) == len(used)
    assert all(found[term] for term in used)
    assert sum(found[term] for term in chosen.draws) * share <= plan.ROWS + 1
    one, other = ([found[term] for term in group] for group in chosen.pairs)
    assert bool(one) == bool(other)
    assert not one or max(one) * max(other) * share <= plan.ROWS * 200_000
    most = max((found[term] for term in chosen.draws), default=0)
    assert all(found[term] >= most for term in (*chosen.pairs[0], *chosen.pairs[1], *chosen.scores))


def test_the_rarest_draw_and_the_common_score() -> None:
    a, b, c, d, e = (Term((word,)) for word in "abcde")
    chosen = plan.plan({a: 10, b: 100_000, c: 60_000, d: 900_000, e: 0}, 1_000_000)
    assert chosen.draws == (a,)
    assert chosen.scores == (c,), "d says nothing, b is too common to be walked beside c, e stands nowhere"
    several = plan.plan({b: 30_000, c: 40_000}, 1_000_000)
    assert (several.draws, several.pairs) == ((), ((b,), (c,)))


def _corpus(index: Index) -> Filters:
    chance = random.Random(4)
    words = [f"{letter}{number}" for number in range(4) for letter in "klmnpqrst"]
    weights = [1 / (rank + 1) for rank in range(len(words))]
    turns = [Turn(" ".join(chance.choices(words, weights, k=chance.randint(3, 25)))) for _ in range(300)]
    index.conversation(turns)
    return default_filters(index.number)


@pytest.mark.parametrize("rows", [0, 20, 60, 150])
def test_candidates_have_the_score_that_ranking_everything_gives(
    one: Index, rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    filters = _corpus(one)
    monkeypatch.setattr(plan, "COMMONEST", 1.0)
    monkeypatch.setattr(matches, "POOL", 1000)
    weights = {"user": 1.0}
    with one.database.read() as connection:
        for text in ("k0 q1 t3", "k0 l0 m0 n0", "s3 t3 r3 k0", "p2 q2 r2 m1 k0"):
            query = querying.cut(text)
            monkeypatch.setattr(plan, "ROWS", 1000)
            everything = matches.of_entries(connection, filters, query, weights)
            monkeypatch.setattr(plan, "ROWS", rows)
            some = matches.of_entries(connection, filters, query, weights)
            assert some.scores
            assert {no: round(score, 6) for no, score in some.scores.items()} == {
                no: round(everything.scores[no], 6) for no in some.scores
            }
            if some.bounded or rows == 0:
                continue
            best = next(iter(everything.scores))
            assert best in some.scores, (text, rows)


def test_where_every_word_is_common_several_together_and_the_newest_are_candidates(
    index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plan, "ROWS", 8)
    monkeypatch.setattr(matches, "NEWEST", 10)
    index.conversation(["heron egret stand together"] + [f"heron {i}" for i in range(40)], "one")
    index.conversation([f"egret {i}" for i in range(40)] + ["stork"] * 40, "two", started=START + DAY)
    answer: Any = search(index.database, PROFILE, SearchRequest(("heron egret",), limit=50))
    assert answer["coverage"] == "bounded"
    assert answer["conversations"][0]["entries"][0]["entry_id"] == "e0"


def test_where_every_word_is_common_what_was_written_about_counts(one: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plan, "ROWS", 8)
    monkeypatch.setattr(matches, "NEWEST", 10)
    old = one.conversation(["heron on the ice", "cold"], "old")
    one.facet(old, "The heron in winter", ["e1"])
    one.conversation([f"heron {i}" for i in range(40)] + ["stork"] * 60, "new", started=START + DAY)
    with one.database.read() as connection:
        query = querying.cut("heron")
        found = matches.of_entries(connection, default_filters(one.number), query, {"user": 1.0})
    assert found.bounded
    assert 1 in found.scores


def test_filters_come_before_every_limit_of_a_bounded_search(index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plan, "ROWS", 5)
    monkeypatch.setattr(matches, "NEWEST", 5)
    monkeypatch.setattr(matches, "AMPLE", 5)
    monkeypatch.setattr(matches, "POOL", 5)
    first = index.conversation([Turn("heron", "assistant", at=START - 400 * DAY), Turn("heron")], "old")
    index.facet(first, "Birds of old", ["e0"], topic_no=index.topic("Birds"))
    index.conversation([f"heron {i}" for i in range(60)], "new", started=START + DAY)

    def names(**options: Any) -> set[str]:
        answer: Any = search(index.database, PROFILE, SearchRequest(("heron",), limit=50, **options))
        return {found["host_conversation_id"] for found in answer["conversations"]}

    assert names(window=parse(None, "2025-01-01", "2025-02-01", 0)) == {"old"}
    assert names(window=parse(None, None, "2025-02-01", 0)) == {"old"}
    assert names(window=parse(None, "2031-01-01", None, 0)) == set()
    assert names(roles=("assistant",)) == {"old"}
    assert names(topic_id="t_birds") == {"old"}
    assert names(conversation_id="old") == {"old"}
    assert names(exclude=("new",)) == {"old"}
    assert names(exclude=tuple(f"new/e{i}" for i in range(60))) == {"old"}


def test_common_words_are_counted_once_in_a_while(index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frequencies, "LEAST_ROWS", 10)
    monkeypatch.setattr(frequencies, "KEPT_LEAST", 5)
    index.conversation(["heron"] * 9)
    with index.database.write() as connection:
        assert frequencies.count(connection, index.number) is None, "too few to be worth it"
    index.conversation(["heron egret"] * 3, "two")
    with index.database.write() as connection:
        counted = frequencies.count(connection, index.number)
        assert counted is not None
        assert ("text", "heron", 12) in counted.words
        assert not any(word == "egret" for _, word, _ in counted.words)
        frequencies.keep(connection, counted)
        assert frequencies.count(connection, index.number) is None, "nothing has grown"
        text = layers.layer(connection, index.number, "text")
        # What is kept is believed until it is counted again; what is not is asked of the index.
        connection.execute("UPDATE frequent_words SET rows = 77 WHERE word = 'heron'")
        assert frequencies.of_words(connection, text, ["heron", "egret", "stork"]) == {
            "heron": 77,
            "egret": 3,
            "stork": 0,
        }
        frequencies.clear(connection, index.number)
        assert frequencies.of_words(connection, text, ["heron"]) == {"heron": 12}


def test_phrases_of_common_words_and_beginnings_are_counted(index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frequencies, "COUNTED", 4)
    index.conversation(["grey heron"] * 3 + ["heron grey"] * 9 + ["目录漂移", "目前"])
    with index.database.read() as connection:
        text = layers.layer(connection, index.number, "text")
        phrase, short, beginning = Term(("grey", "heron")), Term(("grey", "egret")), Term(("目",), prefix=True)
        found = frequencies.of_terms(connection, text, [phrase, short, beginning])
    assert found == {phrase: 3, short: 0, beginning: 2}
