"""What state the profile is in: counts, queue, running and interrupted work, calls, consent, health of the index."""

from __future__ import annotations

import sqlite3
from dataclasses import asdict

from recall import conversations, jobs, offering, scope
from recall.consents import consents
from recall.index import fulltext, lease, ledger, runs, stored
from recall.index import jobs as queue
from recall.index.database import Database, profile_number
from recall.index.file import SCHEMA_VERSION
from recall.models.endpoints import endpoint_of
from recall.run import now_ms
from recall.scope import ANYWHERE, Here
from recall.settings import Settings
from recall.timewindow import iso


def status(settings: Settings, database: Database, *, cost: bool = False, here: Here = ANYWHERE) -> dict[str, object]:
    """The `status` answer of contract.md. No model call, no write."""
    found, warnings = conversations.rows(settings, database)
    with database.read() as connection:
        number = profile_number(connection, settings.profile)
        if number is None:
            number = -1
        generation = connection.execute("SELECT generation FROM profiles WHERE profile_no = ?", (number,)).fetchone()
        waiting = queue.waiting(connection, number)
        working = _jobs(connection, number, database)
        counts = stored.counts(connection, number)
        calls_today = ledger.calls_today(connection, number, now_ms())
        spent = [asdict(one) for one in ledger.spent(connection, number)] if cost else None
        redactions = stored.redactions(connection, number)
        skipped = stored.skipped_lines(connection, number)
        granted = consents(settings, connection, number)
        current = scope.current_project(connection, number, here)
        hint = offering.hint(connection, number, settings.home, here, now_ms())
        problems = [] if number < 0 else fulltext.look(connection, number)
        engine = fulltext.recorded_engine(connection, number)
    endpoint = None if settings.offline else endpoint_of(settings.model, settings.api_base)
    answer: dict[str, object] = {
        "profile": settings.profile,
        "schema": SCHEMA_VERSION,
        "revision": generation["generation"] if generation else 0,
        **counts,
        "queue": {
            "waiting": sum(not job.is_apart for job in waiting),
            "failed": [_failed(job) for job in waiting if job.code is not None],
        },
        "jobs": working,
        "calls_today": calls_today,
        "caps": {
            "batch_sessions": settings.batch_sessions,
            "batch_calls": settings.batch_calls,
            "daily_calls": settings.daily_calls,
        },
        "model": {"name": settings.model, "endpoint": endpoint},
        "consent": granted,
        "text_index": {"engine": engine, "healthy": not problems, "problems": problems},
        "database": _database(settings, database),
        "coverage": conversations.coverage(found),
        "redactions": redactions,
        "skipped_lines": skipped,
        "warnings": [{"code": w.code, "message": w.message} for w in warnings],
        "current_project": None if current is None else {"project_id": current.project_id, "name": current.name},
        "project_hint": hint,
    }
    return answer if spent is None else answer | {"cost": spent}


def _failed(job: queue.Job) -> dict[str, object]:
    return {"source": job.source, "code": job.code, "message": job.message, "attempts": job.attempts}


def _database(settings: Settings, database: Database) -> dict[str, object]:
    return {
        "path": str(settings.database),
        "bytes": _size(settings) if database.exists else 0,
        "exists": database.exists,
        "journal_mode": database.journal_mode,
    }


def _jobs(connection: sqlite3.Connection, profile_no: int, database: Database) -> list[dict[str, object]]:
    """The latest jobs, and what runs that are no jobs (a command in a terminal) work on, or left when they died."""
    found = jobs.shown(connection, profile_no, database)
    owners = {job.owner for job in runs.latest(connection, profile_no, database.path)}
    others = [held for held in lease.all_of(connection, profile_no) if held.owner not in owners]
    return [*found, *(_job(held, database) for held in others)]


def _job(held: lease.Lease, database: Database) -> dict[str, object]:
    alive = lease.is_alive(database.path, held.owner)
    return {
        "job_id": None,
        "source": held.source,
        "state": "running" if alive else "interrupted",
        "stage": held.stage,
        "done": held.done,
        "total": held.total,
        "started_at": iso(held.acquired_at),
        "progressed_at": iso(held.progressed_at),
    }


def _size(settings: Settings) -> int:
    names = (settings.database.name, settings.database.name + "-wal")
    files = [settings.database.with_name(name) for name in names]
    return sum(f.stat().st_size for f in files if f.exists())
