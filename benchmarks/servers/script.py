"""How a request to the chat server is answered: the turns of a script, as values and as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, cast

How = Literal[
    "text",  # the text, in pieces, then a finish reason, usage and [DONE]
    "status",  # an HTTP error with `status`, `headers`, `message`
    "html",  # 200 with a page instead of an answer
    "hang",  # headers at once when `text` is set (and that text), then nothing until the client goes or `release()`
    "cut",  # half of the text, then the connection breaks
    "eof",  # half of the text, then a clean end without a finish reason
    "broken_line",  # half of the text, then a data line that is no JSON
    "error_in_stream",  # half of the text, then an error object as a data line
    "no_choices",  # an answer whose list of choices is empty
    "null_content",  # a finished answer without any text
    "refusal",  # no content; the words stand in `refusal`
    "list_content",  # content as a list of blocks, a thinking block among them
    "reasoning",  # only hidden reasoning, then finish reason `length`
    "tools",  # the text, then the tool calls of `calls`, streamed as `shape` says
]

Shape = Literal[
    "first_id",  # the id and the name in the first piece, as the protocol says
    "each_id",  # the same id and name in each piece
    "new_id",  # another id in each piece
    "no_id",  # never an id
    "whole",  # each call in one piece, all in one delta
    "one_index",  # each call in one piece, all with index 0
    "object",  # each call in one piece, its arguments an object
    "bare",  # the id in a piece of its own, without a function
]


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One native tool call as a model would make it: `arguments` is a string and need not be JSON."""

    name: str
    arguments: str
    call_id: str = ""


@dataclass(frozen=True, slots=True)
class Turn:
    """How one request is answered. `pause` is waited before each piece of text.

    With `calls`, what breaks off half-way (`cut`, `eof`, `broken_line`, `error_in_stream`) does so in the calls.
    """

    how: How = "text"
    text: str = ""
    finish: str | None = "stop"
    status: int = 500
    headers: tuple[tuple[str, str], ...] = ()
    message: str = "the server is told to fail"
    pause: float = 0.0
    piece: int = 40
    calls: tuple[ToolCall, ...] = ()
    shape: Shape = "first_id"
    prompt_tokens: int = 10
    completion_tokens: int = 5
    reasoning_tokens: int = 0

    def counted(self, prompt_tokens: int, completion_tokens: int) -> Turn:
        """The same with these numbers."""
        return replace(self, prompt_tokens=prompt_tokens, completion_tokens=completion_tokens)

    @classmethod
    def from_json(cls, value: Mapping[str, object]) -> Turn:
        """A turn from its JSON form, as it stands in a script file."""
        fields = dict(value)
        headers = cast("Mapping[str, str]", fields.pop("headers", {}))
        calls = cast("Sequence[Mapping[str, str]]", fields.pop("calls", ()))
        made = tuple(ToolCall(c["name"], c["arguments"], c.get("call_id", "")) for c in calls)
        return cls(headers=tuple(headers.items()), calls=made, **fields)  # type: ignore[arg-type]


def fenced(text: str, language: str = "json") -> str:
    """The text in a code fence."""
    return f"```{language}\n{text}\n```"


def chatty(text: str) -> str:
    """The text between sentences that have braces of their own."""
    return f"Sure {{draft 2}} - the record follows: {text} regards {{bot}}"


def failing(status: int, message: str = "no", **headers: str) -> Turn:
    """An HTTP error; header names are written with underscores."""
    return Turn(
        "status", status=status, message=message, headers=tuple((k.replace("_", "-"), v) for k, v in headers.items())
    )
