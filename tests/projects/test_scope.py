"""Where a question looks, row by row of the failure table too."""

from __future__ import annotations

import pytest

from recall.errors import SourceError
from recall.hosts import project_records
from recall.run import Cancellation
from recall.surfaces import tool_calls
from tests.indexing.product import Log
from tests.projects.person import Person


@pytest.fixture
def places(person: Person) -> dict[str, str]:
    """Conversations about the gearbox in projects P and Q, and one in none."""
    p = person.done("project", "bind", person.folder("p"), "--name", "Pine")["project_id"]
    q = person.done("project", "bind", person.folder("q"), "--name", "Quince")["project_id"]
    person.talks("inp00001", person.folder("p"), "gearbox")
    person.talks("inq00001", person.folder("q"), "gearbox")
    person.talks("none0001", person.folder("elsewhere"), "gearbox gearbox gearbox")
    person.index()
    return {"p": p, "q": q, "cwd": str(person.folder("p"))}


def test_project_finds_this_project_only(person: Person, places: dict[str, str]) -> None:
    answer = person.done("search", "gearbox", "--scope", "project", "--cwd", places["cwd"])
    assert (answer["scope"], answer["project"], answer["in_scope"]) == ("project", places["p"], 1)
    assert [(c["project"], c["tier"], c["why_project"]) for c in answer["conversations"]] == [
        (places["p"], "project", "marker")
    ]


def test_prefer_is_the_default_where_a_project_is_current_and_shows_all_by_tier(
    person: Person, places: dict[str, str]
) -> None:
    answer = person.done("search", "gearbox", "--cwd", places["cwd"])
    assert (answer["scope"], answer["in_scope"]) == ("prefer", 3)
    assert [c["tier"] for c in answer["conversations"]] == ["project", "none", "other"]
    plain = person.done("search", "gearbox")
    assert (plain["scope"], plain["project"]) == ("all", None)
    assert {c["tier"] for c in plain["conversations"]} == {"none", "other"}


def test_the_running_conversation_says_which_project_and_is_left_out(person: Person, places: dict[str, str]) -> None:
    answer = person.done("search", "gearbox", "--current", "pi:inp00001")
    assert (answer["scope"], answer["project"]) == ("prefer", places["p"])
    assert "inp00001" not in [c["host_conversation_id"] for c in answer["conversations"]]
    only = person.done("search", "gearbox", "--current", "pi:inp00001", "--scope", "project")
    assert (only["conversations"], only["in_scope"]) == ([], 0)
    assert "no other conversations in this project" in only["message"]
    assert person.done("read", "current", "--current", "pi:inp00001")["fragments"]


def test_no_project_is_a_named_empty_answer(person: Person, places: dict[str, str]) -> None:
    for command in (["search", "gearbox"], ["browse"]):
        answer = person.done(*command, "--scope", "project", "--cwd", person.folder("elsewhere"))
        assert (answer["reason"], answer["scope"], answer["in_scope"]) == ("no_project", "project", 0)
        assert not answer.get("conversations")
        assert not answer.get("entries")
        assert "no_project" in answer["message"]


def test_none_is_not_a_project(person: Person, places: dict[str, str]) -> None:
    """Conversations without a project do not find each other by it."""
    answer = person.done("search", "gearbox", "--scope", "project", "--current", "pi:none0001")
    assert answer["reason"] == "no_project"


def test_an_unknown_project_is_an_error(person: Person, places: dict[str, str]) -> None:
    for command in (["search", "gearbox"], ["browse"], ["conversations"]):
        assert person.refused(*command, "--project", "p_nosuchthing0") == "unknown_project"
    assert person.refused("search", "gearbox", "--project", "git:.", "--cwd", places["cwd"]) == "unknown_project"


def test_browse_and_conversations_have_the_same_scopes(person: Person, places: dict[str, str]) -> None:
    assert len(person.done("conversations", "--project", "Pine")["conversations"]) == 1
    only = person.done("browse", "--scope", "project", "--cwd", places["cwd"])
    assert only["in_scope"] == 1
    topic = only["entries"][0]["topic_id"]
    inside = person.done("browse", topic, "--scope", "project", "--cwd", places["cwd"])
    assert [(c["project"], c["tier"]) for c in inside["entries"]] == [(places["p"], "project")]
    everything = person.done("browse", "--cwd", places["cwd"])
    assert everything["scope"] == "prefer"
    assert len(everything["entries"]) >= len(only["entries"])
    assert everything["entries"][0]["topic_id"] == topic


def test_with_no_project_anywhere_prefer_is_all_byte_for_byte(person: Person) -> None:
    for number in range(3):
        person.talks(f"x{number}000000", person.folder(f"f{number}"), "gearbox")
    person.index()
    for cwd in ((), ("--cwd", person.folder("f0"))):
        person.done("project", "decline", person.folder("f0"))
        person.done("search", "gearbox", "--scope", "prefer", *cwd)
        person.done("search", "gearbox", "--scope", "all", *cwd)
        assert person.printed[-1] == person.printed[-2]


def test_agents_do_not_go_beyond_their_scope(
    person: Person, places: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HISTORY_RECALL_PROJECTS_AGENT_SCOPE", "project")
    overrides = {"cwd": places["cwd"]}

    def call(name: str, **arguments: object) -> tool_calls.ToolAnswer:
        return tool_calls.call(name, arguments, overrides, lambda _: None, Cancellation())

    answer = call("history_recall_search", queries=["gearbox"], scope="all").document
    assert answer["scope"] == "project"
    assert "keep agents to scope project" in str(answer["message"])
    assert [c["project"] for c in answer["conversations"]] == [places["p"]]  # type: ignore[attr-defined]
    other = call("history_recall_search", queries=["gearbox"], project=places["q"])
    assert other.is_error
    assert other.document["error"]["code"] == "scope_forbidden"  # type: ignore[index]
    outside = person.done("search", "gearbox", "--project", places["q"])["conversations"][0]["conversation_id"]
    read = call("history_recall_read", conversation_id=outside)
    assert read.document["error"]["code"] == "scope_forbidden"  # type: ignore[index]
    listed = call("history_recall_conversations").document
    assert {c["project"] for c in listed["conversations"]} == {places["p"]}  # type: ignore[attr-defined]
    assert person.done("search", "gearbox", "--scope", "all")["in_scope"] == 3  # a person is not bound by it


def test_an_agent_in_one_project_reads_nothing_of_another_whatever_it_names(
    person: Person, places: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Conversations, entries, raw records and topics by their ids, and moves that would bring them in."""
    hits = person.done("search", "gearbox", "--project", places["q"])["conversations"][0]
    outside, entry = hits["conversation_id"], hits["entries"][0]["entry_id"]
    inside = person.done("search", "gearbox", "--project", places["p"])["conversations"][0]["conversation_id"]
    said = [("Which paint for the hull?", "Decided: two coats of epoxy primer, then blue enamel on the hull.")]
    person.write(Log("inq00002", str(person.folder("q"))).talk(said))
    person.index()
    shared = {topic["topic_id"] for topic in person.done("browse", "--project", places["p"])["entries"]}
    topics = person.done("browse", "--project", places["q"], "--limit", "50")["entries"]
    alone = next(topic["topic_id"] for topic in topics if topic["topic_id"] not in shared)
    monkeypatch.setenv("HISTORY_RECALL_PROJECTS_AGENT_SCOPE", "project")
    overrides = {"cwd": places["cwd"], "current": "pi:inp00001"}

    def code(name: str, **arguments: object) -> object:
        answer = tool_calls.call(f"history_recall_{name}", arguments, overrides, lambda _: None, Cancellation())
        return answer.document["error"]["code"] if answer.is_error else None  # type: ignore[index]

    assert code("read", conversation_id="current") is None
    overrides.pop("current")
    assert code("read", conversation_id=inside) is None
    for more in ({}, {"entry_id": entry}, {"raw": True}):
        assert code("read", conversation_id=outside, **more) == "scope_forbidden"
        assert code("read_conversation", conversation_id=outside, **more) == "scope_forbidden"
    assert code("browse", topic_id=alone) == "not_found"
    assert code("browse", topic_id=alone, history=True) == "not_found"
    for conversation, project in ((outside, places["p"]), ("pi:none0001", places["p"]), (inside, places["q"])):
        assert code("move", conversation_id=conversation, project_id=project) == "scope_forbidden"
    overrides["current"] = "pi:inp00001"
    assert code("move", conversation_id="current", project_id=places["q"]) == "scope_forbidden"
    overrides["cwd"] = str(person.folder("elsewhere"))
    overrides.pop("current")
    assert code("read", conversation_id=inside) == "scope_forbidden"  # no project is current: nothing is in scope
    overrides["cwd"] = places["cwd"]
    assert code("move", conversation_id=inside, project_id="") is None


def test_the_life_of_a_topic_tells_an_agent_only_of_its_project(
    person: Person, places: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    topic = person.done("browse", "--scope", "project", "--cwd", places["cwd"])["entries"][0]["topic_id"]
    everyone = {one["conversation_id"] for one in person.done("browse", topic, "--history")["entries"]}
    mine = person.done("search", "gearbox", "--project", places["p"])["conversations"][0]["conversation_id"]
    assert everyone > {mine}
    monkeypatch.setenv("HISTORY_RECALL_PROJECTS_AGENT_SCOPE", "project")
    arguments = {"topic_id": topic, "history": True}
    told = tool_calls.call("history_recall_browse", arguments, {"cwd": places["cwd"]}, lambda _: None, Cancellation())
    assert {one["conversation_id"] for one in told.document["entries"]} == {mine}  # type: ignore[attr-defined]


def test_conversations_are_chosen_before_they_are_cut_into_pages(person: Person, places: dict[str, str]) -> None:
    for number in range(7):
        person.talks(f"new{number}0001", person.folder("p"), "sail")
        person.talks(f"out{number}0001", person.folder("q"), "sail")
    asked = ["conversations", "--project", "Pine", "--state", "new", "--limit", "3"]
    first = person.done(*asked)
    assert (first["in_scope"], first["total"]) == (8, 7)
    pages, seen = [first], [row["host_conversation_id"] for row in first["conversations"]]
    while pages[-1]["next_cursor"]:
        # Between the pages a conversation that was shown is indexed, and leaves the filter.
        person.done("index", f"pi:{seen[-1]}")
        pages.append(person.done(*asked, "--cursor", pages[-1]["next_cursor"]))
        seen += [row["host_conversation_id"] for row in pages[-1]["conversations"]]
    assert [len(page["conversations"]) for page in pages] == [3, 3, 1]
    assert sorted(seen) == [f"new{number}0001" for number in range(7)]


def test_a_cursor_belongs_to_its_scope(person: Person, places: dict[str, str]) -> None:
    first = person.done("search", "gearbox", "--limit", "1", "--cwd", places["cwd"])
    assert person.done("search", "gearbox", "--limit", "1", "--cwd", places["cwd"], "--cursor", first["next_cursor"])
    assert person.refused("search", "gearbox", "--limit", "1", "--cursor", first["next_cursor"]) == "invalid_cursor"


def test_mentions_are_inferred_unless_that_is_off(person: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    heron = person.done("project", "create", "Heron")["project_id"]
    person.done("project", "create", "Stork")
    person.write(Log("one00001", "/nowhere").talk([("In Heron the gearbox fails", "It does.")]))
    person.write(Log("two00001", "/nowhere").talk([("Heron or Stork?", "Heron.")]))
    person.write(Log("ai000001", "/nowhere").talk([("The gearbox fails", "As in Heron.")]))
    person.index()
    assert person.places() == {
        "one00001": (heron, "mention"),
        "two00001": (None, "none"),
        "ai000001": (None, "none"),
    }
    monkeypatch.setenv("HISTORY_RECALL_PROJECTS_INFER_MENTIONS", "0")
    person.write(Log("off00001", "/nowhere").talk([("In Heron the rudder fails", "It does.")]))
    person.index()
    assert person.places()["off00001"] == (None, "none")


def test_records_of_a_host_that_cannot_be_read_stop_nothing(person: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_settings: object) -> list[project_records.HostProject]:
        raise SourceError("source_unreadable", "the records cannot be read")

    monkeypatch.setitem(project_records.READERS, "pi", broken)
    bound = person.done("project", "bind", person.folder("p"))
    person.talks("inp00001", person.folder("p"), "gearbox")
    person.index()
    assert person.places()["inp00001"] == (bound["project_id"], "marker")


def test_a_query_that_the_text_index_cannot_take_is_answered_in_a_project_too(
    person: Person, places: dict[str, str]
) -> None:
    assert person.done("search", "%", "--project", places["p"])["scope"] == "project"


def test_every_answer_says_scope_project_tier_and_how_many(person: Person, places: dict[str, str]) -> None:
    found = person.done("search", "gearbox", "--cwd", places["cwd"])
    name = next(one["conversation_id"] for one in found["conversations"] if one["tier"] == "other")
    whole = person.rows("SELECT count(*) FROM conversations")[0][0]
    for words in (["search", "gearbox"], ["browse"], ["brief"], ["read", name], ["conversations"]):
        answer = person.done(*words, "--cwd", places["cwd"])
        assert (answer["scope"], answer["in_scope"]) == ("prefer", whole), words
        if words[0] != "read":  # that one says the project of what is read
            assert answer["project"] == places["p"]
    assert person.done("read", name, "--cwd", places["cwd"])["tier"] == "other"
    rows = person.done("conversations", "--cwd", places["cwd"])["conversations"]
    expected = {None: "none", places["p"]: "project"}
    assert {row["tier"] for row in rows} == {"project", "none", "other"}
    assert all(row["tier"] == expected.get(row["project"], "other") for row in rows)
    brief = person.done("brief", "--cwd", places["cwd"])
    assert sum(brief["tiers"].values()) == brief["lines"] > 0
    for words in (["search", "gearbox"], ["browse"], ["conversations"]):
        one = person.done(*words, "--project", places["p"], "--cwd", places["cwd"])
        assert one["in_scope"] == sum(row["tier"] == "project" for row in rows), words
