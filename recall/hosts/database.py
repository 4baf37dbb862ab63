"""Opening a database that a host may be writing to, without leaving a trace in its folder.

Without a write-ahead log or a journal beside it the file is opened as one that nobody changes, and looked at again
afterwards. With one, both are copied into a private folder and put together there: reading them where they are would
leave side files of ours, and fails where nothing may be written. The copy has no name any more once it is open (where
the system allows that), so that a kill leaves nothing behind, and it serves until the files change.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
import tempfile
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar
from urllib.parse import quote

from recall.errors import SourceError
from recall.hosts import paths
from recall.types import SourceRef

_MAGIC = b"SQLite format 3\x00"
_SIDES = ("-wal", "-journal")
_TRIES = 4
_KEPT = 2
_T = TypeVar("_T")
_State = tuple[tuple[int, int, int] | None, ...]


def is_database(path: str) -> bool:
    """By its first bytes. Raises SourceError where it cannot be opened."""
    with paths.open_source(SourceRef("", path), limited=False) as file:
        return file.read(len(_MAGIC)) == _MAGIC


@contextlib.contextmanager
def connect(path: str) -> Iterator[sqlite3.Connection]:
    """A connection to one state of the database, for reading. Rows are `sqlite3.Row`.

    Raises SourceError: what `open_source` raises for the file, `source_unreadable` for one that is no database or is
    damaged, `source_busy` where it was rewritten under the reader's hands.
    """
    paths.open_source(SourceRef("", path), limited=False).close()
    with _translated():
        before = _state(path)
        if before[1:] == (None,) * len(_SIDES):
            with contextlib.closing(_open(path)) as connection:
                yield connection
            if _state(path)[0] != before[0]:
                raise _busy()
            return
        copy = _COPIES.take(path)
        try:
            yield copy.connection
        finally:
            _COPIES.give_back(copy)


def ask(path: str, work: Callable[[sqlite3.Connection], _T]) -> _T:
    """What the work comes to on one state of the database; done again where the database changed meanwhile."""
    for left in reversed(range(_TRIES)):
        try:
            with connect(path) as connection:
                return work(connection)
        except SourceError as error:
            if error.code not in ("source_busy", "source_unreadable") or left == 0:
                raise
    raise AssertionError("the last try returns or raises")


def columns(connection: sqlite3.Connection, table: str) -> frozenset[str]:
    """The columns that a table has in this version of the host; none where it has no such table."""
    return frozenset(str(row["name"]) for row in connection.execute(f"PRAGMA table_info({table})"))


def select(connection: sqlite3.Connection, table: str, wanted: tuple[str, ...]) -> str:
    """A list of columns for SELECT: NULL under the name of each that this version does not have."""
    there = columns(connection, table)
    return ", ".join(f"{table}.{name}" if name in there else f"NULL AS {name}" for name in wanted)


@dataclass
class _Copy:
    """A copy of one state of a database. `users` are the connections that were given out."""

    path: str
    state: _State
    connection: sqlite3.Connection
    folder: str | None
    users: int = 0
    retired: bool = False

    def close(self) -> None:
        self.connection.close()
        if self.folder is not None:
            shutil.rmtree(self.folder, ignore_errors=True)


@dataclass
class _Copies:
    """The copies of this process, the latest last."""

    kept: list[_Copy] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def take(self, path: str) -> _Copy:
        with self.lock:
            now = _state(path)
            found = next((copy for copy in self.kept if (copy.path, copy.state) == (path, now)), None)
            if found is None:
                found = _copied(path)
                for old in [copy for copy in self.kept if copy.path == path] or self.kept[: 1 - _KEPT]:
                    self._retire(old)
                self.kept.append(found)
            found.users += 1
            return found

    def give_back(self, copy: _Copy) -> None:
        with self.lock:
            copy.users -= 1
            if copy.retired and not copy.users:
                copy.close()

    def _retire(self, copy: _Copy) -> None:
        self.kept.remove(copy)
        copy.retired = True
        if not copy.users:
            copy.close()


_COPIES = _Copies()


def _copied(path: str) -> _Copy:
    for _ in range(_TRIES):
        folder = tempfile.mkdtemp(prefix="history-recall-")  # 0700
        try:
            before = _state(path)
            name = os.path.join(folder, "copy.db")
            for side, there in zip(("", *_SIDES), before, strict=True):
                if there is not None:
                    shutil.copyfile(path + side, name + side)
            if _state(path) == before:
                return _merged(path, before, folder, name)
        except FileNotFoundError:  # the log went away between the look and the copy: it was written back
            pass
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        shutil.rmtree(folder, ignore_errors=True)
    raise _busy()


def _merged(path: str, state: _State, folder: str, name: str) -> _Copy:
    """The copy with its log written back, open, and without a name where the system lets an open file lose it."""
    with contextlib.closing(sqlite3.connect(name)) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    opened = _open(name, shared=True)
    try:
        os.unlink(name)
        shutil.rmtree(folder, ignore_errors=True)
    except PermissionError:
        return _Copy(path, state, opened, folder)
    return _Copy(path, state, opened, None)


def _open(path: str, *, shared: bool = False) -> sqlite3.Connection:
    uri = f"file:{quote(Path(path).as_posix())}?mode=ro&immutable=1"
    connection = sqlite3.connect(uri, uri=True, isolation_level=None, check_same_thread=not shared)
    connection.row_factory = sqlite3.Row
    connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
    connection.execute("PRAGMA query_only = ON")
    connection.execute("PRAGMA trusted_schema = OFF")
    connection.execute("SELECT count(*) FROM sqlite_master").fetchone()  # opens the file for good
    return connection


def _state(path: str) -> _State:
    """Size, time and inode of the database, and of what lies beside it and holds something; None for what does not."""
    found: list[tuple[int, int, int] | None] = []
    for side in ("", *_SIDES):
        try:
            status = os.stat(path + side, follow_symlinks=False)
        except (FileNotFoundError, NotADirectoryError):
            found.append(None)
            continue
        there = side == "" or status.st_size > 0
        found.append((status.st_size, status.st_mtime_ns, status.st_ino) if there else None)
    return tuple(found)


@contextlib.contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except (sqlite3.Error, UnicodeDecodeError) as error:  # the second: what SQLite says of it is no UTF-8
        message = f"the database cannot be read: {error}"
        raise SourceError("source_unreadable", message, "is it the host's, and whole?") from error
    except OSError as error:
        raise paths.unreadable(error) from error


def _busy() -> SourceError:
    return SourceError("source_busy", "the database was written to while it was read", "try again")
