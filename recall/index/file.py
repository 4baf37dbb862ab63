"""The index file: made whole or not at all, its permissions, and the version check before any byte of it changes."""

from __future__ import annotations

import contextlib
import errno
import glob
import os
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

from recall.errors import StateError
from recall.index import fulltext
from recall.index.faults import patiently

APPLICATION_ID = 0x48524331  # "HRC1"
SCHEMA_VERSION = 9
_LEFTOVER_SECONDS = 3600.0
_SIDE_FILES = ("-wal", "-shm", "-journal")
_REBUILD = "move the file away (or set HISTORY_RECALL_DB to another path), then index again with index-all"


def connect(target: str, *, uri: bool = False) -> sqlite3.Connection:
    """A connection with what every one of ours is set to."""
    connection = sqlite3.connect(target, isolation_level=None, uri=uri, timeout=0.25, check_same_thread=False)
    connection.row_factory = sqlite3.Row
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA secure_delete = ON")  # what is replaced or forgotten leaves no bytes in free space
    connection.execute("PRAGMA temp_store = FILE")
    fulltext.register(connection)
    return connection


def install(connection: sqlite3.Connection) -> None:
    """Write the schema into an empty file."""
    from importlib import resources  # only a new index needs them, and all else waits for them

    schema = resources.files("recall.index").joinpath("schema.sql").read_text(encoding="utf-8")
    stamp = f"PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {SCHEMA_VERSION};"
    connection.executescript(f"BEGIN IMMEDIATE; {schema} {stamp} COMMIT;")


def is_there(path: Path) -> bool:
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


def create(path: Path) -> None:
    """Make the file complete beside its place, then link it in: a kill leaves no half-made index, a race one winner."""
    fresh = path.with_name(f"{path.name}.new-{os.getpid()}-{time.monotonic_ns()}")
    try:
        for folder in reversed(path.parents):  # one by one: with `parents=True` those above get the umask's mode
            if not folder.exists():
                folder.mkdir(mode=0o700, exist_ok=True)
        os.close(os.open(fresh, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        connection = connect(str(fresh))
        try:
            # With a rollback journal the commit says so where the disk is full; WAL is asked for when it is opened.
            install(connection)
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


def remove_leftovers(path: Path) -> None:
    """What a process that was killed while it made the index left beside it."""
    with contextlib.suppress(OSError):
        for leftover in path.parent.glob(f"{glob.escape(path.name)}.new-*"):
            status = leftover.stat()
            if status.st_nlink > 1 or time.time() - status.st_mtime > _LEFTOVER_SECONDS:
                leftover.unlink(missing_ok=True)


def check_version(path: Path, cancelled: Callable[[], bool]) -> None:
    """Refuse what is not ours or of another version, before any byte of it changes (decisions.md 18)."""
    if not path.is_file():
        raise StateError("unsupported_index", f"{path} is not a file", _REBUILD, {"path": str(path)})
    if not os.access(path, os.R_OK):
        hint = "check its permissions, or set HISTORY_RECALL_DB to another path"
        raise StateError("index_unavailable", f"The index at {path} cannot be read", hint, {"path": str(path)})
    try:
        application, version = patiently(lambda: _stamps(path), cancelled)
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


def close_permissions(path: Path) -> None:
    """0600 for the file and its side files, whatever they were (SQLite gives new side files the file's own mode)."""
    for suffix in ("", *_SIDE_FILES):
        with contextlib.suppress(OSError):
            member = path.with_name(path.name + suffix)
            if member.stat().st_mode & 0o077:
                member.chmod(0o600)
