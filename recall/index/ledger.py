"""The ledger of model requests: one row for each that was started, written before it is sent.

A charge counts and inserts in the caller's one writing transaction (BEGIN IMMEDIATE), so that processes that run
side by side cannot exceed a cap together. A row that was never settled belongs to a process that died; it counts.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from typing import Literal

from recall.errors import StateError

DAY_MS = 86_400_000
_MIDNIGHT_HINT = "go on after 00:00 UTC, or raise HISTORY_RECALL_DAILY_CALLS"
_BATCH_HINT = "run the command again to go on from here, or raise HISTORY_RECALL_BATCH_CALLS"


@dataclass(frozen=True, slots=True)
class Charge:
    """One request about to be started. `attempt` is 1 for the first of a question and counts its tries."""

    profile_no: int
    run: str
    source: str | None
    kind: str
    model: str
    endpoint: str
    attempt: int
    request_bytes: int


@dataclass(frozen=True, slots=True)
class Caps:
    """How many requests one run and one UTC day of a profile may start."""

    run: int
    day: int


@dataclass(frozen=True, slots=True)
class Spent:
    """What one model came to. `cost_usd` sums what has a price; `unpriced` counts the calls that have none."""

    model: str
    endpoint: str
    calls: int
    failed: int
    prompt_tokens: int
    completion_tokens: int
    cost_usd: float | None
    unpriced: int


def admit(connection: sqlite3.Connection, profile_no: int, run: str, caps: Caps, now: int) -> None:
    """StateError `daily_budget` or `work_budget` where a cap is reached."""
    today = calls_today(connection, profile_no, now)
    if today >= caps.day:
        data = {"calls_today": today, "cap": caps.day}
        raise StateError("daily_budget", f"{today} of {caps.day} model calls of today are used", _MIDNIGHT_HINT, data)
    used = calls_of_run(connection, profile_no, run)
    if used >= caps.run:
        data = {"calls": used, "cap": caps.run}
        raise StateError("work_budget", f"This run has used its {caps.run} model calls", _BATCH_HINT, data)


def charge(connection: sqlite3.Connection, charge: Charge, caps: Caps, now: int) -> int:
    """Enter the request and return its number. Raises as `admit` does."""
    admit(connection, charge.profile_no, charge.run, caps, now)
    row = connection.execute(
        """
        INSERT INTO ledger (profile_no, run, source, kind, model, endpoint, attempt, request_bytes, charged_at, state)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 'charged')
        RETURNING call_no
        """,
        (
            charge.profile_no,
            charge.run,
            charge.source,
            charge.kind,
            charge.model,
            charge.endpoint,
            charge.attempt,
            charge.request_bytes,
            now,
        ),
    ).fetchone()
    return int(row["call_no"])


def settle(
    connection: sqlite3.Connection,
    call_no: int,
    now: int,
    state: Literal["done", "failed"],
    *,
    code: str | None = None,
    prompt_tokens: int | None = None,
    completion_tokens: int | None = None,
    cost_usd: float | None = None,
) -> None:
    """Say how a charged request ended. Only the first word counts: a settled row is left as it is."""
    connection.execute(
        """
        UPDATE ledger
           SET state = ?, code = ?, prompt_tokens = ?, completion_tokens = ?, cost_usd = ?, settled_at = ?
         WHERE call_no = ? AND state = 'charged'
        """,
        (state, code, _count(prompt_tokens), _count(completion_tokens), cost_usd, now, call_no),
    )


def _count(tokens: object) -> int | None:
    """A number of tokens as a server says it: anything at all. None where it cannot be one."""
    return tokens if isinstance(tokens, int) and 0 <= tokens < 2**53 else None


def calls_today(connection: sqlite3.Connection, profile_no: int, now: int) -> int:
    """How many requests of the profile were charged since 00:00 UTC."""
    row = connection.execute(
        "SELECT count(*) FROM ledger WHERE profile_no = ? AND charged_at >= ?", (profile_no, now - now % DAY_MS)
    ).fetchone()
    return int(row[0])


def calls_of_run(connection: sqlite3.Connection, profile_no: int, run: str) -> int:
    """How many requests a run has charged."""
    row = connection.execute(
        "SELECT count(*) FROM ledger WHERE profile_no = ? AND run = ?", (profile_no, run)
    ).fetchone()
    return int(row[0])


def spent(connection: sqlite3.Connection, profile_no: int, since: int = 0) -> tuple[Spent, ...]:
    """What the profile's requests since a time came to, a model and endpoint at a time, the most used first."""
    rows = connection.execute(
        """
        SELECT model, endpoint,
               count(*) AS calls,
               sum(state = 'failed') AS failed,
               total(prompt_tokens) AS prompt_tokens,
               total(completion_tokens) AS completion_tokens,
               sum(cost_usd) AS cost_usd,
               sum(cost_usd IS NULL) AS unpriced
          FROM ledger
         WHERE profile_no = ? AND charged_at >= ?
         GROUP BY model, endpoint
         ORDER BY calls DESC, model, endpoint
        """,
        (profile_no, since),
    )
    return tuple(
        Spent(
            row["model"],
            row["endpoint"],
            int(row["calls"]),
            int(row["failed"]),
            int(row["prompt_tokens"]),
            int(row["completion_tokens"]),
            row["cost_usd"],
            int(row["unpriced"]),
        )
        for row in rows
    )
