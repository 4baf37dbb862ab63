"""A client of `history-recall serve` over a real process: requests out, messages in."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

from tests.shared import ROOT

Message = dict[str, Any]


def environment(home: Path, **variables: str) -> dict[str, str]:
    """What a process of the product needs, and nothing of whoever runs the tests."""
    own = {"PATH": os.environ["PATH"], "HOME": str(home), "PYTHONPATH": str(ROOT)}
    return own | {f"HISTORY_RECALL_{name.upper()}": value for name, value in variables.items()}


class Served:
    """The process and what it said. `heard` are the messages that were no answer to a `call`."""

    def __init__(self, env: Mapping[str, str], *words: str, command: str = "serve") -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "recall", command, *words],
            env=dict(env),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self.heard: list[Message] = []
        self.model: Callable[[Message], Message] | None = None  # answers `model` requests, with a result or an error
        self._last = 0

    def __enter__(self) -> Served:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()

    def write(self, line: bytes) -> None:
        """Anything at all on its input."""
        assert self.process.stdin is not None
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def start(self, method: str, **params: object) -> int:
        """Begin a call; its id."""
        self._last += 1
        request = {"jsonrpc": "2.0", "id": self._last, "method": method, "params": params}
        self.write(json.dumps(request).encode())
        return self._last

    def next(self) -> Message:
        """The next message; every line is one JSON object."""
        assert self.process.stdout is not None
        while True:
            line = self.process.stdout.readline()
            assert line, self.end()
            message = json.loads(line)
            assert message["jsonrpc"] == "2.0"
            if message.get("method") != "model":
                return dict(message)
            assert self.model is not None
            answer = {"jsonrpc": "2.0", "id": message["id"], **self.model(message["params"])}
            self.write(json.dumps(answer).encode())

    def answer(self, identity: int) -> Message:
        """The answer to a call that was begun."""
        for message in self.heard:
            if message.get("id") == identity and "method" not in message:
                self.heard.remove(message)
                return message
        while True:
            message = self.next()
            if message.get("id") == identity and "method" not in message:
                return message
            self.heard.append(message)

    def progress(self, identity: int) -> Message:
        """Wait for a progress event of a call."""
        while True:
            message = self.next()
            self.heard.append(message)
            if message.get("method") == "progress" and message["params"]["id"] == identity:
                return dict(message["params"])

    def call(self, method: str, **params: object) -> Message:
        return self.answer(self.start(method, **params))

    def result(self, method: str, **params: object) -> Message:
        """The result of a call that has to have one."""
        message = self.call(method, **params)
        assert "result" in message, message
        return dict(message["result"])

    def tool(self, name: str, **arguments: object) -> Message:
        """The document of a tool that has to succeed."""
        result = self.result("tool", name=f"history_recall_{name}", arguments=arguments)
        assert not result["is_error"], result
        return dict(result["document"])

    def line(self, text: str, **caller: str) -> Message:
        return self.result("line", line=text, **caller)

    def end(self) -> tuple[int, str]:
        """Close its input; its exit code and what it wrote to standard error."""
        _, said = self.process.communicate(timeout=120)
        return self.process.returncode, said.decode()
