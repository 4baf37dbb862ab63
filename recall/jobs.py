"""Index runs as jobs: the record of one that runs here, and what other processes do with one: list, follow, cancel.

A job comes to be with the first lease of its run, in the same transaction: a run that finds nothing to do leaves no
trace. A cancel is asked for in the database and seen by the process of the job within a moment.
"""

from __future__ import annotations

import contextlib
import sqlite3
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from recall.errors import ArgumentError, RecallError
from recall.hashing import minted_id
from recall.index import lease, ledger, runs
from recall.index.database import Database, profile_number
from recall.index.lease import Lease, Owner
from recall.index.runs import Job
from recall.run import Cancellation, Progress, Run, now_ms
from recall.settings import Settings
from recall.timewindow import iso

LISTED = 20
_LOOK_SECONDS = 0.5


class JobRecord:
    """The job of a run in this process. A context manager around the run and the writing down of its end."""

    def __init__(self, words: str, cancellation: Cancellation, *, detached: bool) -> None:
        self.job_id: str | None = None
        self._words = words
        self._cancellation = cancellation
        self._detached = detached
        self._owner: Owner | None = None
        self._database: Path | None = None
        self._ended = threading.Event()
        self._watch: threading.Thread | None = None

    def __enter__(self) -> JobRecord:
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        if self._watch is not None:
            self._watch.join()
        if self._owner is not None:
            self._owner.__exit__(None, None, None)

    def owner(self, database: Path) -> Owner:
        """The owner of the run's leases: it lives until the end of the job is written down."""
        if self._owner is None:
            self._owner, self._database = Owner(database), database
        return self._owner

    def begin(self, connection: sqlite3.Connection, profile_no: int, run: Run) -> None:
        """Write the job, the first time. In the open transaction that takes the first lease."""
        if self.job_id is not None:
            return
        owner = self.owner(run.database.path)
        job_id = minted_id("j")
        job = Job(
            job_id, self._words, run.run_id, owner.token, self._detached, run.clock(), None, None, "running", None
        )
        runs.begin(connection, profile_no, job, run.database.path)
        self.job_id = job_id
        self._watch = threading.Thread(target=self._look, daemon=True)
        self._watch.start()

    def end(self, state: str, answer: Mapping[str, object]) -> None:
        """Write how it ended. Where that cannot be written it shows as interrupted, once this process has ended."""
        if self.job_id is None or self._database is None:
            return
        with contextlib.suppress(RecallError):
            database = Database.open(self._database)
            try:
                with database.write() as connection:
                    runs.end(connection, self.job_id, state, answer, now_ms())
            finally:
                database.close()

    def _look(self) -> None:
        """Until the job ends, look whether somebody wants it to."""
        while not self._ended.wait(_LOOK_SECONDS):
            if self._is_cancel_asked():
                self._cancellation.cancel()
                return

    def _is_cancel_asked(self) -> bool:
        if self._database is None or self.job_id is None:
            return False
        try:
            database = Database.open_for_reading(self._database, self._ended.is_set)
            try:
                with database.read() as connection:
                    return runs.is_cancel_asked(connection, self.job_id)
            finally:
                database.close()
        except RecallError:
            return False  # the run itself meets what is wrong with the index, and says it


def listing(settings: Settings, database: Database) -> dict[str, object]:
    """The `jobs list` answer: the latest jobs of the profile."""
    with database.read() as connection:
        number = profile_number(connection, settings.profile)
        found = [] if number is None else shown(connection, number, database)
    return {"jobs": found, "message": "" if found else "No job has run in this profile yet"}


def shown(connection: sqlite3.Connection, profile_no: int, database: Database) -> list[dict[str, object]]:
    """The jobs of a profile for an answer: the latest first."""
    leases = {held.owner: held for held in lease.all_of(connection, profile_no)}
    found = runs.latest(connection, profile_no, database.path, LISTED)
    return [_shown(connection, profile_no, job, leases.get(job.owner)) for job in found]


def cancel(run: Run, job_id: str) -> dict[str, object]:
    """The `jobs cancel` answer: ask a running job to end. One that has ended is left as it is."""
    with run.database.write() as connection:
        number = profile_number(connection, run.settings.profile)
        job = None if number is None else runs.find(connection, number, job_id, run.database.path)
        if number is None or job is None:
            raise _none(job_id)
        if job.state == "running":
            runs.ask_cancel(connection, job_id, run.clock())
        held = next((one for one in lease.all_of(connection, number) if one.owner == job.owner), None)
        answer = _shown(connection, number, job, held)
    if job.state == "running":
        message = "Asked to stop; what was paid for is in the cache, and the same words go on with it"
    else:
        message = f"It is {job.state} already"
    return {"job": answer, "message": message}


def follow(
    settings: Settings,
    database: Database,
    job_id: str,
    report: Callable[[Progress], None],
    cancellation: Cancellation,
) -> dict[str, object]:
    """The `jobs follow` answer: waits for the end of a job, reporting how far it is, and gives what it came to.

    A cancel ends the following and not the job.
    """
    while True:
        with database.read() as connection:
            number = profile_number(connection, settings.profile)
            job = None if number is None else runs.find(connection, number, job_id, database.path)
            if number is None or job is None:
                raise _none(job_id)
            held = next((one for one in lease.all_of(connection, number) if one.owner == job.owner), None)
            answer = _shown(connection, number, job, held)
        if job.state != "running":
            return {"job": answer, "answer": job.answer, "message": _ended(job)}
        if held is not None:
            report(Progress(held.stage, held.source, held.done, held.total))
        cancellation.check()
        time.sleep(_LOOK_SECONDS)


def _ended(job: Job) -> str:
    if job.state == "interrupted":
        return f"Its process was killed; `history-recall {job.words}` goes on with it"
    return f"It is {job.state}"


def _shown(connection: sqlite3.Connection, profile_no: int, job: Job, held: Lease | None) -> dict[str, object]:
    working = held if job.state == "running" else None
    error = job.answer.get("error") if job.answer is not None else None
    return {
        "job_id": job.job_id,
        "state": "cancelling" if job.state == "running" and job.cancel_at is not None else job.state,
        "words": job.words,
        "detached": job.detached,
        "source": None if working is None else working.source,
        "stage": None if working is None else working.stage,
        "done": 0 if working is None else working.done,
        "total": 0 if working is None else working.total,
        "calls": ledger.calls_of_run(connection, profile_no, job.run),
        "started_at": iso(job.started_at),
        "progressed_at": iso(job.started_at if working is None else working.progressed_at),
        "ended_at": None if job.ended_at is None else iso(job.ended_at),
        "code": error.get("code") if isinstance(error, Mapping) else None,
    }


def _none(job_id: str) -> ArgumentError:
    message = f"There is no job {job_id!r} in this profile"
    return ArgumentError("not_found", message, "`history-recall jobs list` shows the latest")
