"""OMP and Pi logs: one pass over a file, entry by entry.

    with PiLog(source, redactor) as log:
        for entry in log.entries():    # in file order, redacted, without marks
            ...
        outline = log.outline()        # header, marks by seq, facts, fingerprint, warnings

A bad line costs that line and nothing else: it is skipped, counted and named. Only a file without a header, or without
any entry, is refused. Whole entries are redacted, first as trees and then as text, before anything is cut. Of the
entries handed out nothing is kept but what the parent graph needs (`records.py`, `tree.py`). Nothing is ever written.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from hashlib import sha256
from types import TracebackType
from typing import BinaryIO, Self

from recall.errors import StateError
from recall.hosts import header
from recall.hosts.fingerprint import Standing, fingerprint, of_status
from recall.hosts.header import Head
from recall.hosts.jsonl import Content, Line, Lines, is_blank, record_bytes
from recall.hosts.notes import Notes
from recall.hosts.parse import BadLine, Decoded
from recall.hosts.paths import MAX_BYTES, open_source, unreadable
from recall.hosts.probe import probe
from recall.hosts.raw import read_record
from recall.hosts.records import SENTENCES, Records
from recall.hosts.saying import Redacting
from recall.types import Entry, Outline, Position, SourceRef

__all__ = ["READER_VERSION", "PiLog", "Standing", "fingerprint", "probe", "read_record"]

READER_VERSION = 1


class PiLog:
    """One reading of one file. See the module."""

    def __init__(
        self,
        source: SourceRef,
        redactor: Redacting,
        *,
        prefix_bytes: int | None = None,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> None:
        self._source = source
        self._redactor = redactor
        self._cancelled = cancelled
        self._content = Content(prefix_bytes)
        self._notes = Notes()
        self._file: BinaryIO | None = None
        self._status: os.stat_result | None = None
        self._head: Head | None = None
        self._slot_title: str | None = None
        self._records: Records | None = None
        self._outline: Outline | None = None

    def __enter__(self) -> Self:
        self._open()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    # --- entries ------------------------------------------------------------------------------------------------

    def entries(self) -> Iterator[Entry]:
        """The entries in file order. Raises SourceError `invalid_source` or `source_empty`, or `cancelled`."""
        file, status = self._open()
        try:
            for line in Lines(file, min(status.st_size, MAX_BYTES)):
                if self._cancelled():
                    raise StateError("cancelled", "reading was cancelled")
                place = Position(line.number, line.offset, len(line.raw))
                digest = sha256(record_bytes(line.raw)).hexdigest()
                decoded = Decoded(line.raw)
                kept = self._count(line)
                del line  # the bytes of a long line are not held while it is parsed
                entry = self._entry(decoded, kept, place, digest)
                del decoded, kept
                if entry is not None:
                    yield entry
                    del entry  # while the next line is read, a long text is held by whoever wants it, or by nobody
            self._finish(file, status)
        except OSError as error:
            raise unreadable(error) from error
        if self._head is None or self._records is None:
            if self._content.size == 0:
                raise header.empty()
            raise header.invalid("no line of it is a record")
        if not len(self._records):
            raise header.empty()
        self._outline = self._outlined(self._head, self._records, status)

    def _count(self, line: Line) -> Line | None:
        """Take a line into the fingerprint. The first and an unended one come back: what they are has to be seen."""
        if (line.ended and line.number > 1) or is_blank(line.raw):
            self._content.add(line.raw, ended=line.ended)
            return None
        return line

    def _entry(self, decoded: Decoded, kept: Line | None, place: Position, digest: str) -> Entry | None:
        if decoded.blank:
            return None
        try:
            value = decoded.value()
        except BadLine as error:
            self._bad(kept, place, error.code)
            return None
        if kept is not None:
            if kept.number == 1 and isinstance(value, dict) and value.get("type") == "title":
                self._slot_title = header.slot_title(value)
                return None
            if not kept.ended and not isinstance(value, dict):
                self._torn(place)
                return None
            self._content.add(kept.raw, ended=kept.ended)
        if decoded.invalid_utf8:
            self._notes.add("invalid_utf8", place.line, "bytes that are not UTF-8 were replaced")
        if self._records is None:
            self._head = header.head(value)
            subagent = self._source.sidechain
            self._records = Records(self._head.version, self._notes, self._redactor, subagent=subagent)
            return None
        if not isinstance(value, dict):
            self._records.skip(place.line, "not_an_object")
            return None
        return self._records.entry(value, place, digest)

    def _bad(self, kept: Line | None, place: Position, code: str) -> None:
        if kept is not None and not kept.ended:
            self._torn(place)
        elif kept is not None and kept.raw.startswith(header.SLOT_START):
            self._notes.add("damaged_title", 1, "the title slot cannot be read")
        else:
            if kept is not None:
                self._content.add(kept.raw, ended=True)
            self._notes.add(code, place.line, SENTENCES[code])

    def _torn(self, place: Position) -> None:
        message = f"the last line is not complete yet; it begins at byte {place.offset} and was left out"
        self._notes.add("torn_tail", place.line, message)

    # --- outline ------------------------------------------------------------------------------------------------

    def outline(self) -> Outline:
        """What is known at the end. Only after `entries()` is exhausted."""
        if self._outline is None:
            raise RuntimeError("outline() is for after entries() is exhausted")
        return self._outline

    def _outlined(self, head: Head, records: Records, status: os.stat_result) -> Outline:
        marks, facts = records.outcome()
        title = self._slot_title or records.title or head.title

        def redact(value: str, at: str) -> str:
            return self._redactor.text(value, at=at)

        return Outline(
            header=head.shown(self._source.host, title, redact, sidechain=records.subagent),
            marks=marks,
            facts=facts,
            fingerprint=of_status(status, self._content),
            warnings=self._notes.all(),
            prefix_sha256=self._content.prefix_sha256,
        )

    def _open(self) -> tuple[BinaryIO, os.stat_result]:
        if self._file is None or self._status is None:
            self._file = open_source(self._source)
            self._status = os.fstat(self._file.fileno())
        return self._file, self._status

    def _finish(self, file: BinaryIO, then: os.stat_result) -> None:
        now = os.fstat(file.fileno())
        if (now.st_size, now.st_mtime_ns) != (then.st_size, then.st_mtime_ns):
            message = "the log was written to while it was read; what was there at the start is what counts"
            self._notes.add("changed_while_reading", 0, message)
