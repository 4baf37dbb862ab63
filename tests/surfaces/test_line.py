"""The line behind `/history-recall`: cut without a shell, answered with usage where it is not understood."""

from __future__ import annotations

import shlex
import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall.run import Cancellation
from recall.surfaces.line import Word, again, read, run, split
from tests.shared import ROOT


def _run(line: str) -> tuple[int, str]:
    said = run(line, {}, lambda _: None, Cancellation())
    return said.exit_code, said.text


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("search why doesn't it work", ["search", "why", "doesn't", "it", "work"]),
        ('read c_1 --entry "a b"', ["read", "c_1", "--entry", "a b"]),
        ('index "/srv/my logs/a.jsonl"', ["index", "/srv/my logs/a.jsonl"]),
        ("index '/srv/my logs/a.jsonl'  --force", ["index", "/srv/my logs/a.jsonl", "--force"]),
        ('index --confirm="x y" f', ["index", "--confirm=x y", "f"]),
        ('search "no end', ["search", '"no', "end"]),
        (r"index C:\logs\a.jsonl", ["index", r"C:\logs\a.jsonl"]),
        ("   ", []),
    ],
)
def test_a_line_is_cut_as_a_person_means_it(line: str, words: list[str]) -> None:
    assert [word.text for word in split(line)] == words


@given(st.text())
def test_no_line_is_too_odd_to_be_cut_and_nothing_but_quotes_and_spaces_is_lost(line: str) -> None:
    words = split(line)
    kept = "".join(character for word in words for character in word.text if not character.isspace())
    assert kept.replace('"', "").replace("'", "") == "".join(line.split()).replace('"', "").replace("'", "").encode(
        "utf-8", "replace"
    ).decode("utf-8")


@given(st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\"'\\"), min_size=1).filter(str.strip)))
def test_what_a_shell_would_quote_is_read_the_same(words: list[str]) -> None:
    plain = [word for word in words if all(not c.isspace() or c == " " for c in word)]
    line = " ".join(f"'{word}'" for word in plain)
    assert [word.text for word in split(line)] == shlex.split(line) == plain


def test_double_quotes_among_the_words_of_a_search_ask_for_the_phrase() -> None:
    asked, words = read('search spool "wal checkpoint" --from "2026-01-01T00:00:00Z" --limit 3')
    assert asked.arguments["query"] == ["spool", '"wal checkpoint"']
    assert asked.arguments["from"] == "2026-01-01T00:00:00Z"
    line = again(asked.operation, [*words, "--cursor", "xyz"])
    assert read(line)[0].arguments == asked.arguments
    assert read("search 'wal checkpoint'")[0].arguments["query"] == ["wal checkpoint"]


@pytest.mark.parametrize(
    "line",
    ["serach x", "status spare", "search", "index", "sources ad x", "search x --mode psychic", "serve", "x" * 20_001],
)
def test_what_is_not_understood_is_answered_with_usage_and_changes_nothing(line: str, home: Path) -> None:
    code, text = _run(line)
    assert code == 2
    assert "(usage)" in text
    assert list(home.rglob("*")) == []


def test_an_empty_line_and_help_show_how_it_is_used() -> None:
    for line in ("", "--help", "search --help", "jobs --help"):
        code, text = _run(line)
        assert code == 0
        assert "Usage: /history-recall" in text


def test_a_line_does_what_the_command_does(home: Path) -> None:
    shutil.copytree(ROOT / "fixtures" / "demo" / "home", home, dirs_exist_ok=True)
    code, text = _run("index-all")
    assert (code, text.splitlines()[-1]) == (
        0,
        "6 conversations, 0 model calls, redacted: 1 gitlab-token, 1 url-password",
    )
    code, text = _run('search "spool overflows" --limit 1')
    assert code == 0
    assert "upload retries again" in text
    assert _run("read c_none")[0] == 1


def test_words_stay_what_they_were() -> None:
    assert split('a "b c" \'d e\' f"g') == [Word("a"), Word("b c", True), Word("d e"), Word('f"g')]
