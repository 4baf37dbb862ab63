"""The process itself: standard output is the protocol's alone, and it ends when it should."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.surfaces.served import environment

_HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
}
_NOISE = (
    "import sys; from recall.surfaces import mcp_server; kept = mcp_server._described\n"
    "def noisy(tool, **more): print('stray words'); return kept(tool, **more)\n"
    "mcp_server._described = noisy; from recall.__main__ import main; sys.argv = ['history-recall', 'mcp']; main()"
)


def _start(home: Path, *words: str, folder: bytes | None = None) -> subprocess.Popen[bytes]:
    """Bounded: where it does not answer, its end does."""
    pipe = subprocess.PIPE
    command = [sys.executable, *words]
    process = subprocess.Popen(command, cwd=folder, env=environment(home), stdin=pipe, stdout=pipe, stderr=pipe)
    end = threading.Timer(240, process.kill)
    end.daemon = True
    end.start()
    return process


def test_stray_words_go_to_standard_error_and_garbage_is_no_end(home: Path) -> None:
    process = _start(home, "-c", _NOISE)
    asked = [
        json.dumps(_HELLO),
        json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        "garbage",
        json.dumps({"jsonrpc": "2.0", "id": 2, "method": "tools/list"}),
        json.dumps({"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {"name": "history_recall_status"}}),
    ]
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write("".join(line + "\n" for line in asked).encode())
    process.stdin.flush()
    answers: dict[int, Any] = {}
    while {1, 2, 3} - answers.keys():
        message = json.loads(process.stdout.readline())
        if "id" in message:
            answers[message["id"]] = message
    rest, said = process.communicate(timeout=120)
    assert rest == b""
    assert process.returncode == 0
    assert said.decode().count("stray words") == len(answers[2]["result"]["tools"]) > 0
    assert answers[3]["result"]["structuredContent"]["conversations"] == 0


def _call(name: str, arguments: str) -> str:
    return f'{{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{{"name":"{name}","arguments":{arguments}}}}}'


_SEARCH = "history_recall_search"
_INVALID, _NO_JSON, _NO_METHOD = -32600, -32700, -32601


@pytest.mark.parametrize(
    ("line", "identity", "code"),
    [
        (_call(_SEARCH, r'{"queries": ["\ud800", "x\udfffy"]}'), 2, None),
        (_call(_SEARCH, r'{"queries": ["😀 \ud83d\ude00 \\ud800"]}'), 2, None),
        (_call(_SEARCH, r'{"queries": ["x"], "\ud800": 1}'), 2, "usage"),
        (_call(r"\ud800", "{}"), 2, "usage"),
        (r'{"jsonrpc":"2.0","id":2,"method":"\ud800"}', 2, _NO_METHOD),
        ('{"jsonrpc":"1.0","id":2,"method":"tools/list"}', 2, _INVALID),
        ('{"jsonrpc":"2.0","id":"b","method":"tools/call","params":[]}', "b", _INVALID),
        ('{"jsonrpc":"2.0","id":{"x":1},"method":"tools/list"}', None, _INVALID),
        ('{"jsonrpc":"2.0","id":2}', 2, _INVALID),
        (_call(_SEARCH, "[" * 400 + "]" * 400), 2, _INVALID),
        (_call(_SEARCH, "[" * 200_000), None, _NO_JSON),
        (_call(_SEARCH, f'{{"queries": ["{"x" * 5_000_000}"]}}'), None, _NO_JSON),
        ("[]", None, _INVALID),
        ("garbage", None, _NO_JSON),
    ],
    ids=lambda value: str(value)[:60],
)
def test_every_line_that_asks_is_answered(server: Any, line: str, identity: object, code: int | str | None) -> None:
    answer = server(line)
    assert answer["id"] == identity
    if code is None:
        assert answer["result"]["isError"] is False
    elif isinstance(code, str):
        assert answer["result"]["structuredContent"]["error"]["code"] == code
    else:
        assert answer["error"]["code"] == code


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], Any]]:
    """Send one line to a process that has been greeted; what it answers."""
    process = _start(tmp_path_factory.mktemp("home"), "-m", "recall", "mcp")
    assert process.stdin is not None
    assert process.stdout is not None
    sent, received = process.stdin, process.stdout

    def ask(line: str) -> Any:
        sent.write(line.encode() + b"\n")
        sent.flush()
        return json.loads(received.readline())

    ask(json.dumps(_HELLO))
    sent.write(json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}).encode() + b"\n")
    yield ask
    process.communicate(timeout=120)
    assert process.returncode == 0


def test_it_answers_in_a_folder_whose_name_is_no_text(home: Path) -> None:
    folder = os.path.join(os.fsencode(home), b"kiln-\xff")
    os.mkdir(folder)
    process = _start(home, "-m", "recall", "mcp", folder=folder)
    assert process.stdin is not None
    assert process.stdout is not None
    for line in (json.dumps(_HELLO), *[_call(_SEARCH, '{"queries": ["kiln"]}')] * 2):
        process.stdin.write(line.encode() + b"\n")
        process.stdin.flush()
        answer = json.loads(process.stdout.readline())
        assert not answer["result"].get("isError")
    process.communicate(timeout=120)
    assert process.returncode == 0


def test_a_signal_ends_it_while_the_client_is_still_there(home: Path) -> None:
    process = _start(home, "-m", "recall", "mcp")
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(json.dumps(_HELLO).encode() + b"\n")
    process.stdin.flush()
    assert json.loads(process.stdout.readline())["id"] == 1
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=60) == 0
    assert process.communicate() == (b"", b"")


@pytest.mark.parametrize("words", [["mcp", "--json"], ["mcp"]])
def test_without_the_sdk_it_says_what_to_install(home: Path, words: list[str]) -> None:
    code = f"import sys; sys.modules['mcp'] = None; from recall.surfaces.cli import main; sys.exit(main({words!r}))"
    process = _start(home, "-c", code)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 2
    assert b"history-recall[mcp]" in out + err
    assert f"in the checkout: {sys.executable} -m pip install '.[mcp]'".encode() in out + err
