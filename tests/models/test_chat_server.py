"""The server the other tests trust: that it counts, answers in both forms, and runs as a process."""

from __future__ import annotations

import http.client
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from benchmarks.servers.chat_server import ChatServer, ToolCall, Turn
from tests.shared import ROOT


def _post(port: int, body: dict[str, Any], **headers: str) -> tuple[int, str]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    try:
        connection.request("POST", "/v1/chat/completions", json.dumps(body), headers)
        response = connection.getresponse()
        return response.status, response.read().decode()
    finally:
        connection.close()


def _events(text: str) -> list[Any]:
    return [json.loads(line[6:]) for line in text.splitlines() if line.startswith("data: {")]


def test_a_key_is_seen_and_not_kept() -> None:
    with ChatServer([Turn(text="hello")]) as server:
        status, text = _post(server.port, {"model": "m"}, Authorization="Bearer secret-word")
        assert (status, json.loads(text)["choices"][0]["message"]["content"]) == (200, "hello")
        (seen,) = server.requests
        assert (seen.keyed, "secret-word" in str(seen)) == (True, False)


def test_a_stream_comes_in_pieces_with_usage_at_its_end() -> None:
    with ChatServer([Turn(text="hello there", piece=3)]) as server:
        _, text = _post(server.port, {"stream": True, "stream_options": {"include_usage": True}})
    events = _events(text)
    assert "".join(e["choices"][0]["delta"].get("content") or "" for e in events if e["choices"]) == "hello there"
    assert events[-1]["usage"]["total_tokens"] == 15
    assert text.rstrip().endswith("data: [DONE]")


def test_several_tool_calls_in_one_turn_whole_or_broken() -> None:
    calls = (ToolCall("read", '{"a": 1}'), ToolCall("read", '{"a": 1}{"b": 2}'), ToolCall("read", '{"a'))
    with ChatServer([Turn("tools", calls=calls, piece=2, finish="tool_calls")] * 2) as server:
        _, streamed = _post(server.port, {"stream": True})
        _, whole = _post(server.port, {})
    joined = ["", "", ""]
    for event in _events(streamed):
        for call in event["choices"][0]["delta"].get("tool_calls", ()):
            joined[call["index"]] += call["function"]["arguments"]
    assert joined == [call.arguments for call in calls]
    assert [c["function"]["arguments"] for c in json.loads(whole)["choices"][0]["message"]["tool_calls"]] == joined


def test_a_script_that_is_used_up_says_so_and_a_responder_goes_on() -> None:
    with ChatServer() as server:
        assert _post(server.port, {})[0] == 400
    with ChatServer(responder=lambda body: {"how": "text", "text": str(body["model"])}) as server:
        assert "other" in _post(server.port, {"model": "other"})[1]


def test_as_a_process_it_prints_its_port_and_writes_what_it_saw(tmp_path: Path) -> None:
    script, log = tmp_path / "script.json", tmp_path / "log.jsonl"
    turns = [{"how": "status", "status": 429, "headers": {"Retry-After": "3"}}, {"text": "again"}]
    script.write_text(json.dumps(turns), encoding="utf-8")
    command = [sys.executable, "-m", "benchmarks.servers.chat_server", "--script", str(script), "--log", str(log)]
    with subprocess.Popen([*command, "--repeat"], cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        port = int(process.stdout.readline())
        try:
            answers = [_post(port, {"n": number})[0] for number in range(4)]
        finally:
            process.terminate()
    assert answers == [429, 200, 200, 200]
    assert [json.loads(line)["body"]["n"] for line in log.read_text(encoding="utf-8").splitlines()] == [0, 1, 2, 3]
