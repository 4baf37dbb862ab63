"""Browsing: topics by last activity, conversations with what is known of them, ids that went elsewhere."""

from __future__ import annotations

import json
from typing import Any

import pytest

from recall.browser import BrowseRequest, browse
from recall.errors import ArgumentError
from recall.timewindow import parse
from tests.search.builder import DAY, PROFILE, START, Index, Turn


def look(index: Index, current: tuple[str, str] | None = None, **options: Any) -> Any:
    return browse(index.database, PROFILE, BrowseRequest(**options), current)


@pytest.fixture
def library(one: Index) -> Index:
    """Three topics over five conversations: four about birds, one of them with two facets, one about fish."""
    birds = one.topic("Birds", "Which birds we watch.", ["fowl"])
    fish = one.topic("Fish", "Ponds.")
    one.topic("Empty")
    number = 0
    for i in range(4):
        number = one.conversation([f"heron {i}", "more"], f"b{i}", started=START + i * DAY, summary=f"Day {i}")
        one.facet(number, f"Herons {i}", ["e0"], findings=[("They stand", "found", "e1")], topic_no=birds)
    one.facet(number, "Egrets", ["e1"], topic_no=birds)
    pond = one.conversation(["carp"], "pond", started=START + 9 * DAY, facts=json.dumps({"entries": 1}))
    one.facet(pond, "Carp", ["e0"], topic_no=fish)
    return one


def test_topics(library: Index) -> None:
    answer = look(library)
    assert (answer["level"], answer["range"], answer["next_cursor"]) == ("topics", None, None)
    assert answer["revision"] == 5
    assert [topic["topic_id"] for topic in answer["entries"]] == ["t_fish", "t_birds"]
    birds = answer["entries"][1]
    assert birds["conversations"] == 4
    assert birds["aliases"] == ["fowl"]
    assert birds["first_at"] == "2026-03-02T09:00:00.000Z"
    assert birds["last_at"] == "2026-03-05T09:02:00.000Z"
    assert birds["description"].splitlines() == [
        "Which birds we watch.",
        "Timeline: 2026-03-02 to 2026-03-05 across 4 conversations.",
        "Latest: About b3 (2026-03-05); About b2 (2026-03-04); About b1 (2026-03-03).",
    ]


def test_a_window_keeps_conversations_with_an_entry_in_it(library: Index) -> None:
    window = parse(None, "2026-03-03", "2026-03-05", 0)
    answer = look(library, window=window)
    assert [topic["topic_id"] for topic in answer["entries"]] == ["t_birds"]
    assert answer["entries"][0]["conversations"] == 2
    assert answer["entries"][0]["last_at"] == "2026-03-04T09:01:00.000Z"
    assert answer["range"] == {"from": "2026-03-03T00:00:00.000Z", "to": "2026-03-05T00:00:00.000Z"}
    inside = look(library, topic_id="t_birds", window=window)
    assert [c["host_conversation_id"] for c in inside["entries"]] == ["b2", "b1"]


def test_conversations_of_a_topic(library: Index) -> None:
    answer = look(library, topic_id="t_birds", limit=1)
    assert answer["level"] == "conversations"
    conversation = answer["entries"][0]
    assert conversation["host_conversation_id"] == "b3"
    assert conversation["summary"] == "Day 3"
    assert [member["facet"] for member in conversation["memberships"]] == ["Herons 3", "Egrets"]
    member = conversation["memberships"][0]
    assert member["topic_id"] == "t_birds"
    assert member["reason"] == "same subject"
    assert member["evidence"][0]["entry_id"] == "e0"
    assert len(member["evidence"][0]["sha256"]) == 64
    assert member["findings"][0]["statement"] == "They stand"
    assert member["findings"][0]["status"] == "found"
    assert look(library, topic_id="t_fish")["entries"][0]["facts"] == {"entries": 1}


def test_pages_join_to_the_whole(library: Index) -> None:
    seen: list[str] = []
    cursor = None
    while True:
        answer = look(library, topic_id="t_birds", limit=3, cursor=cursor)
        seen += [conversation["host_conversation_id"] for conversation in answer["entries"]]
        cursor = answer["next_cursor"]
        if cursor is None:
            break
    assert seen == ["b3", "b2", "b1", "b0"]


def test_cursors_are_bound_to_the_generation(library: Index) -> None:
    cursor = look(library, limit=1)["next_cursor"]
    assert look(library, limit=1, cursor=cursor)["entries"][0]["topic_id"] == "t_birds"
    library.conversation(["news"], "news")
    with pytest.raises(ArgumentError) as refused:
        look(library, limit=1, cursor=cursor)
    assert refused.value.code == "stale_cursor"


def test_merged_and_retired_ids_lead_somewhere(library: Index) -> None:
    birds = library.database.staging().execute("SELECT topic_no FROM topics WHERE title = 'Birds'").fetchone()[0]
    middle = library.topic("Waders", state="merged", merged_into=birds)
    library.topic("Storks", state="merged", merged_into=middle)
    library.topic("Gone", state="retired")
    answer = look(library, topic_id="t_storks")
    assert answer["topic"] == {
        "topic_id": "t_birds",
        "title": "Birds",
        "state": "live",
        "asked_for": "t_storks",
    }
    assert len(answer["entries"]) == 4
    assert look(library, topic_id="t_gone")["topic"]["state"] == "retired"
    assert "t_gone" not in json.dumps(look(library))


def test_history_is_told_in_words(library: Index) -> None:
    with library.database.write() as connection:
        for kind, before, after in (
            ("created", {}, {"title": "Birds"}),
            ("joined", {}, {"facet": "Herons 1"}),
            ("redefined", {"title": "Birds"}, {"title": "Water birds"}),
            ("retired", {"title": "Water birds"}, {}),
        ):
            connection.execute(
                "INSERT INTO topic_events (topic_no, conversation_no, at, kind, reason, before, after)"
                " VALUES (1, 1, ?, ?, 'because', ?, ?)",
                (START, kind, json.dumps(before), json.dumps(after)),
            )
    answer = look(library, topic_id="t_birds", history=True)
    assert answer["level"] == "history"
    assert [event["words"] for event in answer["entries"]] == [
        'Created as "Birds". because',
        'A facet joined: "Herons 1". because',
        'Redefined: "Birds" is now "Water birds". because',
        'Retired: nothing is left in it (it was "Water birds"). because',
    ]
    assert answer["entries"][0]["conversation_id"].startswith("c_")


def test_evidence_off_the_active_branch_is_labelled(one: Index) -> None:
    """B019: a facet drawn from an abandoned branch says so."""
    topic = one.topic("Queues")
    number = one.conversation([Turn("use RabbitMQ", marks="abandoned_branch")])
    one.facet(number, "RabbitMQ", ["e0"], topic_no=topic)
    member = look(one, topic_id="t_queues")["entries"][0]["memberships"][0]
    assert member["evidence"][0]["status"] == ["abandoned_branch"]


def test_the_running_conversation_is_left_out(library: Index) -> None:
    answer = look(library, current=("pi", "pond"))
    assert [topic["topic_id"] for topic in answer["entries"]] == ["t_birds"]
    assert look(library, current=("pi", "b3"))["entries"][1]["conversations"] == 3


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"topic_id": "t_none"}, "not_found"),
        ({"limit": 0}, "invalid_limit"),
        ({"limit": 51}, "invalid_limit"),
        ({"history": True}, "usage"),
        ({"cursor": "junk"}, "invalid_cursor"),
    ],
)
def test_what_is_asked_wrongly_is_refused_by_name(library: Index, options: dict[str, Any], code: str) -> None:
    with pytest.raises(ArgumentError) as refused:
        look(library, current=None, **options)
    assert refused.value.code == code


def test_only_what_is_in_the_topic_is_shown(library: Index) -> None:
    """A conversation in two topics shows in each the facets that are in it, under one summary."""
    number = library.conversation(["heron eats carp"], "both", started=START + 20 * DAY, summary="Both")
    for title, topic in (("Hunting herons", "t_birds"), ("Eaten carp", "t_fish")):
        with library.database.read() as connection:
            topic_no = connection.execute("SELECT topic_no FROM topics WHERE topic_id = ?", (topic,)).fetchone()[0]
        library.facet(number, title, ["e0"], topic_no=topic_no)
    for topic, facet in (("t_birds", "Hunting herons"), ("t_fish", "Eaten carp")):
        answer = look(library, topic_id=topic)
        shown = [entry for entry in answer["entries"] if entry["host_conversation_id"] == "both"]
        assert len(shown) == 1
        assert shown[0]["summary"] == "Both"
        assert [(m["topic_id"], m["facet"]) for m in shown[0]["memberships"]] == [(topic, facet)]
        assert answer["message"] == ""


def test_why_nothing_is_shown_is_said(library: Index) -> None:
    window = parse(None, "2020-01-01", "2020-02-01", 0)
    for topic in (None, "t_birds"):
        answer = look(library, window=window, topic_id=topic)
        assert answer["entries"] == []
        assert "2020-01-01T00:00:00.000Z" in answer["message"]
        assert "2020-02-01T00:00:00.000Z" in answer["message"]
        assert "index" not in answer["message"]
    assert look(library)["message"] == ""
    assert look(library, topic_id="t_empty")["message"] == "No conversation is in this topic"
    alone = look(library, current=("pi", "pond"), topic_id="t_fish")["message"]
    assert "running conversation" in alone


def test_an_empty_profile(one: Index) -> None:
    answer: Any = browse(one.database, "nobody", BrowseRequest())
    assert (answer["level"], answer["entries"]) == ("topics", [])
    assert "run index-all" in answer["message"]
    assert "run index-all" in look(one)["message"]
    one.conversation(["heron"])
    assert "index-all" not in look(one)["message"]
    with pytest.raises(ArgumentError):
        browse(one.database, "nobody", BrowseRequest(topic_id="t_x"))
