"""Which pairs of a run without spaces are words, and what a search makes of those that are not."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall import borders, query, segment
from recall.query import Term
from recall.rewriting import NOT_ASKED, Rewriting
from recall.searcher import default_filters, rank
from recall.weights import WEIGHTS, Weights
from tests.search.builder import Index
from tests.search.test_ranking import ask

SIGNS = "死锁是怎么发生的資料庫遷移失敗後怎麼回滾データベースの移行が失敗した 支付abc12，。"


@pytest.mark.parametrize(
    ("text", "over", "words"),
    [
        ("支付系统迁移失败是怎么发生的", {"付系", "统迁", "败是"}, {"支付", "系统", "迁移", "失败", "发生"}),
        ("資料庫遷移失敗後怎麼回滾", {"敗後", "後怎", "麼回"}, {"失敗", "怎麼", "回滾"}),
        ("データベースの移行が失敗した", {"の移", "が失"}, {"デー", "移行", "失敗"}),
    ],
)
def test_pairs_over_a_border_are_told_from_words(text: str, over: set[str], words: set[str]) -> None:
    found = borders.pairs(text)
    assert over <= found.across
    assert words <= found.inside


def test_a_pair_is_hollow_where_one_of_its_two_words_only_asks() -> None:
    found = borders.pairs("支付系统迁移失败是怎么发生的")
    assert {"败是", "是怎", "么发", "生的"} == found.hollow
    assert "付系" in found.across


def test_a_pair_that_is_a_word_somewhere_in_a_query_or_its_rewrites_is_one() -> None:
    asked = borders.pairs("支付系统")
    assert asked.across == {"付系"}
    assert borders.pairs("支付系统 付系").across == frozenset()
    assert asked.beside([borders.pairs("付系")]).across == frozenset()
    assert borders.pairs("死锁, no run at all").across == frozenset()
    assert borders.pairs("") == borders.NO_PAIRS


def test_a_pair_is_hollow_only_where_it_always_is() -> None:
    hollow = borders.Pairs(across=frozenset({"一二"}), hollow=frozenset({"一二"}))
    full = borders.Pairs(across=frozenset({"一二"}))
    assert hollow.beside([]).hollow == {"一二"}
    assert hollow.beside([full]).hollow == full.beside([hollow]).hollow == frozenset()
    assert hollow.beside([full]).across == {"一二"}


@given(st.text(alphabet=st.sampled_from(SIGNS), max_size=60))
def test_each_pair_of_any_text_is_in_a_word_or_lies_over_a_border(text: str) -> None:
    found = borders.pairs(text)
    runs = [word.parts[:-1] for word in segment.words(text) if word.kind == "run"]
    assert found.inside | found.across == {pair for parts in runs for pair in parts}
    assert not found.inside & found.across
    assert found.hollow <= found.across
    assert {parts[0] for parts in runs if len(parts) == 1} <= found.inside


def filled(index: Index, filler: int) -> None:
    index.conversation([f"窑里的第{number}炉" for number in range(150)], "noise")
    index.conversation([f"第{number}件事是怎么发生的，谁也说不清" for number in range(filler)], "filler")
    index.conversation(["转账时两个事务互相等待，出现了死锁，后来改了加锁的顺序"], "answer")


def first(index: Index, text: str, weights: Weights, rewriting: Rewriting = NOT_ASKED) -> str:
    with index.database.read() as connection:
        hits = rank(connection, default_filters(index.number), [text], weights, rewriting)
        row = connection.execute("SELECT text FROM entries WHERE entry_no = ?", (hits[0].entry_no,)).fetchone()
    return str(row[0])


@pytest.mark.parametrize("filler", [12, 16, 24])
def test_the_subject_of_a_question_counts_more_than_how_it_is_asked(index: Index, filler: int) -> None:
    filled(index, filler)
    asked = "死锁是怎么发生的"
    assert "死锁" in first(index, asked, WEIGHTS)
    assert "死锁" not in first(index, asked, replace(WEIGHTS, across=1.0, hollow=1.0))


def test_a_pair_over_a_border_is_still_found_when_it_is_asked_for(index: Index) -> None:
    filled(index, 16)
    assert ask(index, "是怎")["conversations"][0]["host_conversation_id"] == "filler"


def test_the_pairs_of_a_rewrite_are_weighed_so_too(index: Index) -> None:
    filled(index, 60)
    written = Rewriting((("死锁是怎么发生的",),), "done", "ready")
    asked = "how did the two of them block each other"
    assert "死锁" in first(index, asked, WEIGHTS, written)
    assert "死锁" not in first(index, asked, replace(WEIGHTS, across=1.0, hollow=1.0), written)


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("他在2025年5月24日做了什么", [Term(("5", "月"), prefix=True), Term(("5", "月", "24"))]),
        ("12月の会議", [Term(("12", "月"), prefix=True)]),
        ("３月０５号", [Term(("3", "月"), prefix=True), Term(("3", "月", "5"))]),
        ("3월 5일", [Term(("3", "월"), prefix=True), Term(("3", "월", "5"))]),
    ],
)
def test_a_date_is_looked_for_as_it_is_written(text: str, terms: list[Term]) -> None:
    assert set(terms) <= set(query.cut(text).terms)


@pytest.mark.parametrize("text", ["13月", "112月", "每月", "5月的24个"])
def test_what_is_no_date_is_no_term_of_one(text: str) -> None:
    assert not [term for term in query.cut(text).terms if term.words[1:2] == ("月",) and len(term.words) == 3]


def test_an_entry_that_names_the_date_comes_first_whatever_stands_around_it_there(index: Index) -> None:
    index.conversation([f"会议记录 2025年 {month}月 {day}日" for month in (4, 5) for day in range(1, 29)], "days")
    index.conversation(["5个人开了24次会，每月一次，在每日的会议之后写记录"], "numbers")
    found = ask(index, "在5月24号的会议记录")["conversations"][0]
    assert found["entries"][0]["snippet"] == "会议记录 2025年 5月 24日"


@pytest.mark.parametrize("asked", ["于明", "于明呢", "于明是谁", "于明的", "于明 呢"])
def test_a_name_that_begins_as_a_word_that_only_asks_is_found(index: Index, asked: str) -> None:
    index.conversation([f"明天的会议第{number}次" for number in range(100)], "noise")
    index.conversation(["于明昨天到了公司"], "answer")
    found = ask(index, asked)["conversations"]
    assert [one["host_conversation_id"] for one in found] == ["answer"]


@pytest.mark.parametrize(
    "asked", ["なぜデッドロックが起きたのか", "デッドロックはなぜ起きた", "デッドロックが発生した"]
)
def test_endings_in_a_japanese_question_are_nothing_that_is_missed(index: Index, asked: str) -> None:
    index.conversation([f"窯の第{number}号" for number in range(120)], "noise")
    index.conversation(["デッドロックを直しました"], "answer")
    assert ask(index, asked)["conversations"][0]["host_conversation_id"] == "answer"


def test_what_stands_nowhere_outweighs_how_it_is_asked_where_another_word_says_it(index: Index) -> None:
    """The worth of a word that nothing holds is not known: that of the other word is taken for it."""
    index.conversation([f"note {number} of the kiln" for number in range(900)], "noise")
    for number in range(4):
        index.conversation([f"要说清楚发生了什么 {number}"], f"filler-{number}")
    index.conversation(["two transfers came to a deadlock"], "answer")
    assert ask(index, "死锁是怎么发生的")["conversations"][0]["host_conversation_id"] == "answer"
