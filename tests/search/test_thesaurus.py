"""Other words for what is asked: the table itself, which words of a query it knows, and what a search makes of them."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall import query, segment, thesaurus
from recall.index import plan
from recall.query import Term
from recall.rewriting import Rewriting
from recall.searcher import default_filters, rank
from recall.weights import WEIGHTS
from tests.search.builder import Index
from tests.search.test_ranking import ask, ids

TABLE = Path(thesaurus.__file__).with_name("thesaurus.txt")
LINES = [line for line in TABLE.read_text("utf-8").splitlines() if not line.startswith("#")]
RUN = re.compile("[\u3041-\u30ff\u3400-\u9fff]+")


def words(member: str) -> list[str]:
    return [part for word in segment.words(member) for part in word.parts]


def others(text: str) -> set[str]:
    found = thesaurus.known(query.cut(text)).related
    return {" ".join(term.words) for one in found for term in one.others}


def test_each_line_of_the_table_is_a_group_of_words_as_the_text_index_folds_them() -> None:
    assert len(LINES) > 4000
    assert TABLE.read_bytes().endswith(b"\n")
    for line in LINES:
        members = line[2:].split(", ")
        assert line[:2] in ("= ", "~ "), line
        assert len(members) > 1, line
        assert segment.plain(line) == line, line
        assert [member for member, times in Counter(members).items() if times > 1] == [], line
        for member in members:
            if member.isascii():
                assert 1 <= len(words(member)) <= thesaurus.LONGEST, member
            else:
                assert RUN.fullmatch(member), member
                assert 2 <= len(member) <= thesaurus.LONGEST_RUN, member


def test_each_word_of_the_table_finds_its_line() -> None:
    """Lines are found by how their members begin, whatever an ending made of these."""
    table = TABLE.read_bytes()
    for line in LINES:
        for member in line[2:].split(", "):
            if member.isascii():
                beginnings = thesaurus._beginnings(words(member)[0])
                assert any(f" {member}".encode().startswith(each) for each in beginnings), member
            else:
                places = thesaurus._beginning_with(member[:2])
                assert any(table.startswith(member.encode(), place + 1) for place in places), member


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("why did the databases fail?", {"数据 据库"}),
        ("数据库为什么这么慢", {"databas"}),
        ("内存不足怎么办", {"out of memori"}),
        ("out of memory again", {"oom"}),
        ("the build is broken", {"构建"}),
        ("we retried three times", {"重试"}),
    ],
)
def test_words_of_a_question_are_known_in_their_forms_and_languages(text: str, expected: set[str]) -> None:
    assert expected <= others(text)


def test_the_longest_name_counts_and_not_its_parts() -> None:
    asked = [one.asked for one in thesaurus.known(query.cut("内存不足")).related]
    assert asked == [tuple(Term((pair,)) for pair in ("内存", "存不", "不足"))]


def test_the_words_of_a_name_that_is_only_close_to_something_count_too() -> None:
    """`部署失败` stands in the table as close to a rollback; it is a deployment and a failure as well."""
    asked = {"".join(term.words[0][0] for term in one.asked) for one in thesaurus.known(query.cut("部署失败")).related}
    assert "部" in asked
    assert "失" in asked


def test_pairs_over_the_border_of_a_name_are_no_words() -> None:
    known = thesaurus.known(query.cut("死锁检测"))
    assert Term(("锁检",)) in known.across
    assert Term(("死锁",)) not in known.across
    assert Term(("死锁", "锁检", "检测")) in known.across


def test_what_was_asked_itself_is_no_other_word() -> None:
    found = others("database db 数据库")
    assert found.isdisjoint({"databas", "db", "数据 据库"})


def test_a_quoted_phrase_is_meant_as_it_stands() -> None:
    assert others('"out of memory"') == set()
    assert others("how to do it and what for") == set()


@given(st.text(alphabet=st.sampled_from("abdeot 数据库内存不足ログ,=~#\n-'\""), max_size=60))
def test_any_query_has_bounded_others(text: str) -> None:
    found = thesaurus.known(query.cut(text)).related
    assert sum(len(one.others) for one in found) <= thesaurus.MOST
    for one in found:
        assert one.asked
        assert all(term.words and all(term.words) for term in one.others)


@given(st.sampled_from(LINES))
def test_the_order_of_others_is_always_the_same(line: str) -> None:
    member = line[2:].split(", ")[0]
    first, second = (thesaurus.known(query.cut(member)).related for _ in range(2))
    assert first == second
    assert [list(one.others) for one in first] == [list(one.others) for one in second]


def test_a_spelling_that_is_a_name_is_meant_as_it_stands() -> None:
    assert others("retry_limit") == others("databaseUrl") == others("src/database.py") == set()
    assert "oom" in others("out-of-memory")


def filled(index: Index) -> Index:
    index.conversation([f"nothing to do with it, number {number}" for number in range(120)], "noise")
    index.conversation(["We moved the ledger to a replica", "The deadlock came from two transactions"], "deadlock")
    index.conversation(["我们把支付服务的死锁修好了", "以后按账户顺序加锁"], "chinese")
    return index


def test_a_question_in_one_language_finds_the_answer_in_the_other(index: Index) -> None:
    filled(index)
    answer = ask(index, "支付服务的死锁")
    texts = [entry["snippet"] for found in answer["conversations"] for entry in found["entries"]]
    assert any("死锁" in text for text in texts)
    assert any("deadlock" in text for text in texts)
    assert "死锁" in texts[0], "its own words come first"
    found = {entry["snippet"]: entry["found_by"] for one in answer["conversations"] for entry in one["entries"]}
    assert next(by for text, by in found.items() if "deadlock" in text) == ["rewrite"]


def test_no_other_words_where_a_model_wrote_the_query_anew_or_where_the_weight_is_none(index: Index) -> None:
    filled(index)
    filters = default_filters(index.number)
    with index.database.read() as connection:
        plain = rank(connection, filters, ["支付服务的死锁"])
        none = rank(connection, filters, ["支付服务的死锁"], replace(WEIGHTS, related=0.0, close=0.0))
        written = rank(connection, filters, ["支付服务的死锁"], WEIGHTS, Rewriting((("按账户加锁",),), "done", "ready"))
    assert {"related"} <= {name for hit in plain for name in hit.parts}
    assert {name for hits in (none, written) for hit in hits for name in hit.parts}.isdisjoint({"related"})
    assert len(none) < len(plain)


def test_another_word_that_stands_in_very_many_entries_is_left_out(one: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    filled(one)
    asked = "支付服务的死锁"
    assert len(ids(ask(one, asked))) > 1
    monkeypatch.setattr(plan, "ROWS", 0)  # in every one of them
    with one.database.read() as connection:
        hits = rank(connection, default_filters(one.number), [asked])
    assert hits
    assert {name for hit in hits for name in hit.parts}.isdisjoint({"related"})


def test_a_single_word_that_stands_somewhere_asks_for_nothing_else(index: Index) -> None:
    filled(index)
    assert ids(ask(index, "deadlock")) == ["e1"]
    assert len(ids(ask(index, "deadlock 2026"))) > 1


def test_a_name_that_stands_nowhere_is_answered_by_the_same_thing_and_by_nothing_that_is_only_close(
    index: Index,
) -> None:
    index.conversation([f"note {number} of the kiln" for number in range(120)], "noise")
    index.conversation(["we wrote a tool for the fsync of the journal"], "close")
    index.conversation([f"the power cut came at noon {'and then nothing else ' * 60}"], "same")
    assert "fsync" in {
        word for one in thesaurus.known(query.cut("断电")).related for t in one.others for word in t.words
    }
    found = ask(index, "断电")["conversations"]
    assert [one["host_conversation_id"] for one in found] == ["same"], (
        "though it is long, for it holds all that was asked"
    )


def test_what_is_only_close_lets_nothing_pass(index: Index) -> None:
    index.conversation([f"note {number} of the kiln" for number in range(120)], "noise")
    index.conversation(["the fsync of the journal"], "close")
    assert ask(index, "断电的报告")["conversations"] == []


def test_a_phrase_in_quotes_finds_only_itself(index: Index) -> None:
    filled(index)
    assert ids(ask(index, '"deadlock"')) == ["e1"]


@pytest.mark.parametrize("known", [False, True])
def test_what_was_written_in_other_words_counts_where_the_word_that_was_asked_stands_nowhere(
    index: Index, known: bool
) -> None:
    index.conversation([f"nothing to do with it, number {number}" for number in range(120)], "noise")
    number = index.conversation(["支付服务: two transfers waited for each other", "we sorted the accounts"], "written")
    index.facet(number, "Order of accounts", ["e0"], aliases=["deadlock"])
    if known:
        index.conversation(["支付服务又出现了死锁"], "said")
    with index.database.read() as connection:
        hits = rank(connection, default_filters(index.number), ["支付服务的死锁"])
        names = {
            row["entry_no"]: row["text"] for row in connection.execute("SELECT entry_no, text FROM entries").fetchall()
        }
    found = {names[hit.entry_no]: hit.parts for hit in hits}
    cited = found["支付服务: two transfers waited for each other"]
    assert ("curated" in cited) != known
