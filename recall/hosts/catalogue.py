"""The sources that a user has authorised: what the hosts keep in their own places, and what was added by hand.

Nothing is read that is not in here. A root is resolved once and trusted, also where it is a symlink itself; below it no
symlink is followed. A file that was added authorises itself (a database every conversation in it) and its subagents, a
folder the logs directly in it. A real file is one source, whichever way leads to it. Whether a path is authorised is
decided on the resolved path; what lies outside is refused with the same words whether it exists or not.
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from recall import folders
from recall.errors import SourceError
from recall.hashing import conversation_id
from recall.hosts import paths, walk
from recall.hosts.database import is_database
from recall.hosts.host import Host, Listed
from recall.hosts.log_host import LogHost
from recall.hosts.names import HOSTS, ends_in
from recall.hosts.notes import Notes
from recall.hosts.paths import open_source
from recall.hosts.table import Root, database_host_of, host_named, log_host_of, roots
from recall.settings import Settings
from recall.types import SourceRef, SourceWarning

__all__ = ["HOSTS", "Catalogue", "Listed", "Root", "open_source"]

_SHORTEST_ID = 4
_OWN_ID = re.compile(r"c_[a-z2-7]{12}")
_WHAT_CAN_BE_ADDED = "see docs/hosts.md for what can be added"
_SPECIAL = ("/proc", "/sys", "/dev")
_ANYBODYS = stat.S_ISVTX | stat.S_IWOTH  # as /tmp is
_ASK = "see `history-recall conversations`, or authorise it with `history-recall sources add PATH`"


@dataclass(frozen=True, slots=True)
class _Place:
    """A root or an added path, resolved. `host` is "" where the content has to say it."""

    host: str
    kind: str
    path: Path

    def covers(self, path: Path) -> bool:
        """Whether a resolved path is one of the logs that this place authorises."""
        if self.kind == "root":
            return host_named(self.host or "pi").covers(self.path, path)
        if self.kind == "file":
            return path == self.path or walk.log_above(path) == self.path
        if not paths.contains(self.path, path) or not walk.is_log(path.name):
            return False
        above = walk.log_above(path)
        if path.parent == self.path:
            return True
        return above is not None and above.parent == self.path and above.is_file()

    def look(self, path: Path) -> Listed:
        """One of the logs that it covers. Raises SourceError where there is none."""
        try:
            status = os.lstat(path)
        except OSError as error:
            raise paths.unreadable(error) from error
        paths.check_status(status, limited=walk.is_log(path.name))
        if is_database(str(path)):
            message = "the file is a database of many conversations"
            raise SourceError("unsupported_source", message, "name one of them as `history-recall conversations` does")
        host = log_host_of(str(path)) if self.kind != "root" or not self.host else host_named(self.host)
        if not isinstance(host, LogHost):
            raise _refused()
        parent = host.parent_of(self.path, path) if self.kind == "root" else self._parent_of(path)
        return host.look_at(walk.Found(str(path), status, parent))

    def _parent_of(self, path: Path) -> str | None:
        """The log that an added one is a subagent of."""
        above = walk.log_above(path)
        return str(above) if path != self.path and path.parent != self.path and above is not None else None

    def listed(self, notes: Notes) -> Iterator[Listed]:
        """The sources in it."""
        if self.kind == "root" and self.host:
            yield from host_named(self.host).listed(self.path, notes)
            return
        if self.kind == "root":
            found = walk.below_root(self.path, notes)
        elif self.kind == "folder":
            found = walk.directly_in(self.path, notes)
        else:
            found = walk.this_file(self.path, notes)
        for file in found:
            yield from _sniffed(file, notes)


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
        """All authorised sources, the last written first, and what could not be looked at. Reads none to its end."""
        notes = Notes()
        seen: set[tuple[int, int] | str] = set()
        found: list[Listed] = []
        for place in self._places:
            for item in place.listed(notes):
                # A file is itself under every name; where the system has no file ids, the path has to do.
                of_file = item.source.conversation is None and item.inode != 0
                key = (item.device, item.inode) if of_file else item.source.name
                if key not in seen:
                    seen.add(key)
                    found.append(item)
        found.sort(key=lambda item: (-item.mtime_ns, item.source.name))
        return found, list(notes.all())

    def look(self, argument: str) -> Listed:
        """The authorised source of that path, or of that conversation's id (`host:id`, or the id alone, or ours), as it
        is now.

        Raises SourceError.
        """
        host, colon, identity = argument.partition(":")
        if colon and host in HOSTS:
            return self._by_identity(host, identity)
        if _OWN_ID.fullmatch(argument) and (item := self._by_own_id(argument)) is not None:
            return item
        bare = argument.removesuffix(".jsonl")
        if len(bare) >= _SHORTEST_ID and bare.isprintable() and not any(sign in bare for sign in "/\\~:"):
            return self._by_bare_identity(bare) or self._by_path(argument)
        return self._by_path(argument)

    def resolve(self, argument: str, *, running: bool = False) -> SourceRef:
        """The authorised source of that path, or of that `host:conversation-id`. Raises SourceError.

        The conversation that is running now is `current_conversation`, unless `running` asks for it all the same.
        """
        item = self.look(argument)
        if self.is_current(item) and not running:
            message = "this is the conversation that is running now"
            raise SourceError("current_conversation", message, "index it when it has ended")
        return item.source

    def _by_path(self, argument: str) -> Listed:
        if argument and not os.path.isabs(argument) and not argument.startswith("~") and "\x00" not in argument:
            message = f"{argument!r} is neither the path of a log that is there nor a conversation's id"
            hint = f"give the whole path, or HOST:ID as `history-recall conversations` has it ({', '.join(HOSTS)})"
            raise SourceError("not_authorised", message, hint)
        path = paths.absolute(argument, self._settings.home)
        try:
            path = paths.resolved(path)
        except (OSError, ValueError) as error:
            raise _refused() from error
        place = next((place for place in self._places if place.covers(path)), None)
        if place is None:
            raise _refused()
        return place.look(path)

    def authorise(self, argument: str) -> tuple[str, str]:
        """What `sources add` records: the resolved path, and whether it is a file or a folder. Raises SourceError."""
        path, kind = self._authorised(argument)
        if not folders.is_text(path):
            raise SourceError("not_authorised", "the path is no text in UTF-8", "give the folder or file another name")
        return path, kind

    def _authorised(self, argument: str) -> tuple[str, str]:
        if argument and not os.path.isabs(argument) and not argument.startswith("~") and "\x00" not in argument:
            argument = os.path.abspath(argument)
        path = paths.absolute(argument, self._settings.home)
        try:
            status = os.stat(path)
            if stat.S_ISDIR(status.st_mode):
                folder = self._folder(Path(os.path.realpath(path)))
                os.scandir(folder).close()  # what cannot be listed would be recorded and then be of no use
                return str(folder), "folder"
            path = paths.resolved(path)
        except OSError as error:
            raise paths.unreadable(error) from error
        except ValueError as error:
            raise SourceError("not_authorised", "the path cannot be a path on this system") from error
        paths.check_status(status, limited=walk.is_log(path.name))
        if not walk.is_log(path.name) and not is_database(str(path)):
            message = "the file is neither a .jsonl log nor a database of a host's"
            raise SourceError("unsupported_source", message, _WHAT_CAN_BE_ADDED)
        _check_read(path)
        return str(path), "file"

    def held(self, path: str, kind: str) -> tuple[int, int]:
        """How many logs lie in what was added, and how many more that look like one and cannot be read as one."""
        found = list(_Place("", kind, Path(path)).listed(Notes()))
        good = sum(item.header is not None for item in found)
        return good, len(found) - good

    def root_over(self, path: str) -> str | None:
        """The host whose own folder holds this path already."""
        held = (place.host for place in self._places if place.kind == "root" and Path(path).is_relative_to(place.path))
        return next(held, None)

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
        if any(path.is_relative_to(special) for special in _SPECIAL):
            message = f"{path} is a view of the running system, not a folder of files"
            raise SourceError("not_authorised", message, "add the folder that holds the logs")
        if os.stat(path).st_mode & _ANYBODYS == _ANYBODYS:
            message = f"everybody on this machine may put files into {path}, and they would be indexed as yours"
            raise SourceError("not_authorised", message, "add the log itself, or a folder in it that is yours")
        return path

    def _by_own_id(self, own: str) -> Listed | None:
        """The conversation that is given this id when it is indexed, whether or not anything of it is indexed now."""
        found, _ = self.listed()
        for item in found:
            if item.header is not None:
                named = (item.source.host, item.header.host_conversation_id)
                if conversation_id(self._settings.profile, *named) == own:
                    return item
        return None

    def _by_bare_identity(self, identity: str) -> Listed | None:
        """The one conversation of all hosts that has this id, or whose file is called so."""
        found: dict[str, Listed] = {}
        for host in HOSTS:
            with contextlib.suppress(SourceError):
                found[f"{host}:{identity}"] = self._by_identity(host, identity)
        if len(found) > 1:
            message = f"{identity!r} is the id of conversations of several programs"
            raise SourceError("not_authorised", message, f"name one of them: {', '.join(found)}")
        return next(iter(found.values()), None)

    def _by_identity(self, host: str, identity: str) -> Listed:
        """Newest first; the id that the source gives is the identity, the one in a file's name finds it as well."""
        for place in self._places:
            if place.host == host and (item := host_named(host).named(place.path, identity)) is not None:
                return item
        found, _ = self.listed()
        matching = [item for item in found if item.source.host == host and item.header is not None]
        for item in matching:
            if item.header is not None and item.header.host_conversation_id == identity:
                return item
        for item in matching:
            if identity and item.source.conversation is None and ends_in(walk.stem(item.source.path), identity):
                return item
        raise SourceError("source_missing", f"no authorised conversation of {host} has this id", _ASK)


def _check_read(path: Path) -> None:
    """Raise SourceError `unsupported_source` for a file that no host reads; one that is empty yet may become a log."""
    for item in _Place("", "file", path).listed(Notes()):
        if item.problem is not None and item.problem.code in ("invalid_source", "unsupported_source"):
            message = f"{path} is no log of a host that is known here: {item.problem.message}"
            raise SourceError("unsupported_source", message, f"nothing was added; {_WHAT_CAN_BE_ADDED}")


def _sniffed(file: walk.Found, notes: Notes) -> Iterator[Listed]:
    """What a file that was added by hand holds, by its content."""
    try:
        host: Host = database_host_of(file.path) if is_database(file.path) else log_host_of(file.path)
    except SourceError:
        host = host_named("pi")  # its look says what is wrong with it
    if isinstance(host, LogHost):
        yield host.look_at(file)
    else:
        yield from host.listed(Path(file.path), notes)


def _refused() -> SourceError:
    return SourceError("not_authorised", "the path is not one of the authorised sources", _ASK)
