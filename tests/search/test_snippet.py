"""Quotes: exact, cut between words where that is possible, and honest about being cut."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall import query, snippet

PROSE = "herons wade slowly through shallow water looking for frogs and never hurry " * 20


@pytest.mark.parametrize("place", range(0, len(PROSE), 97))
def test_cuts_lie_between_words(place: int) -> None:
    text = PROSE[:place].rsplit(" ", 1)[0] + " zeppelin " + PROSE
    found = snippet.of(text, [query.cut("zeppelin")], "user")
    assert text[found.offset : found.offset + len(found.text)] == found.text
    assert "zeppelin" in found.text
    end = found.offset + len(found.text)
    assert found.cut_before == (found.offset > 0)
    assert found.cut_after == (end < len(text))
    assert found.offset == 0 or text[found.offset - 1] == " "
    assert end == len(text) or text[end] == " "
    assert len(found.text) <= snippet.LENGTH


@pytest.mark.parametrize("place", range(0, 2000, 199))
def test_a_quote_of_a_script_without_spaces_weighs_what_another_does(place: int) -> None:
    """A character of it is a token to a model, and four of others are."""
    prose = "今天天气很好适合出门散步。" * 200
    found = snippet.of(f"{prose[:place]}跑步机{prose}", [query.cut("跑步机")], "user")
    assert "跑步机" in found.text
    assert snippet.LENGTH // 5 <= len(found.text) <= snippet.LENGTH // 4


def test_a_short_quote_in_another_script_keeps_its_length() -> None:
    found = snippet.of("今天天气很好。" * 300 + " zeppelin " + PROSE, [query.cut("zeppelin frogs")], "user")
    assert "zeppelin" in found.text
    assert len(found.text) > snippet.LENGTH // 2


def test_a_short_text_is_not_cut() -> None:
    assert snippet.of("herons wade", [query.cut("wade")], "user") == snippet.Snippet("herons wade", 0)


def test_a_word_without_end_is_cut_somewhere() -> None:
    found = snippet.of("x" * 900, [query.cut("heron")], "user")
    assert (len(found.text), found.cut_before, found.cut_after) == (snippet.LENGTH, False, True)


def test_what_is_no_word_is_shown() -> None:
    found = snippet.of("a word " * 200 + "a ~~> b " + "a word " * 200, [query.cut("~~>")], "user")
    assert "~~>" in found.text


@given(st.text(min_size=241, max_size=600), st.text(max_size=20), st.sampled_from(["user", "assistant", "tool"]))
def test_a_quote_is_exact(text: str, asked: str, role: str) -> None:
    found = snippet.of(text, [query.cut(asked)], role)
    assert found.text
    assert text[found.offset : found.offset + len(found.text)] == found.text
    assert found.cut_before == (found.offset > 0)
    assert found.cut_after == (found.offset + len(found.text) < len(text))
