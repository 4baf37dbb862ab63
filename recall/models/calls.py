"""The one road to a model: cache, consent, charge, deadline, send, settle, validate.

`Road.ask` takes a question and a validator and gives back what the validator made of the reply; `Road.turn` takes a
conversation with tools and gives back the model's next turn. On the way
    cache     looks for a kept reply to exactly this request, and checks it again before it is used
    consent   asks the gate, for an endpoint that is not this machine
    charge, deadline, send, settle   see `sending`
    validate  JSON, schema, then the caller's validator; one re-ask carries the validator's message
What a model inside this process answers is parsed and validated in the same way, and is neither kept nor charged.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import TypeVar

from recall.errors import ModelError
from recall.hashing import canonical_json, sha256_text
from recall.index import cache
from recall.index.database import Database
from recall.models.failures import no_tools
from recall.models.gate import ConsentGate
from recall.models.narrow import sent_schema
from recall.models.replies import InvalidReply, judge, read_object
from recall.models.request import LocalChild, LocalModel, ModelReply, ModelRequest, Preparing, RemoteModel
from recall.models.sending import CallLimits, Outgoing, Sender
from recall.models.turn_replies import as_sent, kept_text, kept_turn, read_turn
from recall.models.turns import Turn, TurnRequest, tool_json
from recall.models.waiting import Deadline, cancelled_error, made_ready, pause

__all__ = ["CallLimits", "InvalidReply", "Road", "cache_key", "turn_key"]

T = TypeVar("T")
REPLY_VERSION = 1  # goes up when kept replies have to be read in another way


class Road:
    """One run's way to its model. `calls` counts the requests charged by it, `hits` the replies that were kept ones.

    `width` is how many requests it has under way at once. `since`: when what a rewrite is for began, on the monotonic
    clock: its deadline begins there.
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
        since: float | None = None,
    ) -> None:
        self.model = model
        self.width = limits.concurrency
        self.hits = 0
        self._database = database
        self._profile_no = profile_no
        self._limits = limits
        self._consent = consent or ConsentGate(database, profile_no)
        self._cancelled = cancelled
        self._stopped = False
        self._since = since
        self._slots = asyncio.Semaphore(limits.concurrency)
        self._sender = Sender(
            database,
            profile_no,
            run,
            limits,
            consent=self._consent,
            clock=clock,
            is_cancelled=self._is_cancelled,
            sleep=sleep or (lambda seconds: pause(seconds, self._is_cancelled)),
        )

    @property
    def calls(self) -> int:
        return self._sender.calls

    async def ask(self, request: ModelRequest, validate: Callable[[object], T], *, source: str | None = None) -> T:
        """What `validate` makes of the reply; it gets the parsed object and returns a value or raises InvalidReply.

        Raises ModelError, or StateError `consent_required`, `work_budget`, `daily_budget`, `cancelled`.
        """
        self._raise_if_cancelled()
        schema = request.prompt.schema
        if isinstance(self.model, LocalModel):
            text = self.model.answer(request)
            return _or_invalid(lambda: validate(read_object(text, schema)))
        key = cache_key(request, self.model)
        for value in self._kept(key, lambda text: validate(read_object(text, schema))):
            return value

        sent = sent_schema(request, self.model.endpoint)

        def accept(reply: ModelReply) -> tuple[T, str]:
            found = read_object(reply.text, schema)
            return validate(found), canonical_json(found)

        def outgoing(complaint: str | None, deadline: Deadline) -> Outgoing[T]:
            cap, messages = request.max_output_tokens, _question(request, complaint)
            size = _size(request, sent) + len((complaint or "").encode())
            return Outgoing(request.kind, key, source, messages, size, cap, deadline, judge, accept, schema=sent)

        return await self._paid(self.model, outgoing, rewrite=request.kind == "rewrite")

    async def turn(self, request: TurnRequest, *, source: str | None = None) -> Turn:
        """The model's next turn. Raises as `ask` does, and ModelError `unsupported_repair_model` for a model or server
        that makes no tool calls."""
        self._raise_if_cancelled()
        if isinstance(self.model, LocalModel):
            return _turn_here(self.model, request)
        key = turn_key(request, self.model)
        for turn in self._kept(key, lambda text: kept_turn(text, key)):
            return turn

        def accept(reply: ModelReply) -> tuple[Turn, str]:
            turn = read_turn(reply, key)
            return turn, kept_text(turn)

        def outgoing(complaint: str | None, deadline: Deadline) -> Outgoing[Turn]:
            cap, messages = request.max_output_tokens, _conversation(request, complaint)
            size = len(canonical_json([messages, [tool_json(tool) for tool in request.tools]]).encode())
            return Outgoing(
                request.kind, key, source, messages, size, cap, deadline, judge, accept, tools=request.tools
            )

        return await self._paid(self.model, outgoing, tools=True)

    def drop(self, key: str) -> None:
        """Forget one kept reply, by the `key` of a turn: what came of it does not hold."""
        with self._database.write() as connection:
            cache.drop(connection, self._profile_no, key)

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
        return _size(request, sent_schema(request, self.model.endpoint)) if kept is None else None

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

    def _kept(self, key: str, read: Callable[[str], T]) -> tuple[T, ...]:
        """The kept reply's value, or nothing; a reply that no longer passes is dropped alone."""
        with self._database.read() as connection:
            text = cache.get(connection, self._profile_no, key)
        if text is None:
            return ()
        try:
            value = read(text)
        except InvalidReply:
            self.drop(key)
            return ()
        self.hits += 1
        return (value,)

    async def _paid(
        self,
        model: RemoteModel,
        outgoing: Callable[[str | None, Deadline], Outgoing[T]],
        *,
        rewrite: bool = False,
        tools: bool = False,
    ) -> T:
        """Ask, and where the reply is not accepted once more, with the reason."""
        self._consent(model)
        self._sender.admit()
        # Who waits for a rewrite waits for one deadline in all, what has to be loaded included.
        whole = Deadline(self._limits.rewrite_seconds, self._since) if rewrite else None
        if isinstance(model, Preparing):
            if whole is None:
                model.prepare(tools=tools)
            else:
                await made_ready(model.prepare, deadline=whole, is_cancelled=self._is_cancelled)
        async with self._slots:
            deadline = whole or Deadline(self._limits.request_seconds)
            try:
                return await self._sender.send(model, outgoing(None, deadline))
            except InvalidReply as first:
                complaint = first.message
            deadline = whole or Deadline(self._limits.request_seconds)
            try:
                return await self._sender.send(model, outgoing(complaint, deadline))
            except InvalidReply as error:
                raise _invalid(error) from error


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


def turn_key(request: TurnRequest, model: RemoteModel) -> str:
    """Stands for the whole conversation so far, its instructions and tools, the model and its endpoint, the limit."""
    return sha256_text(
        canonical_json(
            [
                REPLY_VERSION,
                request.kind,
                request.prompt_version,
                request.instructions,
                [tool_json(tool) for tool in request.tools],
                model.name,
                model.endpoint,
                request.max_output_tokens,
                request.messages,
            ]
        )
    )


def _question(request: ModelRequest, complaint: str | None) -> tuple[Mapping[str, object], ...]:
    content = request.content
    if complaint is not None:
        content += (
            f"\n\nYour last reply was not accepted: {complaint}.\n"
            "Reply again with exactly one JSON object that satisfies the schema, and with nothing else."
        )
    return ({"role": "system", "content": request.prompt.instructions}, {"role": "user", "content": content})


def _conversation(request: TurnRequest, complaint: str | None) -> tuple[Mapping[str, object], ...]:
    messages = ({"role": "system", "content": request.instructions}, *as_sent(request.messages))
    if complaint is None:
        return messages
    said = f"Your last reply was not accepted: {complaint}.\nGo on with a call of one of the tools."
    return (*messages, {"role": "user", "content": said})


def _size(request: ModelRequest, schema: Mapping[str, object]) -> int:
    """The bytes of a request: instructions, content, and the schema, which is sent in one form or another."""
    return len((request.prompt.instructions + request.content + canonical_json(schema)).encode())


def _turn_here(model: LocalModel, request: TurnRequest) -> Turn:
    if not isinstance(model, LocalChild):
        raise no_tools(model.name)
    reply = model.turn(request)

    def read() -> Turn:
        judge(reply, request.max_output_tokens)
        return read_turn(reply, "")

    return _or_invalid(read)


def _or_invalid(read: Callable[[], T]) -> T:
    try:
        return read()
    except InvalidReply as error:
        raise _invalid(error) from error


def _invalid(error: InvalidReply) -> ModelError:
    hint = "ask again later, or use a model that keeps to a JSON schema"
    return ModelError("invalid_model_output", f"The model's reply was not accepted: {error.message[:300]}", hint)
