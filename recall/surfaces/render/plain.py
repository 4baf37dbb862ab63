"""How times, sizes, long lines and counts are written, the same in every answer."""

from __future__ import annotations

import contextlib
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextvars import ContextVar
from typing import Any

from recall.surfaces.terminal import one_line, visible

Answer = Mapping[str, Any]
Renderers = Mapping[str, Callable[[Answer], Iterable[str]]]
_WIDEST, _NARROWEST = 100, 40
_width = ContextVar("width", default=_WIDEST)


@contextlib.contextmanager
def as_wide_as(columns: int | None) -> Iterator[None]:
    """Lines inside are folded for a terminal of so many columns; None: there is none."""
    token = _width.set(_WIDEST if columns is None else max(_NARROWEST, min(_WIDEST, columns)))
    try:
        yield
    finally:
        _width.reset(token)


def size(number: int) -> str:
    """A number of bytes."""
    amount, unit = float(number), "B"
    for unit in ("B", "kB", "MB", "GB"):
        if amount < 1000 or unit == "GB":
            break
        amount /= 1000
    return f"{amount:.0f} {unit}" if unit == "B" else f"{amount:.1f} {unit}"


def clock(iso: str | None) -> str:
    """A time to the minute."""
    return "unknown time" if not iso else iso[:16].replace("T", " ") + " UTC"


def cut(value: str, width: int) -> str:
    """One line, at most so wide."""
    line = one_line(value)
    return line if len(line) <= width else line[: width - 1] + "…"


def wrapped(value: str, indent: str) -> list[str]:
    """Lines of the width that answers have."""
    lines: list[str] = []
    for line in visible(value).split("\n"):
        lines += textwrap.wrap(line, _width.get(), initial_indent=indent, subsequent_indent=indent) or [""]
    return lines


def mapping(counts: Mapping[str, int]) -> str:
    """Counts with their names."""
    return ", ".join(f"{number} {name}" for name, number in counts.items()) or "none"


def warnings(answer: Answer) -> Iterable[str]:
    """What is wrong beside the answer."""
    for warning in answer.get("warnings") or []:
        yield f"warning     {one_line(warning['message'])}"
