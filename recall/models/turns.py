"""A turn of a model that has tools: what it is asked, the tools, the calls it answers with. Values only.

A call's arguments stay the text that the model wrote. Whoever hosts the tools parses it and judges it; nothing on the
way mends it, and the one thing that is done to it is redaction.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as the model is told of it. `parameters` is a strict JSON Schema (additionalProperties false)."""

    name: str
    description: str
    parameters: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One native call. The name may be unknown, the arguments no JSON, the id the same as another's."""

    call_id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class TurnRequest:
    """The next turn of a conversation with tools.

    `instructions` is the system message. `messages` are those after it, in OpenAI's shape: `user` with content,
    `assistant` with content and tool_calls, `tool` with tool_call_id and content, one for each call, in order.
    """

    instructions: str
    messages: tuple[Mapping[str, object], ...]
    tools: tuple[ToolSpec, ...]
    prompt_version: str
    kind: Literal["repair"] = "repair"
    max_output_tokens: int = 4096


@dataclass(frozen=True, slots=True)
class Turn:
    """What a model said, without its thinking, and what it called, in order; never neither.

    `key` is what the road keeps the reply under ("" for a model in this process, of which nothing is kept), `cached`
    whether it was a kept one.
    """

    text: str
    calls: tuple[ToolCall, ...]
    cached: bool
    key: str


def tool_json(tool: ToolSpec) -> dict[str, object]:
    """A tool in OpenAI's shape."""
    function = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
    return {"type": "function", "function": function}


def assistant_message(turn: Turn) -> Mapping[str, object]:
    """The turn as a message of the next request."""
    calls = [
        {"id": call.call_id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
        for call in turn.calls
    ]
    return {"role": "assistant", "content": turn.text} | ({"tool_calls": calls} if calls else {})


def tool_message(call: ToolCall, content: str) -> Mapping[str, object]:
    """What a tool answered to a call, as a message of the next request."""
    return {"role": "tool", "tool_call_id": call.call_id, "content": content}
