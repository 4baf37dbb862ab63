"""Providers that litellm speaks to in other ways than OpenAI's: each stream passes our ear, and a cut one is noticed.

What they send is their wire format with one short reply in it, whole or cut after its sixth character, or, where the
request has tools, with two calls of one tool.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from recall.errors import ModelError
from recall.models.litellm_model import LitellmModel
from recall.models.turns import ToolSpec, Turn, TurnRequest, assistant_message, tool_message
from tests.models.setting import GOOD, Setting, question, word

_HEAD, _TAIL = GOOD[:6], GOOD[6:]


def _lines(events: list[dict[str, Any]], *, sse: bool = True) -> bytes:
    form = "data: {}\n\n" if sse else "{}\n"
    return "".join(form.format(json.dumps(event)) for event in events).encode()


def _anthropic(whole: bool) -> bytes:
    usage = {"input_tokens": 10, "output_tokens": 1}
    message = {"id": "m", "type": "message", "role": "assistant", "content": [], "model": "x", "usage": usage}
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": message | {"stop_reason": None}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": _HEAD}},
    ]
    rest: list[dict[str, Any]] = [
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": _TAIL}},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 5}},
        {"type": "message_stop"},
    ]
    return _lines(events + rest if whole else events)


def _gemini(whole: bool) -> bytes:
    def part(text: str) -> dict[str, Any]:
        return {"content": {"parts": [{"text": text}], "role": "model"}, "index": 0}

    usage = {"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15}
    rest = {"candidates": [part(_TAIL) | {"finishReason": "STOP"}], "usageMetadata": usage}
    return _lines([{"candidates": [part(_HEAD)]}, *([rest] if whole else [])])


def _ollama(whole: bool) -> bytes:
    def piece(text: str, **more: Any) -> dict[str, Any]:
        message = {"role": "assistant", "content": text}
        return {"model": "x", "created_at": "2026-01-01T00:00:00Z", "message": message, "done": False} | more

    end = piece("", done=True, done_reason="stop", prompt_eval_count=10, eval_count=5)
    return _lines([piece(_HEAD), *([piece(_TAIL), end] if whole else [])], sse=False)


def _openai(whole: bool) -> bytes:
    def piece(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
        choices = [{"index": 0, "delta": delta, "finish_reason": finish}]
        return {"id": "s", "object": "chat.completion.chunk", "created": 1, "model": "x", "choices": choices}

    usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
    rest = [piece({"content": _TAIL}), piece({}, "stop"), piece({}) | {"choices": [], "usage": usage}]
    begin = piece({"role": "assistant", "content": _HEAD})
    return _lines([begin, *rest]) + b"data: [DONE]\n\n" if whole else _lines([begin])


_CALLS = ({"entry": "e1"}, {"entry": "一"})


def _anthropic_calls() -> bytes:
    start = json.loads(_anthropic(False).split(b"\n", 1)[0].removeprefix(b"data: "))
    events: list[dict[str, Any]] = [start]
    thinking = {"type": "thinking", "thinking": "", "signature": ""}
    events += [
        {"type": "content_block_start", "index": 0, "content_block": thinking},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "hm"}},
        {"type": "content_block_stop", "index": 0},
    ]
    for index, call in enumerate(_CALLS, 1):
        block = {"type": "tool_use", "id": f"toolu_{index}", "name": "repair_read", "input": {}}
        written = json.dumps(call)
        deltas = [{"type": "input_json_delta", "partial_json": part} for part in ("", written[:6], written[6:])]
        events.append({"type": "content_block_start", "index": index, "content_block": block})
        events += [{"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas]
        events.append({"type": "content_block_stop", "index": index})
    end = {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 5}}
    return _lines([*events, end, {"type": "message_stop"}])


def _gemini_calls() -> bytes:
    def event(part: dict[str, Any], **more: Any) -> dict[str, Any]:
        return {"candidates": [{"content": {"parts": [part], "role": "model"}, "index": 0} | more]}

    signed = {"thoughtSignature": "c2lnbmF0dXJl" * 40}
    parts = [{"functionCall": {"name": "repair_read", "args": call}} | signed for call in _CALLS]
    usage = {"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15}
    thought = {"text": "hm", "thought": True}
    return _lines([event(thought), event(parts[0]), event(parts[1], finishReason="STOP") | {"usageMetadata": usage}])


def _ollama_calls() -> bytes:
    def piece(calls: list[Any], **more: Any) -> dict[str, Any]:
        message = {"role": "assistant", "content": "", "tool_calls": calls}
        return {"model": "x", "created_at": "2026-01-01T00:00:00Z", "message": message, "done": False} | more

    calls = [{"function": {"name": "repair_read", "arguments": call}} for call in _CALLS]
    end = piece([], done=True, done_reason="stop", prompt_eval_count=10, eval_count=5)
    return _lines([piece([calls[0]]), piece([calls[1]]), end], sse=False)


def _openai_calls() -> bytes:
    def piece(calls: list[Any], finish: str | None = None) -> dict[str, Any]:
        choices = [{"index": 0, "delta": {"tool_calls": calls}, "finish_reason": finish}]
        return {"id": "s", "object": "chat.completion.chunk", "created": 1, "model": "x", "choices": choices}

    calls = [
        {"index": i, "id": f"c{i}", "type": "function", "function": {"name": "repair_read", "arguments": json.dumps(c)}}
        for i, c in enumerate(_CALLS)
    ]
    usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
    return _lines([piece(calls), piece([], "tool_calls"), piece([]) | {"choices": [], "usage": usage}]) + _DONE


_DONE = b"data: [DONE]\n\n"
_WIRES = {"messages": _anthropic, "GenerateContent": _gemini, "/api/chat": _ollama, "completions": _openai}
_WITH_CALLS = {
    _anthropic: _anthropic_calls,
    _gemini: _gemini_calls,
    _ollama: _ollama_calls,
    _openai: _openai_calls,
}


@contextmanager
def _serving(*, whole: bool) -> Iterator[tuple[str, list[str]]]:
    """An endpoint of every kind, and the paths of the model requests that it saw."""
    seen: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
            """Nothing on stderr."""

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            wire = next((wire for part, wire in _WIRES.items() if part.lower() in self.path.lower()), None)
            if wire is None:
                self.send_error(404)
                return
            seen.append(self.path)
            data = _WITH_CALLS[wire]() if "tools" in body else wire(whole)
            self.send_response(200)
            self.send_header("Content-Type", "application/x-ndjson" if wire is _ollama else "text/event-stream")
            self.end_headers()
            self.wfile.write(data)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", seen
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _ask(setting: Setting, name: str, base: str) -> str:
    async def work() -> str:
        road = setting.road(LitellmModel(name, base))
        try:
            return await road.ask(question(), word)
        finally:
            await road.close()

    return asyncio.run(work())


NAMES = [
    "anthropic/claude-sonnet-4-5",
    "gemini/gemini-2.5-flash",
    "ollama_chat/llama3",
    "hosted_vllm/any",
    "openrouter/some/model",
    "mistral/mistral-large-latest",
    "deepseek/deepseek-chat",
]


@pytest.mark.parametrize("name", NAMES)
def test_a_whole_reply_is_one_request(setting: Setting, name: str) -> None:
    with _serving(whole=True) as (base, seen):
        assert _ask(setting, name, base) == "lantern"
        assert len(seen) == 1
    (row,) = setting.all_rows()
    assert (row["state"], row["prompt_tokens"], row["completion_tokens"]) == ("done", 10, 5)


@pytest.mark.parametrize("name", NAMES)
def test_a_cut_reply_is_two_requests_and_a_failure(setting: Setting, name: str) -> None:
    with _serving(whole=False) as (base, seen):
        with pytest.raises(ModelError) as caught:
            _ask(setting, name, base)
        assert len(seen) == 2 == len(setting.rows())
    # For Gemini litellm makes up a finish; there the half JSON is what tells.
    assert caught.value.code == ("invalid_model_output" if name.startswith("gemini") else "model_request_failed")
    assert setting.kept() == []


@pytest.mark.parametrize("name", NAMES)
def test_calls_come_through_and_thinking_does_not(setting: Setting, name: str) -> None:
    """The next turn, too: it repeats the calls, one with arguments that are no JSON."""
    tool = ToolSpec("repair_read", "Read.", {"type": "object", "properties": {"entry": {"type": "string"}}})
    first = TurnRequest("Mend.", ({"role": "user", "content": "begin"},), (tool,), "1")

    async def work(base: str) -> tuple[Turn, Turn]:
        road = setting.road(LitellmModel(name, base))
        try:
            turn = await road.turn(first)
            broken = replace(turn, calls=(turn.calls[0], replace(turn.calls[1], arguments='{"entry": ')))
            results = [tool_message(call, '{"text": "…"}') for call in turn.calls]
            messages = (*first.messages, assistant_message(broken), *results)
            return turn, await road.turn(replace(first, messages=messages))
        finally:
            await road.close()

    with _serving(whole=True) as (base, seen):
        for turn in asyncio.run(work(base)):
            assert [(call.name, json.loads(call.arguments)) for call in turn.calls] == [
                ("repair_read", call) for call in _CALLS
            ]
            assert turn.text == ""
            assert all(0 < len(call.call_id) <= 200 for call in turn.calls)
        assert len(seen) == 2 == len(setting.rows())
    assert [(row["state"], row["prompt_tokens"]) for row in setting.all_rows()] == [("done", 10)] * 2


@contextmanager
def _sending_elsewhere(status: int) -> Iterator[tuple[str, list[str], list[str]]]:
    """An endpoint that answers with a redirect to another, and what each of the two saw."""
    seen: list[str] = []
    with _serving(whole=True) as (other, seen_there):

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
                """Nothing on stderr."""

            def do_POST(self) -> None:
                self.rfile.read(int(self.headers["Content-Length"]))
                seen.append(self.path)
                self.send_response(status)
                self.send_header("Location", other.replace("127.0.0.1", "localhost") + self.path)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def do_GET(self) -> None:
                seen.append(self.path)
                self.send_error(404)

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}", seen, seen_there
        finally:
            server.shutdown()
            server.server_close()
            thread.join()


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize("name", ["openai/any", *NAMES])
def test_a_redirect_is_not_followed(setting: Setting, name: str, status: int) -> None:
    with _sending_elsewhere(status) as (base, seen, seen_there):
        with pytest.raises(ModelError) as caught:
            _ask(setting, name, base)
        assert (caught.value.code, seen_there) == ("model_request_failed", [])
        assert "the server sent us elsewhere; it was not followed" in caught.value.message
        assert len(seen) == 1 == len(setting.rows())


def test_the_road_that_could_not_be_guarded_is_refused(setting: Setting) -> None:
    with _serving(whole=True) as (base, seen):
        with pytest.raises(ModelError, match="redirects"):
            _ask(setting, "aiohttp_openai/any", base)
        assert seen == []
    assert setting.rows() == []
