"""A remote model that answers from a list or a function: the border of the road, for tests of what uses the road.

It stands behind an endpoint on this machine unless told otherwise, so nothing asks for consent. It shares everything
with a real model but the sending.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from recall.models.request import ModelReply

Answer = str | ModelReply | BaseException | Mapping[str, object]


@dataclass(frozen=True, slots=True)
class SentRequest:
    """One request as the model saw it."""

    messages: tuple[Mapping[str, str], ...]
    schema: Mapping[str, object] | None
    max_output_tokens: int

    @property
    def content(self) -> str:
        """The last message's text."""
        return self.messages[-1]["content"]


class ScriptUsedUp(AssertionError):
    """The script has no answer left: the code under test asked more often than it should."""


class ScriptedModel:
    """Answers are taken in order (an exception is raised, a mapping is written as JSON), or a function makes them."""

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
        self.requests: list[SentRequest] = []
        self.closed = False
        self._make = answers if callable(answers) else None
        self._answers = [] if callable(answers) else list(answers)

    async def send(
        self,
        messages: Sequence[Mapping[str, str]],
        *,
        schema: Mapping[str, object] | None,
        max_output_tokens: int,
        timeout: float,  # noqa: ARG002, ASYNC109 - the protocol's name; a script takes no time
    ) -> ModelReply:
        request = SentRequest(tuple(messages), schema, max_output_tokens)
        self.requests.append(request)
        answer = self._make(request) if self._make is not None else self._next()
        if isinstance(answer, BaseException):
            raise answer
        if isinstance(answer, ModelReply):
            return answer
        return ModelReply(answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False), "stop")

    async def close(self) -> None:
        self.closed = True

    def _next(self) -> Answer:
        if not self._answers:
            raise ScriptUsedUp(f"the script ends after {len(self.requests) - 1} answers")
        return self._answers.pop(0)
