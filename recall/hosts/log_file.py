"""One pass over a JSONL log, entry by entry, whichever host wrote it.

A bad line costs that line and nothing else: it is skipped, counted and named. Only a file that is no conversation, or
one without any entry, is refused. Whole entries are redacted, first as trees and then as text, before anything is cut.
Of the entries handed out nothing is kept but what the parent graph needs (`records.py`, `tree.py`).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from hashlib import sha256
from types import TracebackType
from typing import BinaryIO, Protocol, Self

from recall.errors import StateError
from recall.hosts import header
from recall.hosts.jsonl import Content, Line, Lines, is_blank, record_bytes
from recall.hosts.notes import Notes
from recall.hosts.parse import BadLine, Decoded
from recall.hosts.paths import unreadable
from recall.hosts.records import SENTENCES, Records
from recall.hosts.saying import Redacting
from recall.types import Entry, Fingerprint, Outline, Position, SourceRef


class Dialect(Protocol):
    """What of a host its lines depend on."""

    slot_start: bytes | None

    def is_slot(self, value: object) -> bool:
        """Whether a first line of this value is outside the content: its host rewrites it in place."""
        ...

    def opened(self, source: SourceRef) -> tuple[BinaryIO, os.stat_result, int]:
        """The file, what its descriptor says, and how many bytes of it are read at most."""
        ...

    def survey(self, source: SourceRef) -> object:
        """What has to be known of the whole log before its first record is read; None where nothing has."""
        ...

    def records(self, source: SourceRef, notes: Notes, redactor: Redacting, survey: object) -> Records: ...


class LogFile:
    """One reading of one file. See `host.Log`."""

    def __init__(
        self,
        dialect: Dialect,
        source: SourceRef,
        redactor: Redacting,
        *,
        prefix_bytes: int | None = None,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> None:
        self._dialect = dialect
        self._source = source
        self._redactor = redactor
        self._cancelled = cancelled
        self._content = Content(prefix_bytes)
        self._notes = Notes()
        self._opened: tuple[BinaryIO, os.stat_result, int] | None = None
        self._outline: Outline | None = None

    def __enter__(self) -> Self:
        self._open()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._opened is not None:
            self._opened[0].close()
            self._opened = None

    # --- entries ------------------------------------------------------------------------------------------------

    def entries(self) -> Iterator[Entry]:
        """The entries in file order. Raises SourceError `invalid_source` or `source_empty`, or `cancelled`."""
        file, status, limit = self._open()
        records = self._dialect.records(self._source, self._notes, self._redactor, self._dialect.survey(self._source))
        seen = False
        try:
            for line in Lines(file, limit):
                if self._cancelled():
                    raise StateError("cancelled", "reading was cancelled")
                place = Position(line.number, line.offset, len(line.raw))
                digest = sha256(record_bytes(line.raw)).hexdigest()
                decoded = Decoded(line.raw)
                kept = self._count(line)
                del line  # the bytes of a long line are not held while it is parsed
                value = self._value(decoded, kept, place, records)
                del decoded, kept
                if value is None:
                    continue
                seen = True
                taken = records.take(value[0], place, digest)
                del value
                for entry in taken:
                    yield entry
                    del entry  # while the next line is read, a long text is held by whoever wants it, or by nobody
            self._finish(file, status)
        except OSError as error:
            raise unreadable(error) from error
        if not seen:
            raise header.empty() if self._content.size == 0 else header.invalid("no line of it is a record")
        head = records.head()
        if not len(records):
            raise header.empty()
        self._outline = self._outlined(head, records, status)

    def _count(self, line: Line) -> Line | None:
        """Take a line into the fingerprint. The first and an unended one come back: what they are has to be seen."""
        if (line.ended and line.number > 1) or is_blank(line.raw):
            self._content.add(line.raw, ended=line.ended)
            return None
        return line

    def _value(self, decoded: Decoded, kept: Line | None, place: Position, records: Records) -> tuple[object] | None:
        """The value of a line that is content, in a tuple that is given up; None for every other line."""
        if decoded.blank:
            return None
        try:
            value = decoded.value()
        except BadLine as error:
            self._bad(kept, place, error.code)
            return None
        if kept is not None:
            if kept.number == 1 and self._dialect.is_slot(value):
                records.slot(value)
                return None
            if not kept.ended and not isinstance(value, dict):
                self._torn(place)
                return None
            self._content.add(kept.raw, ended=kept.ended)
        if decoded.invalid_utf8:
            self._notes.add("invalid_utf8", place.line, "bytes that are not UTF-8 were replaced")
        return (value,)

    def _bad(self, kept: Line | None, place: Position, code: str) -> None:
        start = self._dialect.slot_start
        if kept is not None and not kept.ended:
            self._torn(place)
        elif kept is not None and start is not None and kept.raw.startswith(start):
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

    def _outlined(self, head: header.Head, records: Records, status: os.stat_result) -> Outline:
        marks, facts = records.outcome()

        def redact(value: str, at: str) -> str:
            return self._redactor.text(value, at=at)

        return Outline(
            header=head.shown(self._source.host, redact),
            marks=marks,
            facts=facts,
            fingerprint=of_status(status, self._content),
            warnings=self._notes.all(),
            prefix_sha256=self._content.prefix_sha256,
        )

    def _open(self) -> tuple[BinaryIO, os.stat_result, int]:
        if self._opened is None:
            self._opened = self._dialect.opened(self._source)
        return self._opened

    def _finish(self, file: BinaryIO, then: os.stat_result) -> None:
        now = os.fstat(file.fileno())
        if (now.st_size, now.st_mtime_ns) != (then.st_size, then.st_mtime_ns):
            message = "the log was written to while it was read; what was there at the start is what counts"
            self._notes.add("changed_while_reading", 0, message)


def of_status(status: os.stat_result, content: Content) -> Fingerprint:
    """A fingerprint from what the open descriptor said at the start and from what was read."""
    return Fingerprint(
        content_sha256=content.sha256(),
        content_bytes=content.size,
        size=status.st_size,
        mtime_ns=status.st_mtime_ns,
        device=status.st_dev,
        inode=status.st_ino,
    )


def is_content(line: Line, dialect: Dialect) -> bool:
    """Whether a line counts: it is neither the slot nor a tail that is not complete."""
    if (line.ended and line.number > 1) or is_blank(line.raw):
        return True
    try:
        value = Decoded(line.raw).value()
    except BadLine:
        start = dialect.slot_start
        return line.ended and not (line.number == 1 and start is not None and line.raw.startswith(start))
    if line.number == 1 and dialect.is_slot(value):
        return False
    return line.ended or isinstance(value, dict)
