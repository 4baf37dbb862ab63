"""The model of the program that we run in (`host` in the settings), lent over the serve protocol.

We hand over the messages and get a text back; the program's own key, model and price stay with it. It is no endpoint
of ours, so a consent names it as `host`, and it makes no tool calls for us, so repair is refused by name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from recall.errors import ModelError
from recall.models.request import ModelReply
from recall.models.turns import ToolSpec
from recall.settings import HOST

_MOST_CHARS = 1_000_000


class Lender(Protocol):
    """Whoever carries a request to the host program and its answer back."""

    async def ask(self, request: Mapping[str, object]) -> Mapping[str, object]:
        """The host's answer: `text`, and `prompt_tokens`, `completion_tokens`, `cost_usd` where it knows them.

        Raises ModelError.
        """


class HostModel:
    """The lent model behind the road that every model is behind."""

    name = HOST
    provider = HOST
    endpoint = HOST

    def __init__(self, lender: Lender | None) -> None:
        self._lender = lender

    def prepare(self, *, tools: bool = False) -> None:
        """Raise ModelError where no host lends its model, or `tools` are wanted."""
        if self._lender is None:
            hint = "it does so inside Hermes; elsewhere set HISTORY_RECALL_MODEL to a litellm model string, or offline"
            raise ModelError("model_unavailable", "No host lends its model to this command", hint)
        if tools:
            hint = "set HISTORY_RECALL_MODEL to a model of your own for repair"
            raise ModelError("unsupported_repair_model", "The host's model makes no tool calls for us", hint)

    async def send(
        self,
        messages: Sequence[Mapping[str, object]],
        *,
        schema: Mapping[str, object] | None,
        tools: Sequence[ToolSpec] = (),
        max_output_tokens: int,
        timeout: float,  # noqa: ASYNC109 - the protocol's name; the deadline is the road's, this is told to the host
    ) -> ModelReply:
        """One request to the host. Raises ModelError."""
        self.prepare(tools=bool(tools))
        if self._lender is None:
            raise TypeError("prepared without a lender")
        request = {
            "messages": [dict(message) for message in messages],
            "schema": None if schema is None else dict(schema),
            "max_output_tokens": max_output_tokens,
            "timeout": timeout,
        }
        return _reply(await self._lender.ask(request))

    async def close(self) -> None:
        """Nothing is open: the host closes its own."""


def _reply(answer: Mapping[str, object]) -> ModelReply:
    text, cost = answer.get("text"), answer.get("cost_usd")
    if not isinstance(text, str) or len(text) > _MOST_CHARS:
        raise ModelError("invalid_model_output", "The host's model gave no text")
    return ModelReply(
        text,
        "length" if answer.get("finish_reason") == "length" else "stop",
        prompt_tokens=_count(answer.get("prompt_tokens")),
        completion_tokens=_count(answer.get("completion_tokens")),
        cost_usd=float(cost) if isinstance(cost, int | float) and not isinstance(cost, bool) else None,
    )


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
