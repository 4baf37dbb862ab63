"""Cases from the field: queries against small corpora, with both engines."""

from __future__ import annotations

import json
from typing import Any

import pytest

from recall.searcher import SearchRequest, search
from tests.search.builder import PROFILE, Index
from tests.shared import SHARED, needs_shared

INPUTS = SHARED / "cases" / "inputs"
QUERY_CASES = [
    "037-fts-hyphen",
    "038-fts-colon",
    "039-fts-punctuation",
    "040-fts-quotes-parens",
    "041-fts-operators",
    "045-like-wildcards",
    "046-cjk-run",
    "048-latin-glued-to-cjk",
    "050-diacritics-nfd",
    "051-emoji-search",
    "052-identifier-exact",
]


def found(index: Index, *queries: str, **options: Any) -> list[int]:
    """The places in the corpus of what was found, best first."""
    answer = search(index.database, PROFILE, SearchRequest(queries, limit=50, **options))
    conversations: Any = answer["conversations"]
    return [int(entry["entry_id"][1:]) for conversation in conversations for entry in conversation["entries"]]


@needs_shared
@pytest.mark.parametrize("case", QUERY_CASES)
def test_queries_of_the_case(index: Index, case: str) -> None:
    given = json.loads((INPUTS / f"{case}.json").read_text(encoding="utf-8"))
    index.conversation(given["corpus"])
    for query in given["queries"]:
        hits = found(index, query["q"])
        if "hits" in query:
            assert hits[: len(query["hits"])] == query["hits"], query
        if "hits_first" in query:
            assert hits[0] == query["hits_first"], query


def test_a_rate_is_not_its_letters(index: Index) -> None:
    index.conversation(["seven MBs of logs", "a rate of 7 MB/s"])
    assert found(index, "MB/s") == [1]


def test_a_quoted_pair_is_an_exact_phrase(index: Index) -> None:
    index.conversation(['shout "hey folks" now', "hey over there, folks", "heys folk"])
    assert found(index, '"hey folks"') == [0]
    assert set(found(index, 'hey folks"')) == {0, 1, 2}


def test_wildcards_mean_themselves_in_the_literal_path(index: Index) -> None:
    index.conversation(["30% done", "300 done", "a_b", "c => d", "x ^ y", "\\o/"])
    assert found(index, "%") == [0]
    assert found(index, "=>") == [3]
    assert found(index, "^") == [4]
    assert found(index, "_") == [2]
    assert found(index, "\\") == [5]
    assert found(index, "*") == []


def test_every_part_of_a_cjk_run_is_found_down_to_one_character(index: Index) -> None:
    text = "上周整理了目录漂移现象并补建缓存表"
    index.conversation([text, "午饭吃面"])
    for start in range(len(text)):
        for end in range(start + 1, len(text) + 1):
            assert found(index, text[start:end])[0] == 0, text[start:end]


def test_all_parts_of_a_mixed_query_rank_first_and_some_still_match(index: Index) -> None:
    index.conversation(["网关超时", "调整kestrel网关的方案", "kestrel restarted"])
    hits = found(index, "kestrel 网关 调整")
    assert hits[0] == 1
    assert set(hits) == {0, 1, 2}


def test_a_part_of_an_identifier_and_the_whole(index: Index) -> None:
    index.conversation(["call update_session_cwd() here", "class HTTPServer", "see src/foo.py", "use v2.31.0 of it"])
    for query, place in (
        ("session_cwd", 0),
        ("cwd", 0),
        ("updateSessionCwd", 0),
        ("httpserver", 1),
        ("server", 1),
        ("foo.py", 2),
        ("2.31.0", 3),
        ("v2.31.0", 3),
    ):
        assert found(index, query)[:1] == [place], query


def test_an_identifier_in_its_own_spelling_comes_first(index: Index) -> None:
    index.conversation(
        ["lab edge osprey osprey edge lab edge", "deploy osprey-edge-lab now, and a long tail of other words " * 20]
    )
    assert found(index, "osprey-edge-lab") == [1, 0]


def test_a_mixed_query_that_no_entry_answers_whole_says_so(index: Index) -> None:
    index.conversation(["网关超时了一次", "kestrel restarted", "kestrel网关的方案"])

    def said(query: str, **options: Any) -> Any:
        return search(index.database, PROFILE, SearchRequest((query,), mode="keyword", **options))

    apart = said("kestrel 超时")
    assert "No entry has all of: kestrel, 超时" in apart["message"]
    assert apart["conversations"], "the best that there is, shown all the same"
    assert said("kestrel 网关")["message"] == ""
    assert said("Kestrel restart")["message"] == "", "one script"
    assert said("kestrel restart 网关", roles=("user",))["message"].startswith("No entry has all of")
    assert said("上次我们为什么决定把 kestrel 停掉")["message"] == "", "a sentence"


def test_an_identifier_far_inside_a_long_text_comes_first(index: Index) -> None:
    long = "other words stand here " * 12_000
    assert len(long) > 200_000
    index.conversation(["osprey edge lab " * 3, f"{long}\nnow osprey-edge-lab went down, {long}"])
    assert found(index, "osprey-edge-lab") == [1, 0]
    assert found(index, '"osprey-edge-lab went"') == [1]
    answer: Any = search(index.database, PROFILE, SearchRequest(("osprey-edge-lab",)))
    shown = answer["conversations"][0]["entries"][0]
    assert "osprey-edge-lab went down" in shown["snippet"]
    assert f"{long}\nnow osprey-edge-lab went down, {long}"[shown["offset"] :].startswith(shown["snippet"])
