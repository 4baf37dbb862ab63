"""The scripted provider that the driver's processes talk to."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Mapping, Sequence

from benchmarks.servers.replies import answer
from recall.models.extractive.child import take_turn
from recall.models.request import ModelReply
from recall.models.turns import ToolSpec, TurnRequest


class Provider:
    """A remote model with valid replies. `delay`: seconds a reply takes; `sent`: where each request is noted."""

    name = "openai/scripted"
    provider = "scripted"
    endpoint = "http://127.0.0.1:9/v1"

    def __init__(self, delay: float, sent: str | None) -> None:
        self._delay = delay
        self._sent = sent

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
        if tools:  # a turn of repair: the built-in child's
            return take_turn(TurnRequest("", tuple(messages[1:]), tuple(tools), ""))
        body = {"messages": list(messages), "response_format": {"json_schema": {"schema": schema}}}
        return ModelReply(answer(body), "stop", prompt_tokens=1, completion_tokens=1)

    async def close(self) -> None:
        """Nothing is open."""
