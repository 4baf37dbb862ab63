"""A server that means harm, or is only broken: what it sends stays without effect beyond its own request."""

from __future__ import annotations

import asyncio
import gzip
import json
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from recall.errors import ModelError, RecallError
from recall.models.litellm_model import LitellmModel
from tests.models.setting import GOOD, Setting, question, word

SSE = {"Content-Type": "text/event-stream"}


class _Hostile:
    """What it answers: status, headers, body; `{auth}` and `{request}` in the body are filled in."""

    def __init__(self, status: int, body: bytes, headers: dict[str, str]) -> None:
        self.status, self.body, self.headers = status, body, headers
        self.requests = 0
        self.written = 0
        self.url = ""

    @contextmanager
    def running(self) -> Iterator[_Hostile]:
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
                """Nothing on stderr."""

            def do_POST(self) -> None:
                request = self.rfile.read(int(self.headers["Content-Length"])).decode()
                outer.requests += 1
                auth = (self.headers.get("Authorization") or self.headers.get("x-api-key") or "").split(" ")[-1]
                body = outer.body.replace(b"{auth}", auth.encode())
                body = body.replace(b"{request}", json.dumps(request)[1:-1].encode())
                self.send_response(outer.status)
                for name, value in outer.headers.items():
                    self.send_header(name, value)
                self.end_headers()
                try:
                    for at in range(0, len(body), 65_536):
                        self.wfile.write(body[at : at + 65_536])
                        outer.written += len(body[at : at + 65_536])
                except OSError:
                    pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        self.url = f"http://127.0.0.1:{server.server_port}"
        try:
            yield self
        finally:
            server.shutdown()
            server.server_close()
            thread.join()


def _piece(text: str, finish: str | None = None, **more: Any) -> bytes:
    choices = [{"index": 0, "delta": {"role": "assistant", "content": text}, "finish_reason": finish}]
    chunk = {"id": "s", "object": "chat.completion.chunk", "created": 1, "model": "x", "choices": choices} | more
    return b"data: " + json.dumps(chunk).encode() + b"\n\n"


def _ask(
    setting: Setting, status: int, body: bytes, content: str = "which word?", name: str = "openai/x", **headers: str
) -> tuple[str | RecallError, _Hostile]:
    async def work(base: str) -> str:
        road = setting.road(LitellmModel(name, base))
        try:
            return await road.ask(question(content), word)
        finally:
            await road.close()

    named = {name.replace("_", "-"): value for name, value in headers.items()} or SSE
    with _Hostile(status, body, named).running() as server:
        try:
            result: str | RecallError = asyncio.run(work(server.url))
        except RecallError as error:
            result = error
        assert server.requests == len(setting.rows())
    return result, server


@pytest.mark.parametrize("after", ["99999999999999999999", "9" * 4000, "Fri, 31 Dec 9999 23:59:59 -9999"])
def test_a_wait_without_end_is_a_rate_limit(setting: Setting, after: str) -> None:
    result, _ = _ask(setting, 429, b"{}", Retry_After=after)
    assert isinstance(result, ModelError)
    assert result.code == "rate_limited"


@pytest.mark.parametrize("usage", [10**23, -5, "x", {"a": 1}, [3], 1.5])
def test_a_usage_that_cannot_be_is_none(setting: Setting, usage: object) -> None:
    numbers = {"prompt_tokens": usage, "completion_tokens": usage, "total_tokens": usage}
    body = _piece(GOOD, "stop") + _piece("", choices=[], usage=numbers) + b"data: [DONE]\n\n"
    with warnings.catch_warnings(record=True) as shown:
        result, _ = _ask(setting, 200, body)
    assert result == "lantern"
    assert all(row["prompt_tokens"] is None for row in setting.all_rows())
    assert all(state != "charged" for state, _ in setting.rows())
    assert [str(one.message) for one in shown if "ydantic" in str(one.message)] == []


@pytest.mark.parametrize(
    ("status", "body", "packed"),
    [
        (200, _piece("word " * 20_000) * 500, ""),
        (200, b"data: " + b"x" * 50_000_000, ""),
        (200, gzip.compress(b"data: " + b"x" * 100_000_000), "gzip"),
        (400, gzip.compress(b"x" * 100_000_000), "gzip"),
        (500, b"x" * 50_000_000, ""),
    ],
    ids=["stream", "line", "bomb", "error-bomb", "error"],
)
def test_an_answer_without_end_is_given_up(setting: Setting, status: int, body: bytes, packed: str) -> None:
    headers = SSE | ({"Content-Encoding": packed} if packed else {})
    result, server = _ask(setting, status, body, **headers)
    assert isinstance(result, ModelError)
    assert result.code == "model_request_failed"
    assert "far longer" in result.message
    assert server.requests == 1
    assert server.written < 30_000_000


def test_a_packed_reply_is_read(setting: Setting) -> None:
    body = gzip.compress(_piece(GOOD, "stop") + b"data: [DONE]\n\n")
    assert _ask(setting, 200, body, Content_Type="text/event-stream", Content_Encoding="gzip")[0] == "lantern"


KEY = "mylocalgateway4f9Zr3Lk29Xw7Bv"
VARIABLES = {"openai/x": "OPENAI_API_KEY", "anthropic/claude-sonnet-4-5": "ANTHROPIC_API_KEY"}


@pytest.mark.parametrize("name", VARIABLES)
@pytest.mark.parametrize("status", [400, 401, 403, 404, 422, 429, 500, 503])
@pytest.mark.parametrize("said", ["Incorrect API key provided: {auth}", "{auth}", "unknown user {auth}."])
def test_a_key_that_is_repeated_is_masked(
    setting: Setting, monkeypatch: pytest.MonkeyPatch, name: str, status: int, said: str
) -> None:
    monkeypatch.setenv(VARIABLES[name], KEY)
    body = json.dumps({"error": {"message": said, "type": "x"}}).encode()
    result, _ = _ask(setting, status, body, name=name, Content_Type="application/json")
    assert isinstance(result, ModelError)
    assert KEY not in f"{result.message} {result.hint} {result.data}"


def test_a_key_in_a_reply_is_masked(setting: Setting, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    body = _piece('{"word": "') + _piece("of {auth}") + _piece('"}', "stop")
    result, _ = _ask(setting, 200, body + b"data: [DONE]\n\n")
    assert result == "of [REDACTED:key]"
    assert KEY not in str(setting.kept())


@pytest.mark.parametrize("status", [400, 401, 422, 500])
def test_a_request_that_is_repeated_is_not_shown(setting: Setting, status: int) -> None:
    content = 'Decided: "retry" limit six\n\tPROMPTMARKERzebra, jitter für 12 Läufe; it worked, all tests passed'
    body = b'{"error": {"message": "bad: {request}", "type": "x"}}'
    result, _ = _ask(setting, status, body, content=content, Content_Type="application/json")
    assert isinstance(result, ModelError)
    assert "(the server's answer repeats the request)" in result.message
    assert "zebra" not in result.message
