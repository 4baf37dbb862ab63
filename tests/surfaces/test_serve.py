"""`history-recall serve` as a host package uses it: one real process, JSON lines, several calls at once."""

from __future__ import annotations

import json
import re
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from recall.prompts import capability
from recall.surfaces.commands import OPERATIONS
from recall.surfaces.serve import METHODS
from recall.surfaces.tools import TOOLS
from recall.surfaces.wire import LONGEST_LINE
from tests.shared import ROOT
from tests.surfaces.served import Served, environment


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("served")
    shutil.copytree(ROOT / "fixtures" / "demo" / "home", home, dirs_exist_ok=True)
    return home


@pytest.fixture(scope="module")
def served(store: Path) -> Iterator[Served]:
    with Served(environment(store)) as process:
        assert process.line("index-all")["exit_code"] == 0
        yield process


def test_it_says_what_a_host_registers(served: Served) -> None:
    hello = served.result("hello", protocol=1, client="test 1.0")
    assert [tool["name"] for tool in hello["tools"]] == [tool.name for tool in TOOLS]
    assert hello["capability"] == capability()
    names = {row["name"] for row in hello["commands"]}
    assert names == {one.name for one in OPERATIONS if not one.on_stdio}
    error = served.call("hello", protocol=99)["error"]
    assert error["data"] == {"supported": [1]}


def test_lines_and_tools_are_answered_with_text_and_document(served: Served) -> None:
    said = served.line('search "spool overflows" --limit 1')
    assert "upload retries again" in said["text"]
    assert said["document"]["conversations"][0]["title"] == "upload retries again"
    wrong = served.line("serach x")
    assert (wrong["exit_code"], wrong["document"]["error"]["code"]) == (2, "usage")
    assert "Usage: /history-recall" in wrong["text"]
    answered = served.result("tool", name="history_recall_search", arguments={"queries": ["spool"], "limit": "7"})
    assert answered["is_error"]
    assert answered["document"]["error"]["data"]["field"] == "limit"


def test_current_and_cwd_are_of_the_call(served: Served) -> None:
    hit = served.tool("search", queries=["spool overflows"], limit=1)["conversations"][0]
    current = f"{hit['host']}:{hit['host_conversation_id']}"
    own = served.line("read current", current=current)
    assert own["document"]["conversation_id"] == hit["conversation_id"]
    assert served.line("read current")["exit_code"] == 1
    assert served.line(f"index {current}", current=current)["document"]["error"]["code"] == "current_conversation"


def test_an_index_call_reports_progress_and_is_a_job(served: Served) -> None:
    source = served.tool("conversations")["conversations"][0]["source"]
    identity = served.start("line", line=f"index {source} --force")
    assert served.progress(identity)["stage"] == "reading"
    document = served.answer(identity)["result"]["document"]
    assert document["state"] == "done"
    jobs = served.line("jobs list")["document"]["jobs"]
    assert (jobs[0]["job_id"], jobs[0]["state"]) == (document["job_id"], "done")
    assert served.tool("status")["jobs"][0]["job_id"] == document["job_id"]


def test_what_is_unchanged_makes_no_job(served: Served) -> None:
    source = served.tool("conversations")["conversations"][0]["source"]
    before = served.line("jobs list")["document"]
    assert served.tool("index", file=source)["job_id"] is None
    assert served.tool("index", file=source, detach=True)["completed"][0]["unchanged"] is True
    assert served.line("jobs list")["document"] == before


def test_many_calls_at_once_are_all_answered(served: Served) -> None:
    queries = ["spool", "tide", "deploy", "retry", "station", "forecast", "cache", "limit", "nobody", "satellite"]
    calls = [served.start("tool", name="history_recall_search", arguments={"queries": [q]}) for q in queries]
    for identity in reversed(calls):
        assert served.answer(identity)["result"]["is_error"] is False


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b"no json", -32700),
        (b"[1]", -32700),
        (b"\xff\xfe", -32700),
        (b"[" * 100_000, -32700),
        (b'{"id": 1}', -32600),
        (b'{"id": true, "method": "hello"}', -32600),
        (b'{"id": [1], "method": "hello"}', -32600),
        (b'{"method": "line", "params": {"line": "status"}}', -32600),
        (b'{"id": 1000001, "method": "shutdown"}', -32601),
        (b'{"id": 1000002, "method": "line", "params": {}}', -32602),
        (b'{"id": 1000003, "method": "line", "params": {"line": "status", "spare": 1}}', -32602),
        (b'{"id": 1000004, "method": "tool", "params": {"name": 3, "arguments": {}}}', -32602),
        (
            b'{"id": 1000005, "method": "tool", "params": {"name": "x", "arguments": '
            + b"[" * 900
            + b"]" * 900
            + b"}}",
            -32700,
        ),
        (b'{"id": 1000006, "method": 5}', -32600),
        (
            b'{"id": 1000007, "method": "line", "params": {"line": "status", "cwd": "\\ud800", "spare": "\\udfff"}}',
            -32602,
        ),
        (b'"' + b"x" * (LONGEST_LINE + 10) + b'"', -32700),
    ],
)
def test_what_is_no_request_is_refused_and_the_next_is_answered(served: Served, line: bytes, code: int) -> None:
    served.write(line)
    answer = served.next()
    assert answer["error"]["code"] == code
    named = re.search(rb'"id": (10000\d\d)', line)
    assert answer["id"] == (int(named[1]) if named else 1 if b'"id": 1}' in line else None)
    assert served.line("jobs list")["exit_code"] == 0


def test_a_cancel_of_nothing_is_no_fault(served: Served) -> None:
    assert served.result("cancel", id=12345) == {"running": False}


def test_disabled_it_registers_nothing(home: Path) -> None:
    with Served(environment(home, disabled="1")) as process:
        hello = process.result("hello", protocol=1)
        assert (hello["disabled"], hello["tools"], hello["commands"]) == (True, [], [])
        assert hello["capability"] == ""
        assert "error" in process.call("line", line="status")
        assert process.end()[0] == 0
    assert list(home.rglob("*")) == []


@pytest.mark.parametrize("way", ["input", "signal"])
def test_it_ends_with_its_client_or_by_a_signal_without_a_word(way: str, store: Path) -> None:
    with Served(environment(store)) as process:
        process.result("hello", protocol=1)
        if way == "signal":
            process.process.send_signal(signal.SIGTERM)
            assert process.process.wait(timeout=60) == 0
        code, said = process.end()
        assert (code, said) == (0, "")


def test_the_docs_name_every_method_and_field() -> None:
    docs = (ROOT / "docs" / "serve.md").read_text(encoding="utf-8")
    for method, schema in METHODS.items():
        assert f"### `{method}`" in docs
        for name in json.loads(json.dumps(schema))["properties"]:
            assert f"`{name}`" in docs, (method, name)
