"""One request and the tries at it: charge, deadline, send, settle.

    charge    enters the request in the ledger, within the caps, before it is sent
    deadline  holds the whole question, all tries and waits, to one wall-clock limit
    send      starts exactly one request, and sees it through, also when the run is cancelled
    settle    enters how it ended, whatever way that was, and keeps a good reply, in one transaction
Tenacity is the only thing that tries again (see `patience`); each try is charged.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import Generic, Literal, TypeVar

from tenacity import AsyncRetrying

from recall.errors import ModelError, RecallError
from recall.index import cache, ledger
from recall.index.database import Database
from recall.index.ledger import Caps, Charge
from recall.models import pace
from recall.models.failures import Transient
from recall.models.patience import Patience, given_up
from recall.models.replies import InvalidReply
from recall.models.request import ModelReply, RemoteModel, RequestKind
from recall.models.turns import ToolSpec
from recall.models.waiting import Deadline, cancelled_error, see_through
from recall.settings import Settings

T = TypeVar("T")
WIDER = 4  # the one retry of a reply whose budget went into reasoning has this many times the cap


@dataclass(frozen=True, slots=True)
class CallLimits:
    """What is checked before and while a request runs."""

    batch_calls: int
    daily_calls: int
    concurrency: int
    request_seconds: float = 90.0
    rewrite_seconds: float = 30.0
    grace_seconds: float = 3.0  # a cancelled command has ended after 5, closing the connection included

    @classmethod
    def of(cls, settings: Settings, *, batch_calls: int | None = None) -> CallLimits:
        """The settings' limits; a command may name its own number of calls for one batch."""
        batch = settings.batch_calls if batch_calls is None else batch_calls
        return cls(batch, settings.daily_calls, settings.concurrency)


@dataclass(frozen=True, slots=True)
class Outgoing(Generic[T]):
    """A request on its way, and what is made of its reply. Its `key` is that of the first asking, also when it is put
    again in other words.

    `judge` raises where the way a reply ended makes it none; `accept` gives the value and the text to keep, or raises
    InvalidReply. `size` is in bytes.
    """

    kind: RequestKind
    key: str
    source: str | None
    messages: tuple[Mapping[str, object], ...]
    size: int
    max_output_tokens: int
    deadline: Deadline
    judge: Callable[[ModelReply, int], None]
    accept: Callable[[ModelReply], tuple[T, str]]
    schema: Mapping[str, object] | None = None
    tools: tuple[ToolSpec, ...] = ()


@dataclass(frozen=True, slots=True)
class _Ending:
    """How a request ended, and the text to keep of it."""

    state: Literal["done", "failed"]
    code: str | None
    text: str | None = None


class Sender:
    """One run's requests. `calls` counts those that were charged."""

    def __init__(
        self,
        database: Database,
        profile_no: int,
        run: str,
        limits: CallLimits,
        *,
        consent: Callable[[RemoteModel], None],
        clock: Callable[[], int],
        is_cancelled: Callable[[], bool],
        sleep: Callable[[float], Awaitable[None]],
    ) -> None:
        self.calls = 0
        self._database = database
        self._profile_no = profile_no
        self._run = run
        self._limits = limits
        self._caps = Caps(limits.batch_calls, limits.daily_calls)
        self._consent = consent
        self._clock = clock
        self._is_cancelled = is_cancelled
        self._sleep = sleep
        self._slow = False

    def admit(self) -> None:
        """StateError `daily_budget` or `work_budget` where a cap leaves no request; the charge looks again."""
        with self._database.read() as connection:
            ledger.admit(connection, self._profile_no, self._run, self._caps, self._clock())

    async def send(self, model: RemoteModel, outgoing: Outgoing[T]) -> T:
        """What is made of a reply that came in whole, which is kept; with a larger budget where reasoning took it all.

        Raises InvalidReply for a reply that is not accepted, and as `Road.ask` does.
        """
        try:
            return await self._tried(model, outgoing)
        except ModelError as error:
            if not error.data.get("reasoning"):
                raise
        return await self._tried(model, replace(outgoing, max_output_tokens=outgoing.max_output_tokens * WIDER))

    async def _tried(self, model: RemoteModel, outgoing: Outgoing[T]) -> T:
        """The same after as many tries as patience allows."""
        patience = Patience(outgoing.deadline)
        tries = AsyncRetrying(
            retry=patience.again, wait=patience.wait, stop=patience.stop, sleep=self._sleep, reraise=True
        )
        try:
            async for attempt in tries:
                with attempt:
                    return await self._sent(model, outgoing, attempt.retry_state.attempt_number)
        except Transient as failure:
            raise given_up(failure, self._clock()) from failure
        raise AssertionError("tenacity ends with a value or an error")

    async def _sent(self, model: RemoteModel, outgoing: Outgoing[T], attempt: int) -> T:
        """Start one request and see it through. Its row in the ledger is settled when this returns or raises."""
        if self._is_cancelled():
            raise cancelled_error()
        if outgoing.deadline.left() == 0.0:
            raise outgoing.deadline.passed()
        self._consent(model)
        call_no = self._charge(model, outgoing, attempt)
        came: list[ModelReply] = []
        ending = _Ending("failed", "model_request_failed")
        try:
            reply = await see_through(
                model.send(
                    outgoing.messages,
                    schema=outgoing.schema,
                    tools=outgoing.tools,
                    max_output_tokens=outgoing.max_output_tokens,
                    timeout=outgoing.deadline.left(),
                ),
                deadline=outgoing.deadline,
                is_cancelled=self._is_cancelled,
                grace=self._limits.grace_seconds,
                on_reply=came.append,
            )
            outgoing.judge(reply, outgoing.max_output_tokens)
            ending = _Ending("done", "invalid_model_output")  # it came in whole; unless it is accepted
            value, text = outgoing.accept(reply)
            ending = _Ending("done", None, text)
        except InvalidReply:
            ending = _Ending(ending.state, "invalid_model_output")
            raise
        except (RecallError, asyncio.CancelledError) as error:
            ending = _Ending("failed", error.code if isinstance(error, RecallError) else "cancelled")
            if isinstance(error, ModelError) and "deadline_seconds" in error.data:
                self._note_slow(model)
            if ending.code == "cancelled":
                ending = _salvaged(outgoing, came) or ending
            raise
        finally:
            self._settle(model, outgoing, call_no, ending, came[0] if came else None)
        return value

    def _note_slow(self, model: RemoteModel) -> None:
        """Once a run: requests that were under way together miss their deadlines together."""
        if not self._slow:
            self._slow = True
            with self._database.write() as connection:
                pace.note_slow(connection, model.endpoint, model.name, self._clock())

    def _charge(self, model: RemoteModel, outgoing: Outgoing[T], attempt: int) -> int:
        charge = Charge(
            self._profile_no,
            self._run,
            outgoing.source,
            outgoing.kind,
            model.name,
            model.endpoint,
            attempt,
            outgoing.size,
        )
        began = time.monotonic()
        with self._database.write() as connection:
            call_no = ledger.charge(connection, charge, self._caps, self._clock())
        # Waiting for another process to publish must not leave a charged request without time to be sent.
        outgoing.deadline.add(time.monotonic() - began)
        self.calls += 1
        return call_no

    def _settle(
        self, model: RemoteModel, outgoing: Outgoing[T], call_no: int, ending: _Ending, reply: ModelReply | None
    ) -> None:
        """Enter the end and keep the reply: both or neither, so that no reply is settled and lost."""
        now = self._clock()
        with self._database.write() as connection:
            ledger.settle(
                connection,
                call_no,
                now,
                ending.state,
                code=ending.code,
                prompt_tokens=reply.prompt_tokens if reply else None,
                completion_tokens=reply.completion_tokens if reply else None,
                cost_usd=reply.cost_usd if reply else None,
            )
            if ending.text is not None:
                cache.put(
                    connection,
                    self._profile_no,
                    outgoing.key,
                    ending.text,
                    kind=outgoing.kind,
                    model=model.name,
                    source=outgoing.source,
                    now=now,
                )


def _salvaged(outgoing: Outgoing[T], came: list[ModelReply]) -> _Ending | None:
    """A good reply that came in while the run was being cancelled: it is paid for."""
    try:
        for reply in came:
            outgoing.judge(reply, outgoing.max_output_tokens)
            return _Ending("done", None, outgoing.accept(reply)[1])
    except (InvalidReply, ModelError):
        pass  # then it ends as what it is: cancelled
    return None
