"""The scripted provider that the driver's processes talk to. Its turns of repair are those of the built-in child, or of
one that makes a given proposal.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, cast

from benchmarks.servers.replies import answer
from recall.models.extractive.child import take_turn
from recall.models.request import ModelReply
from recall.models.turns import ToolCall, ToolSpec, TurnRequest
from tests.repair.child import Child


class Provider:
    """A remote model with valid replies. `delay`: seconds a reply takes; `sent`: where each request is noted."""

    name = "openai/scripted"
    provider = "scripted"
    endpoint = "http://127.0.0.1:9/v1"

    def __init__(self, delay: float, sent: str | None, proposal: Mapping[str, Any] | None = None) -> None:
        self._delay = delay
        self._sent = sent
        self._child = Child(proposal) if proposal is not None else None

    async def send(
        self,
        messages: Sequence[Mapping[str, object]],
        *,
        schema: Mapping[str, object] | None,
        max_output_tokens: int,
        tools: Sequence[ToolSpec] = (),
        timeout: float,  # noqa: ASYNC109 - the protocol's name
    ) -> ModelReply:
        if self._sent is not None:
            with open(self._sent, "a", encoding="utf-8") as file:  # noqa: ASYNC230
                file.write(hashlib.sha256(str(messages[-1]["content"]).encode()).hexdigest() + "\n")
        await asyncio.sleep(self._delay)
        if tools:
            request = TurnRequest("", tuple(messages[1:]), tuple(tools), "")
            if self._child is None:
                return take_turn(request)
            return ModelReply("", "tool_calls", calls=tuple(cast("Sequence[ToolCall]", self._child.turn(request))))
        body = {"messages": list(messages), "response_format": {"json_schema": {"schema": schema}}}
        return ModelReply(answer(body), "stop", prompt_tokens=1, completion_tokens=1)

    async def close(self) -> None:
        """Nothing is open."""
