"""The logs that a user has authorised: what the hosts keep in their own roots, and what was added by hand.

Nothing is read that is not in here. A root is resolved once and trusted, also where it is a symlink itself; below it no
symlink is followed. A file that was added authorises itself and its subagents, a folder the logs directly in it. A
real file is one source, whichever way leads to it. Whether a path is authorised is decided on the resolved path; what
lies outside is refused with the same words whether it exists or not.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from recall.errors import SourceError
from recall.hosts import paths, walk
from recall.hosts.notes import Notes
from recall.hosts.paths import open_source
from recall.hosts.probe import Probed, probed
from recall.hosts.roots import Root, roots
from recall.settings import Settings
from recall.types import Header, SourceRef, SourceWarning

__all__ = ["HOSTS", "Catalogue", "Listed", "Root", "open_source"]

HOSTS = ("omp", "pi")
_ASK = "see `history-recall conversations`, or authorise it with `history-recall sources add PATH`"


@dataclass(frozen=True)
class Listed:
    """One authorised log as it is now. `problem` says why it cannot be indexed, where that is so."""

    source: SourceRef
    size: int
    mtime_ns: int
    device: int
    inode: int
    header: Header | None
    problem: SourceError | None


@dataclass(frozen=True, slots=True)
class _Place:
    """A root or an added path, resolved. `host` is "" where the content has to say it."""

    host: str
    kind: str
    path: Path

    def covers(self, path: Path) -> bool:
        """Whether a resolved path is one of the logs that this place authorises."""
        if self.kind == "file":
            return path in (self.path, self._subagent_of(path))
        if not paths.contains(self.path, path):
            return False
        depth = len(path.relative_to(self.path).parts)
        if self.kind == "root":
            return depth <= 3
        return depth == 1 or (depth == 2 and os.path.isfile(self._log_above(path)))

    def parent_of(self, path: Path) -> str | None:
        """The log that a covered one is a subagent of."""
        if self.kind == "file":
            return None if path == self.path else str(self.path)
        depth = len(path.relative_to(self.path).parts)
        above = self._log_above(path)
        return str(above) if depth == 3 or (depth == 2 and os.path.isfile(above)) else None

    def _subagent_of(self, path: Path) -> Path | None:
        return path if self._log_above(path) == self.path else None

    @staticmethod
    def _log_above(path: Path) -> Path:
        return path.parent.with_name(path.parent.name + walk.SUFFIX)

    def files(self, notes: Notes) -> Iterator[walk.Found]:
        """The logs in it."""
        if self.kind == "root":
            yield from walk.below_root(self.path, notes)
        elif self.kind == "folder":
            yield from walk.directly_in(self.path, notes)
        else:
            try:
                status = os.lstat(self.path)
            except OSError as error:
                notes.add("added_file_missing", 0, f"{self.path} was added, but {paths.unreadable(error).message}")
                return
            yield walk.Found(str(self.path), status)
            yield from walk.below_log(str(self.path), notes)


class Catalogue:
    """What one profile may read. `authorised` are the added paths with their kind, `file` or `folder`."""

    def __init__(self, settings: Settings, authorised: Sequence[tuple[str, str]]) -> None:
        self._settings = settings
        self._places = [_Place(root.host, "root", Path(os.path.realpath(root.path))) for root in roots(settings)]
        self._places += [_Place("", kind, Path(path)) for path, kind in authorised]

    def roots(self) -> tuple[Root, ...]:
        """The hosts' own folders, as configured, existing or not."""
        return roots(self._settings)

    def listed(self) -> tuple[list[Listed], list[SourceWarning]]:
        """All authorised logs, the last written first, and what could not be looked at. Reads no log to its end."""
        notes = Notes()
        seen: set[tuple[int, int] | str] = set()
        found: list[Listed] = []
        for place in self._places:
            for file in place.files(notes):
                # A file is itself under every name; where the system has no file ids, the path has to do.
                key = (file.status.st_dev, file.status.st_ino) if file.status.st_ino else file.path
                if key not in seen:
                    seen.add(key)
                    found.append(self._look(place.host, file))
        found.sort(key=lambda item: (-item.mtime_ns, item.source.path))
        return found, list(notes.all())

    def resolve(self, argument: str, *, running: bool = False) -> SourceRef:
        """The authorised source of that path, or of that `host:conversation-id`. Raises SourceError.

        The conversation that is running now is `current_conversation`, unless `running` asks for it all the same.
        """
        host, colon, identity = argument.partition(":")
        item = self._by_identity(host, identity) if colon and host in HOSTS else self._by_path(argument)
        if self.is_current(item) and not running:
            message = "this is the conversation that is running now"
            raise SourceError("current_conversation", message, "index it when it has ended")
        return item.source

    def _by_path(self, argument: str) -> Listed:
        path = paths.absolute(argument, self._settings.home)
        try:
            path = paths.resolved(path)
        except (OSError, ValueError) as error:
            raise _refused() from error
        place = next((place for place in self._places if place.covers(path)), None)
        if place is None or path.suffix != walk.SUFFIX:
            raise _refused()
        try:
            status = os.lstat(path)
        except OSError as error:
            raise paths.unreadable(error) from error
        paths.check_status(status)
        return self._look(place.host, walk.Found(str(path), status, place.parent_of(path)))

    def authorise(self, argument: str) -> tuple[str, str]:
        """What `sources add` records: the resolved path, and whether it is a file or a folder. Raises SourceError."""
        if argument and not os.path.isabs(argument) and not argument.startswith("~") and "\x00" not in argument:
            argument = os.path.abspath(argument)
        path = paths.absolute(argument, self._settings.home)
        try:
            status = os.stat(path)
            if stat.S_ISDIR(status.st_mode):
                return str(self._folder(Path(os.path.realpath(path)))), "folder"
            path = paths.resolved(path)
        except OSError as error:
            raise paths.unreadable(error) from error
        except ValueError as error:
            raise SourceError("not_authorised", "the path cannot be a path on this system") from error
        paths.check_status(status)
        if path.suffix != walk.SUFFIX:
            raise SourceError("unsupported_source", "the file is not a .jsonl log", "only .jsonl files can be added")
        return str(path), "file"

    def is_current(self, listed: Listed) -> bool:
        """Whether this is the conversation that is running now, or a subagent of it."""
        current = self._settings.current
        if current is None or listed.header is None or listed.source.host != current[0]:
            return False
        header = listed.header
        return header.host_conversation_id == current[1] or (header.sidechain and header.parent == current[1])

    def _folder(self, path: Path) -> Path:
        home = Path(os.path.realpath(self._settings.home))
        if home.is_relative_to(path):
            message = f"{path} is the home folder or above it"
            raise SourceError("not_authorised", message, "add the folder that holds the logs")
        return path

    def _look(self, host: str, file: walk.Found) -> Listed:
        parent = None if file.parent_path is None else paths.printable(file.parent_path)
        source = SourceRef(host or "pi", paths.printable(file.path), parent is not None, parent)
        look: Probed | None = None
        problem: SourceError | None = None
        try:
            if source.path != file.path:
                message = "the source cannot be read: its name is not UTF-8"
                raise SourceError("source_unreadable", message, "rename it")
            paths.check_status(file.status)
            look = probed(source)
            if not host and look.header.host != look.written_by:
                source = SourceRef(look.written_by, source.path, source.sidechain, source.parent_path)
                look = probed(source)
        except SourceError as error:
            problem = error
        status = look.status if look is not None else file.status
        return Listed(
            source=source,
            size=status.st_size,
            mtime_ns=status.st_mtime_ns,
            device=status.st_dev,
            inode=status.st_ino,
            header=look.header if look is not None else None,
            problem=problem,
        )

    def _by_identity(self, host: str, identity: str) -> Listed:
        """Newest first; the id in the header is the identity, the one in the file's name finds it as well."""
        found, _ = self.listed()
        matching = [item for item in found if item.source.host == host and item.header is not None]
        for item in matching:
            if item.header is not None and item.header.host_conversation_id == identity:
                return item
        for item in matching:
            if identity and Path(item.source.path).stem.rpartition("_")[2] == identity:
                return item
        raise SourceError("source_missing", f"no authorised conversation of {host} has this id", _ASK)


def _refused() -> SourceError:
    return SourceError("not_authorised", "the path is not one of the authorised sources", _ASK)
