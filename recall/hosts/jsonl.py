"""Lines of a log as bytes, and the hash that says whether a log only grew.

Bytes are split on LF and on nothing else: U+2028, U+0085 and a lone CR stay inside their line. A line may be as long as
the file; it is put together in one buffer that grows in place, so a 30 MiB line costs 30 MiB and not twice that. Only
the bytes that were there when the file was opened are read, so a log that is being written is still one state of it.

`Content` hashes the complete lines in order. It knows nothing of JSON; which lines count is told to it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

CHUNK = 1 << 20


class Line(NamedTuple):
    """A line without its LF, its number from 1 and its byte offset. `ended` is False for a tail without LF."""

    number: int
    offset: int
    raw: bytes | bytearray
    ended: bool


class Lines(Iterator[Line]):
    """The lines of the first `limit` bytes of an open file, from where it stands.

    An iterator object and not a generator: nothing here holds on to a line that was handed out, so a long one is gone
    as soon as the caller drops it.
    """

    def __init__(self, file: BinaryIO, limit: int, *, number: int = 0, offset: int = 0) -> None:
        self._file = file
        self._left = limit
        self._number = number
        self._offset = offset
        self._chunk = b""
        self._at = 0

    def __next__(self) -> Line:
        end = self._chunk.find(b"\n", self._at)
        if end >= 0:
            raw = self._chunk[self._at : end]
            self._at = end + 1
            return self._line(raw, ended=True)
        return self._across_chunks()

    def _across_chunks(self) -> Line:
        raw = bytearray(memoryview(self._chunk)[self._at :])
        while True:
            self._chunk = self._file.read(min(CHUNK, self._left)) if self._left > 0 else b""
            self._left -= len(self._chunk)
            end = self._chunk.find(b"\n")
            if end >= 0:
                raw += memoryview(self._chunk)[:end]
                self._at = end + 1
                return self._line(raw, ended=True)
            self._at = len(self._chunk)
            if not self._chunk:
                if not raw:
                    raise StopIteration
                return self._line(raw, ended=False)
            raw += self._chunk

    def _line(self, raw: bytes | bytearray, *, ended: bool) -> Line:
        self._number += 1
        line = Line(self._number, self._offset, raw, ended)
        self._offset += len(raw) + ended
        return line


class Content:
    """SHA-256 over what is added, and over its first `prefix_bytes` bytes once there are so many."""

    def __init__(self, prefix_bytes: int | None = None) -> None:
        self._hash = hashlib.sha256()
        self._wanted = prefix_bytes
        self.size = 0
        self.prefix_sha256: str | None = None
        self._feed(b"")

    def add(self, raw: bytes | bytearray, *, ended: bool) -> None:
        """Count a complete line; the tail of a log may be complete without its LF."""
        self._feed(raw)
        if ended:
            self._feed(b"\n")

    def sha256(self) -> str:
        """The hash of all that was added so far."""
        return self._hash.hexdigest()

    def _feed(self, data: bytes | bytearray) -> None:
        if self._wanted is not None and self.size + len(data) >= self._wanted:
            prefix = self._hash.copy()
            prefix.update(memoryview(data)[: self._wanted - self.size])
            self.prefix_sha256 = prefix.hexdigest()
            self._wanted = None
        self._hash.update(data)
        self.size += len(data)


def is_blank(raw: bytes | bytearray) -> bool:
    """Whether there is nothing on a line."""
    return not raw or raw.isspace()


def record_bytes(raw: bytes | bytearray) -> memoryview:
    """What a record's hash is over: the line without one CR at its end."""
    return memoryview(raw)[: len(raw) - raw.endswith(b"\r")]
