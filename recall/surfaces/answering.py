"""One operation, run for whatever face asked: settings, session, and every failure as an error document.

The faces differ in how they are asked and how they show the answer; what happens in between stands here once.
"""

from __future__ import annotations

import errno
import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from recall import settings
from recall.errors import RecallError, StateError, unforeseen
from recall.index.faults import translated
from recall.run import Cancellation, Follower, Progress
from recall.surfaces.operations import Operation
from recall.surfaces.session import Session

if TYPE_CHECKING:
    from recall.models.host_model import Lender

BLOCKED = frozenset({"consent_required", "work_budget", "daily_budget", "lease_held"})


@dataclass(frozen=True, slots=True)
class Asked:
    """An operation with its checked arguments. `overrides` are settings: profile, current, cwd.

    `agent`: a model asks, and no person; the settings bound how far it may look.
    """

    operation: Operation
    arguments: Mapping[str, object]
    overrides: Mapping[str, str] = field(default_factory=dict)
    as_json: bool = False
    agent: bool = False


@dataclass(frozen=True, slots=True)
class Answered:
    """The document of contract.md with its exit code. `error` is what the document says, where it is one."""

    document: Mapping[str, object]
    exit_code: int
    error: RecallError | None = None


def answer(
    asked: Asked,
    report: Callable[[Progress], None],
    cancellation: Cancellation,
    follower: Follower | None = None,
    lender: Lender | None = None,
    ask: Callable[[str], bool] | None = None,
) -> Answered:
    """Run the operation. Raises nothing but BrokenPipeError and what is no Exception."""
    database: Path | None = None
    try:
        chosen = settings.load(overrides=asked.overrides)
        database = chosen.database
        session = Session(chosen, report, cancellation, follower, lender, ask, agent=asked.agent)
        try:
            with translated(database):
                document = asked.operation.run(session, asked.arguments)
        finally:
            session.close()
    except RecallError as error:
        return failed(error)
    except BrokenPipeError:
        raise
    except (OSError, sqlite3.Error) as error:
        return failed(_from_system(error, database))
    except Exception as error:  # noqa: BLE001 - the last border: an unforeseen fault must not print a log's text
        return failed(unforeseen(error, "nothing was published"))
    return Answered(document, asked.operation.exit_code(document))


def failed(error: RecallError) -> Answered:
    """An error as an answer."""
    return Answered(error.as_json(), exit_code_of(error), error)


def exit_code_of(error: RecallError) -> int:
    """The exit code of an error."""
    if error.code == "cancelled":
        return 130
    if error.code in BLOCKED:
        return 3
    return 2 if error.code == "usage" else 1


def _from_system(error: OSError | sqlite3.Error, database: Path | None) -> StateError:
    where = str(getattr(error, "filename", None) or database)
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        return StateError("disk_full", f"No space left while writing near {where}", "free some space")
    reason = (error.strerror if isinstance(error, OSError) else None) or type(error).__name__
    return StateError("index_unavailable", f"The system refused a file: {reason} ({where})", "check its permissions")
