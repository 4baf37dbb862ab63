"""Default pages for a model: some 1,500 tokens, with all that a reader needs to go on."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall import snippet
from recall.run import Cancellation
from recall.surfaces import tool_calls
from recall.surfaces.tool_calls import READABLE, ToolAnswer
from tests.shared import ROOT


def _call(name: str, **arguments: object) -> ToolAnswer:
    answered = tool_calls.call(f"history_recall_{name}", arguments, {}, lambda _: None, Cancellation())
    assert not answered.is_error, answered.document
    return answered


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The public set, half of it Chinese, indexed by the built-in analyser; with paths as long as a host's."""
    folder = tmp_path_factory.mktemp("pages")
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setenv("HOME", str(folder))
        sessions = folder / ".pi/agent/sessions/--home-dev-src-company-teams-platform-observability-log-shipper--"
        sessions.mkdir(parents=True)
        for log in sorted((ROOT / "fixtures" / "coding").rglob("sources/*.jsonl")):
            shutil.copy(log, sessions / f"2026-03-14T15-09-26-535Z_019cea52-77a7-7cc3-9d2e-{log.name}")
        for row in _listed(_call("conversations", limit=50)):
            _call("index", file=row["source"])
    return folder


@pytest.fixture
def indexed(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(store))


def _pages(name: str, **arguments: object) -> Iterator[ToolAnswer]:
    cursor: Mapping[str, object] = {}
    while True:
        page = _call(name, **arguments, **cursor)
        yield page
        if page.document["next_cursor"] is None:
            assert "There is more" not in page.text
            return
        assert f"ask again with cursor {page.document['next_cursor']}" in page.text
        cursor = {"cursor": page.document["next_cursor"]}


def _listed(page: ToolAnswer) -> list[dict[str, Any]]:
    listed: Any = page.document.get("entries", page.document.get("conversations"))
    return list(listed)


def test_a_page_of_topics(indexed: None) -> None:
    pages = list(_pages("browse"))
    whole = _listed(_call("browse", limit=50))
    assert [one["topic_id"] for page in pages for one in _listed(page)] == [one["topic_id"] for one in whole]
    assert len(pages) > 1
    assert all(snippet.weight(page.text) <= READABLE for page in pages)
    assert len(_listed(pages[0])) >= 8
    for page in pages:
        for topic in _listed(page):
            assert f"{topic['topic_id']} {topic['title']} (" in page.text
            assert f"{topic['first_at'][:10]} to {topic['last_at'][:10]})" in page.text
            assert "Latest: " in page.text


def test_a_page_of_conversations(indexed: None) -> None:
    pages = list(_pages("conversations"))
    whole = _listed(_call("conversations", limit=50))
    assert [one["source"] for page in pages for one in _listed(page)] == [one["source"] for one in whole]
    assert len(pages) > 1
    assert all(snippet.weight(page.text) <= READABLE for page in pages)
    assert len(_listed(pages[0])) >= 10
    for page in pages:
        for row in _listed(page):
            assert f"{row['state']} [{row['host']}] {row['active_at'][:16]}Z {row['conversation_id']} " in page.text
            assert f"   source {row['source']}\n" in page.text


def test_a_page_of_a_topic(indexed: None, monkeypatch: pytest.MonkeyPatch) -> None:
    topics = _listed(_call("browse", limit=50))
    topic = max(topics, key=lambda one: int(one["conversations"]))["topic_id"]
    whole = _call("browse", topic_id=topic, limit=50)
    assert len(_listed(whole)) > 1
    monkeypatch.setattr(tool_calls, "READABLE", snippet.weight(whole.text) - 1)
    pages = list(_pages("browse", topic_id=topic))
    names = [one["conversation_id"] for page in pages for one in _listed(page)]
    assert names == [one["conversation_id"] for one in _listed(whole)]
    assert len(pages) > 1
    for page in pages:
        for conversation in _listed(page):
            assert conversation["conversation_id"] in page.text
            for facet in conversation["memberships"]:
                assert all(one["entry_id"] in page.text for one in facet["evidence"][:4])
                assert all(f"     {one['status']}: " in page.text for one in facet["findings"])


def test_a_page_of_search(indexed: None) -> None:
    asked = (ROOT / "fixtures" / "coding" / "a" / "queries.jsonl").read_text(encoding="utf-8").splitlines()
    weights = []
    for line in asked[::5]:
        page = _call("search", queries=[json.loads(line)["query"]])
        weights.append(snippet.weight(page.text))
        found = _listed(page)
        for place, conversation in enumerate(found, start=1):
            assert f"\n{place}. {conversation['conversation_id']} " in page.text
            assert f"last active {conversation['last_active_at'][:10]}" in page.text
            for entry in conversation["entries"]:
                assert f"entry {entry['entry_id']} ({entry['role']}, {entry['timestamp'][:16]}Z" in page.text
                below = page.text.partition(f"entry {entry['entry_id']} (")[2].partition("\n")[2]
                quote, shown = entry["snippet"].splitlines()[0].split("  ")[0], below.splitlines()[0].strip("… ")
                least = len(shown) >= 160 if shown.isascii() else snippet.weight(shown) >= 150
                assert shown == quote or (quote.startswith(shown) and least), (quote, shown)
        more = sum(conversation["truncated"] for conversation in found)
        assert page.text.count(", more match]") == more
        assert ("with that conversation_id" in page.text.split("<<<")[0]) == (more > 0)
    assert sorted(weights)[len(weights) * 9 // 10] <= READABLE, sorted(weights)


def test_who_says_how_many_gets_so_many(indexed: None) -> None:
    page = _call("browse", limit=50)
    assert snippet.weight(page.text) > READABLE
    assert page.document["next_cursor"] is None


@given(st.text(st.characters(exclude_categories=["Cs"]) | st.sampled_from("潮位测量 가나 \n. "), max_size=400))
def test_the_beginning_of_a_text_weighs_what_it_may(text: str) -> None:
    shown = snippet.beginning(text, 160)
    assert snippet.weight(shown) <= 160 + 2
    assert shown == text or text.startswith(shown.removesuffix(" …"))
