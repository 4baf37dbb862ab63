"""SQLite's errors as ours, and waiting for its locks.

SQLite waits for a lock only a moment; the longer waiting is done here, where a signal is noticed in between.
"""

from __future__ import annotations

import contextlib
import shutil
import sqlite3
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

from recall.errors import StateError

T = TypeVar("T")
BUSY_SECONDS = 60.0  # decisions.md 7: a large publication can hold the write lock for 10 s
_POLL_SECONDS = 0.05
_NO_ROOM = 64 * 1024
_LAST_SECONDS = 1.0  # a cancelled run waits so long to enter what it paid for and to give its lease back


@contextlib.contextmanager
def translated(path: Path) -> Iterator[None]:
    """SQLite's errors as ours, with the path and the way on."""
    try:
        yield
    except (sqlite3.Error, UnicodeDecodeError) as error:
        raise as_state_error(error, path) from error


def as_state_error(error: sqlite3.Error | UnicodeDecodeError, path: Path) -> StateError:
    """An error of SQLite's as ours."""
    name = getattr(error, "sqlite_errorname", "") or ""
    text = str(error)
    data = {"path": str(path), "sqlite": name or text}
    if name.startswith("SQLITE_INTERRUPT"):
        return stopped()
    if name.startswith("SQLITE_FULL") or (name.startswith("SQLITE_IOERR") and _is_full(path)):
        return StateError("disk_full", f"No space left while writing the index at {path}", "free some space", data)
    # Both stand in no other tables than those of the text index: a row of ours says which constraint of it failed.
    if name == "SQLITE_CORRUPT_VTAB" or (name == "SQLITE_CONSTRAINT" and text == "constraint failed"):
        message = f"The text index in {path} is damaged: {text}"
        hint = (
            "run `history-recall doctor --rebuild-text-index`: it is made again from the stored text, nothing is lost"
        )
        return StateError("index_damaged", message, hint, data)
    # sqlite3 decodes names and messages of its own, which stand in the file as well.
    undecodable = isinstance(error, UnicodeDecodeError) or "decode to UTF-8" in text
    if name.startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB")) or "malformed" in text or undecodable:
        hint = (
            "`history-recall doctor` says what can still be read; where it says this too, move the file away and index "
            "again with index-all, or import an export: your logs are untouched"
        )
        return StateError("index_damaged", f"The index at {path} is damaged: {text}", hint, data)
    if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        hint = "wait for the other run, or see `history-recall status`"
        return StateError("index_unavailable", f"The index at {path} stayed locked by another process", hint, data)
    hint = "if it lies on a network drive, set HISTORY_RECALL_DB to a path on a local disk; check its permissions"
    return StateError("index_unavailable", f"The index at {path} cannot be used: {text}", hint, data)


def _is_full(path: Path) -> bool:
    """Whether the disk has no room: SQLite says of some of what it writes (its shared memory) only that it failed."""
    with contextlib.suppress(OSError):
        return shutil.disk_usage(path.parent).free < _NO_ROOM
    return False


def patiently(action: Callable[[], T], cancelled: Callable[[], bool]) -> T:
    """Do what may find the index locked, again and again for up to 60 s, and for a last second once cancelled."""
    deadline = time.monotonic() + BUSY_SECONDS
    cut_short = False
    while True:
        try:
            return action()
        except sqlite3.OperationalError as error:
            if not is_busy(error):
                raise
            if time.monotonic() >= deadline:
                if cut_short:
                    raise stopped() from error
                raise
        if not cut_short and cancelled():
            cut_short = True
            deadline = min(deadline, time.monotonic() + _LAST_SECONDS)
        time.sleep(_POLL_SECONDS)


def stopped() -> StateError:
    """A cancel that came while the index was waited for or written."""
    return StateError("cancelled", "Cancelled; nothing was left half done", "run it again to go on")


def is_busy(error: sqlite3.OperationalError) -> bool:
    """Whether another process holds a lock."""
    return (getattr(error, "sqlite_errorname", "") or "").startswith(("SQLITE_BUSY", "SQLITE_LOCKED"))
