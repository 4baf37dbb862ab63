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

from recall.surfaces.terminal import json_text

LONGEST_LINE = 4 * 1024 * 1024


class NotAMessage(Exception):
    """A line that is no JSON object, or is longer than LONGEST_LINE."""


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
    return found if isinstance(found, dict) else NotAMessage("a line is no JSON object")


@contextlib.contextmanager
def standard_streams() -> Iterator[tuple[BinaryIO, BinaryIO]]:
    """What was standard input and output, for a protocol alone; they are put back at the end."""
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
