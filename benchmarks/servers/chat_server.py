"""A chat-completions server on 127.0.0.1 that answers by script, well or badly, and counts what it is asked.

It is the border that tests and benchmarks talk to instead of a provider: real sockets, real streaming, so that what
a client library does with a cut stream or a second try is seen and not assumed. A `Turn` says how one request is
answered. Turns are taken in order of arrival; when they are used up, `responder(body)` makes the next one. Every
request is kept (its body, never its key), in memory and, where asked, as JSON lines in a file, so that a ledger in
another process can be held against it. What a turn can say stands in `script`, what goes over the wire in `stream`.

As a process: `python -m benchmarks.servers.chat_server --port 0 --script FILE [--log FILE]` prints the port. The
script is a JSON list of turns; the last one is repeated for ever with `--repeat`.
"""

from __future__ import annotations

import argparse
import json
import select
import socket
import struct
import threading
import traceback
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import cast

from benchmarks.servers.script import ToolCall, Turn, chatty, failing, fenced
from benchmarks.servers.stream import completion, events

__all__ = ["ChatServer", "Responder", "Seen", "ToolCall", "Turn", "chatty", "failing", "fenced"]


@dataclass(frozen=True, slots=True)
class Seen:
    """One request that arrived. `keyed` says that it carried a key; the key itself is not kept."""

    path: str
    body: Mapping[str, object]
    headers: Mapping[str, str]
    keyed: bool


Responder = Callable[[Mapping[str, object]], "Turn | str | Mapping[str, object]"]


@dataclass
class _State:
    turns: list[Turn]
    responder: Responder | None
    refuses: frozenset[str]
    log: Path | None
    keep: bool
    requests: list[Seen] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)
    arrived: threading.Condition = field(default_factory=threading.Condition)
    released: threading.Event = field(default_factory=threading.Event)
    running: int = 0
    most_at_once: int = 0
    hung_up: int = 0


class ChatServer:
    """The server, in a thread of this process: `with ChatServer([...]) as server: server.url`.

    `refuses` names forms of `response_format` (`json_schema`, `json_object`) that are answered with 400 as a server
    does that does not know them; such a request is seen and uses up no turn. With a log, `keep` False leaves the
    requests out of memory. A line of the log says how many requests were `open` when it arrived, itself included.
    """

    def __init__(
        self,
        turns: Iterable[Turn] = (),
        *,
        responder: Responder | None = None,
        refuses: Iterable[str] = (),
        log: Path | None = None,
        port: int = 0,
        keep: bool = True,
    ) -> None:
        self._state = _State(list(turns), responder, frozenset(refuses), log, keep)
        self._http = _Http(("127.0.0.1", port), self._state)
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True)
        self.port: int = self._http.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}/v1"

    def __enter__(self) -> ChatServer:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    @property
    def requests(self) -> tuple[Seen, ...]:
        """All requests so far, in order of arrival."""
        with self._state.lock:
            return tuple(self._state.requests)

    @property
    def responder(self) -> Responder | None:
        """What makes a turn when the given ones are used up."""
        return self._state.responder

    @responder.setter
    def responder(self, responder: Responder) -> None:
        self._state.responder = responder

    @property
    def refuses(self) -> frozenset[str]:
        """The forms of `response_format` that are answered with 400."""
        return self._state.refuses

    @refuses.setter
    def refuses(self, forms: frozenset[str]) -> None:
        self._state.refuses = forms

    @property
    def most_at_once(self) -> int:
        """How many requests were open at the same time, at most."""
        return self._state.most_at_once

    @property
    def hung_up(self) -> int:
        """How many clients closed the connection before they had their answer."""
        return self._state.hung_up

    def add(self, *turns: Turn) -> None:
        """More turns, after those that are left."""
        with self._state.lock:
            self._state.turns.extend(turns)

    def release(self) -> None:
        """Let every request that hangs come to its end."""
        self._state.released.set()

    def wait_for(self, count: int, seconds: float = 30.0) -> None:
        """Return as soon as `count` requests have arrived; TimeoutError where they do not."""
        with self._state.arrived:
            if not self._state.arrived.wait_for(lambda: len(self._state.requests) >= count, seconds):
                raise TimeoutError(f"{len(self._state.requests)} of {count} requests arrived")

    def wait_until_idle(self, seconds: float = 30.0) -> None:
        """Return as soon as no request is open."""
        with self._state.arrived:
            if not self._state.arrived.wait_for(lambda: self._state.running == 0, seconds):
                raise TimeoutError(f"{self._state.running} requests are still open")


class _Http(ThreadingHTTPServer):
    daemon_threads = False
    block_on_close = True
    request_queue_size = 64

    def __init__(self, address: tuple[str, int], state: _State) -> None:
        super().__init__(address, _Handler)
        self.state = state

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that hung up is what some tests are about; it is counted where it is noticed."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    @property
    def _state(self) -> _State:
        return cast("_Http", self.server).state

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name is the base class's
        """Nothing on stderr."""

    def do_GET(self) -> None:
        self._json(200, {"object": "list", "data": [{"id": "scripted", "object": "model"}]})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length", "0"))) or b"{}")
        turn = self._take(body)
        try:
            self._answer(turn, body)
        except (BrokenPipeError, ConnectionResetError):
            self._state.hung_up += 1
        finally:
            self.close_connection = True
            with self._state.arrived:
                self._state.running -= 1
                self._state.arrived.notify_all()

    def _take(self, body: Mapping[str, object]) -> Turn:
        state = self._state
        secret = {"authorization", "api-key", "x-api-key"}
        headers = {name.lower(): value for name, value in self.headers.items()}
        kept = {name: value for name, value in headers.items() if name not in secret}
        seen = Seen(self.path, body, kept, bool(secret & headers.keys()))
        with state.arrived, state.lock:
            if state.keep:
                state.requests.append(seen)
            state.running += 1
            state.most_at_once = max(state.most_at_once, state.running)
            if state.log is not None:
                with state.log.open("a", encoding="utf-8") as file:
                    file.write(json.dumps({"path": seen.path, "body": body, "open": state.running}) + "\n")
            state.arrived.notify_all()
            asked = cast("Mapping[str, str]", body.get("response_format") or {}).get("type", "none")
            if asked in state.refuses:
                return failing(400, f"response_format of type {asked} is not supported")
            if state.turns:
                return state.turns.pop(0)
        if state.responder is None:
            return failing(400, "the script of this server is used up")
        try:
            made = state.responder(body)
        except Exception as error:  # noqa: BLE001 - a script's own mistake is shown where it is looked for
            traceback.print_exc()
            return failing(400, f"the responder failed: {type(error).__name__}")
        if isinstance(made, str):
            return Turn(text=made)
        return made if isinstance(made, Turn) else Turn.from_json(made)

    def _answer(self, turn: Turn, body: Mapping[str, object]) -> None:
        if turn.how == "status":
            error = {"message": turn.message, "type": "scripted", "param": None, "code": None}
            self._json(turn.status, {"error": error}, turn.headers)
        elif turn.how == "html":
            self._whole(200, b"<html><body><h1>Welcome to nginx</h1></body></html>", "text/html")
        elif turn.how == "hang" and not turn.text:
            self._hang()
        elif body.get("stream"):
            self._stream(turn, body)
        else:
            self._json(200, completion(turn))

    def _json(self, status: int, value: object, headers: Sequence[tuple[str, str]] = ()) -> None:
        self._whole(status, json.dumps(value).encode(), "application/json", headers)

    def _whole(self, status: int, data: bytes, kind: str, headers: Sequence[tuple[str, str]] = ()) -> None:
        self.send_response(status)
        for name, value in (
            *headers,
            ("Content-Type", kind),
            ("Content-Length", str(len(data))),
            ("Connection", "close"),
        ):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def _stream(self, turn: Turn, body: Mapping[str, object]) -> None:
        self.send_response(200)
        for name, value in (
            ("Content-Type", "text/event-stream"),
            ("Transfer-Encoding", "chunked"),
            ("Connection", "close"),
        ):
            self.send_header(name, value)
        self.end_headers()
        options = cast("Mapping[str, object]", body.get("stream_options") or {})
        for event in events(turn, with_usage=bool(options.get("include_usage"))):
            if turn.pause:
                self._state.released.wait(turn.pause)
            self._chunk(f"data: {event}\n\n".encode())
        if turn.how == "hang":
            self._hang()
        elif turn.how == "cut":
            # RST instead of FIN: what a proxy that dies looks like.
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.connection.close()
        else:
            self._chunk(b"")

    def _chunk(self, data: bytes) -> None:
        self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
        self.wfile.flush()

    def _hang(self) -> None:
        while not self._state.released.is_set():
            readable, _, _ = select.select([self.connection], [], [], 0.02)
            if readable and not self.connection.recv(1, socket.MSG_PEEK):
                raise ConnectionResetError
        self.connection.close()


def main() -> None:
    """Serve until standard input ends, or for ever where there is none."""
    parser = argparse.ArgumentParser(description="a scripted chat-completions server on 127.0.0.1")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--script", type=Path, help="a JSON list of turns")
    parser.add_argument("--log", type=Path, help="append each request here, as a JSON line")
    parser.add_argument("--repeat", action="store_true", help="give the last turn for ever")
    options = parser.parse_args()
    script = json.loads(options.script.read_text(encoding="utf-8")) if options.script else []
    turns = [Turn.from_json(turn) for turn in script]
    last = turns[-1] if turns and options.repeat else None
    with ChatServer(
        turns, responder=(lambda _body: last) if last else None, log=options.log, port=options.port
    ) as server:
        print(server.port, flush=True)
        threading.Event().wait()


if __name__ == "__main__":
    main()
