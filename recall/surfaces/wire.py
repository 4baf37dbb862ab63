"""Messages as JSON lines on standard input and output, which belong to the protocol alone while it is spoken.

What anything else in the process prints goes to standard error, and a child process reads nothing from our input.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import threading
from collections.abc import Iterator, Mapping
from typing import BinaryIO

from recall.errors import ArgumentError
from recall.surfaces.terminal import json_text

LONGEST_LINE = 4 * 1024 * 1024
DEEPEST = 100  # whoever looks into a message does so by calling itself


class NotAMessage(Exception):
    """A line that is no JSON object, is longer than LONGEST_LINE or nested deeper than DEEPEST.

    `identity`: what it would be answered under.
    """

    def __init__(self, message: str, identity: str | int | None = None) -> None:
        super().__init__(message)
        self.identity = identity


class Wire:
    """Both directions. `send` may be called from any thread."""

    def __init__(self, incoming: BinaryIO, outgoing: BinaryIO) -> None:
        self._incoming = incoming
        self._outgoing = outgoing
        self._lock = threading.Lock()
        self._closed = False

    def messages(self) -> Iterator[Mapping[str, object] | NotAMessage]:
        """What arrives, until the other side closes."""
        for line in self.lines():
            yield line if isinstance(line, NotAMessage) else _message(line)

    def lines(self) -> Iterator[bytes | NotAMessage]:
        """The same, not yet understood."""
        while line := self._incoming.readline(LONGEST_LINE + 1):
            if len(line) > LONGEST_LINE:
                while line and not line.endswith(b"\n"):
                    line = self._incoming.readline(LONGEST_LINE)
                yield NotAMessage(f"a line has more than {LONGEST_LINE} bytes")
            elif line.strip():
                yield line

    def send(self, message: Mapping[str, object]) -> None:
        """One message as one line. Where nobody listens any more it goes nowhere."""
        self.write(json_text(message) + "\n")

    def write(self, text: str) -> None:
        """Whole lines, as they are."""
        line = text.encode("utf-8")
        with self._lock:
            if self._closed:
                return
            try:
                self._outgoing.write(line)
                self._outgoing.flush()
            except (OSError, ValueError):  # who asked has gone; the end of our input will say so too
                self._closed = True


def _message(line: bytes) -> Mapping[str, object] | NotAMessage:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):  # no JSON, no UTF-8, or nested without end
        return NotAMessage("a line is no JSON")
    if not isinstance(found, dict):
        return NotAMessage("a line is no JSON object")
    if is_deep(found):
        return NotAMessage(f"a line is nested more than {DEEPEST} deep", identity_of(found))
    return found


def identity_of(message: object) -> str | int | None:
    """The id of a message, where it is one that can be answered to."""
    identity = message.get("id") if isinstance(message, dict) else None
    return identity if isinstance(identity, str | int) and not isinstance(identity, bool) else None


def is_deep(value: object) -> bool:
    """Whether a JSON value is nested more than DEEPEST deep."""
    level = [value]
    for _ in range(DEEPEST):
        level = [
            inner
            for one in level
            if isinstance(one, dict | list)
            for inner in (one.values() if isinstance(one, dict) else one)
        ]
        if not level:
            return False
    return True


@contextlib.contextmanager
def standard_streams() -> Iterator[tuple[BinaryIO, BinaryIO]]:
    """What was standard input and output, for a protocol alone; they are put back at the end.

    Raises ArgumentError `usage` where the process was started without one of them.
    """
    streams: tuple[object | None, ...] = (sys.stdin, sys.stdout)
    if None in streams:
        message = "The protocol is spoken on standard input and output, and one of them is closed"
        raise ArgumentError("usage", message, "start it from a program, with a pipe on both")
    sys.stdout.flush()
    incoming, outgoing = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    try:
        # Never closed: a thread can still wait in a read of it when everything else has ended.
        yield os.fdopen(incoming, "rb", closefd=False), os.fdopen(outgoing, "wb", closefd=False)
    finally:
        sys.stdout.flush()
        os.dup2(outgoing, 1)
        os.dup2(incoming, 0)
