"""Arguments that several commands take, and how a command reads the values that came."""

from __future__ import annotations

from recall import timewindow
from recall.run import now_ms
from recall.settings import SCOPES
from recall.surfaces.operations import Arguments, Parameter

LIMIT = Parameter("limit", "How many on a page.", "number", minimum=1, maximum=1000)
CURSOR = Parameter("cursor", "The next page, as the page before named it.")
TIME = (
    Parameter("days", "Entries of the last N times 24 hours.", "number", minimum=1, maximum=36_500),
    Parameter("from", "Entries from this time on: a date (UTC midnight), or a time with its zone."),
    Parameter("to", "Entries before this time."),
)
SCOPE = (
    Parameter("scope", "project: it alone; prefer: it first, then the rest; all: everything.", choices=SCOPES),
    Parameter("project", "The project: its id, its name, . for the current one, or git:PATH."),
)


def text(arguments: Arguments, name: str) -> str | None:
    """An argument that is text; None where it was not given."""
    value = arguments.get(name)
    return None if value is None else str(value)


def texts(arguments: Arguments, name: str) -> tuple[str, ...]:
    """An argument that may be given again and again."""
    value = arguments.get(name)
    return tuple(str(item) for item in value) if isinstance(value, list | tuple) else ()


def number(arguments: Arguments, name: str, default: int) -> int:
    """An argument that is a number, or the default."""
    value = optional_number(arguments, name)
    return default if value is None else value


def optional_number(arguments: Arguments, name: str) -> int | None:
    """An argument that is a number; None where it was not given."""
    value = arguments.get(name)
    return None if value is None else int(str(value))


def window(arguments: Arguments) -> timewindow.Window:
    """What TIME says."""
    return timewindow.parse(
        optional_number(arguments, "days"), text(arguments, "from"), text(arguments, "to"), now_ms()
    )
