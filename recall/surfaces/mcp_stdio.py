"""`history-recall mcp` on standard input and output: the transport, and the end of the process.

The SDK is an extra and takes a second to import, so nothing of it is imported before it is needed.
"""

from __future__ import annotations

import asyncio
import json
import queue
import re
import threading

from recall.errors import ArgumentError
from recall.extras import how_to_install
from recall.run import Cancellation
from recall.settings import Settings
from recall.surfaces.arguments import printable
from recall.surfaces.wire import NotAMessage, Wire, identity_of, is_deep, standard_streams

_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


class Lines:
    """The client's side as a text file: what it sends, and what it is answered.

    Every line that asks for an answer gets one: where the SDK would drop it without a word, it is refused here. `stop`
    ends the reading, though the other side is still there.
    """

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self._lines: queue.SimpleQueue[str] = queue.SimpleQueue()
        threading.Thread(target=self._receive, daemon=True).start()

    def readline(self) -> str:
        """The next line; empty at the end, and ever after."""
        line = self._lines.get()
        if not line:
            self._lines.put(line)
        return line

    def write(self, text: str) -> None:
        """A line for the client."""
        self._wire.write(text)

    def flush(self) -> None:
        """It is written at once."""

    def stop(self) -> None:
        """End it. Safe to call from a signal handler."""
        self._lines.put("")

    def _receive(self) -> None:
        for line in self._wire.lines():
            try:
                self._lines.put(understood(line))
            except Refused as refusal:
                self._wire.send(refusal.answer)
        self._lines.put("")


class Refused(Exception):
    """A line that is no message; `answer` says so."""

    def __init__(self, identity: object, code: int, message: str) -> None:
        super().__init__(message)
        self.answer = {"jsonrpc": "2.0", "id": identity, "error": {"code": code, "message": message}}


def understood(line: bytes | NotAMessage) -> str:
    """A line that the SDK takes: half surrogate pairs, which JSON may hold and the SDK does not read, are replaced.

    Raises Refused.
    """
    import mcp_types as types

    if isinstance(line, NotAMessage):
        raise Refused(None, types.PARSE_ERROR, str(line))
    text = line.decode("utf-8", "replace")
    try:
        if is_deep(json.loads(text)):
            raise ValueError("nested without end")
        if _SURROGATE.search(text):
            text = json.dumps(printable(json.loads(text))) + "\n"
        message = types.jsonrpc_message_adapter.validate_json(text, by_name=False)
        if isinstance(message, types.JSONRPCNotification) and "id" in json.loads(text):
            raise ValueError("a request whose id nothing can be answered to")
    except (ValueError, RecursionError):
        raise _refused(text) from None
    return text


def _refused(text: str) -> Refused:
    import mcp_types as types

    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return Refused(None, types.PARSE_ERROR, "a line is no JSON, or is nested too deeply")
    message = "a line is no message of JSON-RPC 2.0, or is nested too deeply"
    return Refused(identity_of(found), types.INVALID_REQUEST, message)


def require_sdk() -> None:
    """Raises ArgumentError `usage` where the SDK cannot be imported, or is one of another API."""
    try:
        import mcp.server.stdio  # noqa: F401 - are they there?
        import mcp_types  # noqa: F401 - the same
    except ImportError as error:
        message = "The MCP SDK is not installed with this program"
        raise ArgumentError("usage", message, how_to_install("mcp")) from error


def serve(settings: Settings, cancellation: Cancellation, *, prompts: bool = True, documents: bool = True) -> None:
    """Serve until the client closes its side or the run is cancelled.

    Raises ArgumentError `usage` where the SDK is not installed.
    """
    require_sdk()
    from recall.surfaces.mcp_server import McpServer

    with standard_streams() as (incoming, outgoing):
        lines = Lines(Wire(incoming, outgoing))
        cancellation.listen(lines.stop)
        with McpServer(settings, prompts=prompts, documents=documents) as server:
            asyncio.run(_serve(server.server, lines))


async def _serve(server: object, lines: Lines) -> None:
    import anyio
    from mcp.server.lowlevel import Server
    from mcp.server.stdio import stdio_server

    if not isinstance(server, Server):
        raise TypeError("a server of the SDK")
    both = anyio.wrap_file(lines)  # type: ignore[arg-type]  # of a file only readline, write and flush are used
    async with stdio_server(both, both) as (received, sent):
        await server.run(received, sent, server.create_initialization_options())
