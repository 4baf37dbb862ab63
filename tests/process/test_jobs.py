"""Index runs as jobs, with a model that is held where it is told to: cancelled, killed, left behind, followed.

The runs are processes of their own behind a real `serve` process; the model is the scripted one of this folder.
"""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import pytest

from tests.process.held import Model, found, long_source
from tests.surfaces.served import Served, environment


@pytest.fixture
def model(tmp_path: Path) -> Model:
    return Model(tmp_path)


@pytest.fixture
def source(home: Path) -> Path:
    return long_source(home)


@pytest.fixture
def env(home: Path, model: Model) -> dict[str, str]:
    return model.environment(home)


def _jobs(served: Served) -> list[dict[str, Any]]:
    return list(served.line("jobs list")["document"]["jobs"])


def _worker(served: Served) -> int:
    """The process of the running job, as the token of its owner names it."""
    source = served.tool("status")["jobs"][0]
    assert source["state"] == "running"
    folder = Path(served.tool("status")["database"]["path"] + ".owners")
    (token,) = folder.iterdir()
    return int(token.name.partition("-")[0])


def test_a_cancelled_call_leaves_a_job_that_goes_on_where_it_was(
    env: dict[str, str], model: Model, source: Path
) -> None:
    with Served(env) as served:
        call = served.start("tool", name="history_recall_index", arguments={"file": str(source)})
        found(lambda: len(model.sent) == 3)
        working = _jobs(served)[0]
        assert (working["state"], working["stage"], working["calls"]) == ("running", "analysing", 3)
        served.result("cancel", id=call)
        stopped = served.answer(call)["result"]
        assert stopped["document"]["error"]["code"] == "cancelled"
        job = _jobs(served)[0]
        assert (job["state"], job["code"]) == ("cancelled", "cancelled")
        status = served.tool("status")
        assert [failed["code"] for failed in status["queue"]["failed"]] == ["cancelled"]
        model.go()
        before = len(model.sent)
        done = served.tool("index", file=str(source))
        assert (done["state"], len(done["completed"])) == ("done", 1)
        assert done["job_id"] != job["job_id"]
        assert not set(model.sent[before:]) & set(model.sent[:2]), "paid for twice"


def test_a_killed_worker_is_seen_and_taken_up(env: dict[str, str], model: Model, source: Path) -> None:
    with Served(env) as served:
        call = served.start("line", line=f"index {source}")
        found(lambda: len(model.sent) == 3)
        os.kill(_worker(served), signal.SIGKILL)
        assert served.answer(call)["result"]["document"]["error"]["code"] == "internal"
        job = _jobs(served)[0]
        assert job["state"] == "interrupted"
        assert f"history-recall index {source}" in served.line(f"jobs follow {job['job_id']}")["text"]
        asked = served.line(f"jobs cancel {job['job_id']}")["document"]
        assert asked["job"]["state"] == "interrupted"
        model.go()
        assert served.line(f"index {source}")["exit_code"] == 0
        assert [one["state"] for one in _jobs(served)] == ["done"]


def test_a_job_ends_with_its_client_and_a_detached_one_does_not(
    env: dict[str, str], model: Model, source: Path
) -> None:
    with Served(env) as first:
        first.start("line", line=f"index {source}")
        found(lambda: len(model.sent) == 3)
        assert first.end()[0] == 0
    with Served(env) as second:
        assert _jobs(second)[0]["state"] == "cancelled"
        started = second.tool("index", file=str(source), detach=True)
        assert started["state"] == "running"
        assert second.end()[0] == 0
    with Served(env) as third:
        job = _jobs(third)[0]
        assert (job["job_id"], job["detached"]) == (started["job_id"], True)
        found(lambda: len(model.sent) == 4)
        assert _jobs(third)[0]["state"] == "running"
        held = third.line(f"index {source}")["document"]
        assert held["error"]["code"] == "lease_held"
        assert third.line("search drift --limit 1")["exit_code"] == 0
        cancelling = third.line(f"jobs cancel {job['job_id']}")["document"]
        assert cancelling["job"]["state"] in ("running", "cancelling")
        followed = third.line(f"jobs follow {job['job_id']}")
        assert (followed["exit_code"], followed["document"]["job"]["state"]) == (1, "cancelled")
        model.go()
        started = third.line(f"index {source} --detach")["document"]
        followed = third.line(f"jobs follow {started['job_id']}")
        assert (followed["exit_code"], followed["document"]["job"]["state"]) == (0, "done")
        assert followed["document"]["answer"]["completed"][0]["source"] == str(source)


def _runs(pid: int) -> bool:
    """Whether a process is there, and is more than its exit code."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.parametrize("command", ["serve", "mcp"])
def test_a_job_ends_with_a_killed_server_and_is_taken_up(
    command: str, env: dict[str, str], model: Model, source: Path
) -> None:
    if not Path("/proc/self/stat").exists():
        pytest.skip("this system does not show its processes in /proc")
    with Served(env, command=command) as first:
        if command == "serve":
            first.start("line", line=f"index {source}")
        else:
            client = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
            assert "result" in first.answer(first.start("initialize", **client))
            first.write(b'{"jsonrpc": "2.0", "method": "notifications/initialized"}')
            first.start("tools/call", name="history_recall_index", arguments={"file": str(source)})
        found(lambda: len(model.sent) == 3)
        with Served(env) as beside:
            worker = _worker(beside)
        first.process.kill()
        found(lambda: not _runs(worker))
    with Served(env) as second:
        assert _jobs(second)[0]["state"] in ("cancelled", "interrupted")
        assert second.line("search drift --limit 1")["exit_code"] == 0
        model.go()
        assert second.line(f"index {source}")["exit_code"] == 0
        assert len(model.sent) == len(set(model.sent)) + 1, "what was open at its end is asked again"


def test_a_call_that_takes_long_is_answered_in_time_and_goes_on(
    env: dict[str, str], model: Model, source: Path
) -> None:
    with Served(env) as served:
        answered = served.result(
            "tool", name="history_recall_index", arguments={"file": str(source)}, wait_seconds=0.01
        )
        assert not answered["is_error"]
        job_id = answered["document"]["job_id"]
        assert answered["document"]["state"] == "running"
        found(lambda: len(model.sent) == 3)
        assert served.tool("status")["jobs"][0]["job_id"] == job_id
        served.line(f"jobs cancel {job_id}")
        assert served.line(f"jobs follow {job_id}")["document"]["job"]["state"] == "cancelled"


def test_a_yes_is_carried_by_its_token(home: Path, source: Path) -> None:
    env = environment(home, model="openai/gpt-x", api_base="https://models.invalid/v1", daily_calls="0")
    with Served(env | {"OPENAI_API_KEY": "local-key"}) as served:

        def index(**more: object) -> dict[str, Any]:
            arguments = {"file": str(source), **more}
            document = served.result("tool", name="history_recall_index", arguments=arguments)["document"]
            return dict(document["error"])

        asked = index()
        assert asked["code"] == "consent_required"
        assert "models.invalid" in asked["data"]["question"]
        assert index(confirm="y_aaaaaaaaaaaa")["code"] == "not_found"
        assert index(detach=True)["code"] == "consent_required"
        assert served.line("consent show")["document"]["granted"] is False
        assert index(confirm=asked["data"]["token"])["code"] == "daily_budget"
        assert served.line("consent show")["document"]["granted"] is True
