"""The log files below a folder, without following a single symlink and without failing on what cannot be read.

A host's root holds logs directly, in its buckets, and those of subagents one level below: `<log without .jsonl>/`.
Names of buckets are never decoded; where a conversation belongs stands in its header.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from recall.hosts.notes import Notes
from recall.hosts.paths import unreadable

SUFFIX = ".jsonl"
PACKED = ".jsonl.zst"
_SUBAGENTS = "subagents"
_GONE = (FileNotFoundError, NotADirectoryError)


@dataclass(frozen=True, slots=True)
class Found:
    """A regular file that may be a log. `parent_path` is the log that a subagent's belongs to."""

    path: str
    status: os.stat_result
    parent_path: str | None = None


def below_root(root: Path, notes: Notes) -> Iterator[Found]:
    """All logs of a host's root (resolved): directly in it, in its buckets, and subagents below each log."""
    buckets, logs = _listing(root, notes)
    yield from logs
    directly = {found.path for found in logs}
    for bucket in buckets:
        sessions, logs = _listing(Path(bucket), notes)
        if bucket + SUFFIX in directly:  # no bucket: the subagents of a log that lies in the root itself
            yield from (Found(found.path, found.status, bucket + SUFFIX) for found in logs)
            continue
        yield from logs
        for session in sessions:
            yield from _subagents(session, notes)


def directly_in(folder: Path, notes: Notes) -> Iterator[Found]:
    """The logs in a folder that a user added, each with its subagents; other folders in it are not entered."""
    for found in _listing(folder, notes)[1]:
        yield found
        yield from below_log(found.path, notes)


def this_file(path: Path, notes: Notes) -> Iterator[Found]:
    """A file that a user added, with its subagents where it is a log."""
    try:
        status = os.lstat(path)
    except OSError as error:
        notes.add("added_file_missing", 0, f"a path was added, but {unreadable(error).message}")
        return
    yield Found(str(path), status)
    yield from below_log(str(path), notes)


def below_log(path: str, notes: Notes) -> Iterator[Found]:
    """The subagents of one log, where it has any."""
    folder = Path(path).with_name(stem(path))
    try:
        if not path.endswith(SUFFIX) or not stat.S_ISDIR(os.lstat(folder).st_mode):
            return
    except OSError:
        return
    yield from _subagents(str(folder), notes)


def matching(root: Path, patterns: Sequence[Sequence[str]], notes: Notes) -> Iterator[Found]:
    """The logs below a root whose path is one of the patterns: globs of names, `**` for folders of any depth."""
    folders, files = _listing(root, notes)
    for found in files:
        if any(_fits((Path(found.path).name,), pattern) for pattern in patterns):
            yield found
    for path in folders:
        name = Path(path).name
        inside = [rest for pattern in patterns for rest in _inside(pattern, name)]
        if inside:
            yield from matching(Path(path), inside, notes)


def matches(root: Path, path: Path, patterns: Sequence[Sequence[str]]) -> bool:
    """Whether a resolved path is what `matching` would find below a resolved root."""
    if not path.is_relative_to(root) or not is_log(path.name):
        return False
    return any(_fits(path.relative_to(root).parts, tuple(one)) for one in patterns)


def is_log(name: str) -> bool:
    """Whether a file of this name may be a log."""
    return name.endswith((SUFFIX, PACKED))


def stem(path: str) -> str:
    """The name of a log without what says that it is one."""
    name = Path(path).name
    return next((name[: -len(end)] for end in (SUFFIX, PACKED) if name.endswith(end)), name)


def log_above(path: Path) -> Path | None:
    """The log whose subagent would be there: in the folder of its name, or below `subagents` in it."""
    parts = path.parts[:-1]
    if _SUBAGENTS in parts:
        folder = Path(*parts[: len(parts) - 1 - parts[::-1].index(_SUBAGENTS)])
    else:
        folder = path.parent
    return folder.with_name(folder.name + SUFFIX) if folder.name else None


def _fits(parts: Sequence[str], pattern: Sequence[str]) -> bool:
    if not pattern or not parts:
        return not pattern and not parts
    if pattern[0] == "**":
        return _fits(parts, pattern[1:]) or _fits(parts[1:], pattern)
    return fnmatchcase(parts[0], pattern[0]) and _fits(parts[1:], pattern[1:])


def _inside(pattern: Sequence[str], folder: str) -> list[Sequence[str]]:
    """What is left of a pattern below a folder of this name."""
    if len(pattern) < 2:
        return []
    if pattern[0] == "**":
        return [pattern, *_inside(pattern[1:], folder)]
    return [pattern[1:]] if fnmatchcase(folder, pattern[0]) else []


def _subagents(folder: str, notes: Notes) -> Iterator[Found]:
    """In the folder itself, and in `subagents` in it at any depth."""
    log = folder + SUFFIX
    for found in matching(Path(folder), (("*",), (_SUBAGENTS, "**", "*")), notes):
        yield Found(found.path, found.status, log)


def _listing(folder: Path, notes: Notes) -> tuple[list[str], list[Found]]:
    folders: list[str] = []
    files: list[Found] = []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                _sort_in(entry, folders, files, notes)
    except _GONE:  # no store of this host, or one that went away
        return [], []
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else type(error).__name__
        notes.add("unreadable_folder", 0, f"{folder} cannot be listed: {reason}")
    plain = {found.path for found in files if found.path.endswith(SUFFIX)}
    files = [found for found in files if found.path in plain or found.path[: -len(".zst")] not in plain]
    folders.sort()
    files.sort(key=lambda found: found.path)
    return folders, files


def _sort_in(entry: os.DirEntry[str], folders: list[str], files: list[Found], notes: Notes) -> None:
    try:
        if entry.is_symlink():
            if is_log(entry.name) or entry.is_dir():
                notes.add("symlink_skipped", 0, f"{entry.path} is a symbolic link; it is not followed")
        elif entry.is_dir(follow_symlinks=False):
            folders.append(entry.path)
        elif is_log(entry.name) and entry.is_file(follow_symlinks=False):
            files.append(Found(entry.path, entry.stat(follow_symlinks=False)))
    except _GONE:
        notes.add("vanished", 0, f"{entry.path} went away while it was listed")
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else type(error).__name__
        notes.add("unreadable_file", 0, f"{entry.path} cannot be looked at: {reason}")
