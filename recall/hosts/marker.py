"""The marker file of a project: `.history-recall-id` in its folder, one line with the project's UUID.

It is written whole or not at all, and only where the user asked for it. Anything else in it means "not bound".
"""

from __future__ import annotations

import contextlib
import os
import re
import tempfile
from pathlib import Path

from recall.errors import ArgumentError
from recall.hosts import smallfile

NAME = ".history-recall-id"
_LINE = re.compile(
    r"history-recall-project-v1: ([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})[ \t]*(?:\r?\n)?",
    re.IGNORECASE | re.ASCII,
)
_LONGEST = 200


def read(folder: str) -> str | None:
    """The UUID in the folder's own marker, in lower case; None where there is none, or something else in it."""
    found = smallfile.beginning(os.path.join(folder, NAME), _LONGEST + 1, follow=False)
    match = None if found is None else _LINE.fullmatch(found.decode("ascii", "replace"))
    return match[1].lower() if match else None


def write(folder: Path, uuid: str) -> None:
    """Write the marker beside its place and move it in. A marker with another project's UUID is never replaced.

    Raises ArgumentError `bind_refused` where the folder cannot be written to, or something else stands there.
    """
    path = folder / NAME
    found = read(str(folder))
    if found == uuid:
        return
    if os.path.lexists(path):
        what = "is the marker of another project" if found else "is there and is no marker"
        raise ArgumentError("bind_refused", f"{path} {what}; it was left as it is", "move it away, or bind without it")
    fresh = ""
    try:
        descriptor, fresh = tempfile.mkstemp(prefix=NAME + ".", dir=folder)
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            file.write(f"history-recall-project-v1: {uuid}\n")
            file.flush()
            os.fsync(file.fileno())
        os.chmod(fresh, 0o644)
        _move_in(fresh, path)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        hint = "bind without a marker: --no-marker"
        raise ArgumentError("bind_refused", f"{path} cannot be written: {reason}", hint) from error
    finally:
        with contextlib.suppress(OSError):
            os.unlink(fresh)


def remove(folder: str, uuid: str) -> bool:
    """Take a marker with that UUID away; whether it is gone. What has become something else is left."""
    if read(folder) != uuid:
        return False
    try:
        os.unlink(os.path.join(folder, NAME))
    except OSError:
        return False
    return True


def _move_in(fresh: str, path: Path) -> None:
    """A link does not replace what another process put there meanwhile; a rename is for systems without links."""
    try:
        os.link(fresh, path)
    except FileExistsError:
        raise
    except OSError:
        os.rename(fresh, path)
