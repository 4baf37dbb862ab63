"""The agent tools: strict arguments on every road, answers of the contract's shape, history in a fence."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from recall.hosts.own import without_blocks
from recall.run import Cancellation
from recall.surfaces import tool_calls
from recall.surfaces.tool_calls import ToolAnswer
from recall.surfaces.tools import TOOLS, Tool, operation_of
from tests.shared import ROOT

BY_NAME = {tool.name: tool for tool in TOOLS}


def _call(name: str, arguments: object, **overrides: str) -> ToolAnswer:
    return tool_calls.call(f"history_recall_{name}", arguments, overrides, lambda _: None, Cancellation())


def _done(name: str, **arguments: object) -> Mapping[str, Any]:
    answered = _call(name, arguments)
    assert not answered.is_error, answered.document
    jsonschema.validate(answered.document, BY_NAME[f"history_recall_{name}"].output)
    return answered.document


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo's conversations, indexed through the tool."""
    folder = tmp_path_factory.mktemp("tools")
    shutil.copytree(ROOT / "fixtures" / "demo" / "home", folder, dirs_exist_ok=True)
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setenv("HOME", str(folder))
        for row in _done("conversations")["conversations"]:
            _done("index", file=row["source"])
    return folder


@pytest.fixture
def indexed(store: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(store))
    return store


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_each_tool_is_described_and_strict(tool: Tool) -> None:
    jsonschema.Draft202012Validator.check_schema(tool.input)
    jsonschema.Draft202012Validator.check_schema(dict(tool.output))
    assert tool.input["additionalProperties"] is False
    assert tool.output["type"] == "object"
    assert re.fullmatch(r"history_recall_[a-z_]+", tool.name)
    assert len(tool.description) <= 1000
    parameters = {parameter.name for parameter in operation_of(tool).parameters}
    for argument in tool.arguments:
        assert argument.description
        known = (argument.parameter or argument.name) in parameters
        assert known or "type" in argument.narrow, f"{argument.name} is neither a parameter nor has a type"
    assert not tool.destructive or not tool.read_only


def test_forgetting_is_for_people_only() -> None:
    assert not {tool.operation for tool in TOOLS} & {"forget", "consent grant", "rebuild"}


@pytest.mark.parametrize(
    ("name", "arguments", "field"),
    [
        ("search", {"queries": ["x"], "limt": 3}, "limt"),
        ("search", {"queries": ["x"], "limit": "7"}, "limit"),
        ("search", {"queries": ["x"], "limit": 7.0}, "limit"),
        ("search", {"queries": ["x"], "limit": True}, "limit"),
        ("search", {"queries": ["x"], "limit": 51}, "limit"),
        ("search", {"queries": ["x"], "limit": None}, "limit"),
        ("search", {"queries": "x"}, "queries"),
        ("search", {"queries": []}, "queries"),
        ("search", {"queries": ["x"] * 9}, "queries"),
        ("search", {"queries": ["x", 3]}, "queries.1"),
        ("search", {"queries": ["x" * 2001]}, "queries.0"),
        ("search", {"queries": ["x"], "roles": ["boss"]}, "roles.0"),
        ("search", {}, "queries"),
        ("search", [], ""),
        ("search", None, ""),
        ("read", {}, "conversation_id"),
        ("read", {"conversation_id": "c_1", "max_chars": 999}, "max_chars"),
        ("read_conversation", {"conversation_id": "c_1", "max_chars": 48_001}, "max_chars"),
        ("browse", {"limit": 0}, "limit"),
        ("status", {"cost": True}, "cost"),
        ("index", {"file": ""}, "file"),
        ("index", {"file": "/x", "force": True}, "force"),
        ("conversations", {"state": "tired"}, "state"),
    ],
)
def test_wrong_arguments_are_answered_with_the_field(name: str, arguments: object, field: str, home: Path) -> None:
    answered = _call(name, arguments)
    assert answered.is_error
    error = answered.document["error"]
    assert isinstance(error, dict)
    assert (error["code"], error["data"]["field"]) == ("usage", field)
    assert field.partition(".")[0] in error["message"]
    assert json.loads(answered.text) == answered.document
    assert list(home.rglob("*")) == []


def test_a_long_wrong_value_does_not_come_back_whole() -> None:
    assert len(_call("search", {"queries": "x" * 100_000}).text) < 2000


def test_an_unknown_tool_is_answered() -> None:
    error = _call("forget", {}).document["error"]
    assert isinstance(error, dict)
    assert error["data"]["field"] == "name"


def test_half_a_surrogate_pair_is_no_fault(indexed: Path) -> None:
    assert _done("search", queries=["\ud800 spool"])["conversations"]


def test_from_listing_to_the_original(indexed: Path) -> None:
    found = _done("search", queries=["satellite spool overflow", "lost batches"])
    hit = found["conversations"][0]
    entry = hit["entries"][0]
    read = _done("read", conversation_id=hit["conversation_id"], entry_id=entry["entry_id"], before=0, after=0)
    assert entry["snippet"] in read["fragments"][0]["text"]
    assert _done("read_conversation", conversation_id=hit["conversation_id"])["fragments"]
    raw = _done("read", conversation_id=hit["conversation_id"], entry_id=entry["entry_id"], before=0, raw=True)
    assert json.loads(raw["fragments"][0]["text"])["id"] == entry["entry_id"]
    topics = _done("browse")
    members = _done("browse", topic_id=topics["entries"][0]["topic_id"])
    assert members["level"] == "conversations"
    assert _done("browse", topic_id=topics["entries"][0]["topic_id"], history=True)["entries"]
    assert _done("status")["conversations"] == 6
    seen = [hit["conversation_id"]]
    again = _done("search", queries=["satellite spool overflow"], exclude=seen)
    assert hit["conversation_id"] not in [one["conversation_id"] for one in again["conversations"]]


def test_what_comes_from_history_is_fenced_and_not_indexed_again(indexed: Path) -> None:
    found = _call("search", {"queries": ["satellite spool overflow"]})
    first = found.document["conversations"]
    assert isinstance(first, list)
    read = _call("read", {"conversation_id": first[0]["conversation_id"]})
    for answered in (found, read, _call("browse", {}), _call("conversations", {})):
        assert next(iter(answered.document)) == "notice"
        opening = re.search(r"^<<<HISTORY ([0-9a-f]{16})\n", answered.text, re.M)
        assert opening is not None
        closing = f"\nHISTORY {opening[1]}>>>"
        assert answered.text.count(closing) == 1
        inside = answered.text[opening.end() : answered.text.index(closing)]
        outside = answered.text.replace(inside, "")
        assert "satellite" in inside or "tide" in inside
        assert "satellite" not in outside
        assert inside not in without_blocks(answered.text)


def test_the_running_conversation_comes_from_the_caller(indexed: Path) -> None:
    hit = _done("search", queries=["satellite spool overflow"], limit=1)["conversations"][0]
    current = f"{hit['host']}:{hit['host_conversation_id']}"
    left = _call("search", {"queries": ["satellite spool overflow"]}, current=current).document["conversations"]
    assert isinstance(left, list)
    assert hit["conversation_id"] not in [one["conversation_id"] for one in left]
    own = _call("read", {"conversation_id": "current"}, current=current)
    assert own.document["conversation_id"] == hit["conversation_id"]
    assert _call("read", {"conversation_id": "current"}).is_error


def test_a_page_that_would_be_too_long_is_made_shorter(indexed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = _done("browse", limit=50)
    monkeypatch.setattr(tool_calls, "LARGEST", len(json.dumps(whole)) // 2)
    page = _done("browse", limit=50)
    paged = [entry["topic_id"] for entry in page["entries"]]
    assert 0 < len(paged) < len(whole["entries"])
    while page["next_cursor"]:
        page = _done("browse", limit=50, cursor=page["next_cursor"])
        paged += [entry["topic_id"] for entry in page["entries"]]
    assert paged == [entry["topic_id"] for entry in whole["entries"]]
