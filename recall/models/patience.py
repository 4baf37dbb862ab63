"""When a failed request is tried again, and after how long: the rules that tenacity asks.

A rate limit, a server's own failure, a lost connection: three tries in all, after what `Retry-After` says or a
back-off that doubles. A reply that broke off: one more. A refused reply format: at once, with the next simpler one.
Nothing else. A wait that would go past the deadline is not begun.
"""

from __future__ import annotations

from datetime import UTC, datetime

from tenacity import RetryCallState, wait_exponential, wait_random

from recall.errors import ModelError
from recall.models.failures import CutShort, FormatRefused, Transient
from recall.models.waiting import Deadline

MAX_TRIES = 3
MAX_FORMATS = 2


class Patience:
    """The rules for one question. Counts what it has seen, so it is made anew for each."""

    def __init__(self, deadline: Deadline) -> None:
        self._deadline = deadline
        self._cuts = 0
        self._formats = 0
        self._back_off = wait_exponential(multiplier=0.5, max=8.0) + wait_random(0.0, 0.25)

    def again(self, state: RetryCallState) -> bool:
        """Whether the failure is one that another try may cure."""
        failure = _failure(state)
        if isinstance(failure, FormatRefused):
            self._formats += 1
            return self._formats <= MAX_FORMATS
        if isinstance(failure, CutShort):
            self._cuts += 1
            return self._cuts <= 1
        return isinstance(failure, Transient)

    def wait(self, state: RetryCallState) -> float:
        """Seconds before the next try."""
        failure = _failure(state)
        if isinstance(failure, FormatRefused):
            return 0.0
        if isinstance(failure, Transient) and failure.retry_after is not None:
            return failure.retry_after
        return self._back_off(state)

    def stop(self, state: RetryCallState) -> bool:
        """Whether to give up now: tries used up, or the wait would end after the deadline."""
        if isinstance(_failure(state), FormatRefused):
            return False
        return state.attempt_number - self._formats >= MAX_TRIES or state.upcoming_sleep >= self._deadline.left()


def given_up(failure: Transient, now: int) -> ModelError:
    """What to raise once no further try is made: a rate limit says when to go on."""
    if failure.code != "rate_limited" or failure.retry_after is None:
        return failure
    resume = datetime.fromtimestamp(now / 1000 + failure.retry_after, UTC).isoformat(timespec="seconds")
    data = {"retry_after_seconds": failure.retry_after, "resume_at": resume}
    return ModelError("rate_limited", failure.message, f"run the command again after {resume}", data)


def _failure(state: RetryCallState) -> BaseException | None:
    return state.outcome.exception() if state.outcome is not None else None
