"""Deadlines, cancels and concurrency, with real tasks. Nothing is left running and no row is left open."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from recall.errors import ModelError, StateError
from recall.models.calls import Road
from recall.models.failures import Transient
from recall.models.request import ModelReply
from tests.models.setting import GOOD, Setting, all_of, question, until, word


class SlowModel:
    """Holds every request until it is let go, and knows how many are open, were torn down, or came in."""

    name = provider = "slow"
    endpoint = "http://127.0.0.1:1"

    def __init__(self, *, stubborn: int = 0) -> None:
        self.gate = asyncio.Event()
        self.open = self.most = self.sent = self.torn = 0
        self._stubborn = stubborn

    async def send(self, messages: Sequence[Mapping[str, object]], **_: Any) -> ModelReply:
        self.sent += 1
        self.open += 1
        self.most = max(self.most, self.open)
        try:
            while True:
                try:
                    await self.gate.wait()
                    return ModelReply(GOOD, "stop", 1, 1)
                except asyncio.CancelledError:
                    self._stubborn -= 1
                    if self._stubborn < 0:
                        self.torn += 1
                        raise
        finally:
            self.open -= 1

    async def close(self) -> None:
        """Nothing to close."""


def _leftovers() -> set[asyncio.Task[Any]]:
    return {task for task in asyncio.all_tasks() if task is not asyncio.current_task()}


def _run(work: Callable[[], Any]) -> Any:
    async def whole() -> Any:
        result = await work()
        assert _leftovers() == set()
        return result

    return asyncio.run(whole())


def test_no_more_than_the_limit_at_once(setting: Setting) -> None:
    async def work() -> None:
        model = SlowModel()
        road = setting.road(model)
        asked = asyncio.ensure_future(all_of(road.ask(question(f"q{n}"), word) for n in range(12)))
        await until(lambda: model.open == 3)
        model.gate.set()
        assert await asked == ["lantern"] * 12
        assert (model.most, model.sent) == (3, 12)

    _run(work)
    assert setting.rows() == [("done", None)] * 12


def test_a_request_that_never_answers_ends_with_its_deadline(setting: Setting) -> None:
    setting.limits = replace(setting.limits, request_seconds=0.15)

    async def work() -> None:
        model = SlowModel()
        with pytest.raises(ModelError, match=r"within 0\.15 s") as caught:
            await setting.road(model).ask(question(), word)
        assert caught.value.code == "model_request_failed"
        assert (model.torn, model.open) == (1, 0)

    _run(work)
    assert setting.rows() == [("failed", "model_request_failed")]


def test_a_rewrite_has_a_deadline_of_its_own(setting: Setting) -> None:
    setting.limits = replace(setting.limits, rewrite_seconds=0.1)

    async def work() -> None:
        with pytest.raises(ModelError, match=r"within 0\.1 s"):
            await setting.road(SlowModel()).ask(question(kind="rewrite"), word)

    _run(work)


def test_waiting_for_a_place_is_not_on_the_deadline(setting: Setting) -> None:
    setting.limits = replace(setting.limits, concurrency=1, request_seconds=1.4)

    class Steady(SlowModel):
        async def send(self, messages: Sequence[Mapping[str, object]], **_: Any) -> ModelReply:
            await asyncio.sleep(0.5)
            return ModelReply(GOOD, "stop")

    async def work() -> None:
        road = setting.road(Steady())
        assert await all_of(road.ask(question(f"q{n}"), word) for n in range(3)) == ["lantern"] * 3

    _run(work)


def test_a_cancel_starts_nothing_more_and_lets_come_in_what_was_started(setting: Setting) -> None:
    async def work() -> None:
        model = SlowModel()
        road = setting.road(model)
        asked = asyncio.ensure_future(all_of(road.ask(question(f"q{n}"), word) for n in range(8)))
        await until(lambda: model.open == 3)
        road.cancel()
        await asyncio.sleep(0.1)
        model.gate.set()
        results = await asked
        assert [one.code for one in results] == ["cancelled"] * 8
        assert (model.sent, model.torn, model.open) == (3, 0, 0)
        with pytest.raises(StateError):
            await road.ask(question("later"), word)

    _run(work)
    assert setting.rows() == [("done", None)] * 3
    assert len(setting.kept()) == 3  # paid for, so they are kept for the next run


def test_after_the_grace_the_connection_is_closed_and_the_charge_stays(setting: Setting) -> None:
    setting.limits = replace(setting.limits, grace_seconds=0.1)
    flag: list[bool] = []

    async def work() -> None:
        model = SlowModel()
        asked = asyncio.ensure_future(setting.road(model, cancelled=lambda: bool(flag)).ask(question(), word))
        await until(lambda: model.open == 1)
        flag.append(True)
        with pytest.raises(StateError) as caught:
            await asked
        assert caught.value.code == "cancelled"
        assert (model.torn, model.open) == (1, 0)

    _run(work)
    assert setting.rows() == [("failed", "cancelled")]


def test_cancels_of_asyncio_however_often_do_not_tear_it_down(setting: Setting) -> None:
    async def work() -> None:
        model = SlowModel()
        road = setting.road(model)
        asked = asyncio.ensure_future(road.ask(question(), word))
        await until(lambda: model.open == 1)
        road.cancel()
        for _ in range(10):
            asked.cancel()
            await asyncio.sleep(0.02)
        assert (model.open, asked.done()) == (1, False)
        model.gate.set()
        with pytest.raises(StateError) as caught:
            await asked
        assert caught.value.code == "cancelled"

    _run(work)
    assert setting.rows() == [("done", None)]


def test_a_cancel_of_the_task_alone_stays_asyncios_own(setting: Setting) -> None:
    async def work() -> None:
        model = SlowModel()
        asked = asyncio.ensure_future(setting.road(model).ask(question(), word))
        await until(lambda: model.open == 1)
        asked.cancel()
        await asyncio.sleep(0.05)
        assert model.open == 1
        model.gate.set()
        with pytest.raises(asyncio.CancelledError):
            await asked

    _run(work)
    assert setting.rows() == [("done", None)]
    assert len(setting.kept()) == 1


def test_cancels_while_the_connection_is_closed(setting: Setting) -> None:
    setting.limits = replace(setting.limits, grace_seconds=0.05)

    async def work() -> None:
        model = SlowModel(stubborn=3)
        road = setting.road(model)
        asked = asyncio.ensure_future(road.ask(question(), word))
        await until(lambda: model.open == 1)
        road.cancel()
        while not asked.done():
            asked.cancel()
            await asyncio.sleep(0.02)
        with pytest.raises(StateError):
            await asked
        assert (model.torn, model.open) == (1, 0)

    _run(work)
    assert setting.rows() == [("failed", "cancelled")]


def test_a_wait_between_tries_ends_with_the_cancel(setting: Setting) -> None:
    class Limited(SlowModel):
        async def send(self, messages: Sequence[Mapping[str, object]], **_: Any) -> ModelReply:
            self.sent += 1
            failure = Transient("rate_limited", "slow down")
            failure.retry_after = 60.0
            raise failure

    async def work() -> None:
        model = Limited()
        road = setting.road(model, sleep=None)
        asked = asyncio.ensure_future(road.ask(question(), word))
        await until(lambda: model.sent == 1)
        road.cancel()
        with pytest.raises(StateError) as caught:
            await asyncio.wait_for(asked, 20)
        assert caught.value.code == "cancelled"
        assert model.sent == 1

    _run(work)
    assert setting.rows() == [("failed", "rate_limited")]


def test_one_failure_of_many_leaves_no_request_behind(setting: Setting) -> None:
    class Mixed(SlowModel):
        async def send(self, messages: Sequence[Mapping[str, object]], **_: Any) -> ModelReply:
            if messages[-1]["content"] == "q0":
                await until(lambda: self.open == 2)
                asyncio.get_running_loop().call_later(0.05, self.gate.set)
                raise ModelError("auth_unavailable", "no")
            return await super().send(messages)

    async def group_of(road: Road) -> None:
        async with asyncio.TaskGroup() as group:
            for number in range(3):
                group.create_task(road.ask(question(f"q{number}"), word))

    async def work() -> None:
        model = Mixed()
        with pytest.raises(ExceptionGroup) as caught:
            await group_of(setting.road(model))
        (error,) = caught.value.exceptions
        assert isinstance(error, ModelError)
        assert error.code == "auth_unavailable"
        assert (model.open, model.torn) == (0, 0)

    _run(work)
    found = [(state, code or "") for state, code in setting.rows()]
    assert sorted(found) == [("done", ""), ("done", ""), ("failed", "auth_unavailable")]


class SlowToLoad(SlowModel):
    """Has much to load before its first request."""

    def __init__(self) -> None:
        super().__init__()
        self.let_go = threading.Event()
        self.asked_to = 0

    def prepare(self, *, tools: bool = False) -> None:
        self.asked_to += 1
        self.let_go.wait(20)


def test_the_deadline_of_a_rewrite_covers_what_has_to_be_loaded(setting: Setting) -> None:
    setting.limits = replace(setting.limits, rewrite_seconds=0.2)
    model = SlowToLoad()

    async def work() -> None:
        with pytest.raises(ModelError, match=r"within 0\.2 s"):
            await setting.road(model).ask(question(kind="rewrite"), word)

    try:
        _run(work)
        assert not model.let_go.is_set(), "it was not waited for"
    finally:
        model.let_go.set()
    assert (model.asked_to, setting.rows()) == (1, [])  # nothing was sent, so nothing is charged


def test_the_deadline_of_a_rewrite_begins_with_the_search(setting: Setting) -> None:
    model = SlowModel()

    async def work() -> None:
        road = setting.road(model, since=time.monotonic() - 60)
        with pytest.raises(ModelError, match="within 30 s"):
            await road.ask(question(kind="rewrite"), word)

    _run(work)
    assert (model.open, setting.rows()) == (0, [])


@pytest.mark.parametrize("kind", ["rewrite", "analysis"])
@pytest.mark.parametrize(("cap", "code"), [("daily_calls", "daily_budget"), ("batch_calls", "work_budget")])
def test_nothing_is_loaded_where_a_cap_is_spent(setting: Setting, kind: str, cap: str, code: str) -> None:
    setting.limits = replace(setting.limits, **{cap: 0})
    model = SlowToLoad()

    async def work() -> None:
        with pytest.raises(StateError) as caught:
            await setting.road(model).ask(question(kind=kind), word)
        assert caught.value.code == code

    _run(work)
    assert model.asked_to == 0
