"""What one command's run carries through the workflows: settings, the open index, the clock, cancel and progress."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from recall.errors import StateError
from recall.index.database import Database
from recall.index.lease import Owner
from recall.settings import Settings

if TYPE_CHECKING:  # a quick command needs no model
    from recall.models.request import LocalModel, RemoteModel

Choose = Callable[[Settings, Database], "RemoteModel | LocalModel"]


@dataclass(frozen=True, slots=True)
class Progress:
    """One step forward: the stage, the source it is about, and how far (in units of the stage)."""

    stage: str
    source: str
    done: int
    total: int


class Cancellation:
    """A flag that is raised once and stays up. Safe to raise from a signal handler.

    What only reads can be `torn`: there a signal need not wait for the next look at the flag, which can be far where a
    line is as long as a file may be. The handler raises `cancelled` itself then.
    """

    def __init__(self) -> None:
        self.may_tear = False
        self._event = threading.Event()
        self._listeners: list[Callable[[], None]] = []

    def __call__(self) -> bool:
        return self._event.is_set()

    def cancel(self) -> None:
        self._event.set()
        for listener in list(self._listeners):
            listener()

    @contextlib.contextmanager
    def torn(self) -> Iterator[None]:
        """What is done inside may end anywhere: it holds no lock, and nothing of it is left but a TEMP table."""
        self.check()
        self.may_tear = True
        try:
            yield
        finally:
            self.may_tear = False
        self.check()

    def listen(self, listener: Callable[[], None]) -> None:
        """Call `listener` when the flag goes up (from the thread or signal handler that raises it)."""
        self._listeners.append(listener)

    def check(self) -> None:
        """Raise StateError `cancelled` once the flag is up."""
        if self():
            raise cancelled()


def cancelled() -> StateError:
    """The error of a run that the user stopped."""
    return StateError("cancelled", "Cancelled; nothing was left half done", "run it again to go on")


def now_ms() -> int:
    """UTC milliseconds."""
    return time.time_ns() // 1_000_000


class Follower(Protocol):
    """Who is told of a run as it happens, because somebody follows it from outside."""

    def owner(self, database: Path) -> Owner:
        """The owner of the run's leases, which outlives the work."""

    def begin(self, connection: sqlite3.Connection, profile_no: int, run: Run) -> None:
        """Work has begun. Called in the open transaction that takes the first lease, and all later ones."""


@dataclass(frozen=True, slots=True)
class Run:
    """One command's run. `follower`: where somebody follows it. `choose`: another model than the settings name."""

    settings: Settings
    database: Database
    cancellation: Cancellation
    report: Callable[[Progress], None]
    clock: Callable[[], int] = now_ms
    run_id: str = field(default_factory=lambda: "r_" + os.urandom(6).hex())
    follower: Follower | None = None
    choose: Choose | None = None
