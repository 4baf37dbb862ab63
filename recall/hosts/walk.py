"""The log files below a folder, without following a single symlink and without failing on what cannot be read.

A host's root holds logs directly, in its buckets, and those of subagents one level below: `<log without .jsonl>/`.
Names of buckets are never decoded; where a conversation belongs stands in its header.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from recall.hosts.notes import Notes

SUFFIX = ".jsonl"
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


def below_log(path: str, notes: Notes) -> Iterator[Found]:
    """The subagents of one log, where it has any."""
    folder = path[: -len(SUFFIX)]
    try:
        if not stat.S_ISDIR(os.lstat(folder).st_mode):
            return
    except OSError:
        return
    yield from _subagents(folder, notes)


def _subagents(folder: str, notes: Notes) -> Iterator[Found]:
    for found in _listing(Path(folder), notes)[1]:
        yield Found(found.path, found.status, folder + SUFFIX)


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
    folders.sort()
    files.sort(key=lambda found: found.path)
    return folders, files


def _sort_in(entry: os.DirEntry[str], folders: list[str], files: list[Found], notes: Notes) -> None:
    try:
        if entry.is_symlink():
            if entry.name.endswith(SUFFIX) or entry.is_dir():
                notes.add("symlink_skipped", 0, f"{entry.path} is a symbolic link; it is not followed")
        elif entry.is_dir(follow_symlinks=False):
            folders.append(entry.path)
        elif entry.name.endswith(SUFFIX) and entry.is_file(follow_symlinks=False):
            files.append(Found(entry.path, entry.stat(follow_symlinks=False)))
    except _GONE:
        notes.add("vanished", 0, f"{entry.path} went away while it was listed")
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else type(error).__name__
        notes.add("unreadable_file", 0, f"{entry.path} cannot be looked at: {reason}")
