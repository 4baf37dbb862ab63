"""The one road to a model: cache, consent, charge, deadline, send, settle, validate.

`Road.ask` takes a question and a validator and gives back what the validator made of the reply. On the way it
    cache     looks for a kept reply to exactly this question, and checks it again before it is used
    consent   asks the gate, for an endpoint that is not this machine
    charge    enters the request in the ledger, within the caps, before it is sent
    deadline  holds the whole question, all tries and waits, to one wall-clock limit
    send      starts exactly one request, and sees it through, also when the run is cancelled
    settle    enters how it ended, whatever way that was
    validate  JSON, schema, then the caller's validator; one re-ask carries the validator's message
Tenacity is the only thing that tries again (see `patience`); each try is charged. What a model inside this process
answers is parsed and validated in the same way, and is neither kept nor charged.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import Generic, Protocol, TypeVar, runtime_checkable

from tenacity import AsyncRetrying

from recall.errors import ModelError, RecallError
from recall.hashing import canonical_json, sha256_text
from recall.index import cache, ledger
from recall.index.database import Database
from recall.index.ledger import Caps, Charge
from recall.models import pace
from recall.models.failures import Transient
from recall.models.gate import ConsentGate
from recall.models.patience import Patience, given_up
from recall.models.replies import InvalidReply, judge, read_object
from recall.models.request import LocalModel, ModelReply, ModelRequest, RemoteModel
from recall.models.waiting import Deadline, cancelled_error, pause, see_through
from recall.settings import Settings

__all__ = ["CallLimits", "InvalidReply", "Road", "cache_key"]

T = TypeVar("T")
REPLY_VERSION = 1  # goes up when kept replies have to be read in another way
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
class _Question(Generic[T]):
    """A request on its way: its key is that of the first asking, also when it is put again in other words."""

    request: ModelRequest
    validate: Callable[[object], T]
    key: str
    source: str | None
    deadline: Deadline
    max_output_tokens: int
    complaint: str | None = None

    @property
    def messages(self) -> tuple[Mapping[str, str], ...]:
        content = self.request.content
        if self.complaint is not None:
            content += (
                f"\n\nYour last reply was not accepted: {self.complaint}.\n"
                "Reply again with exactly one JSON object that satisfies the schema, and with nothing else."
            )
        return (
            {"role": "system", "content": self.request.prompt.instructions},
            {"role": "user", "content": content},
        )


@runtime_checkable
class Preparing(Protocol):
    """A model that has something to load or to check first: it is no part of a request, so neither charge nor deadline
    has begun."""

    def prepare(self) -> None: ...


class Road:
    """One run's way to its model. `calls` counts the requests charged by it, `hits` the replies that were kept ones.

    `width` is how many requests it has under way at once.
    """

    def __init__(
        self,
        database: Database,
        profile_no: int,
        run: str,
        model: RemoteModel | LocalModel,
        limits: CallLimits,
        *,
        consent: Callable[[RemoteModel], None] | None = None,
        clock: Callable[[], int] = lambda: time.time_ns() // 1_000_000,
        cancelled: Callable[[], bool] = lambda: False,
        sleep: Callable[[float], Awaitable[None]] | None = None,
    ) -> None:
        self.model = model
        self.width = limits.concurrency
        self.calls = 0
        self.hits = 0
        self._database = database
        self._profile_no = profile_no
        self._run = run
        self._limits = limits
        self._consent = consent or ConsentGate(database, profile_no)
        self._clock = clock
        self._cancelled = cancelled
        self._stopped = False
        self._slow = False
        self._slots = asyncio.Semaphore(limits.concurrency)
        self._sleep = sleep or (lambda seconds: pause(seconds, self._is_cancelled))

    async def ask(self, request: ModelRequest, validate: Callable[[object], T], *, source: str | None = None) -> T:
        """What `validate` makes of the reply; it gets the parsed object and returns a value or raises InvalidReply.

        Raises ModelError, or StateError `consent_required`, `work_budget`, `daily_budget`, `cancelled`.
        """
        self._raise_if_cancelled()
        if isinstance(self.model, LocalModel):
            return self._answered_here(self.model, request, validate)
        key = cache_key(request, self.model)
        for value in self._kept(key, request, validate):
            return value
        self._consent(self.model)
        if isinstance(self.model, Preparing):
            self.model.prepare()
        async with self._slots:
            seconds = self._limits.rewrite_seconds if request.kind == "rewrite" else self._limits.request_seconds
            question = _Question(request, validate, key, source, Deadline(seconds), request.max_output_tokens)
            try:
                return await self._asked(self.model, question)
            except InvalidReply as first:
                # Who waits for a rewrite waits for one deadline in all.
                deadline = question.deadline if request.kind == "rewrite" else Deadline(seconds)
                second = replace(question, complaint=first.message, deadline=deadline)
            try:
                return await self._asked(self.model, second)
            except InvalidReply as error:
                raise _invalid(error) from error

    def admit(self) -> None:
        """Raise StateError `consent_required` where nothing may be sent, before anything is prepared for it."""
        if not isinstance(self.model, LocalModel):
            self._consent(self.model)

    def would_send(self, request: ModelRequest) -> int | None:
        """The bytes that asking would send, or None where a kept reply or a model in this process answers."""
        if isinstance(self.model, LocalModel):
            return None
        with self._database.read() as connection:
            kept = cache.get(connection, self._profile_no, cache_key(request, self.model))
        return _size(request) if kept is None else None

    def cancel(self) -> None:
        """Start nothing more; what has started is given its grace and then closed."""
        self._stopped = True

    async def close(self) -> None:
        """Close the model's connections."""
        if not isinstance(self.model, LocalModel):
            await self.model.close()

    def _is_cancelled(self) -> bool:
        return self._stopped or self._cancelled()

    def _raise_if_cancelled(self) -> None:
        if self._is_cancelled():
            raise cancelled_error()

    def _answered_here(self, model: LocalModel, request: ModelRequest, validate: Callable[[object], T]) -> T:
        try:
            return validate(read_object(model.answer(request), request.prompt.schema))
        except InvalidReply as error:
            raise _invalid(error) from error

    def _kept(self, key: str, request: ModelRequest, validate: Callable[[object], T]) -> tuple[T, ...]:
        """The kept reply's value, or nothing; a reply that no longer passes is dropped alone."""
        with self._database.read() as connection:
            text = cache.get(connection, self._profile_no, key)
        if text is None:
            return ()
        try:
            value = validate(read_object(text, request.prompt.schema))
        except InvalidReply:
            with self._database.write() as connection:
                cache.drop(connection, self._profile_no, key)
            return ()
        self.hits += 1
        return (value,)

    async def _asked(self, model: RemoteModel, question: _Question[T]) -> T:
        try:
            call_no, reply = await self._replied(model, question)
        except ModelError as error:
            if not error.data.get("reasoning"):
                raise
            wider = replace(question, max_output_tokens=question.max_output_tokens * WIDER)
            call_no, reply = await self._replied(model, wider)
        try:
            return self._accepted(question, reply)
        except InvalidReply:
            with self._database.write() as connection:
                ledger.refuse(connection, call_no, "invalid_model_output")
            raise

    def _accepted(self, question: _Question[T], reply: ModelReply) -> T:
        """Validate, and keep what is good."""
        found = read_object(reply.text, question.request.prompt.schema)
        value = question.validate(found)
        with self._database.write() as connection:
            cache.put(
                connection,
                self._profile_no,
                question.key,
                canonical_json(found),
                kind=question.request.kind,
                model=self.model.name,
                source=question.source,
                now=self._clock(),
            )
        return value

    async def _replied(self, model: RemoteModel, question: _Question[T]) -> tuple[int, ModelReply]:
        """One reply that came in whole, with the number of its charge, after as many tries as patience allows."""
        patience = Patience(question.deadline)
        tries = AsyncRetrying(
            retry=patience.again, wait=patience.wait, stop=patience.stop, sleep=self._sleep, reraise=True
        )
        try:
            async for attempt in tries:
                with attempt:
                    return await self._sent(model, question, attempt.retry_state.attempt_number)
        except Transient as failure:
            raise given_up(failure, self._clock()) from failure
        raise AssertionError("tenacity ends with a value or an error")

    async def _sent(self, model: RemoteModel, question: _Question[T], attempt: int) -> tuple[int, ModelReply]:
        """Start one request and see it through. Its row in the ledger is settled when this returns or raises."""
        self._raise_if_cancelled()
        if question.deadline.left() == 0.0:
            raise question.deadline.passed()
        self._consent(model)
        call_no = self._charge(model, question, attempt)
        came: list[ModelReply] = []
        code: str | None = "model_request_failed"
        try:
            reply = await see_through(
                model.send(
                    question.messages,
                    schema=question.request.prompt.schema,
                    max_output_tokens=question.max_output_tokens,
                    timeout=question.deadline.left(),
                ),
                deadline=question.deadline,
                is_cancelled=self._is_cancelled,
                grace=self._limits.grace_seconds,
                on_reply=came.append,
            )
            judge(reply, question.max_output_tokens)
            code = None
        except InvalidReply:
            code = "invalid_model_output"
            raise
        except (RecallError, asyncio.CancelledError) as error:
            code = error.code if isinstance(error, RecallError) else "cancelled"
            if isinstance(error, ModelError) and "deadline_seconds" in error.data:
                self._note_slow(model)
            if code == "cancelled" and self._salvaged(question, came):
                code = None
            raise
        finally:
            self._settle(call_no, code, came[0] if came else None)
        return call_no, reply

    def _note_slow(self, model: RemoteModel) -> None:
        """Once a run: requests that were under way together miss their deadlines together."""
        if not self._slow:
            self._slow = True
            with self._database.write() as connection:
                pace.note_slow(connection, model.endpoint, model.name, self._clock())

    def _salvaged(self, question: _Question[T], came: list[ModelReply]) -> bool:
        """Keep a good reply that came in while the run was being cancelled: it is paid for."""
        try:
            for reply in came:
                judge(reply, question.max_output_tokens)
                self._accepted(question, reply)
        except (InvalidReply, ModelError):
            return False
        return bool(came)

    def _charge(self, model: RemoteModel, question: _Question[T], attempt: int) -> int:
        charge = Charge(
            self._profile_no,
            self._run,
            question.source,
            question.request.kind,
            model.name,
            model.endpoint,
            attempt,
            _size(question.request) + len((question.complaint or "").encode()),
        )
        caps = Caps(self._limits.batch_calls, self._limits.daily_calls)
        began = time.monotonic()
        with self._database.write() as connection:
            call_no = ledger.charge(connection, charge, caps, self._clock())
        # Waiting for another process to publish must not leave a charged request without time to be sent.
        question.deadline.add(time.monotonic() - began)
        self.calls += 1
        return call_no

    def _settle(self, call_no: int, code: str | None, reply: ModelReply | None) -> None:
        with self._database.write() as connection:
            ledger.settle(
                connection,
                call_no,
                self._clock(),
                "done" if code is None else "failed",
                code=code,
                prompt_tokens=reply.prompt_tokens if reply else None,
                completion_tokens=reply.completion_tokens if reply else None,
                cost_usd=reply.cost_usd if reply else None,
            )


def cache_key(request: ModelRequest, model: RemoteModel) -> str:
    """Stands for the whole question: the prompt and its schema, the model and its endpoint, the limit, the content."""
    return sha256_text(
        canonical_json(
            [
                REPLY_VERSION,
                request.kind,
                request.prompt.fingerprint,
                model.name,
                model.endpoint,
                request.max_output_tokens,
                request.content,
            ]
        )
    )


def _size(request: ModelRequest) -> int:
    """The bytes of a request: instructions, content, and the schema, which is sent in one form or another."""
    prompt = request.prompt
    return len((prompt.instructions + request.content + canonical_json(prompt.schema)).encode())


def _invalid(error: InvalidReply) -> ModelError:
    hint = "ask again later, or use a model that keeps to a JSON schema"
    return ModelError("invalid_model_output", f"The model's reply was not accepted: {error.message[:300]}", hint)
