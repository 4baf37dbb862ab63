"""Who works on which source, and whether they still live.

An owner is one process run. It proves that it lives by holding an OS lock on a file of its own beside the index;
the lock goes with the process, however it dies, so neither a process id that was given again nor a heartbeat
without progress can keep a lease. The lease row itself says what stage the work is in, and moves only with it.
Owners' files are made, and those of the dead removed, inside a writing transaction only: so nobody takes a file that
is not locked yet for that of a dead owner.
"""

from __future__ import annotations

import contextlib
import os
import re
import sqlite3
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from recall.errors import StateError

if sys.platform == "win32":  # pragma: no cover - exercised on Windows only
    import msvcrt

    def _lock(descriptor: int, *, shared: bool = False) -> bool:  # noqa: ARG001 - there is no shared lock here
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    def _lock(descriptor: int, *, shared: bool = False) -> bool:
        try:
            fcntl.flock(descriptor, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
        except OSError:
            return False
        return True


_TOKEN = re.compile(r"[0-9]{1,10}-[0-9a-f]{16}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Lease:
    """One source that is being worked on: by whom, since when, and how far."""

    source: str
    owner: str
    acquired_at: int
    progressed_at: int
    stage: str
    done: int
    total: int


class Owner:
    """This run as an owner of leases. A context manager: the lock file, made with the first lease, goes at the end."""

    def __init__(self, database: Path) -> None:
        self._folder = owners_folder(database)
        self.token = f"{os.getpid()}-{os.urandom(8).hex()}"
        self._descriptor = -1

    def __enter__(self) -> Owner:
        return self

    def prove(self) -> None:
        """Hold the lock that shows this process is alive. Inside a writing transaction."""
        if self._descriptor >= 0:
            return
        self._folder.mkdir(mode=0o700, exist_ok=True)
        _remove_dead(self._folder)
        path = self._folder / self.token
        self._descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600)
        if not _lock(self._descriptor):
            os.close(self._descriptor)
            self._descriptor = -1
            hint = "set HISTORY_RECALL_DB to a path on a local disk"
            raise StateError("index_unavailable", f"No file can be locked in {self._folder}", hint)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._descriptor < 0:
            return
        with contextlib.suppress(OSError):
            (self._folder / self.token).unlink()
        os.close(self._descriptor)


def owners_folder(database: Path) -> Path:
    """Where owners keep their lock files: a folder beside the index."""
    return database.with_name(database.name + ".owners")


def is_alive(database: Path, token: str) -> bool:
    """True while the process of that owner holds its lock. What is no token of ours is nobody's."""
    return _TOKEN.fullmatch(token) is not None and _is_locked(owners_folder(database) / token)


def _is_locked(path: Path) -> bool:
    try:
        descriptor = os.open(path, os.O_RDWR | getattr(os, "O_NOFOLLOW", 0))
    except OSError:
        return False
    try:
        # Shared, so that two who look at the same time do not take each other for the owner.
        return not _lock(descriptor, shared=True)
    finally:
        os.close(descriptor)


def _remove_dead(folder: Path) -> None:
    """Remove the files of owners that were killed. Others than ours in the folder are left alone."""
    for path in folder.iterdir():
        if _TOKEN.fullmatch(path.name) and not _is_locked(path):
            with contextlib.suppress(OSError):
                path.unlink()


def acquire(
    connection: sqlite3.Connection, profile_no: int, source: str, owner: Owner, database: Path, now: int
) -> None:
    """Take the lease on a source, from a dead owner too. Raises StateError `lease_held` while another one lives."""
    owner.prove()
    held = find(connection, profile_no, source)
    if held is not None and (held.owner == owner.token or is_alive(database, held.owner)):
        message = f"{source} is being indexed by process {held.owner.partition('-')[0]} ({held.stage})"
        raise StateError("lease_held", message, "wait for it, or cancel it there", {"source": source})
    if held is not None:
        connection.execute("DELETE FROM leases WHERE profile_no = ? AND source = ?", (profile_no, source))
    connection.execute(
        "INSERT INTO leases (profile_no, source, owner, acquired_at, progressed_at, stage) VALUES (?, ?, ?, ?, ?, ?)",
        (profile_no, source, owner.token, now, now, "reading"),
    )


def progress(
    connection: sqlite3.Connection,
    profile_no: int,
    source: str,
    owner: Owner,
    stage: str,
    done: int,
    total: int,
    now: int,
) -> None:
    """Say how far the work is. Raises StateError `lease_lost` where the lease is not ours any more."""
    changed = connection.execute(
        """UPDATE leases SET stage = ?, done = ?, total = ?, progressed_at = ?
           WHERE profile_no = ? AND source = ? AND owner = ?""",
        (stage, done, total, now, profile_no, source, owner.token),
    ).rowcount
    if changed != 1:
        raise _lost(source)


def confirm(connection: sqlite3.Connection, profile_no: int, source: str, owner: Owner) -> None:
    """Raise StateError `lease_lost` where the lease is not ours. Called inside the publishing transaction."""
    held = find(connection, profile_no, source)
    if held is None or held.owner != owner.token:
        raise _lost(source)


def release(connection: sqlite3.Connection, profile_no: int, source: str, owner: Owner) -> None:
    """Give the lease back, if it is still ours."""
    connection.execute(
        "DELETE FROM leases WHERE profile_no = ? AND source = ? AND owner = ?", (profile_no, source, owner.token)
    )


def dead(connection: sqlite3.Connection, profile_no: int, database: Path) -> list[Lease]:
    """The leases whose owner is no more: what a kill interrupted."""
    return [held for held in all_of(connection, profile_no) if not is_alive(database, held.owner)]


def reclaim(connection: sqlite3.Connection, profile_no: int, leases: Iterable[Lease]) -> None:
    """Drop leases of the dead, unless another run has taken them meanwhile."""
    connection.executemany(
        "DELETE FROM leases WHERE profile_no = ? AND source = ? AND owner = ?",
        [(profile_no, held.source, held.owner) for held in leases],
    )


def find(connection: sqlite3.Connection, profile_no: int, source: str) -> Lease | None:
    """The lease on a source, whoever holds it."""
    row = connection.execute(f"{_SELECT} AND source = ?", (profile_no, source)).fetchone()
    return None if row is None else _lease(row)


def all_of(connection: sqlite3.Connection, profile_no: int) -> list[Lease]:
    """All leases of a profile, also those of dead owners."""
    return [_lease(row) for row in connection.execute(f"{_SELECT} ORDER BY acquired_at, source", (profile_no,))]


_SELECT = """SELECT source, owner, acquired_at, progressed_at, stage, done, total
             FROM leases WHERE profile_no = ?"""


def _lease(row: sqlite3.Row) -> Lease:
    return Lease(*tuple(row))


def _lost(source: str) -> StateError:
    message = f"The lease on {source} went to another run; nothing was published"
    return StateError("lease_lost", message, "run the command again; what was paid for is in the cache")
