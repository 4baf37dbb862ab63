"""What ranking is made of: times in a question, weights at zero, the floor, and rewrites beside an exact hit."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall import moments, ranked, scoring
from recall.index.held import Holding
from recall.index.turns import Turn
from recall.moments import Moment
from recall.query import Term
from recall.rewriting import Rewriting
from recall.scoring import Asked, Sight
from recall.searcher import SearchRequest, default_filters, rank, search
from recall.weights import WEIGHTS
from tests.search.builder import DAY, PROFILE, START, Index


def ids(answer: Any) -> list[str]:
    return [entry["entry_id"] for conversation in answer["conversations"] for entry in conversation["entries"]]


def ask(index: Index, text: str, **options: Any) -> Any:
    return search(index.database, PROFILE, SearchRequest((text,), **{"mode": "keyword"} | options))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("what happened on 7 May 2023?", [Moment(2023, 5, 7, 7)]),
        ("the release of July 3rd", [Moment(None, 7, 3, 3)]),
        ("in June 2023", [Moment(2023, 6)]),
        ("2026-03-02 was when", [Moment(2026, 3, 2, 2)]),
        ("3月中旬的会议", [Moment(None, 3, 11, 20)]),
        ("2025年1月18日", [Moment(2025, 1, 18, 18)]),
        ("十二月初", [Moment(None, 12, 1, 10)]),
        ("we may march on, version 2026.13", []),
        ("may I?", []),
    ],
)
def test_times_that_a_question_names(text: str, expected: list[Moment]) -> None:
    assert list(moments.named(text)) == expected


def test_where_a_time_lies() -> None:
    moment = Moment(2026, 3, 2, 2)
    assert [moment.closeness(START + days * DAY) for days in (0, 1, 5, 40)] == ["in", "near", "month", ""]
    assert Moment(2025, 3).closeness(START) == ""


@given(st.text())
def test_any_text_is_looked_through(text: str) -> None:
    for moment in moments.named(text):
        assert 1 <= moment.month <= 12
    assert moments.asks_when(text) in (True, False)


def test_a_date_in_the_question_lifts_its_time(index: Index) -> None:
    index.conversation(["we planted the heron reeds"], "spring", started=START)
    index.conversation(["we planted the heron reeds"], "summer", started=START + 100 * DAY)
    asked = ask(index, "what about heron reeds in June 2026")
    assert asked["conversations"][0]["host_conversation_id"] == "summer"
    assert ask(index, "what about heron reeds in March 2026")["conversations"][0]["host_conversation_id"] == "spring"


def test_the_present_state_comes_before_the_past(index: Index) -> None:
    index.conversation(["the pool size is 20"], "old", started=START)
    index.conversation(["the pool size is 35"], "new", started=START + 30 * DAY)
    assert ask(index, "what is the current pool size")["conversations"][0]["host_conversation_id"] == "new"


def test_the_answer_beside_the_question_is_found(index: Index) -> None:
    index.conversation(
        ["which broker for the ferry?", "The small one, for what it costs.", "good broker, ferry needs it"]
    )
    index.conversation(["rain again", "yes"], "other")
    found = ask(index, "broker ferry")["conversations"][0]["entries"]
    assert {entry["entry_id"]: entry["found_by"] for entry in found}["e1"] == ["neighbours"]


def _with_a_word_beside(index: Index, distance: int) -> dict[str, dict[str, float]]:
    """Where the question's other word stands so many places on in one conversation, and not in the other: the parts."""
    filler = ["about the weather"] * (distance - 1)
    index.conversation(["the heron came back", *filler, "more about the weather"], "alone", started=START)
    index.conversation(["the heron came back", *filler, "the turbine of the mill"], "block", started=START)
    with index.database.read() as connection:
        found = rank(connection, default_filters(1), ["heron turbine"])
        names = dict(
            connection.execute(
                "SELECT entry_no, host_conversation_id FROM entries JOIN conversations USING (conversation_no)"
                " WHERE seq = (SELECT min(seq) FROM entries)"
            ).fetchall()
        )
    return {names[hit.entry_no]: hit.parts for hit in found if hit.entry_no in names}


def test_the_block_around_an_entry_speaks_for_it(index: Index) -> None:
    parts = _with_a_word_beside(index, WEIGHTS.block_reach)
    assert parts["block"]["block"] > parts["alone"]["block"] > 0
    assert parts["block"]["keyword"] == parts["alone"]["keyword"]


def test_a_block_has_an_end(index: Index) -> None:
    parts = _with_a_word_beside(index, WEIGHTS.block_reach + 1)
    assert parts["block"]["block"] == parts["alone"]["block"]


def test_a_block_holds_a_word_once_and_no_pair_of_characters() -> None:
    turns = [Turn(number, 1, number, "user", None, 20, 0) for number in range(4)]
    held = {
        Term(("heron",)): Holding(frozenset({0, 1, 3}), 3),
        Term(("归属",)): Holding(frozenset({0, 1, 3}), 3),
    }
    for term in held:
        asked, sight = Asked({term: 1.0}), Sight(turns, 100, {term: held[term]}, {})
        made = scoring.scores(asked, sight, WEIGHTS)
        expected = 0.0 if term == Term(("归属",)) else WEIGHTS.block * scoring.idf(3, 100)
        assert [parts["block"] for parts in made.values()] == pytest.approx([expected] * len(made))


def test_forms_that_no_ending_tells_are_one_word(index: Index) -> None:
    index.conversation(["we chose the blue heron", "the egret stayed"])
    assert ids(ask(index, "when did we choose it"))[0] == "e0"


def test_nothing_close_enough_is_no_answer(index: Index) -> None:
    index.conversation(["the heron stands in the reeds", *(f"note {i} of the kiln" for i in range(ranked.FEWEST))])
    answer = ask(index, "which vaccine did the veterinary clinic recommend for the heron population abroad")
    assert answer["conversations"] == []
    assert "vaccine" in answer["message"]
    assert "1 conversation" in answer["message"]
    assert ids(ask(index, "heron reeds")) == ["e0"]


def test_a_layer_at_zero_is_gone(index: Index) -> None:
    number = index.conversation(["let us take the other one", "fine", "rain"])
    index.facet(number, "Message broker choice", ["e0"])
    with index.database.read() as connection:
        filters = default_filters(index.number)
        found = rank(connection, filters, ["message broker"])
        without = rank(connection, filters, ["message broker"], replace(WEIGHTS, curated={}))
    assert found[0].found_by == {"curated"}
    assert without == []


def test_rewrites_never_push_an_exact_hit_down(index: Index) -> None:
    index.conversation(["set retry_limit to six", *(f"the cap of attempts is six, note {i}" for i in range(8))])
    with index.database.read() as connection:
        filters = default_filters(index.number)
        plain = rank(connection, filters, ["retry_limit"])
        made = Rewriting((("cap of attempts six note", "attempts cap"),), "done", "ready")
        rewritten = rank(connection, filters, ["retry_limit"], rewriting=made)
    assert plain[0].entry_no == rewritten[0].entry_no
    assert len(rewritten) > len(plain)


parts = st.dictionaries(
    st.integers(1, 80),
    st.one_of(st.floats(0.1, 9), st.sampled_from([1.0, 2.0])).map(lambda score: {"keyword": score}),
    min_size=1,
    max_size=80,
)


def tie(entry_no: int) -> tuple[int, int]:
    return (-entry_no % 7, entry_no)


@given(parts, parts, st.sets(st.integers(1, 80)))
def test_exact_hits_keep_their_places(
    combined: dict[int, dict[str, float]], plain: dict[int, dict[str, float]], exact: set[int]
) -> None:
    for entry_no in exact & plain.keys():
        plain[entry_no]["exact"] = 10.0
    before = scoring.in_order(plain, tie)
    scoring.hold_exact(combined, plain, tie)
    after = scoring.in_order(combined, tie)
    for place, entry_no in enumerate(before):
        assert entry_no not in exact or after.index(entry_no) <= place
    assert all(entry_no in after for entry_no in exact & plain.keys())


def test_a_spelling_that_goes_on_is_one(index: Index) -> None:
    """Though another entry has it by itself; its parts in another order are not it."""
    index.conversation([f"nothing to do with it, number {number}" for number in range(120)], "noise")
    index.conversation(["open src/foo.rs"], "bare")
    index.conversation(["rs foo src foo rs"], "parts")
    index.conversation(["panicked at src/foo.rs:77:12"], "on")
    with index.database.read() as connection:
        filters = default_filters(index.number)
        for rewriting in (Rewriting((), "not_asked", "ready"), Rewriting((("rs foo",),), "done", "ready")):
            hits = rank(connection, filters, ["src/foo.rs"], rewriting=rewriting)
            names = [name_of(index, hit.entry_no) for hit in hits]
            assert set(names[:2]) == {"bare", "on"}, rewriting


def test_what_holds_the_whole_query_stands_above_what_holds_a_path_of_it(index: Index) -> None:
    index.conversation([f"nothing to do with it, number {number}" for number in range(120)], "noise")
    asked = "could not serialize access due to read/write dependencies among transactions"
    index.conversation([f"ERROR: {asked} {'and more of the log ' * 30}"], "whole")
    index.conversation(["read/write dependencies: could not serialize, transactions"], "path")
    with index.database.read() as connection:
        first = rank(connection, default_filters(index.number), [asked])[0]
    assert name_of(index, first.entry_no) == "whole"


def name_of(index: Index, entry_no: int) -> str:
    with index.database.read() as connection:
        row = connection.execute(
            """SELECT c.host_conversation_id FROM entries JOIN conversations AS c USING (conversation_no)
               WHERE entry_no = ?""",
            (entry_no,),
        ).fetchone()
    return str(row[0])


def test_a_month_in_any_letters_is_one() -> None:
    assert list(moments.named("in \u017feptember 2023")) == [Moment(2023, 9)]
