"""One process's way into the product: settings, the open index, cancel and progress. Every surface makes one."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from types import FrameType
from typing import TYPE_CHECKING

from recall.errors import StateError
from recall.index.database import Database
from recall.run import Cancellation, Choose, Follower, Progress, Run, cancelled
from recall.scope import Here, here_of
from recall.settings import HOST, Settings

if TYPE_CHECKING:
    from recall.models.host_model import Lender


def _silent(progress: Progress) -> None:
    """No one is watching."""


@dataclass
class Session:
    """Opens the index when it is first asked for, and closes it at the end."""

    settings: Settings
    report: Callable[[Progress], None] = _silent
    cancellation: Cancellation = field(default_factory=Cancellation)
    follower: Follower | None = None
    lender: Lender | None = None
    ask: Callable[[str], bool] | None = None  # how a person is asked; None where nobody sits there
    agent: bool = False  # an agent asks, and the user's settings say how far it may look
    _open: Database | None = None

    def sure(self, question: str) -> None:
        """Go on where nobody sits there to be asked, or somebody says yes. Raises StateError `cancelled`."""
        if self.ask is not None and not self.ask(question):
            raise StateError("cancelled", "Nothing was changed", "say yes, or give --yes")

    def here(self) -> Here:
        """From where is asked."""
        return here_of(self.settings, agent=self.agent)

    def for_reading(self) -> Database:
        """The index, or an empty stand-in where there is none: a read makes no file."""
        if self._open is not None and (self._open.exists or not self.settings.database.exists()):
            return self._open
        return self._keep(Database.open_for_reading(self.settings.database, self.cancellation))

    def for_work(self) -> Database:
        """The index, made if need be."""
        if self._open is not None and self._open.exists:
            return self._open
        return self._keep(Database.open(self.settings.database, self.cancellation))

    def run(self) -> Run:
        """A run of a workflow that writes."""
        return Run(
            self.settings,
            self.for_work(),
            self.cancellation,
            self.report,
            follower=self.follower,
            choose=self._choose(),
        )

    def reading_run(self) -> Run:
        """A run of a workflow that reads the index as it is, and may ask a model: it makes no file."""
        return Run(self.settings, self.for_reading(), self.cancellation, self.report)

    def _choose(self) -> Choose | None:
        """How the model is chosen where the settings want the host's and a host lends it."""
        if self.lender is None or self.settings.model != HOST:
            return None
        from functools import partial

        from recall.models.choose import choose_model

        return partial(choose_model, lender=self.lender)

    def close(self) -> None:
        if self._open is not None:
            self._open.close()
            self._open = None

    def _keep(self, database: Database) -> Database:
        self.close()
        self._open = database
        return database


@contextlib.contextmanager
def signals_cancel(cancellation: Cancellation) -> Iterator[None]:
    """SIGINT and SIGTERM raise the flag instead of tearing the process down; a second one changes nothing."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def raise_flag(_number: int, _frame: FrameType | None) -> None:
        again = cancellation()
        cancellation.cancel()
        if cancellation.may_tear and not again:
            raise cancelled()

    # One that the caller ignores (`command &` in a script) stays ignored.
    heard = [n for n in (signal.SIGINT, signal.SIGTERM) if signal.getsignal(n) is not signal.SIG_IGN]
    before = {number: signal.signal(number, raise_flag) for number in heard}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
