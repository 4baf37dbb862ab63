"""What came of one stream: litellm's chunks, and beside them the provider's own events.

litellm loses some of what it is sent (a refusal, content that is a list of blocks, a tool call one field of which is
not of the type that it expects, a whole reply whose usage is of such a type), so the events are heard before it gets
them. Thinking is heard by nobody.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any

from recall.models.tool_deltas import ToolCalls
from recall.models.turns import ToolCall

_COUNTS = ("prompt_tokens", "completion_tokens", "total_tokens")


class Heard:
    """One reply as far as it came. `events` counts the provider's own."""

    def __init__(self) -> None:
        self.finish = ""
        self.refusal = ""
        self.events = 0
        self._text = ""
        self._blocks = ""
        self._in_blocks = False
        self._usage: Any = None
        self._usage_told = False
        self._calls = ToolCalls()
        self._calls_told = ToolCalls()

    @property
    def text(self) -> str:
        return self._blocks if self._in_blocks else self._text

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """The provider's own, or what litellm made of calls that it gives in another form."""
        return self._calls.done() or self._calls_told.done()

    @property
    def usage(self) -> Any:
        """As the provider told it; where it told none, litellm counts words of its own accord, and nobody asked it."""
        return self._usage if self._usage_told else None

    def listen_to(self, stream: Any) -> None:
        """Put an ear between litellm and the provider's stream, where it is one that can be iterated."""
        source: Any = getattr(stream, "completion_stream", None)
        if hasattr(source, "__anext__"):
            stream.completion_stream = _Ear(source, self._overhear)
        else:
            self.events = 1  # not to be heard, so its silence says nothing
            self._usage_told = True

    def take(self, chunk: Any) -> None:
        """A chunk of litellm's."""
        self._usage = getattr(chunk, "usage", None) or self._usage
        for choice in chunk.choices[:1]:
            content = getattr(choice.delta, "content", None)
            self._text += content if isinstance(content, str) else ""
            self._calls_told.add(getattr(choice.delta, "tool_calls", None))
            self.finish = choice.finish_reason or self.finish

    def _overhear(self, event: Any) -> None:
        self.events += 1
        self._usage_told = _usage_of(event) or self._usage_told
        for choice in (getattr(event, "choices", None) or ())[:1]:
            delta = getattr(choice, "delta", None)
            refusal, content = getattr(delta, "refusal", None), getattr(delta, "content", None)
            self.refusal += refusal if isinstance(refusal, str) else ""
            self._calls.add(getattr(delta, "tool_calls", None))
            if isinstance(content, list):
                self._in_blocks = True
                self._blocks += "".join(_block_text(block) for block in content)
            elif isinstance(content, str):
                self._blocks += content


class _Ear:
    """A stream that tells of each event before it is handed on."""

    def __init__(self, source: AsyncIterator[Any], tell: Callable[[Any], None]) -> None:
        self._source = source
        self._tell = tell

    def __aiter__(self) -> _Ear:
        # litellm starts an iteration for each chunk, and some of its streams make themselves ready in it.
        self._source = aiter(self._source)
        return self

    async def __anext__(self) -> Any:
        event = await anext(self._source)
        self._tell(event)
        return event

    def __getattr__(self, name: str) -> Any:
        return getattr(self._source, name)


def _usage_of(event: Any) -> bool:
    """Whether the event tells a usage. One that can be none is taken out: litellm would lose the whole reply to it."""
    if isinstance(event, Mapping):
        return bool(event.get("usage"))
    usage = getattr(event, "usage", None)
    if usage is None:
        return False
    counts = [usage.get(name) if isinstance(usage, Mapping) else getattr(usage, name, "") for name in _COUNTS]
    if all(isinstance(count or 0, int) for count in counts):
        return True
    event.usage = None
    return False


def _block_text(block: object) -> str:
    """The text of a text block; thinking and everything else gives none."""
    if isinstance(block, Mapping) and block.get("type") == "text":
        return str(block.get("text") or "")
    return ""
