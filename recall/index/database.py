"""The open index: how it is opened, its journal mode, and the two kinds of transaction.

Owns `write()` (BEGIN IMMEDIATE) and `read()` (one snapshot). Does not know what the tables mean. Helpers elsewhere take
the open connection and never commit. The file itself is made and checked in `file`; `faults` has SQLite's errors and
the waiting for its locks.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import quote

from recall.index import fulltext
from recall.index.faults import as_state_error, is_busy, patiently, stopped, translated
from recall.index.file import check_version, close_permissions, connect, create, install, is_there, remove_leftovers

_STEPS = 10_000  # of SQLite's own machine: some milliseconds


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
            if not is_there(path):
                create(path)
            remove_leftovers(path)
            return cls._open_file(path, cancelled)

    @classmethod
    def open_for_reading(cls, path: Path, cancelled: Callable[[], bool] = lambda: False) -> Database:
        """Open the index for reading; where there is none, an empty one in memory, and nothing is written."""
        if is_there(path):
            with translated(path):
                if os.access(path, os.W_OK) and os.access(path.parent, os.W_OK):
                    return cls._open_file(path, cancelled)
                return cls._open_read_only(path, cancelled)
        return cls.stand_in(path)

    @classmethod
    def stand_in(cls, path: Path) -> Database:
        """An empty index in memory, for what can be told without the one at this path."""
        connection = connect(":memory:")
        install(connection)
        return cls(connection, path, exists=False, journal_mode="memory")

    @classmethod
    def _open_file(cls, path: Path, cancelled: Callable[[], bool]) -> Database:
        check_version(path, cancelled)
        close_permissions(path)
        connection = connect(str(path))
        try:
            # Setting it again is a no-op on a WAL file and tells the truth about what is in force.
            found = patiently(lambda: connection.execute("PRAGMA journal_mode = WAL").fetchone(), cancelled)
        except BaseException:
            connection.close()
            raise
        return cls(connection, path, exists=True, journal_mode=str(found[0]).lower(), cancelled=cancelled)

    @classmethod
    def _open_read_only(cls, path: Path, cancelled: Callable[[], bool]) -> Database:
        """An index that this user may not write to, or beside: nobody's side files are needed where there are none."""
        check_version(path, cancelled)
        flags = "mode=ro" if path.with_name(path.name + "-wal").exists() else "mode=ro&immutable=1"
        connection = connect(f"file:{quote(str(path))}?{flags}", uri=True)
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
                    raise stopped()
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
            if not is_busy(error):
                raise as_state_error(error, self.path) from error
            return False
        return self.checkpoint()

    def staging(self) -> sqlite3.Connection:
        """The connection, for TEMP tables: SQLite keeps them in a private file that is unlinked from the start."""
        return self._connection

    def close(self) -> None:
        self._connection.close()

    def _run(self, statement: str) -> None:
        patiently(lambda: self._connection.execute(statement).fetchone(), self._cancelled)

    def _rollback(self) -> None:
        if self._connection.in_transaction:
            self._connection.execute("ROLLBACK")

            # Another process opened or closed the index under our eyes.


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
