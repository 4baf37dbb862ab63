"""The model of the program that keeps the process: asked through it, judged like any other, never without consent."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from benchmarks.servers.replies import answer
from tests.indexing.product import PI_FOLDER, short
from tests.surfaces.served import Message, Served, environment


@pytest.fixture
def source(home: Path) -> Path:
    path = home / PI_FOLDER / "2026-09-02T13-05-00-000Z_short.jsonl"
    path.parent.mkdir(parents=True)
    path.write_bytes(short("5f0c2c8e-2222", "ferry").bytes())
    return path


def _reply(asked: Message) -> str:
    """A valid answer to one request."""
    text = answer({"messages": asked["messages"], "response_format": {"json_schema": {"schema": asked["schema"]}}})
    assert isinstance(text, str)
    return text


def test_the_hosts_model_analyses_after_a_yes(home: Path, source: Path) -> None:
    seen: list[Message] = []

    def model(asked: Message) -> Message:
        seen.append(asked)
        return {"result": {"text": _reply(asked), "prompt_tokens": 12, "completion_tokens": 3}}

    with Served(environment(home, model="host")) as served:
        served.model = model
        served.result("hello", protocol=1, lends_model=True)

        def index(**more: object) -> Any:
            arguments = {"file": str(source), **more}
            return served.result("tool", name="history_recall_index", arguments=arguments)["document"]

        asked = index()["error"]
        assert (asked["code"], asked["data"]["endpoint"], seen) == ("consent_required", "host", [])
        done = index(confirm=asked["data"]["token"])
        assert "completed" in done, done
        assert done["completed"][0]["calls"] == len(seen) > 0
        assert {"messages", "schema", "max_output_tokens", "timeout"} == seen[0].keys()
        assert "ferry" in str(seen[0]["messages"])
        cost = served.result("line", line="status --cost --json")["document"]["cost"]
        assert [(row["model"], row["calls"], row["prompt_tokens"]) for row in cost] == [
            ("host", len(seen), 12 * len(seen))
        ]


@pytest.mark.parametrize(
    ("said", "code"),
    [
        (
            {"error": {"code": "auth_unavailable", "message": "not logged in, key sk-proj-" + "a1B2" * 12}},
            "auth_unavailable",
        ),
        ({"error": "odd"}, "model_request_failed"),
        ({"result": {"text": None}}, "invalid_model_output"),
        ({"result": {"text": "no JSON"}}, "invalid_model_output"),
        (None, "model_unavailable"),
    ],
)
def test_what_the_host_answers_is_judged(home: Path, source: Path, said: Message | None, code: str) -> None:
    with Served(environment(home, model="host")) as served:
        served.model = lambda _asked: said or {}
        served.result("hello", protocol=1, lends_model=said is not None)
        assert served.line("consent grant")["exit_code"] == 0
        failed = served.line(f"index {source}")["document"]["error"]
        assert failed["code"] == code
        assert "a1B2" not in str(failed)
