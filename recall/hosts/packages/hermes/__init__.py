"""history-recall in Hermes: the tools, the slash command and the static text.

Of the standard library only: Hermes pins what it runs on. It keeps one `history-recall serve` process, started at the
first call, and speaks docs/serve.md with it. Written by `history-recall hosts install hermes`.
"""

from __future__ import annotations

import atexit
import contextlib
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

    def end(self, error: str) -> None:
        """Put a failure there."""
        self.error = error
        self.done.set()


class _Process:
    """One process, with the calls that wait for its answers: when it ends, however it does, they end."""

    def __init__(self, lend: Callable[[dict[str, Any]], dict[str, Any]] | None) -> None:
        self._lend = lend
        self._waiting: dict[object, _Slot] = {}
        self._lock = threading.Lock()  # of what waits
        self._writing = threading.Lock()  # another one: who reads must never wait for who writes
        self._over = False
        command = [*PACKAGE["command"], "serve"]
        try:
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
            )
        except OSError as error:
            raise RuntimeError(f"{command[0]} cannot be started: {error}") from error
        threading.Thread(target=self._read, daemon=True).start()
        hello = {"protocol": PACKAGE["protocol"], "client": "hermes", "lends_model": lend is not None}
        self._write({"id": "hello", "method": "hello", "params": hello})

    @property
    def runs(self) -> bool:
        return not self._over and self._process.poll() is None

    def ask(self, identity: int, method: str, params: dict[str, Any]) -> _Slot:
        """Begin a call. Raises OSError where the process has ended."""
        slot = _Slot()
        with self._lock:
            if self._over:
                raise BrokenPipeError("it has ended")
            self._waiting[identity] = slot
        try:
            self._write({"id": identity, "method": method, "params": params})
        except OSError:
            self.forget(identity)
            raise
        return slot

    def forget(self, identity: int) -> None:
        """Nobody waits for that call any more."""
        with self._lock:
            self._waiting.pop(identity, None)

    def cancel(self, identity: int) -> None:
        """Nobody waits, and nobody needs to work on it."""
        self.forget(identity)
        with contextlib.suppress(OSError):
            self._write({"method": "cancel", "params": {"id": identity}})

    def stop(self) -> None:
        """Its input ends, and with it the process."""
        if self._process.stdin is not None:
            with contextlib.suppress(OSError):
                self._process.stdin.close()

    def _write(self, message: dict[str, Any]) -> None:
        line = json.dumps({"jsonrpc": "2.0"} | message).encode() + b"\n"
        with self._writing:
            if self._process.stdin is None or self._process.stdin.closed:
                raise BrokenPipeError("it has no input")
            self._process.stdin.write(line)
            self._process.stdin.flush()

    def _model(self, message: dict[str, Any]) -> None:
        """Ask the host's own model, as the process wishes."""
        try:
            answer: dict[str, Any] = {"result": self._lend(message["params"]) if self._lend else {}}
        except Exception as error:  # noqa: BLE001 - whatever the host's model raised is its answer
            answer = {"error": {"code": "model_request_failed", "message": str(error)[:500]}}
        with contextlib.suppress(OSError):  # it ended while the model was thinking
            self._write({"id": message["id"]} | answer)

    def _read(self) -> None:
        try:
            for line in self._process.stdout or ():
                try:
                    message = json.loads(line)
                except ValueError:
                    continue  # what was cut off when it was killed
                if isinstance(message, dict):
                    self._take(message)
        finally:
            with self._lock:
                self._over = True
                left, self._waiting = self._waiting, {}
            for slot in left.values():
                slot.end("history-recall ended in the middle of the call; the next call starts it again")
            self.stop()
            if self._process.stdout is not None:
                self._process.stdout.close()
            self._process.wait()

    def _take(self, message: dict[str, Any]) -> None:
        if message.get("method") == "model":
            threading.Thread(target=self._model, args=(message,), daemon=True).start()
            return
        with self._lock:
            slot = self._waiting.pop(message.get("id"), None) if "method" not in message else None
        if slot is None:
            return
        if "error" in message:
            slot.end(message["error"]["message"])
        else:
            slot.result = message.get("result", {})
            slot.done.set()


class Served:
    """The process that runs, started when it is needed, and again when it has ended."""

    def __init__(self, lend: Callable[[dict[str, Any]], dict[str, Any]] | None) -> None:
        self._lend = lend
        self._process: _Process | None = None
        self._last = 0
        self._lock = threading.Lock()

    def call(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """The result of one call. Raises RuntimeError with what went wrong."""
        with self._lock:
            self._last += 1
            identity = self._last
            try:
                process = self._running()
                slot = process.ask(identity, method, params)
            except OSError:  # it ended since it was last looked at
                self._process = None
                try:
                    process = self._running()
                    slot = process.ask(identity, method, params)
                except OSError as error:
                    raise RuntimeError(f"history-recall ended: {error}") from error
        if not slot.done.wait(ANSWER_SECONDS):
            process.cancel(identity)
            raise RuntimeError("history-recall gave no answer in time")
        if slot.error is not None:
            raise RuntimeError(slot.error)
        return slot.result

    def stop(self) -> None:
        """The process ends."""
        process, self._process = self._process, None
        if process is not None:
            process.stop()

    def _running(self) -> _Process:
        if self._process is None or not self._process.runs:
            self._process = _Process(self._lend)
        return self._process


def _lender(ctx: Any) -> Callable[[dict[str, Any]], dict[str, Any]] | None:
    """What asks the model that the person has chosen in Hermes, with the person's key; None in a version without."""
    if getattr(ctx, "llm", None) is None:
        return None

    def lend(asked: dict[str, Any]) -> dict[str, Any]:
        messages = list(asked["messages"])
        if asked.get("schema"):
            form = "Answer with one JSON object of this JSON Schema and nothing else: " + json.dumps(asked["schema"])
            messages.append({"role": "system", "content": form})
        said = ctx.llm.complete(
            messages,
            max_tokens=asked.get("max_output_tokens"),
            timeout=asked.get("timeout"),
            purpose="history-recall",
        )
        usage = said.usage
        return {
            "text": said.text,
            "prompt_tokens": getattr(usage, "input_tokens", None) or 0,
            "completion_tokens": getattr(usage, "output_tokens", None) or 0,
        }

    return lend


def _switched(args: dict[str, Any], result: dict[str, Any], session_id: str | None) -> str:
    """The answer of a move; where the person wants the directory switched too, the host's own call is asked."""
    document = result.get("document")
    cwd = document.get("cwd") if isinstance(document, dict) else None
    folder = cwd.get("folder") if isinstance(cwd, dict) and cwd.get("code") == "inside_only" else None
    if not folder or not session_id or args.get("conversation_id") != "current":
        return str(result["text"])
    try:
        from hermes_state import SessionDB  # type: ignore[import-not-found]  # the host's own, there only

        SessionDB().update_session_cwd(session_id, folder)
    except Exception as error:  # noqa: BLE001 - whatever it raised, the move itself holds
        return f"{result['text']}\nHermes did not switch the directory: {error}"
    return f"{result['text']}\nHermes works in {folder} from the session's next start on."


class Plugin:
    """What Hermes calls: each tool, the command, and the words before a first turn, by one serve process."""

    def __init__(self, served: Served, profile: str) -> None:
        self._served = served
        self._profile = profile

    def tool(self, name: str) -> Callable[..., str]:
        """The handler of a tool."""

        def handler(args: dict[str, Any] | None, **about: Any) -> str:
            params = {"name": name, "arguments": args or {}, "wait_seconds": WAIT_SECONDS}
            try:
                result = self._served.call("tool", params | self._caller(about.get("session_id")))
            except RuntimeError as error:
                return json.dumps({"error": str(error)}, ensure_ascii=False)
            text = result["text"]
            if name == "history_recall_move" and not result["is_error"]:
                text = _switched(args or {}, result, about.get("session_id"))
            return json.dumps({"error" if result["is_error"] else "answer": text}, ensure_ascii=False)

        return handler

    def command(self, raw_args: str) -> str:
        """`/history-recall WORDS`."""
        line = {"line": raw_args or "", "wait_seconds": WAIT_SECONDS}
        try:
            return str(self._served.call("line", line | self._caller())["text"])
        except RuntimeError as error:
            return f"history-recall: {error}"

    def once(self, **about: Any) -> dict[str, str] | None:
        """What stands before the first turn of a conversation."""
        if not about.get("is_first_turn", not about.get("conversation_history")):
            return None
        said = self._brief(about.get("session_id")) if PACKAGE["brief"] else ""
        return {"context": PACKAGE["capability"] + ("\n" + said if said else "")}

    def _brief(self, session_id: str | None) -> str:
        try:
            said = self._served.call("line", {"line": "brief --quiet"} | self._caller(session_id))
        except RuntimeError:
            return ""  # the conversation goes on without it
        return str(said["text"]) if said["exit_code"] == 0 else ""

    def _caller(self, session_id: str | None = None) -> dict[str, Any]:
        given = {"cwd": os.environ.get("TERMINAL_CWD") or os.getcwd()}
        if session_id:
            given["current"] = f"hermes:{session_id}"
        if self._profile not in ("", "default"):
            given["profile"] = self._profile
        return given


def register(ctx: Any) -> None:
    """What Hermes calls when it loads the plugin."""
    if os.environ.get("HISTORY_RECALL_DISABLED") == "1":
        return
    served = Served(_lender(ctx))
    atexit.register(served.stop)
    plugin = Plugin(served, getattr(ctx, "profile_name", None) or "default")
    for described in PACKAGE["tools"]:
        name = described["name"]
        schema = {"name": name, "description": described["description"], "parameters": described["inputSchema"]}
        ctx.register_tool(
            name=name,
            toolset="history_recall",
            schema=schema,
            handler=plugin.tool(name),
            description=described["description"],
        )
    hint = "status | search WORDS | ..."
    ctx.register_command(NAME, plugin.command, description=PACKAGE["description"], args_hint=hint)
    ctx.register_hook("pre_llm_call", plugin.once)
