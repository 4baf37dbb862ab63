"""history-recall in Hermes: the tools, the slash command and the static text.

Of the standard library only: Hermes pins what it runs on. It keeps one `history-recall serve` process, started at the
first call, and speaks docs/serve.md with it. Written by `history-recall hosts install hermes`.
"""

from __future__ import annotations

import atexit
import json
import os
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

PACKAGE = json.loads(Path(__file__).with_name("package.json").read_text(encoding="utf-8"))
NAME = "history-recall"
WAIT_SECONDS = 20  # the host cuts a command after 30; a longer run goes on as a job
ANSWER_SECONDS = 600


class _Slot:
    """Where the answer to one call is put."""

    def __init__(self) -> None:
        self.done = threading.Event()
        self.result: dict[str, Any] = {}
        self.error: str | None = None


class Served:
    """The process, and the calls that wait for its answers."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._waiting: dict[object, _Slot] = {}
        self._last = 0
        self._lock = threading.Lock()

    def call(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """The result of one call. Raises RuntimeError with what went wrong."""
        with self._lock:
            self._last += 1
            identity = self._last
            process = self._started()
            slot = self._waiting[identity] = _Slot()
            message = {"jsonrpc": "2.0", "id": identity, "method": method, "params": params}
            try:
                stdin = process.stdin
                if stdin is None:
                    raise OSError("it has no input")
                stdin.write(json.dumps(message).encode() + b"\n")
                stdin.flush()
            except OSError as error:
                self._waiting.pop(identity, None)
                raise RuntimeError("history-recall ended: " + str(error)) from error
        if not slot.done.wait(ANSWER_SECONDS):
            raise RuntimeError("history-recall gave no answer in time")
        if slot.error is not None:
            raise RuntimeError(slot.error)
        return slot.result

    def stop(self) -> None:
        """Its input ends, and with it the process."""
        process, self._process = self._process, None
        if process is not None and process.stdin is not None:
            process.stdin.close()

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._process.poll() is not None:
            command = [*PACKAGE["command"], "serve"]
            try:
                self._process = subprocess.Popen(
                    command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
                )
            except OSError as error:
                raise RuntimeError(f"{command[0]} cannot be started: {error}") from error
            threading.Thread(target=self._read, args=(self._process,), daemon=True).start()
        return self._process

    def _read(self, process: subprocess.Popen[bytes]) -> None:
        for line in process.stdout or ():
            message = json.loads(line)
            slot = self._waiting.pop(message.get("id"), None) if "method" not in message else None
            if slot is not None:
                slot.result = message.get("result", {})
                slot.error = message["error"]["message"] if "error" in message else None
                slot.done.set()
        with self._lock:
            left, self._waiting = self._waiting, {}
        for slot in left.values():
            slot.error = "history-recall ended"
            slot.done.set()


def register(ctx: Any) -> None:
    """What Hermes calls when it loads the plugin."""
    if os.environ.get("HISTORY_RECALL_DISABLED") == "1":
        return
    served = Served()
    atexit.register(served.stop)
    profile = getattr(ctx, "profile_name", None) or "default"

    def caller(session_id: str | None = None) -> dict[str, Any]:
        given = {"cwd": os.environ.get("TERMINAL_CWD") or os.getcwd()}
        if session_id:
            given["current"] = f"hermes:{session_id}"
        if profile not in ("", "default"):
            given["profile"] = profile
        return given

    def tool(name: str) -> Callable[..., str]:
        def handler(args: dict[str, Any] | None, **about: Any) -> str:
            params = {"name": name, "arguments": args or {}, "wait_seconds": WAIT_SECONDS}
            try:
                result = served.call("tool", params | caller(about.get("session_id")))
            except RuntimeError as error:
                return json.dumps({"error": str(error)}, ensure_ascii=False)
            return json.dumps({"error" if result["is_error"] else "answer": result["text"]}, ensure_ascii=False)

        return handler

    def command(raw_args: str) -> str:
        try:
            return str(served.call("line", {"line": raw_args or "", "wait_seconds": WAIT_SECONDS} | caller())["text"])
        except RuntimeError as error:
            return f"history-recall: {error}"

    for described in PACKAGE["tools"]:
        name = described["name"]
        schema = {"name": name, "description": described["description"], "parameters": described["inputSchema"]}
        ctx.register_tool(
            name=name,
            toolset="history_recall",
            schema=schema,
            handler=tool(name),
            description=described["description"],
        )
    ctx.register_command(NAME, command, description=PACKAGE["description"], args_hint="status | search WORDS | ...")

    def once(**about: Any) -> dict[str, str] | None:
        first = about.get("is_first_turn", not about.get("conversation_history"))
        return {"context": PACKAGE["capability"]} if first else None

    ctx.register_hook("pre_llm_call", once)
