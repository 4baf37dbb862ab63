"""The command line with something arranged to happen at a named place: a kill, a signal, a stop, a slow model.

`python -m tests.process.driver '{"at": "recall.index.publish:publish", "do": "SIGKILL"}' index FILE`

Nothing in the product knows of this. The named function is wrapped, and the model that a run chooses is a scripted
one on loopback with valid replies that depend on nothing but the request.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import json
import os
import resource
import signal
import sqlite3
import sys
import threading
import time
import types
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from recall import indexer, roads
from recall.__main__ import main
from recall.index import file
from recall.models import calls
from recall.models.choose import choose_model
from recall.models.tokens import Meter
from recall.settings import Settings
from tests.process.provider import Provider


class Happening:
    """What is done at the nth call."""

    def __init__(self, spec: Mapping[str, Any]) -> None:
        self._left = int(spec.get("nth", 1))
        self._do = str(spec["do"])
        self._note = spec.get("note")

    def __call__(self) -> None:
        self._left -= 1
        if self._left != 0:
            return
        if self._note is not None:
            Path(self._note).write_text(repr(time.monotonic()), encoding="utf-8")
        if self._do == "hold":
            threading.Event().wait()
        elif self._do == "wait":  # until the file `<note>.go` is there
            while not Path(f"{self._note}.go").exists():
                time.sleep(0.01)
        else:
            for name in self._do.split():
                os.kill(os.getpid(), signal.Signals[name])


def arrange(spec: Mapping[str, Any]) -> None:
    """Wrap `module:name`, or `module:Class.name`, so that it happens before or after the call."""
    module, _, path = str(spec["at"]).partition(":")
    owner: Any = importlib.import_module(module)
    *outer, name = path.split(".")
    for part in outer:
        owner = getattr(owner, part)
    setattr(owner, name, _wrapped(getattr(owner, name), Happening(spec), after=spec.get("when") == "after"))


def _wrapped(inner: Callable[..., Any], happening: Happening, *, after: bool) -> Callable[..., Any]:
    if inspect.iscoroutinefunction(inner):

        @functools.wraps(inner)
        async def awaited(*args: Any, **named: Any) -> Any:
            if not after:
                happening()
            result = await inner(*args, **named)
            if after:
                happening()
            return result

        return awaited

    @functools.wraps(inner)
    def called(*args: Any, **named: Any) -> Any:
        if not after:
            happening()
        result = inner(*args, **named)
        if after:
            happening()
        return result

    return called


def with_model(spec: Mapping[str, Any]) -> None:
    """Let runs with another model than `offline` use the scripted one."""
    chosen = choose_model

    def choose(settings: Settings, *rest: Any) -> Any:
        if settings.offline:
            return chosen(settings, *rest)
        return Provider(spec.get("delay", 0.0), spec.get("sent"), spec.get("proposal"))

    vars(roads)["choose_model"] = choose
    limit = spec.get("limit", 24_000)
    vars(indexer)["meter_for"] = lambda settings, _halvings: Meter(64_000 if settings.offline else limit)
    limits = spec.get("limits")
    if limits:
        made = calls.CallLimits.of

        def of(settings: Settings, *, batch_calls: int | None = None) -> calls.CallLimits:
            plain = made(settings, batch_calls=batch_calls)
            return calls.CallLimits(plain.batch_calls, plain.daily_calls, plain.concurrency, **limits)

        vars(roads)["CallLimits"] = type("Limits", (), {"of": staticmethod(of)})


class Refusing(sqlite3.Connection):
    """A connection on a file system without shared memory: WAL is not taken, or ends in an error."""

    raises = False

    def execute(self, sql: str, *rest: Any) -> sqlite3.Cursor:
        if "journal_mode" in sql:
            if self.raises:
                raise sqlite3.OperationalError("locking protocol")
            return super().execute("PRAGMA journal_mode = DELETE")
        return super().execute(sql, *rest)


def without_wal(*, raises: bool) -> None:
    """Let the product open its index through such a connection."""
    Refusing.raises = raises
    vars(file)["sqlite3"] = types.SimpleNamespace(
        **{name: value for name, value in vars(sqlite3).items() if name != "connect"},
        connect=functools.partial(sqlite3.connect, factory=Refusing),
    )


def run(spec: Mapping[str, Any], words: Sequence[str]) -> int:
    """The command with what is arranged; returns the exit code."""
    with_model(spec)
    if "wal" in spec:
        without_wal(raises=spec["wal"] == "raises")
    if "file_size" in spec:
        resource.setrlimit(resource.RLIMIT_FSIZE, (spec["file_size"], spec["file_size"]))
    if "at" in spec:
        arrange(spec)
    sys.argv = ["history-recall", *words]
    return main()


if __name__ == "__main__":
    sys.exit(run(json.loads(sys.argv[1]), sys.argv[2:]))
