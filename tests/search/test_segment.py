"""The segmenter: which words come from a text, and that frozen tables decide, not the interpreter's."""

from __future__ import annotations

import hashlib
import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall import segment
from recall.stem import stem

_ESCAPED = "database＿url currentthem tcurrent"


@pytest.mark.parametrize(
    ("text", "body", "whole"),
    [
        ("update_session_cwd", "updat session cwd", "update＿session＿cwd"),
        ("HTTPServer", "http server", "httpserver"),
        ("getIDs E0308", "get ids e0308", "getid"),
        ("src/foo.py", "src foo py", "src／foo．py"),
        ("v2.31.0", "v2 31 0", "v2．31．0 2．31．0"),
        ("std::sync::Arc", "std sync arc", "std：：sync：：arc"),
        ("C++ and C#", "c and c", "c＋＋ c＃"),
        ("--no-verify", "no verifi", "－－no－verify"),
        ("调整kestrel网关", "调整 整 kestrel 网关 关", ""),
        ("补", "补", ""),
        ("画面表示の調整", "画面 面表 表示 示の の調 調整 整", ""),
        ("배포상태", "배포 포상 상태 태", ""),
        ("forêt FORÊT fore\u0302t", "foret foret foret", ""),
        ("ＡＢＣ ｶﾞ", "abc ガ", ""),
        ("👩‍👩‍👧 👍🏽 → ok", "👩 👩 👧 👍 🏽 → ok", ""),
        ("Straße İstanbul", "strass istanbul", ""),
        (r'{"text": "a\nDATABASE_URL\n\t\tcurrentTheme\n"}', "text a databas url current them", _ESCAPED),
        (r"\n数据\n", "数据 据", ""),
        (r"C:\new\table", "c new tabl", "c：＼new＼table"),
        (r"C:\\bob\\new", "c bob new", "c：＼＼bob＼＼new"),
        (r"src\new", "src ew", "new"),
        (r"rg \\bfoo_bar\\b", "rg bfoo bar b", "bfoo＿bar＼＼b foo bar foo＿bar"),
        ("", "", ""),
        (" \t\n!?。", "", ""),
    ],
)
def test_words(text: str, body: str, whole: str) -> None:
    assert segment.both(text) == (body, whole)


def test_long_words_are_cut_the_same_everywhere() -> None:
    digest = "ab" * 300
    parts = segment.body(digest).split()
    assert "".join(parts) == digest
    assert max(map(len, parts)) == segment.LONGEST


@pytest.mark.parametrize(
    "family",
    [
        "configure configured configures configuring",
        "cache caches cached caching",
        "stop stops stopped stopping",
        "retry retries retried retrying",
        "process processes processed processing",
        "database databases",
    ],
)
def test_one_word_has_one_stem(family: str) -> None:
    assert len({stem(word) for word in family.split()}) == 1


@pytest.mark.parametrize(("one", "other"), [("universe", "university"), ("status", "state"), ("red", "reed")])
def test_other_words_stay_apart(one: str, other: str) -> None:
    assert stem(one) != stem(other)


@pytest.mark.parametrize("code", [0x32000, 0x1FAE8, 0x1C89, 0x2EBF0, 0x16EBB, 0x1E6C0, 0xA7DA])
def test_code_points_newer_than_the_tables_are_folded_to_nothing_else(code: int) -> None:
    """Unicode 15 to 17 assigned these; an interpreter that knows them must cut as one that does not."""
    assert segment.body(f"a{chr(code)}b") == " ".join(["a", chr(code), "b"])


@given(st.text())
def test_only_the_index_alphabet_comes_out(text: str) -> None:
    """FTS4's plain tokenizer splits at all other ASCII, and would undo what was decided here."""
    for column in segment.both(text):
        assert all(char.isalnum() for char in column if char < "\x80" and char != " ")
        assert column == " ".join(column.split(" "))
        assert column == column.strip()


@given(st.text())
def test_case_and_composition_do_not_matter(text: str) -> None:
    """NFC, NFD and fullwidth forms are one; only assigned characters take part."""
    if segment._wide().unassigned.search(text):
        return
    assert segment.body(unicodedata.normalize("NFC", text)) == segment.body(unicodedata.normalize("NFD", text))


@given(st.text(alphabet="目录漂移现象补建缓存表", min_size=2, max_size=30), st.data())
def test_any_part_of_a_run_is_a_phrase_of_it(run: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(run) - 2))
    end = data.draw(st.integers(start + 2, len(run)))
    wanted = list(segment.pairs(run[start:end])[:-1])
    words = segment.body(run).split()
    assert any(words[i : i + len(wanted)] == wanted for i in range(len(words)))


def test_frozen_tables_agree_with_the_interpreter_they_were_made_from() -> None:
    if sys.version_info[:2] != (3, 11):
        pytest.skip("Python 3.11 has Unicode 14")
    assert unicodedata.unidata_version == "14.0.0"
    for code in range(0x80, 0x30000):
        if 0xD800 <= code <= 0xDFFF:
            continue
        assigned = not segment._wide().unassigned.search(chr(code))
        assert assigned == (unicodedata.category(chr(code)) != "Cn"), hex(code)


def test_every_code_point_is_cut_as_it_was_when_the_rules_were_frozen() -> None:
    """The same digest on every Python. Where rules change on purpose, raise SEGMENT_VERSION and pin the new one."""
    digest = hashlib.sha256()
    for start in range(0, 0x110000, 0x1000):
        letters = [f"x{chr(code)}Y{chr(code)}\u0301" for code in range(start, start + 0x1000) if not _lone(code)]
        digest.update("|".join(segment.both(" ".join(letters))).encode())
    assert (segment.SEGMENT_VERSION, digest.hexdigest()[:16]) == (4, "deaecf6194b3cbf4")


def _lone(code: int) -> bool:
    return 0xD800 <= code <= 0xDFFF
