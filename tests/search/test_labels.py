"""The reader's own labels: made and covered in one place, and never found."""

from __future__ import annotations

from typing import Any

import pytest

from recall import labels
from recall.index import fulltext
from recall.searcher import SearchRequest, search
from tests.search.builder import PROFILE, Index, Turn

MADE = [
    ("assistant", labels.call("bash")),
    ("assistant", labels.stopped("error")),
    ("tool", labels.result("bash", error=False, code=None)),
    ("tool", labels.result("mcp__x/y.z", error=True, code=-2)),
    ("tool", labels.cell("bash", (), 0)),
    ("tool", labels.cell("python", ("cancelled", "truncated"), 137)),
    ("system", labels.FILE),
    ("system", labels.TASK),
    ("system", labels.LABEL),
    ("system", labels.TITLE),
]
OURS = ("call", "result", "cell", "attempted", "attached", "exit", "code", "cancelled", "truncated", "stopped", "task")


@pytest.mark.parametrize(("role", "label"), MADE)
def test_a_label_is_covered_in_place(role: str, label: str) -> None:
    text = f"{label}heron {label}"
    covered = labels.blank(text, role)
    assert len(covered) == len(text)
    assert covered[len(label) :] == text[len(label) :]
    head = covered[: len(label)]
    assert not any(word in head for word in OURS)
    assert not set(head) & set("[]$>")
    assert [a.isspace() for a in head] == [b.isspace() for b in label]


@pytest.mark.parametrize(("role", "label"), MADE)
def test_the_same_words_elsewhere_are_not_ours(role: str, label: str) -> None:
    quoted = f"see: {label}"
    assert labels.blank(quoted, role) == quoted
    for other in {"user", "summary", "tool", "assistant", "system"} - {role}:
        assert labels.blank(label + "heron", other) == label + "heron"


def test_names_stay_and_a_made_up_one_goes() -> None:
    assert labels.blank("say\n[grep call, attempted] {}", "assistant").replace(labels.FILL, "").split() == [
        *("say", "grep", "{}")
    ]
    assert "unknown" not in labels.blank(labels.result(labels.UNKNOWN, error=False, code=None), "tool")


def _ids(index: Index, *queries: str) -> list[str]:
    answer: Any = search(index.database, PROFILE, SearchRequest(queries, limit=50))
    return [entry["entry_id"] for found in answer["conversations"] for entry in found["entries"]]


@pytest.fixture
def calls(index: Index) -> Index:
    index.conversation(
        [
            "why do herons stand",
            Turn('Looking.\n[bash call, attempted] {"command": "ls pond"}', "assistant"),
            Turn("[bash result, attempted, error, exit code 2]\nno pond", "tool", kind="toolResult"),
            Turn("[python cell, attempted]\n>>> wade(1)", "tool", kind="pythonExecution"),
        ],
        "tools",
    )
    index.conversation(["the call to the library attempted a retry, exit code 2"], "talk")
    return index


def test_labels_are_not_found_and_what_people_say_is(calls: Index) -> None:
    for query in ("attempted", "call", "exit code", '"exit code 2"', "result", "cell", '"call"'):
        assert set(_ids(calls, query)) <= {"e0"}, query
    assert _ids(calls, "attempted") == ["e0"]
    for query in ('"bash result, attempted"', "cell", "[bash", '"[bash"', ">>>", "$ "):
        assert "e3" not in _ids(calls, query), query
    assert _ids(calls, '"bash result, attempted"') == []
    assert _ids(calls, '"bash no pond"') == []  # what stands around a label does not stand side by side


def test_a_tool_is_found_by_its_name(calls: Index) -> None:
    assert set(_ids(calls, "bash")) == {"e1", "e2"}
    assert set(_ids(calls, "python")) == {"e3"}
    assert set(_ids(calls, "pond")) == {"e1", "e2"}


def test_the_index_agrees_with_its_content_and_can_be_made_again(calls: Index) -> None:
    with calls.database.write() as connection:
        assert fulltext.check(connection, calls.number) == []
        fulltext.rebuild(connection, calls.number)
        assert fulltext.check(connection, calls.number) == []
    assert _ids(calls, "attempted") == ["e0"]
    with calls.database.write() as connection:
        numbers = [row[0] for row in connection.execute("SELECT entry_no FROM entries")]
        fulltext.remove_entries(connection, calls.number, numbers)
        connection.execute("DELETE FROM entries")
        assert fulltext.check(connection, calls.number) == []


def test_a_quote_begins_with_a_whole_label(index: Index) -> None:
    index.conversation([Turn("[bash result, attempted]\nx => " + "y" * 300, "tool")])
    answer: Any = search(index.database, PROFILE, SearchRequest(("=>",)))
    assert answer["conversations"][0]["entries"][0]["snippet"].startswith("[bash result, attempted]\nx =>")
