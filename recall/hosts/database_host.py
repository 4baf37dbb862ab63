"""What hosts have in common that keep all conversations in one database.

The rows of a conversation, in order, are read as the lines of a log would be: each is written as canonical JSON, and
places, hashes and the fingerprint are those of that text. A row's hash covers what it says and not the flags by which
the host marks it (undone, compacted), so that an entry stays evidence when only its mark changes; the fingerprint
covers both. A listing asks the database for counts and times only.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from types import TracebackType
from typing import Self

from recall.errors import SourceError, StateError
from recall.hosts import database, header
from recall.hosts.header import Head
from recall.hosts.host import Listed, Log, Redact, Resumable, Standing
from recall.hosts.jsonl import Content
from recall.hosts.log_host import shown_record
from recall.hosts.notes import Notes
from recall.hosts.parse import cleaned, parsed
from recall.hosts.paths import MAX_BYTES
from recall.hosts.raw import stale
from recall.hosts.records import Records
from recall.hosts.saying import Redacting
from recall.hosts.text import Reading, Record
from recall.redact import redact_text
from recall.settings import Settings
from recall.types import Entry, Fingerprint, Outline, Position, SourceRef


@dataclass(frozen=True, slots=True)
class Row:
    """One record: what it says (hashed), and how the host has marked it since."""

    says: dict[str, object]
    marked: dict[str, object]


@dataclass(frozen=True, slots=True)
class Found:
    """A conversation as a listing sees it.

    `size`: characters of its rows. `changed_at`: milliseconds. `counts` differ when anything about it does.
    """

    head: Head
    size: int
    changed_at: int
    counts: tuple[object, ...]
    rows: int


class DatabaseHost:
    """The base of a host that keeps a database. A host overrides what is its own."""

    name: str = ""
    reader_version: int = 1
    json_columns: tuple[str, ...] = ()  # hold JSON as text

    # --- for a host to say --------------------------------------------------------------------------------------

    def roots(self, settings: Settings) -> Iterator[Path]:
        """Its databases, whether they exist or not."""
        raise NotImplementedError

    def recognises(self, connection: sqlite3.Connection) -> bool:
        """Whether the tables are this host's."""
        raise NotImplementedError

    def conversations(self, connection: sqlite3.Connection, identity: str | None = None) -> Iterator[Found]:
        """All conversations, or the one with this id."""
        raise NotImplementedError

    def rows(self, connection: sqlite3.Connection, identity: str, entry_id: str | None = None) -> Iterator[Row]:
        """The rows of a conversation in order, or the one row of an entry."""
        raise NotImplementedError

    def records(self, connection: sqlite3.Connection, head: Head, notes: Notes, redactor: Redacting) -> Records:
        """A new reading of a conversation."""
        raise NotImplementedError

    def reading(self, record: Record) -> Reading:
        """What one row says."""
        raise NotImplementedError

    def resume(self, conversation: Resumable) -> str | None:
        """See `Host.resume`."""
        raise NotImplementedError

    # --- listing ------------------------------------------------------------------------------------------------

    def listed(self, root: Path, notes: Notes) -> Iterator[Listed]:
        """See `Host.listed`. A database that is not there, though its host's folder is, is named in the notes."""
        if not root.exists():
            if root.parent.is_dir():
                notes.add("database_missing", 0, f"{self.name} has no conversations to read: {root} is not there")
            return
        path = str(root)
        try:
            found = database.ask(path, lambda connection: list(self.conversations(connection)))
        except SourceError as error:
            notes.add("database_unreadable", 0, f"{path}: {error.message}")
            return
        for one in found:
            yield self._listed(path, one, redact_text)

    def covers(self, root: Path, path: Path) -> bool:
        """See `Host.covers`: a database is no source, its conversations are."""
        return path == root

    def named(self, root: Path, identity: str) -> Listed | None:
        """See `Host.named`."""
        if not root.exists():
            return None
        found = database.ask(str(root), lambda connection: list(self.conversations(connection, identity)))
        return self._listed(str(root), found[0], redact_text) if found else None

    def look(self, source: SourceRef, redact: Redact) -> Listed:
        """See `Host.look`."""
        identity = _identity(source)
        try:
            found = database.ask(source.path, lambda connection: list(self.conversations(connection, identity)))
        except SourceError as error:
            return Listed(source, 0, 0, 0, 0, None, error)
        if not found:
            return Listed(source, 0, 0, 0, 0, None, _gone(source))
        return self._listed(source.path, found[0], redact)

    def _listed(self, path: str, found: Found, redact: Redact) -> Listed:
        problem = None
        try:
            header.identity_of(found.head.identity, "its row")
            if not found.rows:
                raise header.empty()
            if found.size > MAX_BYTES:
                message = f"the conversation has {found.size} characters; the limit is {MAX_BYTES}"
                raise SourceError(
                    "source_too_large", message, data={"size_bytes": found.size, "limit_bytes": MAX_BYTES}
                )
        except SourceError as error:
            problem = error
        size, mtime_ns, device, inode = _stamp(found)
        return Listed(
            source=SourceRef(self.name, path, found.head.sidechain, None, found.head.identity),
            size=size,
            mtime_ns=mtime_ns,
            device=device,
            inode=inode,
            header=found.head.shown(self.name, lambda text, _at: redact(text)),
            problem=problem,
        )

    # --- reading ------------------------------------------------------------------------------------------------

    def one(self, connection: sqlite3.Connection, source: SourceRef) -> Found:
        """The conversation of a source. Raises SourceError `source_missing`."""
        for found in self.conversations(connection, _identity(source)):
            return found
        raise _gone(source)

    def open(
        self, source: SourceRef, redactor: Redacting, *, prefix_bytes: int | None, cancelled: Callable[[], bool]
    ) -> Log:
        """See `Host.open`."""
        return RowLog(self, source, redactor, prefix_bytes=prefix_bytes, cancelled=cancelled)

    def fingerprint(self, source: SourceRef, *, prefix_bytes: int | None) -> Standing:
        """See `Host.fingerprint`."""

        def work(connection: sqlite3.Connection) -> Standing:
            found = self.one(connection, source)
            content = Content(prefix_bytes)
            for row in self.rows(connection, found.head.identity):
                content.add(_line(row), ended=True)
            return Standing(_fingerprint(found, content), content.prefix_sha256)

        return database.ask(source.path, work)

    def record(
        self, source: SourceRef, place: Position, digest: str, redactor: Redacting, *, entry_id: str | None
    ) -> dict[str, object]:
        """See `Host.record`."""
        row = database.ask(source.path, lambda connection: self._row(connection, source, place, entry_id))
        if row is None or _digest(row) != digest:
            raise stale()
        return shown_record(self.reading, self.decoded(row), redactor, entry_id, place.line)

    def missing(self, source: SourceRef, wanted: Iterator[tuple[str, Position, str]]) -> frozenset[str]:
        """See `Host.missing`."""
        asked = list(wanted)

        def work(connection: sqlite3.Connection) -> frozenset[str]:
            self.one(connection, source)
            found = ((entry, self._row(connection, source, place, entry), digest) for entry, place, digest in asked)
            return frozenset(entry for entry, row, digest in found if row is None or _digest(row) != digest)

        return database.ask(source.path, work)

    def decoded(self, row: Row) -> dict[str, object]:
        """The row with columns that hold JSON as trees, and without NUL and halves of characters."""
        whole = row.says | row.marked
        value = cleaned({key: parsed(column) if key in self.json_columns else column for key, column in whole.items()})
        if not isinstance(value, dict):
            raise TypeError("a cleaned object is one")
        return value

    def _row(
        self, connection: sqlite3.Connection, source: SourceRef, place: Position, entry_id: str | None
    ) -> Row | None:
        """By the host's id; an entry that is cited by its place is counted to."""
        identity = _identity(source)
        if entry_id is not None and entry_id != f"L{place.line}":
            return next(self.rows(connection, identity, entry_id), None)
        rows = self.rows(connection, identity)
        return next((row for number, row in enumerate(rows, 1) if number == place.line), None)


class RowLog:
    """One reading of one conversation. See `host.Log`."""

    def __init__(
        self,
        host: DatabaseHost,
        source: SourceRef,
        redactor: Redacting,
        *,
        prefix_bytes: int | None,
        cancelled: Callable[[], bool],
    ) -> None:
        self._host = host
        self._source = source
        self._redactor = redactor
        self._cancelled = cancelled
        self._content = Content(prefix_bytes)
        self._notes = Notes()
        self._outline: Outline | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        return None

    def entries(self) -> Iterator[Entry]:
        """The entries in the order of their rows. Raises SourceError, or StateError `cancelled`."""
        with database.connect(self._source.path) as connection:
            found = self._host.one(connection, self._source)
            records = self._host.records(connection, found.head, self._notes, self._redactor)
            for number, row in enumerate(self._host.rows(connection, found.head.identity), 1):
                if self._cancelled():
                    raise StateError("cancelled", "reading was cancelled")
                place = Position(number, self._content.size, len(canonical(row.says)))
                self._content.add(_line(row), ended=True)
                if self._content.size > MAX_BYTES:
                    message = f"the conversation has more than {MAX_BYTES} bytes"
                    raise SourceError("source_too_large", message, data={"limit_bytes": MAX_BYTES})
                digest = _digest(row)
                value = self._host.decoded(row)
                del row
                taken = records.take(value, place, digest)
                del value
                for entry in taken:
                    yield entry
                    del entry
            if not len(records):
                raise header.empty()
            marks, facts = records.outcome()
        self._outline = Outline(
            header=found.head.shown(self._source.host, lambda value, at: self._redactor.text(value, at=at)),
            marks=marks,
            facts=facts,
            fingerprint=_fingerprint(found, self._content),
            warnings=self._notes.all(),
            prefix_sha256=self._content.prefix_sha256,
        )

    def outline(self) -> Outline:
        """What is known at the end. Only after `entries()` is exhausted."""
        if self._outline is None:
            raise RuntimeError("outline() is for after entries() is exhausted")
        return self._outline


def canonical(value: dict[str, object]) -> bytes:
    """A row as the one JSON text that is hashed: sorted keys, no spaces, ASCII."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), default=_other).encode("ascii")


def _other(value: object) -> str:
    return value.hex() if isinstance(value, bytes) else str(value)


def _digest(row: Row) -> str:
    return sha256(canonical(row.says)).hexdigest()


def _line(row: Row) -> bytes:
    return canonical(row.says) + b"\t" + canonical(row.marked)


def _fingerprint(found: Found, content: Content) -> Fingerprint:
    size, mtime_ns, device, inode = _stamp(found)
    return Fingerprint(content.sha256(), content.size, size, mtime_ns, device, inode)


def _stamp(found: Found) -> tuple[int, int, int, int]:
    """Size, time, device and inode that stand for the rows: what a listing compares."""
    digest = sha256(repr(found.counts).encode("utf-8", "replace")).digest()
    return found.size, found.changed_at * 1_000_000, 0, int.from_bytes(digest[:7])


def _identity(source: SourceRef) -> str:
    if source.conversation is None:
        message = "the source is a database of many conversations"
        raise SourceError("unsupported_source", message, "name one of them as HOST:ID")
    return source.conversation


def _gone(source: SourceRef) -> SourceError:
    message = f"{source.host} has no conversation {source.conversation} any more"
    return SourceError("source_missing", message, "was it removed there?")
