"""OMP and Pi logs: one pass over a file, entry by entry.

    with PiLog(source, redactor) as log:
        for entry in log.entries():    # in file order, redacted, without marks
            ...
        outline = log.outline()        # header, marks by seq, facts, fingerprint, warnings

A bad line costs that line and nothing else: it is skipped, counted and named. Only a file without a header, or without
any entry, is refused. Whole entries are redacted, first as trees and then as text, before anything is cut. Of the
entries handed out nothing is kept but what the parent graph needs (`tree.py`). Nothing is ever written.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from hashlib import sha256
from types import TracebackType
from typing import BinaryIO, Self

from recall.errors import StateError
from recall.hosts import header, text
from recall.hosts.facts import Tally
from recall.hosts.fingerprint import Standing, fingerprint, of_status
from recall.hosts.header import Head
from recall.hosts.jsonl import Content, Line, Lines, is_blank, record_bytes
from recall.hosts.notes import Notes
from recall.hosts.parse import BadLine, Decoded
from recall.hosts.paths import MAX_BYTES, open_source, unreadable
from recall.hosts.probe import probe
from recall.hosts.raw import read_record
from recall.hosts.saying import Redacting, said
from recall.hosts.text import WrongShape
from recall.hosts.times import to_ms
from recall.hosts.tree import Tree
from recall.types import Entry, Mark, Outline, Position, SourceRef

__all__ = ["READER_VERSION", "PiLog", "Standing", "fingerprint", "probe", "read_record"]

READER_VERSION = 1

# An id that can be cited. `L12` is ours: the name of an entry that has none.
_ID = re.compile(r"(?!L\d+\Z)[A-Za-z0-9_.:-]{1,64}", re.ASCII)
_SIDECHAIN: frozenset[Mark] = frozenset({"sidechain"})
_ABOUT = ("type", "parentId", "timestamp", "firstKeptEntryId", "firstKeptEntryIndex", "title", "name")
_SENTENCES = {
    "malformed_line": "the line is not JSON; it was skipped",
    "nested_too_deep": "the line is nested too deep; it was skipped",
    "not_an_object": "the line is JSON but no record; it was skipped",
    "no_type": "the record has no type; it was skipped",
    "no_message": "the record is a message without a body; it was skipped",
    "no_role": "the record is a message without a role; it was skipped",
}


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
        self._tree = Tree()
        self._tally = Tally()
        self._file: BinaryIO | None = None
        self._status: os.stat_result | None = None
        self._head: Head | None = None
        self._slot_title: str | None = None
        self._later_title: str | None = None
        self._subagent = source.sidechain
        self._skipped_records: list[int] = []  # for firstKeptEntryIndex, which counts them too
        self._renamed: dict[str, str] = {}  # ids of the host that cannot be cited -> ours
        self._previous: str | None = None
        self._done = False

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
        if self._head is None:
            if self._content.size == 0:
                raise header.empty()
            raise header.invalid("no line of it is a record")
        if not len(self._tree):
            raise header.empty()
        self._done = True

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
        if self._head is None:
            self._head = header.head(value)
            return None
        if not isinstance(value, dict):
            self._skip(place.line, "not_an_object")
            return None
        return self._read(value, place, digest)

    def _bad(self, kept: Line | None, place: Position, code: str) -> None:
        if kept is not None and not kept.ended:
            self._torn(place)
        elif kept is not None and kept.raw.startswith(header.SLOT_START):
            self._notes.add("damaged_title", 1, "the title slot cannot be read")
        else:
            if kept is not None:
                self._content.add(kept.raw, ended=True)
            self._notes.add(code, place.line, _SENTENCES[code])

    def _torn(self, place: Position) -> None:
        message = f"the last line is not complete yet; it begins at byte {place.offset} and was left out"
        self._notes.add("torn_tail", place.line, message)

    def _skip(self, number: int, code: str) -> None:
        self._notes.add(code, number, _SENTENCES[code])
        self._skipped_records.append(len(self._tree) + len(self._skipped_records))

    def _read(self, record: dict[str, object], place: Position, digest: str) -> Entry | None:
        host_id = record.get("id")
        host_id = host_id if isinstance(host_id, str) and host_id else None
        if record.get("type") in ("session", "title"):
            self._notes.add("extra_header", place.line, "a second header was skipped")
            self._skipped_records.append(len(self._tree) + len(self._skipped_records))
            return None
        try:
            found = text.reading(record)
            about = _about(record)
        except WrongShape as error:
            self._skip(place.line, error.code)
            if host_id is not None:
                parent = record.get("parentId")
                self._tree.skip(host_id, parent if isinstance(parent, str) else self._previous)
            return None
        record.clear()  # what is said of the entry is in `about`, what it says in `found`: a long text is held once
        entry_id = self._cite(host_id, place.line)
        parts = list(found.parts)
        found = replace(found, parts=())
        try:
            words = said(parts, entry_id, self._redactor)
        except RecursionError:
            self._skip(place.line, "nested_too_deep")
            return None
        marks = found.marks | text.META if found.ours and not words.strip() else found.marks
        parent_id = self._hang(about, host_id, place.line, marks)
        self._note_kind(about, found.kind)
        at = self._time(about, place.line)
        self._tally.add(found.role, found.tool, at, activity="meta" not in marks)
        self._previous = entry_id
        return Entry(
            seq=len(self._tree) - 1,
            entry_id=entry_id,
            parent_id=parent_id,
            position=place,
            sha256=digest,
            kind=found.kind,
            role=found.role,
            at=at,
            text=words,
            tool=found.tool,
        )

    def _cite(self, host_id: str | None, line: int) -> str:
        """The host's id where it can name one entry and was not used before, else the line."""
        own = f"L{line}"
        if host_id is None:
            return own
        if self._tree.known(host_id):
            self._notes.add("repeated_id", line, f"the entry's id was used before; it is cited as {own}")
            return own
        if not _ID.fullmatch(host_id):
            self._renamed[host_id] = own
            return own
        return host_id

    def _hang(self, record: Mapping[str, object], host_id: str | None, line: int, marks: frozenset[Mark]) -> str | None:
        """Put the entry into the tree; the id of its parent as it can be cited."""
        parent = record.get("parentId")
        if isinstance(parent, str):
            self._tree.add(line, host_id, parent, marks)
            return self._renamed.get(parent, parent if _ID.fullmatch(parent) else None)
        if parent is None and "parentId" in record:
            self._tree.add(line, host_id, None, marks)
            return None
        expected = host_id is None or (self._head is not None and self._head.version < 2)
        self._tree.add_after(line, host_id, marks, broken=not expected and len(self._tree) > 0)
        return self._previous

    def _note_kind(self, record: Mapping[str, object], kind: str) -> None:
        if kind == "compaction":
            kept, index = record.get("firstKeptEntryId"), record.get("firstKeptEntryIndex")
            if isinstance(kept, str):
                self._tree.compaction(kept)
            elif isinstance(index, int) and not isinstance(index, bool):
                # An index into all records, the header among them.
                self._tree.compaction(index - 1 - sum(1 for skipped in self._skipped_records if skipped < index - 1))
        elif kind == "reset_boundary":
            self._tree.reset()
        elif kind == "session_init":
            self._subagent = True
        self._later_title = header.title_in(record) or self._later_title

    def _time(self, record: Mapping[str, object], line: int) -> int | None:
        given = record.get("timestamp")
        at = to_ms(given)
        if at is None and given is not None:
            self._notes.add("unknown_time", line, "the record's time cannot be read; it is left out of time filters")
        return to_ms(record.get("message.timestamp")) if at is None else at

    # --- outline ------------------------------------------------------------------------------------------------

    def outline(self) -> Outline:
        """What is known at the end. Only after `entries()` is exhausted."""
        if not self._done or self._head is None or self._status is None:
            raise RuntimeError("outline() is for after entries() is exhausted")
        graph = self._tree.graph(_SIDECHAIN if self._subagent else frozenset())
        for found in graph.breaks:
            reason = "its parent is not in the log" if found.code == "broken_chain" else "its parents form a circle"
            self._notes.add(found.code, found.line, f"the chain of entries is broken here: {reason}")
        title = self._slot_title or self._later_title or self._head.title
        shown = self._head.shown(
            self._source.host, title, lambda value, at: self._redactor.text(value, at=at), sidechain=self._subagent
        )
        status = self._status
        return Outline(
            header=shown,
            marks=graph.marks,
            facts=self._tally.facts(graph.marks, graph.branches, graph_damaged=bool(graph.breaks)),
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


def _about(record: Mapping[str, object]) -> dict[str, object]:
    """What places an entry, apart from what it says."""
    about = {key: record[key] for key in _ABOUT if key in record}
    message = record.get("message")
    return about | {"message.timestamp": message.get("timestamp")} if isinstance(message, dict) else about
