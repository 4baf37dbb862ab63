"""Spans of time as users give them: rolling days, or from (inclusive) and to (exclusive), always resolved to UTC.

A bare date is UTC midnight; a time needs a zone. The zone of the machine changes nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from recall.errors import ArgumentError

DAY = 86_400_000
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_HINT = "use a date (2026-03-02), or a time with its zone (2026-03-02T08:30:00+09:00, or Z)"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Window:
    """From `start` (inclusive) to `end` (exclusive), UTC milliseconds; None is open."""

    start: int | None = None
    end: int | None = None

    def __bool__(self) -> bool:
        return self.start is not None or self.end is not None

    def as_json(self) -> dict[str, object] | None:
        """The `range` of the answers: the resolved UTC window, or None where none was asked for."""
        return {"from": iso(self.start), "to": iso(self.end)} if self else None

    def words(self) -> str:
        """The window as a message names it; empty where none was asked for."""
        ends = (("from", self.start), ("before", self.end))
        return " ".join(f"{word} {iso(at)}" for word, at in ends if at is not None)

    def left_out(self, untimed: int) -> str:
        """What a message says of entries without a usable time, which no window has; `untimed`: LEFT_OUT at most."""
        if not self or not untimed:
            return ""
        count = f"{untimed} or more" if untimed >= LEFT_OUT else str(untimed)
        return f"{count} {'entry has' if untimed == 1 else 'entries have'} no usable time and cannot be in this window."


ALWAYS = Window()
LEFT_OUT = 1000  # entries without a time are counted up to this


def parse(days: int | None, from_: str | None, to: str | None, now: int) -> Window:
    """The window that was asked for. Raises ArgumentError `invalid_time`."""
    if days is not None:
        if from_ is not None or to is not None:
            raise ArgumentError("invalid_time", "days stands beside from or to", "give either days, or from and to")
        if isinstance(days, bool) or not 1 <= days <= 36_500:
            raise ArgumentError("invalid_time", f"days is {days}", "use a whole number of days from 1 to 36500")
        return Window(now - days * DAY, None)
    window = Window(instant("from", from_), instant("to", to))
    if window.start is not None and window.end is not None and window.start >= window.end:
        message = f"The window is empty: from {iso(window.start)} is not before to {iso(window.end)}"
        raise ArgumentError("invalid_time", message, "from is inclusive and to is exclusive")
    return window


def iso(at: int | None) -> str | None:
    """A time in UTC milliseconds as people and programs read it; None where there is none."""
    if at is None:
        return None
    try:
        moment = _EPOCH + timedelta(milliseconds=at)
    except OverflowError:
        return None
    return moment.strftime("%Y-%m-%dT%H:%M:%S.").rjust(20, "0") + f"{moment.microsecond // 1000:03d}Z"


def instant(name: str, text: str | None) -> int | None:
    """A date or a time in UTC milliseconds. Raises ArgumentError `invalid_time`, which calls it by `name`."""
    if text is None:
        return None
    typed = text.strip()
    try:
        if _DATE.fullmatch(typed):
            moment = datetime.fromisoformat(typed).replace(tzinfo=UTC)
        else:
            moment = datetime.fromisoformat(typed)
            if "T" not in typed.upper() and " " not in typed:
                raise ValueError("neither a date nor a time")
    except ValueError as error:
        raise ArgumentError("invalid_time", f"{name} is {text!r}", _HINT) from error
    if moment.tzinfo is None:
        raise ArgumentError("invalid_time", f"{name} is {text!r}, a time without a zone", _HINT)
    try:
        return (moment - _EPOCH) // timedelta(milliseconds=1)
    except OverflowError as error:
        raise ArgumentError("invalid_time", f"{name} is {text!r}", _HINT) from error
