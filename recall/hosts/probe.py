"""The header of a log and its newest title, from its first lines and a look at its end: what a listing needs.

A listing must not read 128 MiB to show one line, so the search for a later title is bounded; reading the log finds it
wherever it is. Title and cwd come out redacted.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import BinaryIO

from recall.hosts import header
from recall.hosts.header import Head
from recall.hosts.jsonl import Line, Lines, is_blank
from recall.hosts.parse import BadLine, Decoded
from recall.hosts.paths import open_source, unreadable
from recall.redact import redact_text
from recall.types import Header, SourceRef

_START = 64 * 1024  # read on past this only for the header's own line
_END = 64 * 1024
_TITLES = (b'"title_change"', b'"session_info"')


@dataclass(frozen=True, slots=True)
class Probed:
    """A header, the host that the content itself points to, and the state of the descriptor."""

    header: Header
    written_by: str
    status: os.stat_result


def probe(source: SourceRef, redact: Callable[[str], str] = redact_text) -> Header:
    """The header with the newest title in sight. Raises SourceError, `invalid_source` and `source_empty` among it."""
    return probed(source, redact).header


def probed(source: SourceRef, redact: Callable[[str], str] = redact_text) -> Probed:
    """The same, with what a listing also asks."""
    with open_source(source) as file:
        status = os.fstat(file.fileno())
        try:
            start = _Start()
            for line in Lines(file, status.st_size):
                start.take(line)
                if start.head is not None and line.offset > _START:
                    break
            else:
                start.finish()
            later = None if start.slot_title else _title_at_end(file, status.st_size)
        except OSError as error:
            raise unreadable(error) from error
    if start.head is None:
        raise header.invalid("no line of it is a record")
    title = start.slot_title or later or start.title or start.head.title
    shown = start.head.shown(
        source.host, title, lambda text, _at: redact(text), sidechain=source.sidechain or start.subagent
    )
    return Probed(shown, "omp" if start.omp else "pi", status)


class _Start:
    """What the first lines say."""

    def __init__(self) -> None:
        self.head: Head | None = None
        self.slot_title: str | None = None
        self.title: str | None = None
        self.subagent = False
        self.omp = False
        self.entries = 0
        self._lines = 0

    def take(self, line: Line) -> None:
        """One more line. Raises SourceError `invalid_source`."""
        if is_blank(line.raw):
            return
        try:
            value = Decoded(line.raw).value()
        except BadLine:
            self._lines += not (line.number == 1 and line.raw.startswith(header.SLOT_START))
            return
        self.omp = self.omp or header.is_omp(value)
        if line.number == 1 and isinstance(value, dict) and value.get("type") == "title":
            self.slot_title = header.slot_title(value)
        elif self.head is None:
            self.head = header.head(value)
        elif isinstance(value, dict):
            self.entries += 1
            self.title = header.title_in(value) or self.title
            self.subagent = self.subagent or value.get("type") == "session_init"

    def finish(self) -> None:
        """All lines were seen. Raises SourceError for a file without header or entry."""
        if self.head is None and self._lines:
            raise header.invalid("no line of it is a record")
        if not self.entries:
            raise header.empty()


def _title_at_end(file: BinaryIO, size: int) -> str | None:
    start = max(0, size - _END)
    file.seek(start)
    found = None
    for record in _titled(Lines(file, size - start)):
        found = header.title_in(record) or found
    return found


def _titled(lines: Lines) -> Iterator[dict[str, object]]:
    for line in lines:
        if any(word in line.raw for word in _TITLES):
            try:
                value = Decoded(line.raw).value()
            except BadLine:  # the first line of the end is most often a part of one
                continue
            if isinstance(value, dict):
                yield value
