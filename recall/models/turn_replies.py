"""A reply to a turn: what is taken from it and kept, and how it is shown to the model again.

What the model wrote reaches the host of the tools unharmed. The next request repeats it, and there providers are
strict: arguments that are no JSON object, a name with a blank in it or an id given twice end the whole request, with
some in their client library. So `as_sent` writes those few things anew, for the wire only.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict, deque
from collections.abc import Mapping, Sequence
from typing import cast

from recall.hashing import canonical_json
from recall.models.replies import MAX_CHARS, InvalidReply, redacted_json, without_thinking
from recall.models.request import ModelReply
from recall.models.schemas import fault_of
from recall.models.turns import ToolCall, Turn
from recall.redact import redact_text

MOST_CALLS = 256
_MOST_ID = 200  # Gemini's carry signatures of its thinking; litellm sends those again, and unasked a second time
_NAME = re.compile(r"[^a-zA-Z0-9_-]")
_ID = re.compile(rf"[!-~]{{1,{_MOST_ID}}}")
_LONGEST_NAME = 64
_TEXT = {"type": "string"}
_CALL = {
    "type": "object",
    "properties": {"call_id": _TEXT, "name": _TEXT, "arguments": _TEXT},
    "required": ["call_id", "name", "arguments"],
    "additionalProperties": False,
}
_KEPT = {
    "type": "object",
    "properties": {"text": _TEXT, "calls": {"type": "array", "items": _CALL, "maxItems": MOST_CALLS}},
    "required": ["text", "calls"],
    "additionalProperties": False,
}


def read_turn(reply: ModelReply, key: str) -> Turn:
    """What a judged reply says and calls, redacted. Raises InvalidReply."""
    if len(reply.calls) > MOST_CALLS:
        raise InvalidReply(f"the reply makes {len(reply.calls)} tool calls; {MOST_CALLS} are the most")
    if len(reply.text) + sum(len(call.name) + len(call.arguments) for call in reply.calls) > MAX_CHARS:
        raise InvalidReply(f"the reply is longer than {MAX_CHARS} characters")
    text = redacted_json(without_thinking(reply.text.strip()))
    calls = tuple(_read_call(call, f"call_{key[-8:]}_{place}") for place, call in enumerate(reply.calls, 1))
    if not text and not calls:
        raise InvalidReply("the reply is empty")
    return Turn(text, calls, False, key)


def kept_text(turn: Turn) -> str:
    """The turn as it stands in the cache."""
    calls = [{"call_id": one.call_id, "name": one.name, "arguments": one.arguments} for one in turn.calls]
    return canonical_json({"text": turn.text, "calls": calls})


def kept_turn(text: str, key: str) -> Turn:
    """A turn from the cache. Raises InvalidReply where it is none."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidReply("the kept reply is damaged") from error
    fault = fault_of(_KEPT, found)
    if fault is not None or not (found["text"] or found["calls"]):
        raise InvalidReply("the kept reply is damaged")
    return Turn(found["text"], tuple(ToolCall(**call) for call in found["calls"]), True, key)


def as_sent(messages: Sequence[Mapping[str, object]]) -> tuple[Mapping[str, object], ...]:
    """The messages with calls that every provider takes: each with an id of its own, a name, and an object."""
    made: list[Mapping[str, object]] = []
    given: set[str] = set()
    waiting: defaultdict[str, deque[str]] = defaultdict(deque)
    for message in messages:
        calls, answers = message.get("tool_calls"), message.get("tool_call_id")
        if isinstance(calls, list | tuple):
            waiting.clear()
            message = {**message, "tool_calls": [_call_as_sent(call, given, waiting) for call in calls]}
        elif isinstance(answers, str) and waiting[answers]:
            message = {**message, "tool_call_id": waiting[answers].popleft()}
        made.append(message)
    return tuple(made)


def _call_as_sent(call: Mapping[str, object], given: set[str], waiting: Mapping[str, deque[str]]) -> dict[str, object]:
    call_id, function = str(call["id"]), cast("Mapping[str, object]", call["function"])
    own, number = call_id, 1
    while own in given:
        number += 1
        own = f"{call_id}_{number}"
    given.add(own)
    waiting[call_id].append(own)
    name = _NAME.sub("_", str(function["name"]))[:_LONGEST_NAME] or "unnamed"
    return {"id": own, "type": "function", "function": {"name": name, "arguments": _object(str(function["arguments"]))}}


def _object(arguments: str) -> str:
    """The arguments where they are a JSON object, else an object that holds them."""
    try:
        if isinstance(json.loads(arguments), dict):
            return arguments
    except (ValueError, RecursionError):
        pass  # as with any other value, the model is shown what it wrote
    return canonical_json({"not_an_object": arguments})


def _read_call(call: ToolCall, made_id: str) -> ToolCall:
    usable = _ID.fullmatch(call.call_id) and redact_text(call.call_id) == call.call_id
    return ToolCall(call.call_id if usable else made_id, redacted_json(call.name), redacted_json(call.arguments))
