"""A request to the host's model on its way through our processes, and the answer on its way back.

An index run asks in a process of its own; the process that started it passes the request on to the client that lends
its model, and the client's answer back. What a client answers is not trusted: it is judged where it arrives.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable, Mapping
from typing import Any

from recall.errors import ModelError
from recall.redact import redact_text

Answer = Mapping[str, Any]  # {"result": {…}} or {"error": {"code", "message"}}
# Passes a request on, and calls back with the answer, from any thread.
Lend = Callable[[Mapping[str, object], Callable[[Answer], None]], None]
NO_LENDER: Answer = {"error": {"code": "model_unavailable", "message": "No host lends its model here"}}
_SHOWN = 300


class Borrower:
    """The lender as the model layer sees it, over whatever passes requests on."""

    def __init__(self, lend: Lend) -> None:
        self._lend = lend

    async def ask(self, request: Mapping[str, object]) -> Mapping[str, object]:
        """The host's answer. Raises ModelError for what the host said went wrong."""
        loop = asyncio.get_running_loop()
        waiting: asyncio.Future[Answer] = loop.create_future()

        def answered(answer: Answer) -> None:
            if not loop.is_closed():
                loop.call_soon_threadsafe(_settle, waiting, answer)

        self._lend(request, answered)
        answer = await waiting
        result = answer.get("result")
        if isinstance(result, Mapping):
            return result
        raise _failure(answer.get("error"))


class Waiting:
    """Requests that were passed on and have no answer yet, by an id of ours."""

    def __init__(self, prefix: str) -> None:
        self._ids = (f"{prefix}{number}" for number in itertools.count(1))
        self._open: dict[object, Callable[[Answer], None]] = {}

    def add(self, reply: Callable[[Answer], None]) -> str:
        """The id of a request whose answer `reply` wants."""
        identity = next(self._ids)
        self._open[identity] = reply
        return identity

    def answered(self, identity: object, answer: Answer) -> None:
        """Hand an answer to who waits for it. An id that is not ours is passed over: it may be late."""
        reply = self._open.pop(identity, None)
        if reply is not None:
            reply(answer)

    def end(self) -> None:
        """Nobody will answer any more."""
        while self._open:
            self._open.popitem()[1](NO_LENDER)


def _settle(waiting: asyncio.Future[Answer], answer: Answer) -> None:
    if not waiting.done():  # the run may have been cancelled meanwhile
        waiting.set_result(answer)


def _failure(error: object) -> ModelError:
    said = error if isinstance(error, Mapping) else {}
    code = str(said.get("code"))
    message = redact_text(str(said.get("message") or "no reason given"))[:_SHOWN]
    known = code if code in ModelError.codes else "model_request_failed"
    return ModelError(known, f"The host's model failed: {message}")
