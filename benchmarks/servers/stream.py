"""A turn as it goes over the wire: the events of a stream, or one whole answer."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from benchmarks.servers.script import Shape, ToolCall, Turn

_CHUNK = {"id": "s", "object": "chat.completion.chunk", "created": 1, "model": "scripted", "choices": []}


def _pieces(text: str, size: int) -> Iterator[str]:
    for start in range(0, len(text), size):
        yield text[start : start + size]


def _event(delta: Mapping[str, object], finish: str | None = None) -> str:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return json.dumps(
        {"id": "s", "object": "chat.completion.chunk", "created": 1, "model": "scripted", "choices": [choice]}
    )


def events(turn: Turn, *, with_usage: bool) -> Iterator[str]:
    """The data lines of one streamed answer, [DONE] included where the answer comes to its end."""
    half = turn.text[: max(1, len(turn.text) // 2)]
    if turn.how == "no_choices":
        yield json.dumps(
            {"id": "s", "object": "chat.completion.chunk", "created": 1, "model": "scripted", "choices": []}
        )
        yield "[DONE]"
        return
    yield _event({"role": "assistant", "content": ""})
    if turn.how in ("cut", "eof", "broken_line", "error_in_stream", "hang"):
        for piece in _pieces(turn.text if turn.how == "hang" else half, turn.piece):
            yield _event({"content": piece})
        calls = list(_calls(turn))
        yield from map(_event, calls[: len(calls) // 2 + 1])
        if turn.how == "broken_line":
            yield '{"id": "s", "choices": [{"del'
        if turn.how == "error_in_stream":
            yield json.dumps({"error": {"message": turn.message, "type": "server_error", "code": turn.status}})
        return
    yield from map(_event, _deltas(turn))
    yield _event({}, "length" if turn.how == "reasoning" else turn.finish)
    if with_usage:
        yield json.dumps(_CHUNK | {"usage": _usage(turn)})
    yield "[DONE]"


def _deltas(turn: Turn) -> Iterator[Mapping[str, object]]:
    if turn.how == "null_content":
        yield {"content": None}
    elif turn.how == "refusal":
        yield {"content": None, "refusal": turn.text}
    elif turn.how == "list_content":
        yield {"content": [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": turn.text}]}
    elif turn.how == "reasoning":
        yield {"content": "", "reasoning_content": "thinking ..."}
    elif turn.how == "tools":
        for piece in _pieces(turn.text, turn.piece):
            yield {"content": piece}
        yield from _calls(turn)
    else:
        for piece in _pieces(turn.text, turn.piece):
            yield {"content": piece}


def _calls(turn: Turn) -> Iterator[Mapping[str, object]]:
    """The deltas of the tool calls."""
    if turn.shape == "whole":
        yield {"tool_calls": [_call(index, call, index) for index, call in enumerate(turn.calls)]}
        return
    for index, call in enumerate(turn.calls):
        if turn.shape in ("one_index", "object"):
            whole = _call(0 if turn.shape == "one_index" else index, call, index)
            if turn.shape == "object":
                whole["function"] = {"name": call.name, "arguments": json.loads(call.arguments)}
            yield {"tool_calls": [whole]}
            continue
        if turn.shape == "bare":
            yield {"tool_calls": [{"index": index, "id": call.call_id or f"call_{index}", "type": "function"}]}
        for number, piece in enumerate(["", *_pieces(call.arguments, turn.piece)]):
            yield {"tool_calls": [_piece_of_call(turn.shape, index, call, number, piece)]}


def _call(index: int, call: ToolCall, number: int) -> dict[str, object]:
    head = {"index": index, "id": call.call_id or f"call_{number}", "type": "function"}
    return head | {"function": {"name": call.name, "arguments": call.arguments}}


def _piece_of_call(shape: Shape, index: int, call: ToolCall, number: int, piece: str) -> dict[str, object]:
    call_id = call.call_id or f"call_{index}"
    head: dict[str, object] = {"index": index}
    function = {"arguments": piece}
    if number == 0 or shape == "each_id":
        function["name"] = call.name
        head["type"] = "function"
    if shape == "each_id" or (number == 0 and shape == "first_id"):
        head["id"] = call_id
    elif shape == "new_id":
        head["id"] = f"{call_id}_{number}"
    return head | {"function": function}


def completion(turn: Turn) -> Mapping[str, object]:
    """The answer to a request that asked for no stream."""
    message: dict[str, object] = {"role": "assistant", "content": turn.text}
    for delta in _deltas(turn) if turn.how != "text" else ():
        message |= {name: value for name, value in delta.items() if name != "tool_calls"}
    if turn.how == "tools":
        message["content"] = None
        message["tool_calls"] = [
            {"id": c.call_id or f"call_{i}", "type": "function", "function": {"name": c.name, "arguments": c.arguments}}
            for i, c in enumerate(turn.calls)
        ]
    choice = {"index": 0, "message": message, "finish_reason": "length" if turn.how == "reasoning" else turn.finish}
    choices = [] if turn.how == "no_choices" else [choice]
    head = {"id": "s", "object": "chat.completion", "created": 1, "model": "scripted"}
    return head | {"choices": choices, "usage": _usage(turn)}


def _usage(turn: Turn) -> Mapping[str, object]:
    return {
        "prompt_tokens": turn.prompt_tokens,
        "completion_tokens": turn.completion_tokens,
        "total_tokens": turn.prompt_tokens + turn.completion_tokens,
        "completion_tokens_details": {"reasoning_tokens": turn.reasoning_tokens},
    }
