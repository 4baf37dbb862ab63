"""Indexing on request: one source, a bounded batch from the queue, and topic repair alone.

Sources are taken one after another, so that placement sees what was published before; the requests of one source
run side by side. A failure is kept with its code and does not stop a batch; a spent budget, a missing consent and a
cancel do.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import sqlite3
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import AbstractContextManager

from recall import conversations
from recall.curation import Curator
from recall.errors import RecallError, SourceError, StateError, unforeseen
from recall.freshness import is_apart, refused_apart
from recall.index import frequencies, jobs, lease
from recall.index.database import ensure_profile, profile_number
from recall.index.lease import Owner
from recall.index_report import Report, maintained
from recall.models import pace
from recall.models.gate import ConsentGate
from recall.models.tokens import meter_for
from recall.repairing import Maintained, Repairer, When
from recall.roads import road_of
from recall.run import Run
from recall.types import SourceRef

# What is no failure of a batch: there is nothing to index, or nothing more than what is indexed.
SKIPPED = frozenset(
    {"source_empty", "source_missing", "not_authorised", "current_conversation", "duplicate_conversation", "forgotten"}
)
# What is no failure either, and stays in the queue as it is: another run is at it, and will say how it ended.
_BUSY = frozenset({"lease_held"})
# What ends a batch: the next source would meet the same wall.
_WALLS = frozenset(
    {
        "cancelled",
        "consent_required",
        "work_budget",
        "daily_budget",
        "auth_unavailable",
        "rate_limited",
        "model_unavailable",
        "disk_full",
        "index_damaged",
        "index_unavailable",
        "unsupported_index",
    }
)


def index(run: Run, argument: str, *, force: bool = False, repair: bool = True) -> dict[str, object]:
    """Index one authorised source. Raises what stopped it, after keeping it in the queue with its code.

    A source that `rebuild` queued is analysed again here too; one that waits and needs nothing leaves the queue.
    """
    with run.cancellation.torn():
        source = conversations.source_of(run.settings, run.database, argument)
    report = Report(1)
    profile_no = _profile(run)
    with run.database.read() as connection:
        waiting = [job for job in jobs.waiting(connection, profile_no) if job.source == source.name]
    again = force or any(job.force for job in waiting)

    async def work(curator: Curator) -> None:
        try:
            with _border():
                done = await curator.curate(source, force=again, repair="now" if repair else "skip")
                report.completed.append(done)
        except SourceError as error:
            if error.code != "source_empty":
                raise
            report.skipped.append((source.name, error))

    try:
        calls = _work(run, profile_no, run.settings.batch_calls, work)
    except RecallError as error:
        if error.code not in ("lease_held", "source_missing", "duplicate_conversation") or is_apart(error):
            with contextlib.suppress(StateError):
                _keep_failure(run, profile_no, source, error)
                _unqueue_indexed(run, profile_no, error)
        elif error.code == "duplicate_conversation" and waiting:
            _drop(run, profile_no, source)
        raise
    if waiting and not any(one.published for one in report.completed):
        _drop(run, profile_no, source)
    return report.as_json(calls)


def index_all(run: Run, *, sessions: int | None = None, calls: int | None = None) -> dict[str, object]:
    """Fill the queue from the catalogue and work through it: the whole of it with `offline`, else a bounded batch."""
    profile_no = _profile(run)
    _reclaim(run, profile_no)
    _fill_queue(run, profile_no)
    with run.database.read() as connection:
        queue = [job for job in jobs.waiting(connection, profile_no) if not job.is_apart]
    bound = sessions or (len(queue) if run.settings.offline else run.settings.batch_sessions)
    report = Report(min(bound, len(queue)))

    async def work(curator: Curator) -> None:
        for place, job in enumerate(queue, start=1):
            # What was unchanged cost nothing and is none of them.
            done = sum(one.published is not None for one in report.completed) + len(report.failed)
            if done >= bound:
                break
            when: When = "now" if done + 1 == bound or place == len(queue) else "later"
            await _one_of_batch(run, profile_no, curator, job, report, when)
            if report.aborted is not None:
                return
        await _maintain_after_batch(curator.repairer, report)

    spent = _work(run, profile_no, calls if calls is not None else run.settings.batch_calls, work)
    if report.aborted is not None:
        with contextlib.suppress(StateError):
            _unqueue_indexed(run, profile_no, report.aborted)
    with run.database.read() as connection:
        report.left = sum(not job.is_apart for job in jobs.waiting(connection, profile_no))
    return report.as_json(spent)


def repair(run: Run, topic_id: str | None = None) -> dict[str, object]:
    """Topic maintenance alone: one bounded run; with `offline` as many as the waiting topics need."""
    profile_no = _profile(run)
    rounds: list[Maintained] = []

    async def work(curator: Curator) -> None:
        while True:
            before = rounds[-1].left if rounds else None
            rounds.append(await curator.repairer.maintain(topic_id))
            left = rounds[-1].left
            if not run.settings.offline or topic_id is not None or left == 0 or left == before:
                return

    calls = _work(run, profile_no, run.settings.batch_calls, work)
    return {"calls": calls, "runs": [maintained(one) for one in rounds], "left": rounds[-1].left}


async def _maintain_after_batch(repairer: Repairer, report: Report) -> None:
    """The batch's one repair, where its last conversation was none that could carry it."""
    if not repairer.is_owed:
        return
    try:
        report.maintained = await repairer.maintain()
    except RecallError as error:
        if error.code in _WALLS:
            report.aborted = error
        report.failed.append(("topics", error))


async def _one_of_batch(run: Run, profile_no: int, curator: Curator, job: jobs.Job, report: Report, when: When) -> None:
    source = SourceRef(job.host, job.source)
    with run.database.read() as connection:
        if not jobs.is_waiting(connection, profile_no, job.source):
            return  # another run has done it since the queue was read
    try:
        with _border():
            with run.cancellation.torn():
                source = conversations.catalogue_of(run.settings, run.database).resolve(job.source)
            done = await curator.curate(source, force=job.force, repair=when)
    except RecallError as error:
        # A yes for other projects stops this source and no other.
        if error.code in SKIPPED | _BUSY or "projects" in error.data:
            report.skipped.append((source.name, error))
            if is_apart(error):
                with contextlib.suppress(StateError):
                    _keep_failure(run, profile_no, source, error)
            elif error.code in SKIPPED:
                _drop(run, profile_no, source)
            return
        with contextlib.suppress(StateError):  # what went wrong is in the report; a full disk keeps no note of it
            _keep_failure(run, profile_no, source, error)
        if error.code in _WALLS:
            report.aborted = error
        report.failed.append((source.name, error))
        return
    if done.published is None:
        _drop(run, profile_no, source)
    report.completed.append(done)


@contextlib.contextmanager
def _border() -> Iterator[None]:
    """The border of one source: a fault that nobody foresaw is this source's failure and nobody else's."""
    try:
        yield
    except (RecallError, sqlite3.Error):
        raise
    except Exception as error:
        if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise
        raise unforeseen(error, "nothing of this source was published") from error


def _work(run: Run, profile_no: int, calls: int, work: Callable[[Curator], Awaitable[None]]) -> int:
    """Run the work on one event loop with one road and one owner; returns how many requests were charged."""

    async def whole() -> int:
        gate = ConsentGate(run.database, profile_no)
        async with road_of(run, profile_no, gate=gate, batch_calls=calls) as road:
            with _owner(run) as owner:
                meter = meter_for(run.settings, pace.halvings(run.database, run.settings))
                await work(Curator(run, profile_no, owner, road, meter, gate))
        return road.calls

    charged = asyncio.run(whole())
    with contextlib.suppress(StateError):  # the work is done; without the counts searches are slower, not wrong
        frequencies.renew(run.database, profile_no)
    return charged


def _owner(run: Run) -> AbstractContextManager[Owner]:
    """The owner of the run's leases; where the run is followed, it lives until its end is written down."""
    if run.follower is None:
        return Owner(run.database.path)
    return contextlib.nullcontext(run.follower.owner(run.database.path))


def _reclaim(run: Run, profile_no: int) -> None:
    """Drop what killed runs left of their leases; their sources are new or changed still, and are queued again."""
    with run.database.read() as connection:
        dead = lease.dead(connection, profile_no, run.database.path)
    if dead:
        with run.database.write() as connection:
            lease.reclaim(connection, profile_no, dead)


def _fill_queue(run: Run, profile_no: int) -> None:
    with run.cancellation.torn():
        found, _ = conversations.rows(run.settings, run.database)
    if _look_at_second_files(run, profile_no, found):
        with run.cancellation.torn():
            found, _ = conversations.rows(run.settings, run.database)
    ready = [(row.source, row.host) for row in found if row.can_be_queued]
    with run.database.read() as connection:
        known = {job.source for job in jobs.waiting(connection, profile_no)}
    if all(source in known for source, _ in ready):
        return
    with run.database.write() as connection:
        jobs.enqueue(connection, profile_no, ready, run.clock())


def _look_at_second_files(run: Run, profile_no: int, found: Sequence[conversations.Row]) -> bool:
    """Keep of each second file of an indexed conversation that it has entries of its own. True where that is news."""
    changed = False
    with run.database.read() as connection:
        apart = {job.source: job.message for job in jobs.waiting(connection, profile_no) if job.is_apart}
    for row in found:
        if row.copy_of is None or row.listed is None or row.stored is None:
            continue
        source = row.listed.source
        with run.cancellation.torn():
            said = refused_apart(run.database, profile_no, source, row.stored, run.settings)
        if said is not None and apart.get(row.source) != said.message:
            _keep_failure(run, profile_no, source, said)
            changed = True
        if said is not None:
            apart.pop(row.source, None)
    for source_name in apart:  # it is gone, goes on from what is indexed by now, or what it stood beside is gone
        with run.database.write() as connection:
            jobs.drop(connection, profile_no, source_name)
    return changed or bool(apart)


def _unqueue_indexed(run: Run, profile_no: int, error: RecallError) -> None:
    """Where nobody said yes to the model, what is indexed does not wait for it; the next run queues it again."""
    if error.code != "consent_required":
        return
    with run.cancellation.torn():
        found, _ = conversations.rows(run.settings, run.database)
    indexed = {row.source for row in found if row.state == "indexed"}
    with run.database.write() as connection:
        for job in jobs.waiting(connection, profile_no):
            if job.source in indexed and not job.force:
                jobs.drop(connection, profile_no, job.source)


def _profile(run: Run) -> int:
    with run.database.read() as connection:
        number = profile_number(connection, run.settings.profile)
    if number is not None:
        return number
    with run.database.write() as connection:
        return ensure_profile(connection, run.settings.profile, run.clock())


def _keep_failure(run: Run, profile_no: int, source: SourceRef, error: RecallError) -> None:
    with run.database.write() as connection:
        jobs.record_failure(connection, profile_no, source.name, source.host, error, run.clock())


def _drop(run: Run, profile_no: int, source: SourceRef) -> None:
    with run.database.write() as connection:
        jobs.drop(connection, profile_no, source.name)
