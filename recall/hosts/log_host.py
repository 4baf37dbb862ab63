"""What hosts have in common that keep each conversation in a JSONL file of its own: all but what stands in the lines.

A listing must not read 128 MiB to show one line: a file is looked at from its first lines and its end (`Glance`), and
reading it whole comes to the same header. Title and cwd come out redacted.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO, Protocol

from recall.errors import SourceError
from recall.hosts import header, paths, walk
from recall.hosts.header import Head
from recall.hosts.host import Listed, Log, Redact, Resumable, Standing
from recall.hosts.jsonl import Content, Lines, is_blank, record_bytes
from recall.hosts.log_file import LogFile, is_content, of_status
from recall.hosts.notes import Notes
from recall.hosts.parse import BadLine, Decoded
from recall.hosts.paths import MAX_BYTES, open_source, printable, unreadable
from recall.hosts.raw import elided, stale
from recall.hosts.records import Records
from recall.hosts.saying import Redacting, said
from recall.hosts.text import Reading, Record, WrongShape
from recall.redact import redact_text
from recall.settings import Settings
from recall.types import Position, SourceRef

_START = 64 * 1024  # read on past this only until who and when is known
_END = 64 * 1024


class Glance(Protocol):
    """What the records of a log say of the conversation, in file order; some of the middle may be missing."""

    entries: int

    def take(self, value: object, number: int) -> None:
        """One more value, of the line with this number. Raises SourceError for a log that is none."""
        ...

    @property
    def known(self) -> bool:
        """Whether it is clear which conversation this is."""
        ...

    def head(self) -> Head:
        """Raises SourceError `invalid_source` or `source_empty`."""
        ...


class LogHost:
    """The base of a host that keeps files. A host overrides what is its own."""

    name: str = ""
    reader_version: int = 1
    sure: bool = True  # what it recognises is its own, whatever follows
    slot_start: bytes | None = None
    title_words: tuple[bytes, ...] = ()  # a line of the end without one of these gives no title

    # --- for a host to say --------------------------------------------------------------------------------------

    def roots(self, settings: Settings) -> Iterator[Path]:
        """Its folders."""
        raise NotImplementedError

    def files(self, root: Path, notes: Notes) -> Iterator[walk.Found]:
        """The logs below a root."""
        raise NotImplementedError

    def covers(self, root: Path, path: Path) -> bool:
        """Whether a resolved path would be one of them."""
        raise NotImplementedError

    def parent_of(self, root: Path, path: Path) -> str | None:
        """The log that one of them is a subagent of, by its place."""
        raise NotImplementedError

    def glance(self, source: SourceRef) -> Glance:
        """A new one for a log."""
        raise NotImplementedError

    def records(self, source: SourceRef, notes: Notes, redactor: Redacting, survey: object) -> Records:
        """A new reading of a log."""
        raise NotImplementedError

    def reading(self, record: Record) -> Reading:
        """What one record says, without what other records say about it."""
        raise NotImplementedError

    def recognises(self, value: object) -> bool:
        """Whether a record can only be from this host."""
        raise NotImplementedError

    def resume(self, conversation: Resumable) -> str | None:
        """See `Host.resume`."""
        raise NotImplementedError

    def is_slot(self, value: object) -> bool:
        """See `Dialect.is_slot`."""
        return False

    def survey(self, source: SourceRef) -> object:
        """See `Dialect.survey`."""
        return None

    # --- listing ------------------------------------------------------------------------------------------------

    def listed(self, root: Path, notes: Notes) -> Iterator[Listed]:
        """See `Host.listed`."""
        for found in self.files(root, notes):
            yield self.look_at(found)

    def named(self, root: Path, identity: str) -> Listed | None:
        """See `Host.named`: the id stands in the files."""
        return None

    def look(self, source: SourceRef, redact: Redact) -> Listed:
        """See `Host.look`."""
        try:
            status = os.lstat(source.path)
        except OSError as error:
            return Listed(source, 0, 0, 0, 0, None, unreadable(error))
        return self.look_at(walk.Found(source.path, status, source.parent_path), redact)

    def look_at(self, file: walk.Found, redact: Redact = redact_text) -> Listed:
        """A file that was found, with its header or with what is wrong with it."""
        parent = None if file.parent_path is None else printable(file.parent_path)
        source = SourceRef(self.name, printable(file.path), parent is not None, parent)
        found: Head | None = None
        problem: SourceError | None = None
        status = file.status
        try:
            if source.path != file.path:
                message = "the source cannot be read: its name is not UTF-8"
                raise SourceError("source_unreadable", message, "rename it")
            paths.check_status(status)
            found, status = self.probed(source)
        except SourceError as error:
            problem = error
        return Listed(
            source=source,
            size=status.st_size,
            mtime_ns=status.st_mtime_ns,
            device=status.st_dev,
            inode=status.st_ino,
            header=None if found is None else found.shown(self.name, _as_is(redact)),
            problem=problem,
        )

    def probed(self, source: SourceRef) -> tuple[Head, os.stat_result]:
        """What the start and the end of a log say of it. Raises SourceError."""
        glance = self.glance(source)
        file, status, limit = self.opened(source)
        with file:
            try:
                whole, reached = self._start(file, limit, glance)
                if not whole:
                    self._end(file, reached, limit, glance)
            except OSError as error:
                raise unreadable(error) from error
        head = glance.head()
        if whole and not glance.entries:
            raise header.empty()
        return head, status

    def _start(self, file: BinaryIO, limit: int, glance: Glance) -> tuple[bool, int]:
        """Whether this was all of it, and how far it was read."""
        records = lines = 0
        for line in Lines(file, limit):
            reached = line.offset + len(line.raw) + line.ended
            if is_blank(line.raw):
                continue
            try:
                value = Decoded(line.raw).value()
            except BadLine:
                lines += not (line.number == 1 and self.slot_start is not None and line.raw.startswith(self.slot_start))
                continue
            records += not (line.number == 1 and self.is_slot(value))
            glance.take(value, line.number)
            if glance.known and line.offset > _START:
                return False, reached
        if not records:
            raise header.invalid("no line of it is a record") if lines else header.empty()
        return True, 0

    def _end(self, file: BinaryIO, reached: int, size: int, glance: Glance) -> None:
        if not self.title_words or not file.seekable():
            return
        start = max(reached, size - _END)
        file.seek(start)
        for line in Lines(file, size - start):
            if any(word in line.raw for word in self.title_words):
                try:
                    value = Decoded(line.raw).value()
                except BadLine:  # the first line of the end is most often a part of one
                    continue
                if isinstance(value, dict):
                    glance.take(value, 0)

    # --- reading ------------------------------------------------------------------------------------------------

    def opened(self, source: SourceRef) -> tuple[BinaryIO, os.stat_result, int]:
        """See `Dialect.opened`."""
        file = open_source(source)
        status = os.fstat(file.fileno())
        return file, status, min(status.st_size, MAX_BYTES)

    def open(
        self, source: SourceRef, redactor: Redacting, *, prefix_bytes: int | None, cancelled: Callable[[], bool]
    ) -> Log:
        """See `Host.open`."""
        return LogFile(self, source, redactor, prefix_bytes=prefix_bytes, cancelled=cancelled)

    def fingerprint(self, source: SourceRef, *, prefix_bytes: int | None) -> Standing:
        """See `Host.fingerprint`: at the speed of the hash."""
        content = Content(prefix_bytes)
        file, status, limit = self.opened(source)
        with file:
            try:
                for line in Lines(file, limit):
                    if is_content(line, self):
                        content.add(line.raw, ended=line.ended)
            except OSError as error:
                raise unreadable(error) from error
        return Standing(of_status(status, content), content.prefix_sha256)

    def record(
        self, source: SourceRef, place: Position, digest: str, redactor: Redacting, *, entry_id: str | None
    ) -> dict[str, object]:
        """See `Host.record`: found by its place, without parsing the rest of the log.

        With `entry_id` the entry is first read as it was when it was indexed, so that a redactor that knows the numbers
        of then gives them again.
        """
        file, _, _ = self.opened(source)
        with file:
            raw = _bytes_at(file, place)
        if raw is None or sha256(record_bytes(raw)).hexdigest() != digest:
            raise stale()
        try:
            value = Decoded(raw).value()
        except BadLine as error:
            raise stale() from error
        if not isinstance(value, dict):
            raise stale()
        return shown_record(self.reading, value, redactor, entry_id, place.line)

    def missing(self, source: SourceRef, wanted: Iterator[tuple[str, Position, str]]) -> frozenset[str]:
        """See `Host.missing`."""
        file, _, _ = self.opened(source)
        with file:
            return frozenset(
                entry_id
                for entry_id, place, digest in sorted(wanted, key=lambda one: one[1].offset)
                if (raw := _bytes_at(file, place)) is None or sha256(record_bytes(raw)).hexdigest() != digest
            )


def shown_record(
    reading: Callable[[Record], Reading], value: Record, redactor: Redacting, entry_id: str | None, line: int
) -> dict[str, object]:
    """A record as `--raw` shows it: redacted, what is never shown elided. Raises SourceError `unsupported_source`."""
    try:
        if entry_id is not None:
            _as_indexed(reading, value, entry_id, redactor)
        shown = redactor.tree(elided(value), at=f"{entry_id or f'L{line}'}:raw")
    except RecursionError as error:
        raise SourceError("unsupported_source", "the entry is nested too deep to be shown") from error
    if not isinstance(shown, dict):
        raise TypeError("a redactor gives an object for an object")
    return shown


def _as_indexed(reading: Callable[[Record], Reading], record: Record, entry_id: str, redactor: Redacting) -> None:
    try:
        said(list(reading(record).parts), entry_id, redactor)
    except WrongShape:
        return


def _bytes_at(file: BinaryIO, place: Position) -> bytes | None:
    try:
        file.seek(place.offset)
        raw = file.read(place.length)
    except OSError as error:
        raise unreadable(error) from error
    except (ValueError, OverflowError):
        return None
    return raw if len(raw) == place.length else None


def _as_is(redact: Redact) -> Callable[[str, str], str]:
    return lambda text, _at: redact(text)
