"""A finding that a later one replaced: shown as superseded with a link, below what holds; and which claims hold."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from recall.browser import BrowseRequest, browse
from recall.index import successions
from recall.search_request import SearchRequest
from recall.searcher import search
from recall.steps.succession import NO_FINDINGS, Compared, Findings, Own, verified
from recall.types import Evidence, Finding, StoredFinding, Succession
from tests.search.builder import START, Index, Turn

OLD, NEW = "We decided: the spool cap is two gibibytes.", "The cap is now half a gibibyte, decided after the outage."


@pytest.fixture
def index(tmp_path: Path) -> Iterator[Index]:
    made = Index(tmp_path / "index.db")
    yield made
    made.database.close()


def two(index: Index) -> tuple[int, int]:
    """An older and a later conversation in one topic and one folder, each with a finding."""
    topic = index.topic("Spool")
    older = index.conversation([Turn(OLD)], "older", cwd="/srv/app")
    newer = index.conversation([Turn("What of it?"), Turn(NEW)], "newer", started=START + 10**9, cwd="/srv/app")
    index.facet(older, "Cap", ["e0"], findings=[("The cap is 2 GiB", "decided", "e0")], topic_no=topic)
    index.facet(newer, "Smaller cap", ["e1"], findings=[("The cap is 512 MiB", "decided", "e1")], topic_no=topic)
    return older, newer


def pair(number: int, entry_id: str, other: int, other_entry: str) -> Succession:
    stored = StoredFinding(other, "t_spool", "", "decided", other_entry, 0, "", None)
    return Succession(0, entry_id, 0, "half a gibibyte", stored, "two gibibytes")


@pytest.mark.parametrize("older_is_published_last", [False, True])
def test_the_current_answer_above_the_stale_one_with_the_chain(index: Index, older_is_published_last: bool) -> None:
    older, newer = two(index)
    before = search(index.database, "default", SearchRequest(("spool cap gibibytes decided",)))
    assert next(c["host_conversation_id"] for c in before["conversations"]) == "older"  # type: ignore[attr-defined]
    with index.database.write() as connection:
        claim = pair(older, "e0", newer, "e1") if older_is_published_last else pair(newer, "e1", older, "e0")
        assert successions.write(connection, older if older_is_published_last else newer, [claim], 0) == 1
    found = search(index.database, "default", SearchRequest(("spool cap gibibytes decided",)))["conversations"]
    assert [c["host_conversation_id"] for c in found] == ["newer", "older"]  # type: ignore[attr-defined]
    stale = found[1]["entries"][0]  # type: ignore[index]
    assert stale["superseded_by"]["entry_id"] == "e1"
    assert stale["superseded_by"]["statement"] == "The cap is 512 MiB"
    shown = browse(index.database, "default", BrowseRequest("t_spool"))["entries"]
    findings = {c["host_conversation_id"]: c["memberships"][0]["findings"][0] for c in shown}  # type: ignore[attr-defined]
    assert list(findings) == ["newer", "older"]
    assert (findings["older"]["status"], findings["older"]["was"]) == ("superseded", "decided")
    assert findings["older"]["superseded_by"]["conversation_id"] == found[0]["conversation_id"]  # type: ignore[index]
    assert findings["newer"]["status"] == "decided"


def test_what_replaced_it_is_found_with_it_though_no_word_of_it_was_asked_for(index: Index) -> None:
    older, newer = two(index)
    with index.database.write() as connection:
        successions.write(connection, newer, [pair(newer, "e1", older, "e0")], 0)
    found = search(index.database, "default", SearchRequest(("gibibytes",)))["conversations"]
    assert [c["host_conversation_id"] for c in found] == ["newer", "older"]  # type: ignore[attr-defined]
    exact = search(index.database, "default", SearchRequest(('"two gibibytes"',)))["conversations"]
    assert [c["host_conversation_id"] for c in exact] == ["older"]  # type: ignore[attr-defined]


def test_of_another_project_it_is_nothing(index: Index) -> None:
    older, newer = two(index)
    with index.database.write() as connection:
        connection.execute("UPDATE conversations SET cwd = '/elsewhere' WHERE conversation_no = ?", (older,))
        assert successions.write(connection, newer, [pair(newer, "e1", older, "e0")], 0) == 0


@pytest.mark.parametrize(
    ("own_quote", "stored_quote", "topic", "holds"),
    [
        ("half a  gibibyte", "two gibibytes", "t_spool", True),
        ("half a gibibyte", "words that stand nowhere", "t_spool", False),
        ("words that stand nowhere", "two gibibytes", "t_spool", False),
        ("half a gibibyte", "two gibibytes", "t_other", False),
    ],
)
def test_a_false_claim_changes_nothing(own_quote: str, stored_quote: str, topic: str, holds: bool) -> None:
    finding = Finding("The cap is 512 MiB", "decided", Evidence("e1", "x", NEW, 0, len(NEW)))
    stored = StoredFinding(1, "t_spool", "The cap is 2 GiB", "decided", "e0", 0, OLD, 0)
    shown = Compared((Own(0, finding, 1),), (stored,))
    findings = Findings(lambda _: (stored,), lambda _: OLD, lambda _: (NEW, "x"), lambda _: 1)
    claim = {"own": 1, "stored": 1, "own_quote": own_quote, "stored_quote": stored_quote}
    found = verified((shown, [claim]), [topic], findings)  # type: ignore[list-item]
    assert bool(found) is holds
    beyond = {"own": 9, "stored": 1, "own_quote": own_quote, "stored_quote": stored_quote}
    assert verified((shown, [beyond]), [topic], NO_FINDINGS) == ()  # type: ignore[list-item]
