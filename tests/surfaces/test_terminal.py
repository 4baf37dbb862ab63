"""What a log says may not act on a terminal."""

from __future__ import annotations

import json
import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from recall.surfaces.terminal import json_text, one_line, visible

ACTING = "\x1b[2J\x1b]0;owned\x07\x1b]52;c;QUJD\x07\r\b\x7f\x9b31m\u202egnp.exe\u202c\u2066\u200f\ufeff\u2028"


def _acts(text: str) -> list[str]:
    turning = "\u202a\u202b\u202c\u202d\u202e"
    return [c for c in text if unicodedata.category(c) in ("Cc", "Cs", "Zl", "Zp") or c in turning]


def test_each_acting_character_becomes_a_visible_mark() -> None:
    shown = visible(ACTING)
    assert _acts(shown) == []
    assert "\u241b[2J" in shown
    assert "<U+202E>gnp.exe<U+202C>" in shown


def test_what_no_person_sees_and_a_model_reads_is_shown() -> None:
    hidden = "pay\U000e0041\U000e007f\u200b\u2060load"
    assert visible(hidden) == "pay<U+E0041><U+E007F><U+200B><U+2060>load"
    assert json_text([hidden]).isascii()
    assert json.loads(json_text([hidden])) == [hidden]
    assert visible("👨\u200d👩") == "👨\u200d👩"


def test_tabs_and_line_breaks_of_a_text_stay() -> None:
    assert visible("a\tb\nc") == "a\tb\nc"
    assert one_line("a\tb\nc") == "a b c"


@given(st.text(alphabet=st.characters()))
def test_nothing_acts_whatever_the_text(text: str) -> None:
    assert set(_acts(visible(text))) <= {"\n", "\t"}
    assert _acts(one_line(text)) == []


@given(st.text(alphabet=st.characters()))
def test_json_carries_it_escaped_and_whole(text: str) -> None:
    printed = json_text({"text": text})
    assert _acts(printed) == []
    assert json.loads(printed)["text"] == text
