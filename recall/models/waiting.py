"""Waiting without losing hold: a wall-clock deadline, a pause that a cancel ends, a started request seen to its end.

A request that was started is paid for. So a cancel, the command's or asyncio's and however often it comes, does not
tear it down: it is given `grace` seconds to come in, then its task is cancelled, which closes the connection. When
`see_through` returns or raises, the request's task has ended.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Coroutine
from typing import TypeVar

from recall.errors import ModelError, StateError

T = TypeVar("T")
POLL_SECONDS = 0.05
_AT_ONCE_SECONDS = 0.01  # what is ready already takes less
_CLOSING_SECONDS = 1.0  # a task that is being cancelled has this long to close its connection


class Deadline:
    """A moment on the monotonic clock, `seconds` from now or from `since`."""

    def __init__(self, seconds: float, since: float | None = None) -> None:
        self.seconds = seconds
        self._at = (time.monotonic() if since is None else since) + seconds

    def left(self) -> float:
        """Seconds until then, never below zero."""
        return max(0.0, self._at - time.monotonic())

    def add(self, seconds: float) -> None:
        """Put it off: time that was not the model's."""
        self._at += seconds

    def passed(self) -> ModelError:
        """The error to raise when it has passed."""
        message = f"The model did not answer within {self.seconds:g} s"
        return ModelError("model_request_failed", message, "try again later", {"deadline_seconds": self.seconds})


def cancelled_error() -> StateError:
    """What a cancelled run ends with."""
    return StateError("cancelled", "Cancelled", "what was paid for is kept; run the command again to go on")


async def pause(seconds: float, is_cancelled: Callable[[], bool]) -> None:
    """Sleep; StateError `cancelled` as soon as the run is."""
    deadline = Deadline(seconds)
    while True:
        if is_cancelled():
            raise cancelled_error()
        if deadline.left() == 0.0:
            return
        await asyncio.sleep(min(POLL_SECONDS, deadline.left()))


async def made_ready(prepare: Callable[[], None], *, deadline: Deadline, is_cancelled: Callable[[], bool]) -> None:
    """Do what blocks, for as long as the deadline lets it. Raises what it raises, the deadline's error or `cancelled`.

    A thread that is late goes on by itself (the next search of a server finds its work done), and holds up no exit.
    """
    failed: list[Exception] = []

    def run() -> None:
        try:
            prepare()
        except Exception as error:  # noqa: BLE001 - raised again by who waits
            failed.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(min(_AT_ONCE_SECONDS, deadline.left()))
    while thread.is_alive():
        if is_cancelled():
            raise cancelled_error()
        if deadline.left() == 0.0:
            raise deadline.passed()
        await asyncio.sleep(min(POLL_SECONDS, deadline.left()))
    for error in failed:
        raise error


async def see_through(
    request: Coroutine[object, object, T],
    *,
    deadline: Deadline,
    is_cancelled: Callable[[], bool],
    grace: float,
    on_reply: Callable[[T], None],
) -> T:
    """Run a started request to its end and return its reply.

    `on_reply` gets a reply also when the run was cancelled while it came in. Raises what the request raises,
    ModelError when the deadline passes first, StateError `cancelled`, or asyncio's CancelledError where only the
    task was cancelled and not the run.
    """
    task = asyncio.ensure_future(request)
    interrupted: asyncio.CancelledError | None = None
    until = deadline
    cancelling = False
    while not task.done() and until.left() > 0.0:
        try:
            await asyncio.wait({task}, timeout=min(POLL_SECONDS, until.left()))
        except asyncio.CancelledError as error:  # again and again if need be: the first one set the end of the wait
            interrupted = error
        if not cancelling and not task.done() and (interrupted is not None or is_cancelled()):
            cancelling = True
            until = Deadline(min(grace, deadline.left()))
    torn_down = not task.done()
    if torn_down:
        interrupted = await _end(task) or interrupted
    failure = task.exception() if task.done() and not task.cancelled() else None
    replied = task.done() and not task.cancelled() and failure is None
    if replied:
        on_reply(task.result())
    if cancelling or interrupted is not None:
        if is_cancelled() or interrupted is None:
            raise cancelled_error() from interrupted
        raise interrupted
    if replied:
        return task.result()
    if failure is None or torn_down:  # what a request raises while it is torn down says nothing of its own
        raise deadline.passed() from failure
    raise failure


async def _end(task: asyncio.Future[T]) -> asyncio.CancelledError | None:
    """Cancel the task and wait until it has ended; the CancelledError that came meanwhile, if one did."""
    interrupted: asyncio.CancelledError | None = None
    closing = Deadline(_CLOSING_SECONDS)
    while not task.done() and closing.left() > 0.0:
        task.cancel()
        try:
            await asyncio.wait({task}, timeout=min(POLL_SECONDS * 4, closing.left()))
        except asyncio.CancelledError as error:
            interrupted = error
    return interrupted
