"""Several clients on one profile while another process indexes; an index call that its client cancels."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tests.indexing.product import short
from tests.mcp.conftest import Connect, Session
from tests.process.held import Model, found, long_source
from tests.surfaces.served import Served


@pytest.fixture
def model(tmp_path: Path) -> Model:
    return Model(tmp_path)


@pytest.fixture
def source(home: Path) -> Path:
    return long_source(home)


def test_two_clients_are_answered_while_a_third_process_indexes(
    connect: Connect, home: Path, model: Model, source: Path
) -> None:
    env = model.environment(home)
    (source.parent / "2026-09-02T13-05-00-000Z_short.jsonl").write_bytes(short("5f0c2c8e-2222", "ferry").bytes())
    with connect(env) as one, connect(env) as two, Served(env) as third:
        call = third.start("line", line="index-all --sessions 5")
        found(lambda: len(model.sent) >= 3)

        async def ask(session: Session) -> list[Any]:
            return [await session.client.call_tool(f"history_recall_{name}", arguments) for name, arguments in asked]

        async def both() -> list[list[Any]]:
            return list(await asyncio.gather(ask(one), ask(two)))

        asked: list[tuple[str, dict[str, Any]]] = [
            ("search", {"queries": ["ferry"], "mode": "keyword"}),
            ("browse", {}),
            ("conversations", {}),
            ("status", {}),
        ]
        for answers in one.portal.call(both):
            assert [answer.is_error for answer in answers] == [False] * len(asked)
            (job,) = answers[-1].structured_content["jobs"]
            assert job["state"] == "running"
        model.go()
        assert third.answer(call)["result"]["exit_code"] == 0
        for session in (one, two):
            assert session.document("status")["conversations"] == 2
            assert session.document("search", queries=["ferry"], mode="keyword")["conversations"]


def test_a_cancelled_index_call_leaves_a_job_that_can_be_taken_up(
    connect: Connect, home: Path, model: Model, source: Path
) -> None:
    with connect(model.environment(home)) as session:
        steps: list[str] = []

        async def told(progress: float, total: float | None, message: str | None) -> None:
            steps.append(message or "")

        async def cancelled() -> None:
            arguments = {"file": str(source)}
            work = session.client.call_tool("history_recall_index", arguments, progress_callback=told)
            call = asyncio.create_task(work)
            while len(model.sent) < 3:  # noqa: ASYNC110 - another process asks the model
                await asyncio.sleep(0.05)
            call.cancel()
            with pytest.raises(asyncio.CancelledError):
                await call

        session.portal.call(cancelled)
        assert any(step.startswith("analysing") for step in steps)
        found(lambda: session.document("status")["jobs"][0]["state"] == "cancelled")
        queue = session.document("status")["queue"]["failed"]
        assert [(one["code"], one["attempts"]) for one in queue] == [("cancelled", 0)]
        before = len(model.sent)
        model.go()
        session.indexed(source)
        assert session.document("status")["conversations"] == 1
        assert not set(model.sent[before:]) & set(model.sent[:2]), "paid for twice"
