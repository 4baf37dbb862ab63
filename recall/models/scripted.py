"""Models that answer from a list or a function: the border of the road, for tests of what uses the road.

`ScriptedModel` stands behind an endpoint, on this machine unless told otherwise, so nothing asks for consent. It shares
everything with a real model but the sending. `ScriptedChild` is a model in this process that makes tool calls.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from recall.models.request import LocalModel, ModelReply, ModelRequest
from recall.models.turns import ToolCall, ToolSpec, TurnRequest

Asked = TypeVar("Asked")

Answer = str | ModelReply | BaseException | Mapping[str, object] | Sequence[ToolCall]


@dataclass(frozen=True, slots=True)
class SentRequest:
    """One request as the model saw it."""

    messages: tuple[Mapping[str, object], ...]
    schema: Mapping[str, object] | None
    max_output_tokens: int
    tools: tuple[ToolSpec, ...] = ()

    @property
    def content(self) -> str:
        """The last message's text."""
        return str(self.messages[-1]["content"])


class ScriptUsedUp(AssertionError):
    """The script has no answer left: the code under test asked more often than it should."""


class _Script(Generic[Asked]):
    """Answers are taken in order (an exception is raised, a mapping is written as JSON), or a function makes them."""

    def __init__(self, answers: Iterable[Answer] | Callable[[Asked], Answer]) -> None:
        self.requests: list[Asked] = []
        self._make = answers if callable(answers) else None
        self._answers = [] if callable(answers) else list(answers)

    def reply(self, request: Asked) -> ModelReply:
        self.requests.append(request)
        answer = self._make(request) if self._make is not None else self._next()
        if isinstance(answer, BaseException):
            raise answer
        if isinstance(answer, ModelReply):
            return answer
        if isinstance(answer, str):
            return ModelReply(answer, "stop")
        if isinstance(answer, Mapping):
            return ModelReply(json.dumps(answer, ensure_ascii=False), "stop")
        return ModelReply("", "tool_calls", calls=tuple(answer))

    def _next(self) -> Answer:
        if not self._answers:
            raise ScriptUsedUp(f"the script ends after {len(self.requests) - 1} answers")
        return self._answers.pop(0)


class ScriptedModel:
    """A list is taken in order (an exception is raised, a mapping is written as JSON, tool calls make a turn)."""

    def __init__(
        self,
        answers: Iterable[Answer] | Callable[[SentRequest], Answer],
        *,
        name: str = "scripted",
        provider: str = "scripted",
        endpoint: str = "http://127.0.0.1:1/scripted",
    ) -> None:
        self.name = name
        self.provider = provider
        self.endpoint = endpoint
        self.closed = False
        self._script = _Script(answers)

    @property
    def requests(self) -> list[SentRequest]:
        return self._script.requests

    async def send(
        self,
        messages: Sequence[Mapping[str, object]],
        *,
        schema: Mapping[str, object] | None,
        tools: Sequence[ToolSpec] = (),
        max_output_tokens: int,
        timeout: float,  # noqa: ARG002, ASYNC109 - the protocol's name; a script takes no time
    ) -> ModelReply:
        return self._script.reply(SentRequest(tuple(messages), schema, max_output_tokens, tuple(tools)))

    async def close(self) -> None:
        self.closed = True


class ScriptedChild:
    """Makes its turns from a list or a function of the request; everything else is answered by `base`."""

    def __init__(self, turns: Iterable[Answer] | Callable[[TurnRequest], Answer], base: LocalModel) -> None:
        self.name = base.name
        self._base = base
        self._script = _Script(turns)

    @property
    def requests(self) -> list[TurnRequest]:
        """The turns that were asked for."""
        return self._script.requests

    def answer(self, request: ModelRequest) -> str:
        return self._base.answer(request)

    def turn(self, request: TurnRequest) -> ModelReply:
        return self._script.reply(request)
