"""`history-recall serve`: one process that a host package keeps, and calls tools and lines in (docs/serve.md).

JSON-RPC 2.0, one message a line, on standard input and output. Each call runs in a thread with a session of its own,
so a search is answered while an index run goes on. When the other side goes away, what it started is cancelled.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from recall import __version__
from recall.errors import ArgumentError
from recall.prompts import capability
from recall.run import Cancellation, Progress
from recall.settings import Settings
from recall.surfaces import line, tool_calls
from recall.surfaces.answering import Answered, Asked
from recall.surfaces.arguments import check
from recall.surfaces.commands import OPERATIONS
from recall.surfaces.job_calls import Jobs
from recall.surfaces.lending import NO_LENDER, Answer, Waiting
from recall.surfaces.progress import Pace
from recall.surfaces.tools import TOOLS, Schema, Tool
from recall.surfaces.wire import NotAMessage, Wire, identity_of

PROTOCOL = 1
AT_ONCE = 8  # calls; further ones wait for their turn
_PARSE, _REQUEST, _METHOD, _PARAMS = -32700, -32600, -32601, -32602
_CALLER: Mapping[str, Schema] = {
    "current": {"type": "string", "maxLength": 1000},
    "cwd": {"type": "string", "maxLength": 10_000},
    "profile": {"type": "string", "maxLength": 100},
}


def _params(required: tuple[str, ...], **properties: Schema) -> Schema:
    return {"type": "object", "properties": properties, "required": list(required), "additionalProperties": False}


_TEXT: Schema = {"type": "string"}
_WAIT: Schema = {"type": "number", "minimum": 0, "maximum": 86_400}
_ID: Schema = {"type": ["string", "integer"]}
METHODS: Mapping[str, Schema] = {
    "hello": _params(("protocol",), protocol={"type": "integer"}, client=_TEXT, lends_model={"type": "boolean"}),
    "tool": _params(("name", "arguments"), name=_TEXT, arguments={}, wait_seconds=_WAIT, **_CALLER),
    "line": _params(("line",), line=_TEXT, wait_seconds=_WAIT, **_CALLER),
    "cancel": _params(("id",), id=_ID),
}


class Server:
    """One client's calls, from its first message to the end of its input."""

    def __init__(self, wire: Wire, settings: Settings) -> None:
        self._wire = wire
        self._disabled = settings.disabled
        self._defaults = settings.as_overrides()
        self._jobs = Jobs(self._lend)
        self._lends = False
        self._asked = Waiting("m")
        self._calls: dict[object, Cancellation] = {}
        self._lock = threading.Lock()
        self._inbox: queue.SimpleQueue[Mapping[str, object] | NotAMessage | None] = queue.SimpleQueue()

    def stop(self) -> None:
        """End as if the client had closed its side. Safe to call from a signal handler."""
        self._inbox.put(None)

    def run(self) -> None:
        """Serve until the client closes its side; what it started is cancelled and waited for."""
        threading.Thread(target=self._receive, daemon=True).start()
        with ThreadPoolExecutor(AT_ONCE, "call") as pool:
            while (message := self._inbox.get()) is not None:
                self._take(message, pool)
            self._asked.end()
            with self._lock:
                left = list(self._calls.values())
            for cancellation in left:
                cancellation.cancel()
        self._jobs.close()

    def _receive(self) -> None:
        for message in self._wire.messages():
            self._inbox.put(message)
        self._inbox.put(None)

    def _take(self, message: Mapping[str, object] | NotAMessage, pool: ThreadPoolExecutor) -> None:
        if isinstance(message, NotAMessage):
            self._refuse(message.identity, _PARSE, str(message))
            return
        identity, method = message.get("id"), message.get("method")
        if method is None and isinstance(identity, str) and ("result" in message or "error" in message):
            self._asked.answered(identity, {key: message[key] for key in ("result", "error") if key in message})
            return
        if not isinstance(method, str) or isinstance(identity, bool) or not isinstance(identity, str | int | None):
            self._refuse(
                identity_of(message), _REQUEST, "a message needs a method, and an id that is a string or a whole number"
            )
            return
        if method not in METHODS:
            self._refuse(identity, _METHOD, f"no method {method[:80]!r}; there are {', '.join(METHODS)}")
            return
        try:
            params = check(method, METHODS[method], message.get("params", {}))
        except ArgumentError as error:
            self._refuse(identity, _PARAMS, error.message, error.as_json())
            return
        self._start(identity, method, params, pool)

    def _start(self, identity: object, method: str, params: Mapping[str, Any], pool: ThreadPoolExecutor) -> None:
        if method == "cancel":
            self._cancel(identity, params["id"])
        elif method == "hello":
            self._lends = bool(params.get("lends_model"))
            self._hello(identity, params["protocol"])
        elif identity is None:
            self._refuse(None, _REQUEST, f"{method} needs an id")
        elif self._disabled:
            self._refuse(identity, _METHOD, "HISTORY_RECALL_DISABLED is set: nothing is registered")
        else:
            cancellation = Cancellation()
            with self._lock:
                taken = identity in self._calls
                if not taken:
                    self._calls[identity] = cancellation
            if taken:
                self._refuse(identity, _REQUEST, "a call with this id is running")
            else:
                pool.submit(self._call, identity, method, params, cancellation)

    def _call(self, identity: object, method: str, params: Mapping[str, Any], cancellation: Cancellation) -> None:
        report = self._reporter(identity)
        caller = {**self._defaults, **{name: str(params[name]) for name in _CALLER if params.get(name)}}

        def perform(asked: Asked, report: Callable[[Progress], None], cancellation: Cancellation) -> Answered:
            return self._jobs.perform(asked, report, cancellation, params.get("wait_seconds"))

        try:
            if method == "line":
                said = line.run(params["line"], caller, report, cancellation, perform)
                result = {"text": said.text, "document": said.document, "exit_code": said.exit_code}
            else:
                answered = tool_calls.call(params["name"], params["arguments"], caller, report, cancellation, perform)
                result = {"text": answered.text, "document": answered.document, "is_error": answered.is_error}
        finally:
            with self._lock:
                del self._calls[identity]
        self._wire.send({"jsonrpc": "2.0", "id": identity, "result": result})

    def _cancel(self, identity: object, of: object) -> None:
        with self._lock:
            cancellation = self._calls.get(of)
        if cancellation is not None:
            cancellation.cancel()
        if identity is not None:
            self._wire.send({"jsonrpc": "2.0", "id": identity, "result": {"running": cancellation is not None}})

    def _hello(self, identity: object, protocol: int) -> None:
        if protocol != PROTOCOL:
            message = f"this is history-recall {__version__}, which speaks protocol {PROTOCOL}, not {protocol}"
            self._refuse(identity, _PARAMS, message, {"supported": [PROTOCOL]})
            return
        self._wire.send({"jsonrpc": "2.0", "id": identity, "result": hello(disabled=self._disabled)})

    def _lend(self, request: Mapping[str, object], reply: Callable[[Answer], None]) -> None:
        """Ask the client's model, if it said that it lends it."""
        if not self._lends:
            reply(NO_LENDER)
            return
        identity = self._asked.add(reply)
        self._wire.send({"jsonrpc": "2.0", "id": identity, "method": "model", "params": request})

    def _reporter(self, identity: object) -> Callable[[Progress], None]:
        pace = Pace()

        def report(progress: Progress) -> None:
            with self._lock:
                open_ = identity in self._calls
            if open_ and pace.is_due(progress):
                params = {
                    "id": identity,
                    "stage": progress.stage,
                    "source": progress.source,
                    "done": progress.done,
                    "total": progress.total,
                }
                self._wire.send({"jsonrpc": "2.0", "method": "progress", "params": params})

        return report

    def _refuse(self, identity: object, code: int, message: str, data: object = None) -> None:
        error: dict[str, object] = {"code": code, "message": message}
        if data is not None:
            error["data"] = data
        self._wire.send({"jsonrpc": "2.0", "id": identity, "error": error})


def hello(*, disabled: bool) -> dict[str, object]:
    """What a client needs to register everything; nothing where we are disabled."""
    return {
        "protocol": PROTOCOL,
        "version": __version__,
        "disabled": disabled,
        "tools": [] if disabled else [described(tool) for tool in TOOLS],
        "command": None if disabled else {"name": "history-recall", "description": "Recall earlier conversations"},
        "commands": []
        if disabled
        else [{"name": one.name, "summary": one.summary} for one in OPERATIONS if not one.on_stdio],
        "capability": "" if disabled else capability(),
    }


def described(tool: Tool) -> dict[str, object]:
    """A tool as a host registers it; the names of the fields are those of MCP."""
    return {
        "name": tool.name,
        "title": tool.title,
        "description": tool.description,
        "inputSchema": tool.input,
        "outputSchema": tool.output,
        "annotations": {
            "title": tool.title,
            "readOnlyHint": tool.read_only,
            "destructiveHint": tool.destructive,
            "idempotentHint": tool.idempotent,
            "openWorldHint": tool.open_world,
        },
    }
