"""`history-recall mcp` on standard input and output: the transport, and the end of the process.

The SDK is an extra and takes a second to import, so nothing of it is imported before it is needed.
"""

from __future__ import annotations

import asyncio
import io
import queue
import threading
from typing import BinaryIO

from recall.errors import ArgumentError
from recall.extras import how_to_install
from recall.run import Cancellation
from recall.settings import Settings
from recall.surfaces.wire import LONGEST_LINE, standard_streams


class Lines:
    """Standard input as lines of text; `stop` ends it for whoever reads, though the other side is still there."""

    def __init__(self, incoming: BinaryIO) -> None:
        self._incoming = incoming
        self._lines: queue.SimpleQueue[str] = queue.SimpleQueue()
        threading.Thread(target=self._receive, daemon=True).start()

    def readline(self) -> str:
        """The next line; empty at the end, and ever after."""
        line = self._lines.get()
        if not line:
            self._lines.put(line)
        return line

    def stop(self) -> None:
        """End it. Safe to call from a signal handler."""
        self._lines.put("")

    def _receive(self) -> None:
        while line := self._incoming.readline(LONGEST_LINE):
            # A line that is longer comes in pieces, none of which is a message: each is refused as no JSON.
            self._lines.put(line.decode("utf-8", "replace"))
        self._lines.put("")


def require_sdk() -> None:
    """Raises ArgumentError `usage` where the SDK cannot be imported, or is one of another API."""
    try:
        import mcp.server.stdio  # noqa: F401 - are they there?
        import mcp_types  # noqa: F401
    except ImportError as error:
        message = "The MCP SDK is not installed with this program"
        raise ArgumentError("usage", message, how_to_install("mcp")) from error


def serve(settings: Settings, cancellation: Cancellation) -> None:
    """Serve until the client closes its side or the run is cancelled.

    Raises ArgumentError `usage` where the SDK is not installed.
    """
    require_sdk()
    from recall.surfaces.mcp_server import McpServer

    with standard_streams() as (incoming, outgoing):
        lines = Lines(incoming)
        cancellation.listen(lines.stop)
        with McpServer(settings) as server:
            asyncio.run(_serve(server.server, lines, outgoing))


async def _serve(server: object, lines: Lines, outgoing: BinaryIO) -> None:
    import anyio
    from mcp.server.lowlevel import Server
    from mcp.server.stdio import stdio_server

    if not isinstance(server, Server):
        raise TypeError("a server of the SDK")
    written = anyio.wrap_file(io.TextIOWrapper(outgoing, encoding="utf-8", newline="\n"))
    read = anyio.wrap_file(lines)  # type: ignore[arg-type]  # of a file only readline is used
    try:
        async with stdio_server(read, written) as (received, sent):
            await server.run(received, sent, server.create_initialization_options())
    except* OSError:
        pass  # in writing: the client went away while it was being answered, and there is nobody left to tell
