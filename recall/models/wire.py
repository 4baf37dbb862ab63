"""What a model request may do on the wire: it goes where it was sent and nowhere else, and its answer has an end.

Every road of litellm (the openai client's, its own handlers', those it makes on the way for one provider or another)
ends in `httpx.AsyncClient.send`, and most follow redirects by default: a 307 would hand the whole conversation to a
host that nobody agreed to. litellm lets some of these clients be replaced and makes the others itself, so there is no
public way for all of them; `guard_httpx` therefore puts itself before that one method, once, in this process only.
"""

from __future__ import annotations

import functools
import zlib
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

_PIECE = 65_536
# The keys of a request's JSON, whoever's: inside a text of it their quotation marks are escaped.
_TOOLS = b'"tools"'
_CONVERSATION = (b'"messages"', b'"contents"', b'"input"', b'"prompt"')
ELSEWHERE = "the server sent us elsewhere; it was not followed"
_IDENTITY = ("", "identity")
_ZLIB = ("gzip", "x-gzip", "deflate")


class WireError(Exception):
    """The answer was given up. What passes through litellm changes its type; `Wire.fault` keeps what was wrong."""


@dataclass(slots=True)
class Wire:
    """One request of ours: how many bytes its answers may have, and why they were given up.

    With `tools` it goes out only with its tools: litellm leaves them out, or writes them into the prompt, where it
    thinks that a model takes none. `toolless` says that it would have gone without.
    """

    limit: int
    tools: bool = False
    fault: str = ""
    toolless: bool = False

    def give_up(self, fault: str) -> WireError:
        """The error to raise."""
        self.fault = fault
        return WireError(fault)

    def take(self, count: int) -> None:
        """Count what came in. Raises WireError past the limit."""
        self.limit -= count
        if self.limit < 0:
            raise self.give_up("the answer is far longer than what was asked for; the rest was not read")

    def admit(self, body: bytes) -> None:
        """Look at what is about to be sent. Raises WireError for a model request that has lost its tools."""
        if self.tools and _TOOLS not in body and any(name in body for name in _CONVERSATION):
            self.toolless = True
            raise self.give_up("the request would have gone without its tools")


_current: ContextVar[Wire | None] = ContextVar("wire", default=None)


@contextmanager
def on_wire(limit: int, *, tools: bool = False) -> Iterator[Wire]:
    """What is sent inside belongs to the wire that this gives."""
    wire = Wire(limit, tools)
    token = _current.set(wire)
    try:
        yield wire
    finally:
        _current.reset(token)


@functools.cache
def guard_httpx() -> None:
    """From now on no httpx client of this process follows a redirect, and the answers to our requests are bounded."""
    import httpx

    class Bounded(httpx.AsyncByteStream):
        """An answer's bytes, unpacked a piece at a time and counted."""

        def __init__(self, source: Any, wire: Wire, *, packed: bool) -> None:
            self._source = source
            self._wire = wire
            self._unpack = zlib.decompressobj(47) if packed else None

        async def __aiter__(self) -> AsyncIterator[bytes]:
            async for data in self._source:
                for piece in _pieces(self._unpack, data):
                    self._wire.take(len(piece))
                    yield piece

        async def aclose(self) -> None:
            await self._source.aclose()

    send_async, send_sync = httpx.AsyncClient.send, httpx.Client.send

    @functools.wraps(send_async)
    async def guarded(self: Any, request: Any, *, stream: bool = False, **more: Any) -> Any:
        wire = _current.get() or Wire(1 << 62)
        wire.admit(await request.aread())
        response = await send_async(self, request, stream=True, **more | {"follow_redirects": False})
        try:
            if 300 <= response.status_code < 400:
                raise wire.give_up(ELSEWHERE)
            coding = response.headers.pop("content-encoding", "").strip().lower()
            if coding not in _IDENTITY + _ZLIB:
                raise wire.give_up("the answer is packed in a way that was not asked for")
            response.stream = Bounded(response.stream, wire, packed=coding in _ZLIB)
            if not stream:
                await response.aread()
        except BaseException:
            await response.aclose()
            raise
        return response

    @functools.wraps(send_sync)
    def unmoved(self: Any, request: Any, **more: Any) -> Any:
        return send_sync(self, request, **more | {"follow_redirects": False})

    for client, send in ((httpx.AsyncClient, guarded), (httpx.Client, unmoved)):
        setattr(client, "send", send)  # noqa: B010 - an assignment to a method is what mypy refuses


def _pieces(unpack: Any, data: bytes) -> Iterator[bytes]:
    """The bytes, unpacked where they are packed, none of the pieces large."""
    if unpack is None:
        yield data
        return
    while data:
        piece = unpack.decompress(data, _PIECE)
        if piece:
            yield piece
        data = unpack.unconsumed_tail
        if not piece and unpack.eof:
            return
