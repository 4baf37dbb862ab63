"""Progress on stderr: a moving line on a terminal, JSON lines for programs, nothing otherwise."""

from __future__ import annotations

import time
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, TextIO

from recall.run import Progress
from recall.surfaces.terminal import json_text, one_line

if TYPE_CHECKING:
    from rich.progress import Progress as Bar
    from rich.progress import TaskID

_SECONDS = 0.2


class Reporter:
    """Shows nothing. A context manager that gives the function to report with."""

    def __enter__(self) -> Callable[[Progress], None]:
        return self.report

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def report(self, progress: Progress) -> None:
        """Nothing is shown."""

    def close(self) -> None:
        """Nothing is open."""


class Pace:
    """How often a program is told: each new stage, the end of one, and at most five times a second in between."""

    def __init__(self) -> None:
        self._last: tuple[str, str] = ("", "")
        self._at = 0.0

    def is_due(self, progress: Progress) -> bool:
        """Whether this step is to be told."""
        stage = (progress.source, progress.stage)
        if stage == self._last and time.monotonic() - self._at < _SECONDS and progress.done < progress.total:
            return False
        self._last, self._at = stage, time.monotonic()
        return True


class JsonLines(Reporter):
    """Progress as JSON lines, at a pace."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._closed = False
        self._pace = Pace()

    def report(self, progress: Progress) -> None:
        if self._closed or not self._pace.is_due(progress):
            return
        line = {
            "progress": progress.stage,
            "source": progress.source,
            "done": progress.done,
            "total": progress.total,
        }
        try:
            self._stream.write(json_text(line) + "\n")
            self._stream.flush()
        except (OSError, ValueError):  # who watched has gone: the work does not depend on being watched
            self._closed = True


class TerminalProgress(Reporter):
    """A bar of rich, imported when the first step is reported."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._bar: Bar | None = None
        self._task: TaskID

    def report(self, progress: Progress) -> None:
        if self._bar is None:
            from rich.console import Console
            from rich.progress import BarColumn, TextColumn
            from rich.progress import Progress as RichProgress

            columns = (TextColumn("{task.fields[label]}", markup=False), BarColumn(bar_width=24))
            self._bar = RichProgress(*columns, console=Console(file=self._stream, markup=False), transient=True)
            self._bar.start()
            self._task = self._bar.add_task("", label="")
        name = one_line(progress.source.rsplit("/", 1)[-1])
        label = f"{progress.stage:<10} {name[:48]}"
        self._bar.update(self._task, label=label, completed=progress.done, total=progress.total or None)

    def close(self) -> None:
        if self._bar is not None:
            self._bar.stop()
            self._bar = None
