"""Jobs: index runs that somebody can follow and cancel from another process.

A job is a row, written when its first source is taken and once more at its end. Whether it still runs is not believed
but proved, by the OS lock of its owner; what was killed is `interrupted`, and its words go on with it. Plain functions
on an open connection; none commits.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from recall.hashing import canonical_json
from recall.index import lease

KEPT = 100  # ended ones of a profile


@dataclass(frozen=True, slots=True)
class Job:
    """One job. `state`: running, done, failed, cancelled, or interrupted where its process was killed."""

    job_id: str
    words: str
    run: str
    owner: str
    detached: bool
    started_at: int
    cancel_at: int | None = None
    ended_at: int | None = None
    state: str = "running"
    answer: Mapping[str, object] | None = None


def begin(connection: sqlite3.Connection, profile_no: int, job: Job, database: Path) -> None:
    """Write a job that runs from now on. What was interrupted at the same words is taken up by it, and goes."""
    dead = [old for old in latest(connection, profile_no, database) if old.state == "interrupted"]
    connection.executemany(
        "DELETE FROM jobs WHERE job_id = ?", [(old.job_id,) for old in dead if old.words == job.words]
    )
    connection.execute(
        """INSERT INTO jobs (job_id, profile_no, words, run, owner, detached, started_at, state)
           VALUES (?, ?, ?, ?, ?, ?, ?, 'running')""",
        (job.job_id, profile_no, job.words, job.run, job.owner, int(job.detached), job.started_at),
    )
    connection.execute(
        """DELETE FROM jobs WHERE profile_no = ? AND ended_at IS NOT NULL AND job_no NOT IN
           (SELECT job_no FROM jobs WHERE profile_no = ? ORDER BY job_no DESC LIMIT ?)""",
        (profile_no, profile_no, KEPT),
    )


def end(connection: sqlite3.Connection, job_id: str, state: str, answer: Mapping[str, object], now: int) -> None:
    """Write how a job ended."""
    connection.execute(
        "UPDATE jobs SET state = ?, answer = ?, ended_at = ? WHERE job_id = ?",
        (state, canonical_json(answer), now, job_id),
    )


def ask_cancel(connection: sqlite3.Connection, job_id: str, now: int) -> None:
    """Ask the process of a job to end it."""
    connection.execute(
        "UPDATE jobs SET cancel_at = ? WHERE job_id = ? AND ended_at IS NULL AND cancel_at IS NULL", (now, job_id)
    )


def is_cancel_asked(connection: sqlite3.Connection, job_id: str) -> bool:
    """Whether somebody wants the job to end."""
    row = connection.execute("SELECT cancel_at FROM jobs WHERE job_id = ?", (job_id,)).fetchone()
    return row is not None and row["cancel_at"] is not None


def find(connection: sqlite3.Connection, profile_no: int, job_id: str, database: Path) -> Job | None:
    """A job by its id."""
    row = connection.execute(f"{_SELECT} AND job_id = ?", (profile_no, job_id)).fetchone()
    return None if row is None else _job(row, database)


def latest(connection: sqlite3.Connection, profile_no: int, database: Path, limit: int = KEPT) -> list[Job]:
    """The jobs of a profile, the latest first."""
    rows = connection.execute(f"{_SELECT} ORDER BY job_no DESC LIMIT ?", (profile_no, limit))
    return [_job(row, database) for row in rows]


_SELECT = """SELECT job_id, words, run, owner, detached, started_at, cancel_at, ended_at, state, answer
             FROM jobs WHERE profile_no = ?"""


def _job(row: sqlite3.Row, database: Path) -> Job:
    state = row["state"]
    if state == "running" and not lease.is_alive(database, row["owner"]):
        state = "interrupted"
    return Job(
        job_id=row["job_id"],
        words=row["words"],
        run=row["run"],
        owner=row["owner"],
        detached=bool(row["detached"]),
        started_at=row["started_at"],
        cancel_at=row["cancel_at"],
        ended_at=row["ended_at"],
        state=state,
        answer=None if row["answer"] is None else json.loads(row["answer"]),
    )
