"""A word that stands nowhere: what may have been meant is said, from what may be found, and not looked for unasked."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall import near
from recall.index import forget, spellings
from recall.searcher import SearchRequest, default_filters, search
from tests.search.builder import PROFILE, START, Index, Turn

WORDS = st.text("abcde", max_size=7)


def _message(index: Index, query: str, **options: Any) -> str:
    answer = search(index.database, PROFILE, SearchRequest((query,), mode="keyword", **options))
    assert answer["conversations"] == []
    return str(answer["message"])


@given(WORDS, WORDS)
def test_the_distance_is_that_of_its_definition(one: str, other: str) -> None:
    @cache
    def slow(left: int, right: int) -> int:
        if not left or not right:
            return left + right
        changed = slow(left - 1, right - 1) + (one[left - 1] != other[right - 1])
        best = min(slow(left - 1, right) + 1, slow(left, right - 1) + 1, changed)
        if left > 1 and right > 1 and one[left - 1] == other[right - 2] and one[left - 2] == other[right - 1]:
            best = min(best, slow(left - 2, right - 2) + 1)
        return best

    assert near.distance(one, other) == slow(len(one), len(other)) == near.distance(other, one)


@given(WORDS.filter(bool), WORDS)
def test_slips_are_the_words_at_distance_one_and_no_others(word: str, other: str) -> None:
    slips = near.slips(word)
    assert len(slips) == len(set(slips))
    assert all(near.distance(word, slip) == 1 for slip in slips)
    assert (other in slips) == (near.distance(word, other) == 1)


@given(st.text(max_size=40))
def test_only_words_of_some_letters_are_judged(text: str) -> None:
    for word in near.judged(text.split()):
        assert word.isascii()
        assert word.isalpha()
        assert word.islower()
        assert 4 <= len(word) <= 24


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("kestral", "kestrel (for kestral)"),
        ("ketsrel", "kestrel (for ketsrel)"),
        ("ksetrel", "kestrel (for ksetrel)"),
        ("estrel", "kestrel (for estrel)"),
        ("kestrell", "kestrel (for kestrell)"),
        ("KESTRAL", "kestrel (for kestral)"),
        ("conifgured", "configured (for conifgured)"),
        ("what about the kestral, conifgured?", "kestrel (for kestral), configured (for conifgured)"),
    ],
)
def test_the_word_that_was_meant_is_said(index: Index, typed: str, meant: str) -> None:
    index.conversation(["The Kestrel is configured by hand"])
    assert _message(index, typed).endswith(f", in 1 conversation — did you mean {meant}?")


def test_the_commoner_word_is_meant(index: Index) -> None:
    index.conversation(["a heron", "the heron", "one heron", "a hero"])
    assert "did you mean heron (for heronn)?" in _message(index, "heronn")


@pytest.mark.parametrize("typed", ["潮位侧", "가나다라", "key", "v2alpha9", "x_kestral", "qqzzqqzz", "%%%"])
def test_nothing_is_said_of_what_cannot_be_judged(index: Index, typed: str) -> None:
    index.conversation(["潮位 测 kestrels keys"])
    answer = search(index.database, PROFILE, SearchRequest((typed,), mode="keyword"))
    assert "did you mean" not in str(answer["message"])


def test_nothing_is_said_where_the_words_were_found(index: Index) -> None:
    index.conversation(["The kestrel and the magpie"])
    answer = search(index.database, PROFILE, SearchRequest(("kestrel magpei",), mode="keyword"))
    assert answer["conversations"]
    assert "did you mean" not in str(answer["message"])


def test_hits_that_nothing_but_what_was_written_brought_are_no_words(index: Index) -> None:
    number = index.conversation(["The kestrel sat there"])
    index.facet(number, "kestral", ["e0"])
    answer = search(index.database, PROFILE, SearchRequest(("kestral",), mode="keyword"))
    assert answer["conversations"]
    assert answer["message"] == "Did you mean kestrel (for kestral)?"


def test_a_word_that_stands_is_no_slip(index: Index) -> None:
    index.conversation([Turn("kestral", role="system"), "kestrel"])
    filters = default_filters(index.number)
    with index.database.read() as connection:
        assert spellings.meant(connection, filters, ["kestral"]) == {"kestral": "kestrel"}
        assert spellings.meant(connection, filters, ["kestrel"]) == {}


@pytest.mark.parametrize(
    ("turn", "typed"),
    [
        (Turn("kestrel", marks="abandoned_branch"), "kestral"),
        (Turn("kestrel", marks="synthetic"), "kestral"),
        (Turn("kestrel", role="system"), "kestral"),
        (Turn("the secret [REDACTED:kestrel#1] was cut out"), "kestral"),
        (Turn("the secret [REDACTED:kestrel#1] was cut out"), "redatced"),
        (Turn("[bash result, attempted]\nnothing", role="tool"), "attemptde"),
    ],
    ids=lambda given: f"{given.role}-{given.marks}" if isinstance(given, Turn) else str(given),
)
def test_hidden_and_redacted_words_and_labels_are_never_said(index: Index, turn: Turn, typed: str) -> None:
    index.conversation(["something else", turn])
    assert "did you mean" not in _message(index, typed)


def test_old_rules_do_not_bring_a_secret_back(one: Index) -> None:
    one.conversation(["postgres://app:kestrelling@db.internal/app"], rules_version=0)
    assert "did you mean" not in _message(one, "kestrelilng")


@pytest.mark.parametrize(
    "elsewhere", [{"sidechain": 1}, {"automation": 1}, {"archived": 1}], ids=lambda columns: next(iter(columns))
)
def test_words_of_conversations_that_are_not_searched_are_never_said(index: Index, elsewhere: dict[str, int]) -> None:
    index.conversation(["The kestrel"], "aside", **elsewhere)
    index.conversation(["something else"])
    assert "did you mean" not in _message(index, "kestral")


def test_the_filters_of_the_search_hold(index: Index) -> None:
    number = index.conversation(["The kestrel"], "first")
    index.conversation(["something else"], "second", started=START + 40 * 86_400_000)
    assert "did you mean kestrel" in _message(index, "kestral")
    assert "did you mean" not in _message(index, "kestral", roles=("assistant",))
    name = (
        index.database.staging()
        .execute("SELECT conversation_id FROM conversations WHERE conversation_no <> ?", (number,))
        .fetchone()[0]
    )
    assert "did you mean" not in _message(index, "kestral", conversation_id=name)


def test_another_profile_says_nothing(one: Index, tmp_path: Any) -> None:
    Index(one.path, profile="other").conversation(["The kestrel"], "theirs")
    one.conversation(["something else"])
    assert "did you mean" not in _message(one, "kestral")


def test_what_was_forgotten_is_not_said(index: Index) -> None:
    number = index.conversation(["The kestrel"], "first")
    index.conversation(["something else"], "second")
    assert "did you mean kestrel" in _message(index, "kestral")
    with index.database.write() as connection:
        forget.erase(connection, index.number, [number], START)
    assert "did you mean" not in _message(index, "kestral")


def test_three_words_are_looked_after_and_no_more(index: Index) -> None:
    index.conversation(["kestrel magpie heron egret"])
    message = _message(index, "kestral magpei herom egrett")
    assert message.count("(for ") == spellings.MOST
