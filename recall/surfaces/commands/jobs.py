"""The commands about index runs in the background."""

from __future__ import annotations

from collections.abc import Mapping

from recall.surfaces.operations import Answer, Arguments, Operation, Parameter
from recall.surfaces.session import Session


def _jobs_list(session: Session, _arguments: Arguments) -> Answer:
    from recall import jobs

    return jobs.listing(session.settings, session.for_reading())


def _jobs_follow(session: Session, arguments: Arguments) -> Answer:
    from recall import jobs

    job_id = str(arguments["job"])
    return jobs.follow(session.settings, session.for_reading(), job_id, session.report, session.cancellation)


def _jobs_cancel(session: Session, arguments: Arguments) -> Answer:
    from recall import jobs

    return jobs.cancel(session.run(), str(arguments["job"]))


def _was_done(answer: Arguments) -> bool:
    job = answer["job"]
    return isinstance(job, Mapping) and job["state"] == "done"


_JOB = Parameter("job", "Its id.", positional=True, required=True)

OPERATIONS: tuple[Operation, ...] = (
    Operation("jobs list", "List the index runs in the background, the latest first.", _jobs_list),
    Operation(
        "jobs follow",
        "Wait for the end of an index run, and show what it came to.",
        _jobs_follow,
        (_JOB,),
        lambda answer: 0 if _was_done(answer) else 1,
    ),
    Operation("jobs cancel", "End an index run; the same words go on with it later.", _jobs_cancel, (_JOB,)),
)
