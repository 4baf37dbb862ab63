"""Writing a package into a host's folders so that it can be taken away again exactly.

What is written is kept in a journal beside the index, with the bytes that were there before (0600: a configuration may
hold keys). Where the person has changed a file since, installing again takes what they made of it as what was there;
an installation that fails is rolled back. Taking it away gives every file back as it was, if it is still as we left it;
a configuration that has changed since loses our entry and nothing else, a file of ours that has changed since is left
and named.
"""

from __future__ import annotations

import base64
import json
import os
import stat
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from recall.errors import ArgumentError
from recall.hosts.edits import NotUnderstood

Edit = Callable[[str], str]
Entry = dict[str, str | None]


@dataclass(frozen=True, slots=True)
class Write:
    """One file of a package: a file of ours (`content`), or an entry in one of the person's (`put` and `take`).

    `present` says of the person's text whether the entry is there already, `mark` what tells ours from one of the same
    name that the person put in its place: another mark, another's entry. None: nothing does, or there is none.
    """

    path: Path
    content: str | None = None
    put: Edit | None = None
    take: Edit | None = None
    present: Callable[[str], bool] = lambda text: False
    mark: Callable[[str], str | None] = lambda text: None


@dataclass(frozen=True, slots=True)
class Planned:
    """What would happen to one file: `create`, `change`, `unchanged`, or `by_hand` (the person put the entry there).

    `original` is what taking it away gives back.
    """

    write: Write
    action: str
    before: bytes | None
    after: bytes | None
    original: bytes | None


class Journal:
    """What was written for one host."""

    def __init__(self, folder: Path, host: str) -> None:
        self._path = folder / f"{host}.json"
        self.host = host

    @property
    def path(self) -> Path:
        return self._path

    @property
    def exists(self) -> bool:
        return self._path.exists()

    @property
    def brief(self) -> bool:
        """Whether the user had the brief turned on. Raises ArgumentError `host_config`."""
        return self._read()[1]

    def read(self) -> list[Entry]:
        """Path, what was there (base64, or null), the hash of what we wrote. Raises ArgumentError `host_config`."""
        return self._read()[0]

    def _read(self) -> tuple[list[Entry], bool]:
        if not self.exists:
            return [], False
        try:
            found = json.loads(self._path.read_text(encoding="utf-8"))
            return [dict(one) for one in found["files"]], bool(found.get("brief"))
        except (OSError, ValueError, KeyError, TypeError) as error:
            message = f"the journal of what was written for {self.host} cannot be read: {self._path}"
            raise ArgumentError("host_config", message, "take out by hand what it wrote: docs/hosts.md") from error

    def write(self, files: Sequence[Entry], *, brief: bool = False) -> None:
        """Replace it, or remove it where nothing is left."""
        if not files:
            self._path.unlink(missing_ok=True)
            return
        self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        _replace(self._path, json.dumps({"files": list(files), "brief": brief}, indent=1).encode(), 0o600)


def plan(writes: Sequence[Write], journal: Journal) -> list[Planned]:
    """What installing would do. Raises ArgumentError `host_config` for a file that cannot be changed."""
    ours = {str(entry["path"]): entry for entry in journal.read()}
    return [_planned(write, ours.get(str(write.path))) for write in writes]


def _planned(write: Write, known: Entry | None) -> Planned:
    planned = _unchecked(write, known)
    if planned.action == "change" and not write.path.stat().st_mode & 0o222:
        message = f"{write.path} is read-only"
        raise ArgumentError("host_config", message, "nothing was written; make it writable, then install again")
    return planned


def _unchecked(write: Write, known: Entry | None) -> Planned:
    before = _read(write.path)
    ours = known is not None
    kept = _kept(known)
    as_left = known is not None and before is not None and sha256(before).hexdigest() == known["after"]
    if write.content is not None:
        after = write.content.encode("utf-8")
        if before is not None and before != after and not as_left and (not ours or kept not in (None, before)):
            message = f"{write.path} is there already and is not ours"
            raise ArgumentError("host_config", message, "nothing was written; move it away, then install again")
        # Where they deleted ours, what they had in its place before is still theirs.
        return Planned(write, _action(before, after), before, after, kept if as_left or before is None else before)
    if write.put is None or write.take is None:
        raise TypeError("a write is a file or an edit")
    try:
        text = (before or b"").decode("utf-8")
        rest = (kept or b"").decode("utf-8") if as_left else write.take(text) if ours else text
        if write.present(rest):
            return Planned(write, "by_hand", before, before, before)
        put = write.put(rest)
        if known is not None and _theirs(write, text, known) and write.mark(text) != write.mark(put):
            return Planned(write, "by_hand", before, before, before)
        after = put.encode("utf-8")
    except (UnicodeDecodeError, NotUnderstood) as error:
        message = f"{write.path} cannot be changed safely: {error}"
        raise ArgumentError(
            "host_config", message, "nothing was written; mend the file, or set it up by hand"
        ) from error
    original = kept if as_left else None if before is None else rest.encode("utf-8")
    return Planned(write, _action(before, after), before, after, original)


def _theirs(write: Write, text: str, known: Entry) -> bool:
    """Whether the entry in a text is another than we wrote. An older journal does not say which that was."""
    mark = write.mark(text)
    return mark is not None and known.get("mark") not in (None, mark)


def _read(path: Path) -> bytes | None:
    """What is in a file, None where there is none. A link that leads nowhere yet may: its file will be made."""
    try:
        if stat.S_ISREG(path.stat().st_mode):
            return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        message = f"{path} cannot be read: {error.strerror or type(error).__name__}"
        hint = "nothing was written; mend its path or its permissions, then install again"
        raise ArgumentError("host_config", message, hint) from error
    message = f"{path} is no regular file, nor a link to one"
    raise ArgumentError("host_config", message, "nothing was written; move it away, then install again")


def _kept(known: Entry | None) -> bytes | None:
    kept = None if known is None else known["before"]
    return None if kept is None else base64.b64decode(kept)


def _action(before: bytes | None, after: bytes) -> str:
    return "create" if before is None else "unchanged" if before == after else "change"


def install(planned: Sequence[Planned], journal: Journal, *, brief: bool = False) -> None:
    """Write it, all or nothing. What is written is in the journal before the next file is touched.

    Raises ArgumentError `host_config`, with everything as it was, where the system refuses a file.
    """
    entries = {str(entry["path"]): entry for entry in journal.read()}
    recorded = journal.path.read_bytes() if journal.exists else None
    written: list[Planned] = []
    folders: list[tuple[Path, str | None]] = []
    for one in planned:
        if one.action in ("unchanged", "by_hand") or one.after is None:
            continue
        path = str(one.write.path)
        known = entries.get(path)
        kept = None if one.original is None else base64.b64encode(one.original).decode()
        folder = _made(one.write.path.parent)
        made = known["made"] if known and known["made"] else folder
        entries[path] = {"path": path, "before": kept, "after": sha256(one.after).hexdigest(), "made": made}
        entries[path]["mark"] = one.write.mark(one.after.decode("utf-8"))
        try:
            journal.write(list(entries.values()), brief=brief)
            folders.append((one.write.path.parent, folder))
            one.write.path.parent.mkdir(parents=True, exist_ok=True)
            _replace(one.write.path, one.after, None)
            written.append(one)
        except OSError as error:
            message = f"{path} cannot be written: {error.strerror or type(error).__name__} ({error.filename})"
            hint = "everything was put back; mend its path or its permissions, then install again"
            if not _rolled_back(written, folders, journal, recorded):
                hint = f"not all could be put back; `history-recall hosts uninstall {journal.host}` does the rest"
            raise ArgumentError("host_config", message, hint, {"path": path}) from error


def _rolled_back(
    written: Sequence[Planned], folders: Sequence[tuple[Path, str | None]], journal: Journal, recorded: bytes | None
) -> bool:
    """Put back what an installation changed, its record last; whether that could be done."""
    try:
        for one in reversed(written):
            if one.before is None:
                _remove(one.write.path)
            else:
                _replace(one.write.path, one.before, None)
        made = [top for _, top in folders if top is not None]
        for folder, _ in reversed(folders):
            _remove_empty(folder, made)
        if recorded is None:
            journal.path.unlink(missing_ok=True)
        elif journal.path.read_bytes() != recorded:
            _replace(journal.path, recorded, 0o600)
    except OSError:
        return False
    return True


def uninstall(writes: Sequence[Write], journal: Journal) -> list[dict[str, str]]:
    """Take it away; what was done to each file: `restored`, `removed`, `entry_removed`, `left` (changed since)."""
    known = {str(write.path): write for write in writes}
    done = []
    entries = journal.read()
    for entry in reversed(entries):
        path = Path(str(entry["path"]))
        done.append({"path": str(path), "action": _undo(path, entry, known.get(str(path)))})
    made = [one for entry in entries if (one := entry.get("made")) is not None]
    folders = {Path(str(entry["path"])).parent for entry in entries}
    for folder in sorted(folders, key=lambda one: len(one.parts), reverse=True):
        _remove_empty(folder, made)
    journal.write([])
    return done


def _undo(path: Path, entry: Entry, write: Write | None) -> str:
    if not path.is_file():
        return "gone"
    now = path.read_bytes()
    if sha256(now).hexdigest() == entry["after"]:
        if entry["before"] is None:
            _remove(path)
            return "removed"
        _replace(path, base64.b64decode(entry["before"]), None)
        return "restored"
    if write is None or write.take is None:
        return "left"
    try:
        text = now.decode("utf-8")
        rest = text if _theirs(write, text, entry) else write.take(text)
    except (UnicodeDecodeError, NotUnderstood):
        return "left"
    if rest.encode("utf-8") == now:
        return "left"
    _replace(path, rest.encode("utf-8"), None)
    return "entry_removed"


def _remove(path: Path) -> None:
    """Remove a file that we made; the link that led to it is the person's."""
    Path(os.path.realpath(path)).unlink()


def _made(folder: Path) -> str | None:
    """The topmost folder that has to be made for this one."""
    missing = [one for one in (folder, *folder.parents) if not one.exists()]
    return str(missing[-1]) if missing else None


def _remove_empty(folder: Path, made: Sequence[str]) -> None:
    """Remove a folder that was made, and those above it that were, as far as nothing else is in them."""
    while any(folder.is_relative_to(one) for one in made):
        try:
            folder.rmdir()
        except FileNotFoundError:
            pass  # it could not be made, or is gone; those above it may be there
        except OSError:
            return
        folder = folder.parent


def _replace(path: Path, data: bytes, mode: int | None) -> None:
    """The file with this content, all or nothing; its permissions stay where it was there. A link stays a link."""
    path = Path(os.path.realpath(path))
    permissions = mode if mode is not None else (path.stat().st_mode & 0o777 if path.exists() else 0o644)
    beside = path.with_name(f".{path.name}.history-recall")
    beside.unlink(missing_ok=True)  # of an installation that was killed
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, permissions)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
        beside.chmod(permissions)
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)
