"""The index file: where it is, how it is opened, and the two kinds of transaction.

Owns: creating the file whole or not at all, permissions, the version check before any write, the journal mode,
`write()` (BEGIN IMMEDIATE) and `read()` (one snapshot), waiting for locks, and the translation of SQLite's errors.
Does not know what the tables mean. Helpers elsewhere take the open connection and never commit.

SQLite waits for a lock only a moment; the longer waiting is done here, where a signal is noticed in between.
"""

from __future__ import annotations

import contextlib
import errno
import glob
import os
import shutil
import sqlite3
import time
from collections.abc import Callable, Iterator
from importlib import resources
from pathlib import Path
from typing import TypeVar
from urllib.parse import quote

from recall.errors import StateError
from recall.index import fulltext

T = TypeVar("T")
APPLICATION_ID = 0x48524331  # "HRC1"
SCHEMA_VERSION = 9
BUSY_SECONDS = 60.0  # decisions.md 7: a large publication can hold the write lock for 10 s
_POLL_SECONDS = 0.05
_LAST_SECONDS = 1.0  # a cancelled run waits so long to enter what it paid for and to give its lease back
_STEPS = 10_000  # of SQLite's own machine: some milliseconds
_LEFTOVER_SECONDS = 3600.0
_NO_ROOM = 64 * 1024
_SIDE_FILES = ("-wal", "-shm", "-journal")
_REBUILD = "move the file away (or set HISTORY_RECALL_DB to another path), then index again with index-all"


class Database:
    """One open index file. `path` is None for the empty stand-in that reads get where no file exists yet."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        path: Path,
        *,
        exists: bool,
        journal_mode: str,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> None:
        self._connection = connection
        self.path = path
        self.exists = exists
        self.journal_mode = journal_mode
        self._cancelled = cancelled

    @classmethod
    def open(cls, path: Path, cancelled: Callable[[], bool] = lambda: False) -> Database:
        """Open the index for work, making it (0600, in a 0700 folder) where there is none.

        No waiting for a lock goes on once `cancelled()` is true. Raises StateError `unsupported_index` (another
        version, or not ours: untouched), `index_unavailable`, `disk_full`, `index_damaged`, `cancelled`.
        """
        with translated(path):
            if not _is_there(path):
                _create(path)
            _remove_leftovers(path)
            return cls._open_file(path, cancelled)

    @classmethod
    def open_for_reading(cls, path: Path, cancelled: Callable[[], bool] = lambda: False) -> Database:
        """Open the index for reading; where there is none, an empty one in memory, and nothing is written."""
        if _is_there(path):
            with translated(path):
                if os.access(path, os.W_OK) and os.access(path.parent, os.W_OK):
                    return cls._open_file(path, cancelled)
                return cls._open_read_only(path, cancelled)
        return cls.stand_in(path)

    @classmethod
    def stand_in(cls, path: Path) -> Database:
        """An empty index in memory, for what can be told without the one at this path."""
        connection = _connect(":memory:")
        _install(connection)
        return cls(connection, path, exists=False, journal_mode="memory")

    @classmethod
    def _open_file(cls, path: Path, cancelled: Callable[[], bool]) -> Database:
        _check_version(path, cancelled)
        _close_permissions(path)
        connection = _connect(str(path))
        try:
            # Setting it again is a no-op on a WAL file and tells the truth about what is in force.
            found = _patiently(lambda: connection.execute("PRAGMA journal_mode = WAL").fetchone(), cancelled)
        except BaseException:
            connection.close()
            raise
        return cls(connection, path, exists=True, journal_mode=str(found[0]).lower(), cancelled=cancelled)

    @classmethod
    def _open_read_only(cls, path: Path, cancelled: Callable[[], bool]) -> Database:
        """An index that this user may not write to, or beside: nobody's side files are needed where there are none."""
        _check_version(path, cancelled)
        flags = "mode=ro" if path.with_name(path.name + "-wal").exists() else "mode=ro&immutable=1"
        connection = _connect(f"file:{quote(str(path))}?{flags}", uri=True)
        return cls(connection, path, exists=True, journal_mode="read-only", cancelled=cancelled)

    @contextlib.contextmanager
    def write(self, *, stoppable: bool = False) -> Iterator[sqlite3.Connection]:
        """A writing transaction: begins IMMEDIATE, waits up to 60 s for the lock, commits at the end or not at all.

        `stoppable`: a long one, that a cancel ends in the middle of a statement. Others are short, and needed then.
        """
        with translated(self.path):
            self._run("BEGIN IMMEDIATE")
            try:
                if stoppable:
                    self._connection.set_progress_handler(self._cancelled, _STEPS)
                yield self._connection
                if stoppable and self._cancelled():
                    raise _stopped()
                self._connection.set_progress_handler(None, 0)
                self._run("COMMIT")  # without WAL it waits for the readers
            except BaseException:
                self._connection.set_progress_handler(None, 0)
                self._rollback()
                raise

    @contextlib.contextmanager
    def rehearsal(self) -> Iterator[sqlite3.Connection]:
        """A writing transaction of which nothing stays: to see what a publication would make. Short."""
        with translated(self.path):
            self._run("BEGIN IMMEDIATE")
            try:
                yield self._connection
            finally:
                self._rollback()

    @contextlib.contextmanager
    def read(self) -> Iterator[sqlite3.Connection]:
        """One snapshot for all reads inside it. Joins the transaction that is open, if one is."""
        with translated(self.path):
            if self._connection.in_transaction:
                yield self._connection
                return
            try:
                self._connection.execute("BEGIN")
                # The snapshot is taken by the first read, which waits while another process recovers or closes.
                self._run("SELECT 1 FROM sqlite_master LIMIT 1")
                yield self._connection
            finally:
                self._rollback()

    def back_up(self, target: Path) -> None:
        """Copy the index as it is now into a new file (0600), through SQLite's own backup. Waits for nobody's write."""
        with translated(target):
            os.close(os.open(target, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
            try:
                copy = sqlite3.connect(target)
                try:
                    self._connection.backup(copy)
                finally:
                    copy.close()
            except BaseException:
                target.unlink(missing_ok=True)
                raise

    def checkpoint(self) -> bool:
        """Bring the log into the file and cut it to nothing; False where a reader or writer holds it."""
        with translated(self.path):
            row = self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        return row is None or not row[0]

    def vacuum(self) -> bool:
        """Write the whole file anew, so that no page holds what once stood in it; False where others hold it."""
        try:
            self._connection.execute("VACUUM")
        except sqlite3.OperationalError as error:
            if not _is_busy(error):
                raise _as_state_error(error, self.path) from error
            return False
        return self.checkpoint()

    def staging(self) -> sqlite3.Connection:
        """The connection, for TEMP tables: SQLite keeps them in a private file that is unlinked from the start."""
        return self._connection

    def close(self) -> None:
        self._connection.close()

    def _run(self, statement: str) -> None:
        _patiently(lambda: self._connection.execute(statement).fetchone(), self._cancelled)

    def _rollback(self) -> None:
        if self._connection.in_transaction:
            self._connection.execute("ROLLBACK")


@contextlib.contextmanager
def translated(path: Path) -> Iterator[None]:
    """SQLite's errors as ours, with the path and the way on."""
    try:
        yield
    except (sqlite3.Error, UnicodeDecodeError) as error:
        raise _as_state_error(error, path) from error


def _as_state_error(error: sqlite3.Error | UnicodeDecodeError, path: Path) -> StateError:
    name = getattr(error, "sqlite_errorname", "") or ""
    text = str(error)
    data = {"path": str(path), "sqlite": name or text}
    if name.startswith("SQLITE_INTERRUPT"):
        return _stopped()
    if name.startswith("SQLITE_FULL") or (name.startswith("SQLITE_IOERR") and _is_full(path)):
        return StateError("disk_full", f"No space left while writing the index at {path}", "free some space", data)
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


def _patiently(action: Callable[[], T], cancelled: Callable[[], bool]) -> T:
    """Do what may find the index locked, again and again for up to 60 s, and for a last second once cancelled."""
    deadline = time.monotonic() + BUSY_SECONDS
    cut_short = False
    while True:
        try:
            return action()
        except sqlite3.OperationalError as error:
            if not _is_busy(error):
                raise
            if time.monotonic() >= deadline:
                if cut_short:
                    raise _stopped() from error
                raise
        if not cut_short and cancelled():
            cut_short = True
            deadline = min(deadline, time.monotonic() + _LAST_SECONDS)
        time.sleep(_POLL_SECONDS)


def _stopped() -> StateError:
    return StateError("cancelled", "Cancelled; nothing was left half done", "run it again to go on")


def _is_busy(error: sqlite3.OperationalError) -> bool:
    return (getattr(error, "sqlite_errorname", "") or "").startswith(("SQLITE_BUSY", "SQLITE_LOCKED"))


def _connect(target: str, *, uri: bool = False) -> sqlite3.Connection:
    connection = sqlite3.connect(target, isolation_level=None, uri=uri, timeout=0.25, check_same_thread=False)
    connection.row_factory = sqlite3.Row
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA secure_delete = ON")  # what is replaced or forgotten leaves no bytes in free space
    connection.execute("PRAGMA temp_store = FILE")
    fulltext.register(connection)
    return connection


def _install(connection: sqlite3.Connection) -> None:
    schema = resources.files("recall.index").joinpath("schema.sql").read_text(encoding="utf-8")
    stamp = f"PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {SCHEMA_VERSION};"
    connection.executescript(f"BEGIN IMMEDIATE; {schema} {stamp} COMMIT;")


def _is_there(path: Path) -> bool:
    """Whether something lies there. Where the system does not say, an index must not be taken for none."""
    try:
        os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:
        message = f"Whether there is an index at {path} cannot be seen: {error.strerror}"
        hint = "check the permissions of its folders, or set HISTORY_RECALL_DB to another path"
        raise StateError("index_unavailable", message, hint, {"path": str(path)}) from error
    return True


def _create(path: Path) -> None:
    """Make the file complete beside its place, then link it in: a kill leaves no half-made index, a race one winner."""
    fresh = path.with_name(f"{path.name}.new-{os.getpid()}-{time.monotonic_ns()}")
    try:
        for folder in reversed(path.parents):  # one by one: with `parents=True` those above get the umask's mode
            if not folder.exists():
                folder.mkdir(mode=0o700, exist_ok=True)
        os.close(os.open(fresh, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        connection = _connect(str(fresh))
        try:
            # With a rollback journal the commit says so where the disk is full; WAL is asked for when it is opened.
            _install(connection)
        finally:
            connection.close()
        try:
            os.link(fresh, path)
        except FileExistsError:
            return  # another process was first; its file is as complete as ours
        except OSError:  # a file system without hard links: rename replaces, so look once more first
            if not path.exists():
                os.replace(fresh, path)
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise StateError("disk_full", f"No space left to make the index at {path}", "free some space") from error
        message = f"The index cannot be made at {path}: {error.strerror}"
        raise StateError("index_unavailable", message, "set HISTORY_RECALL_DB to a writable path") from error
    finally:
        for suffix in ("", *_SIDE_FILES):
            with contextlib.suppress(OSError):
                fresh.with_name(fresh.name + suffix).unlink()


def _remove_leftovers(path: Path) -> None:
    """What a process that was killed while it made the index left beside it."""
    with contextlib.suppress(OSError):
        for leftover in path.parent.glob(f"{glob.escape(path.name)}.new-*"):
            status = leftover.stat()
            if status.st_nlink > 1 or time.time() - status.st_mtime > _LEFTOVER_SECONDS:
                leftover.unlink(missing_ok=True)


def _check_version(path: Path, cancelled: Callable[[], bool]) -> None:
    """Refuse what is not ours or of another version, before any byte of it changes (decisions.md 18)."""
    if not path.is_file():
        raise StateError("unsupported_index", f"{path} is not a file", _REBUILD, {"path": str(path)})
    if not os.access(path, os.R_OK):
        hint = "check its permissions, or set HISTORY_RECALL_DB to another path"
        raise StateError("index_unavailable", f"The index at {path} cannot be read", hint, {"path": str(path)})
    try:
        application, version = _patiently(lambda: _stamps(path), cancelled)
    except sqlite3.DatabaseError as error:
        if (getattr(error, "sqlite_errorname", "") or "") == "SQLITE_NOTADB":
            message = f"{path} is not an index of history-recall; it was left as it is"
            raise StateError("unsupported_index", message, _REBUILD, {"path": str(path)}) from error
        raise
    data = {"path": str(path), "found": version, "supported": SCHEMA_VERSION}
    if application != APPLICATION_ID:
        message = f"{path} is not an index of history-recall; it was left as it is"
        raise StateError("unsupported_index", message, _REBUILD, data)
    if version != SCHEMA_VERSION:
        message = f"The index at {path} has schema {version}, this program reads {SCHEMA_VERSION}; it was left as it is"
        raise StateError("unsupported_index", message, _REBUILD, data)


def _stamps(path: Path) -> tuple[int, int]:
    """(application id, schema version), without leaving a trace."""
    while True:
        before = _logged(path)
        try:
            return _read_stamps(path, *before)
        except sqlite3.DatabaseError:
            if _logged(path) == before:
                raise
            # Another process opened or closed the index under our eyes.


def _logged(path: Path) -> tuple[bool, bool]:
    """Whether there is a log with something in it beside the file, and whether there is its shared memory."""
    log = path.with_name(path.name + "-wal")
    with contextlib.suppress(OSError):
        return log.stat().st_size > 0, path.with_name(path.name + "-shm").exists()
    return False, False


def _read_stamps(path: Path, logged: bool, shared: bool) -> tuple[int, int]:
    """Without a log the main file is all there is, and `immutable` leaves no trace. With one, the stamp in the header
    can be older than the truth, so both are read. Where shared memory is there too, reading only makes no file; where
    it is not, no process has the index open, and taking it exclusively needs none (`unix-none`: nor a lock).
    """
    flags = "mode=ro"
    if not logged:
        flags += "&immutable=1"
    elif not shared and os.name == "posix":
        flags += "&vfs=unix-none"
    connection = sqlite3.connect(f"file:{quote(str(path))}?{flags}", uri=True, timeout=0.25)
    try:
        if "vfs" in flags:
            connection.execute("PRAGMA locking_mode = EXCLUSIVE")
        application = int(connection.execute("PRAGMA application_id").fetchone()[0])
        version = int(connection.execute("PRAGMA user_version").fetchone()[0])
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    finally:
        connection.close()
    return application, version


def _close_permissions(path: Path) -> None:
    """0600 for the file and its side files, whatever they were (SQLite gives new side files the file's own mode)."""
    for suffix in ("", *_SIDE_FILES):
        with contextlib.suppress(OSError):
            member = path.with_name(path.name + suffix)
            if member.stat().st_mode & 0o077:
                member.chmod(0o600)


def profile_number(connection: sqlite3.Connection, name: str) -> int | None:
    """The number of a profile, or None where it has nothing yet."""
    row = connection.execute("SELECT profile_no FROM profiles WHERE name = ?", (name,)).fetchone()
    return None if row is None else int(row["profile_no"])


def ensure_profile(connection: sqlite3.Connection, name: str, now: int) -> int:
    """The number of a profile, made (with its text index) inside the open writing transaction if need be."""
    found = profile_number(connection, name)
    if found is not None:
        return found
    row = connection.execute(
        "INSERT INTO profiles (name, created_at) VALUES (?, ?) RETURNING profile_no", (name, now)
    ).fetchone()
    fulltext.create(connection, int(row["profile_no"]))
    return int(row["profile_no"])
