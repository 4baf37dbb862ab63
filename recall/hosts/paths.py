"""Which path is inside which folder, and opening a log so that nothing but a regular file can come of it.

Containment is decided on resolved paths, component by component: `/srv/share-evil` is not in `/srv/share`. A source's
path is resolved when it is authorised; opening it again refuses every symlink on the way, which can only have come
later. `O_NONBLOCK` keeps a FIFO from hanging us, and size and kind are read from the open descriptor.
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import BinaryIO

from recall.errors import SourceError
from recall.types import SourceRef

MAX_BYTES = 128 * 1024 * 1024

_FLAGS = os.O_RDONLY
for _name in ("O_NOFOLLOW", "O_CLOEXEC", "O_NONBLOCK", "O_NOCTTY", "O_BINARY"):  # each where the system has it
    _FLAGS |= getattr(os, _name, 0)
_GONE = {errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG}


def contains(folder: Path, path: Path) -> bool:
    """Whether a resolved path lies below a resolved folder."""
    return path != folder and path.is_relative_to(folder)


def absolute(argument: str, home: Path) -> Path:
    """A path as a user gives it, `~` expanded, not resolved. Refuses relative paths and NUL."""
    if "\x00" in argument:
        raise SourceError("not_authorised", "a path may not hold a NUL character")
    if argument == "~" or argument.startswith("~/"):
        argument = str(home) + argument[1:]
    if not os.path.isabs(argument):
        raise SourceError("not_authorised", "the path is not absolute", "give the whole path, from the root on")
    return Path(argument)


def resolved(path: Path) -> Path:
    """The real place of a path whose last component is no symlink. The path need not exist."""
    try:
        if stat.S_ISLNK(os.lstat(path).st_mode):
            raise SourceError("not_authorised", "a symbolic link is not followed", "give the path of the file itself")
    except OSError as error:
        if error.errno not in _GONE:
            raise unreadable(error) from error
    return Path(os.path.realpath(path))


def printable(path: str) -> str:
    """A path as it can be stored and printed: a byte of it that is not UTF-8 as an escape."""
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def unreadable(error: OSError) -> SourceError:
    """What a failing system call says of a source that is authorised, or of a path as it was given."""
    if error.errno in _GONE:
        name = os.fsdecode(error.filename) if isinstance(error.filename, str | bytes) else ""
        where = f": {printable(name)}" if name else ""
        return SourceError("source_missing", f"the source is not there{where}", "was it moved or removed?")
    if error.errno in (errno.ELOOP, errno.EMLINK):
        return SourceError("not_authorised", "a symbolic link is not followed", "give the path of the file itself")
    reason = os.strerror(error.errno) if error.errno else type(error).__name__
    return SourceError("source_unreadable", f"the source cannot be read: {reason}", "check its permissions")


def open_source(source: SourceRef, *, limited: bool = True) -> BinaryIO:
    """The log, open for reading: a regular file of at most 128 MiB, reached without a symlink. Raises SourceError.

    A database that holds many conversations is not `limited`; each of them is.
    """
    if "\x00" in source.path:
        raise SourceError("not_authorised", "a path may not hold a NUL character")
    if not os.path.isabs(source.path):
        raise SourceError("not_authorised", "the path is not absolute", "give the whole path, from the root on")
    try:
        descriptor = os.open(source.path, _FLAGS)
    except OSError as error:
        raise unreadable(error) from error
    except ValueError as error:
        raise SourceError("not_authorised", "the path cannot be a path on this system") from error
    try:
        _check(source.path, os.fstat(descriptor), limited=limited)
        return os.fdopen(descriptor, "rb")
    except OSError as error:
        os.close(descriptor)
        raise unreadable(error) from error
    except SourceError:
        os.close(descriptor)
        raise


def _check(path: str, status: os.stat_result, *, limited: bool) -> None:
    check_status(status, limited=limited)
    real, given = os.path.normcase(os.path.realpath(path)), os.path.normcase(os.path.normpath(path))
    if real != given or not os.path.samestat(os.lstat(path), status):
        raise SourceError("not_authorised", "a symbolic link is not followed", "give the path of the file itself")


def check_status(status: os.stat_result, *, limited: bool = True) -> None:
    """Raises SourceError for what is no regular file or is too large."""
    if not stat.S_ISREG(status.st_mode):
        raise SourceError("unsupported_source", "the source is not a regular file")
    if limited and status.st_size > MAX_BYTES:
        message = f"the source has {status.st_size} bytes; the limit is {MAX_BYTES}"
        raise SourceError("source_too_large", message, data={"size_bytes": status.st_size, "limit_bytes": MAX_BYTES})
