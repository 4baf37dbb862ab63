"""The commands that index: one conversation, or a batch."""

from __future__ import annotations

from collections.abc import Mapping

from recall.surfaces.commands.parameters import optional_number, text
from recall.surfaces.operations import Answer, Arguments, Operation, Parameter
from recall.surfaces.session import Session


def _index(session: Session, arguments: Arguments) -> Answer:
    from recall import consents, dryrun, indexer
    from recall.surfaces import job_calls

    file, force = str(arguments["file"]), bool(arguments.get("force"))
    if arguments.get("dry_run"):
        return dryrun.one(session.settings, session.for_reading(), file, session.cancellation, force=force)
    if arguments.get("detach"):
        return job_calls.detach(session, _INDEX, arguments)
    if token := text(arguments, "confirm"):
        consents.confirm(session.run(), token)
    return indexer.index(session.run(), file, force=force, repair=not arguments.get("no_repair"))


def _index_all(session: Session, arguments: Arguments) -> Answer:
    from recall import dryrun, indexer
    from recall.surfaces import job_calls

    sessions, calls = optional_number(arguments, "sessions"), optional_number(arguments, "calls")
    if arguments.get("dry_run"):
        return dryrun.batch(session.settings, session.for_reading(), sessions, session.cancellation, calls=calls)
    if arguments.get("detach"):
        return job_calls.detach(session, _INDEX_ALL, arguments)
    return indexer.index_all(session.run(), sessions=sessions, calls=calls)


def _batch_exit(answer: Arguments) -> int:
    aborted = answer.get("aborted")
    if isinstance(aborted, Mapping):
        if aborted["code"] == "cancelled":
            return 130
        return 3 if aborted["code"] in ("consent_required", "work_budget", "daily_budget") else 1
    return 1 if answer.get("failed") else 0


_DETACH = Parameter("detach", "Answer with a job id at once; the work goes on in the background.", "flag")

_INDEX = Operation(
    "index",
    "Index one conversation: the path of its log, or HOST:ID.",
    _index,
    (
        Parameter("file", "The log, or HOST:ID.", positional=True, required=True),
        Parameter("dry_run", "Say what would be sent, and send nothing.", "flag"),
        Parameter("force", "Analyse again though nothing changed.", "flag"),
        Parameter("no_repair", "Publish without topic repair, which is left waiting.", "flag"),
        Parameter("confirm", "The token of a consent_required answer: your yes to its question."),
        _DETACH,
    ),
    _batch_exit,
)
_INDEX_ALL = Operation(
    "index-all",
    "Index what is new or changed: one bounded batch. Run it again to go on.",
    _index_all,
    (
        Parameter("sessions", "At most so many conversations.", "number", minimum=1, maximum=100_000),
        Parameter("calls", "At most so many model calls.", "number", minimum=0, maximum=1_000_000),
        Parameter("dry_run", "Say what would be sent, and send nothing.", "flag"),
        _DETACH,
    ),
    _batch_exit,
)

OPERATIONS: tuple[Operation, ...] = (_INDEX, _INDEX_ALL)
