"""What is known of a conversation without a model: counts, windows of activity, first and last, tools."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable

from recall.types import Facts, Mark, Role, Window

GAP_MS = 30 * 60 * 1000


class Tally:
    """Counts entries as they are read; eight bytes are kept of each."""

    def __init__(self) -> None:
        self._entries = 0
        self._roles: Counter[str] = Counter()
        self._tools: Counter[str] = Counter()
        self._times = array("q")

    def add(self, role: Role, tool: str | None, at: int | None, *, activity: bool) -> None:
        """One entry. Settings and other records about the log are counted, but are no activity."""
        self._entries += 1
        self._roles[role] += 1
        if tool is not None:
            self._tools[tool] += 1
        if at is not None and activity:
            self._times.append(at)

    def facts(self, marks: Iterable[frozenset[Mark]], branches: int, *, graph_damaged: bool) -> Facts:
        """The facts, once the marks are known."""
        sets = Counter(marks)
        by_mark: Counter[str] = Counter()
        for marked, count in sets.items():
            for mark in marked:
                by_mark[mark] += count
        found = windows(self._times)
        return Facts(
            entries=self._entries,
            by_role=dict(sorted(self._roles.items())),
            by_mark=dict(sorted(by_mark.items())),
            branches=branches,
            windows=found,
            first_at=found[0].first_at if found else None,
            last_at=found[-1].last_at if found else None,
            tools=dict(sorted(self._tools.items())),
            graph_damaged=graph_damaged,
        )


def windows(times: Iterable[int]) -> tuple[Window, ...]:
    """Spans of activity in the order of time; a clock that went back does not make a window of its own."""
    found: list[Window] = []
    first = last = count = 0
    for at in sorted(times):
        if count and at - last > GAP_MS:
            found.append(Window(first, last, count))
            count = 0
        if not count:
            first = at
        last = at
        count += 1
    if count:
        found.append(Window(first, last, count))
    return tuple(found)
