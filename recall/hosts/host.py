"""What a host program is to the rest of us: a name and a few methods.

A host keeps each conversation in a file of its own (`log_host.LogHost`) or many in one database
(`database_host.DatabaseHost`); it is one module here, and a line in `table.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Protocol, Self

from recall.errors import SourceError
from recall.hosts.notes import Notes
from recall.hosts.saying import Redacting
from recall.settings import Settings
from recall.types import Entry, Fingerprint, Header, Outline, Position, SourceRef

Redact = Callable[[str], str]


class Standing(NamedTuple):
    """A fingerprint, and the content hash at the byte count that was asked about (None where there is less)."""

    fingerprint: Fingerprint
    prefix_sha256: str | None


@dataclass(frozen=True)
class Listed:
    """One authorised source as it is now. `problem` says why it cannot be indexed, where that is so.

    Size, time, device and inode are those that its fingerprint has; for a row of a database they stand for its rows.
    """

    source: SourceRef
    size: int
    mtime_ns: int
    device: int
    inode: int
    header: Header | None
    problem: SourceError | None


class Log(Protocol):
    """One reading of one conversation: its entries in order, then what is known once the last one was read."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    def entries(self) -> Iterator[Entry]:
        """The entries in order, redacted, without marks. Raises SourceError, or StateError `cancelled`."""
        ...

    def outline(self) -> Outline:
        """Header, marks by seq, facts, fingerprint, warnings. Only after `entries()` is exhausted."""
        ...


class Host(Protocol):
    """One host program. Everything that reads raises SourceError and nothing else; nothing is ever written."""

    @property
    def name(self) -> str: ...

    @property
    def reader_version(self) -> int:
        """Goes up when the same bytes are read otherwise: what was indexed is read again then."""
        ...

    def roots(self, settings: Settings) -> Iterator[Path]:
        """Where its conversations are by HOME, its own variables and the profile: folders, or databases."""
        ...

    def listed(self, root: Path, notes: Notes) -> Iterator[Listed]:
        """All sources in a root (resolved), each looked at and none read to its end."""
        ...

    def covers(self, root: Path, path: Path) -> bool:
        """Whether a resolved path is one of the sources of a resolved root."""
        ...

    def named(self, root: Path, identity: str) -> Listed | None:
        """The source with that id, where that can be told without listing all of the root."""
        ...

    def look(self, source: SourceRef, redact: Redact) -> Listed:
        """One source with its header; a problem is a value of it."""
        ...

    def open(
        self, source: SourceRef, redactor: Redacting, *, prefix_bytes: int | None, cancelled: Callable[[], bool]
    ) -> Log: ...

    def fingerprint(self, source: SourceRef, *, prefix_bytes: int | None) -> Standing:
        """The fingerprint that reading the source gives, without parsing what need not be parsed."""
        ...

    def record(
        self, source: SourceRef, place: Position, digest: str, redactor: Redacting, *, entry_id: str | None
    ) -> dict[str, object]:
        """One redacted original, proved by its hash. Raises SourceError `stale_evidence`."""
        ...

    def missing(self, source: SourceRef, wanted: Iterator[tuple[str, Position, str]]) -> frozenset[str]:
        """Of the entries (id, place, hash) those whose record stands in the source no longer."""
        ...

    def resume(self, header: Resumable) -> str | None:
        """The command that opens the conversation in the host, None where this version of it has none."""
        ...


@dataclass(frozen=True, slots=True)
class Resumable:
    """What of a conversation a command to open it may need. `version` is the host's, as the log gives it."""

    identity: str
    path: str
    cwd: str | None
    version: str | None
    sidechain: bool


@dataclass(frozen=True, slots=True)
class HostProject:
    """One project as its host records it.

    `host_project_id` is the host's own id, stable there. `folders` are absolute paths as the host writes them.
    `conversations` are ids of the host's conversations that the record names one by one; where it names none, a
    conversation belongs by its folder.
    """

    host: str
    host_project_id: str
    name: str
    folders: tuple[str, ...] = ()
    conversations: frozenset[str] = frozenset()
