"""What an index run would send, to whom, without sending: read, redact and chunk for real, count, throw away.

The first level is exact. What is above it (joining a long conversation, placing) depends on replies that nobody has
yet and is an upper bound; `exact` says which it is. Nothing is written: no index file is made either.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from recall import conversations
from recall.errors import RecallError, SourceError
from recall.freshness import Standing, stand
from recall.hosts.reading import open_log
from recall.index import jobs, stored, topics
from recall.index.database import Database, profile_number
from recall.index.staging import Staging
from recall.indexer import SKIPPED
from recall.models import pace
from recall.models.calls import CallLimits, Road
from recall.models.choose import choose_model
from recall.models.endpoints import endpoint_of, is_loopback
from recall.models.gate import ConsentGate
from recall.models.tokens import meter_for
from recall.redact import Redactor
from recall.run import Cancellation
from recall.settings import Settings
from recall.steps import planning
from recall.steps.analyse import plan_requests
from recall.steps.planning import Bound
from recall.types import SourceRef

_NO_PROFILE = -1


@dataclass
class _Count:
    """What has been counted so far."""

    certain: Bound = field(default_factory=lambda: Bound(0, 0))
    sent: Bound = field(default_factory=lambda: Bound(0, 0))
    exact: bool = True
    redactions: dict[str, int] = field(default_factory=dict)
    sources: int = 0
    failed: list[tuple[str, RecallError]] = field(default_factory=list)


def one(
    settings: Settings, database: Database, argument: str, cancellation: Cancellation, *, force: bool = False
) -> dict[str, object]:
    """What `index FILE` would send."""
    source = conversations.source_of(settings, database, argument)
    count = _Count()
    asked = any(job.force for job in _queue(settings, database) if job.source == source.name)
    try:
        _DryRun(settings, database, cancellation, count).source(source, force=force or asked)
    except SourceError as error:
        if error.code != "source_empty":
            raise
    return _answer(settings, count, settings.batch_calls)


def batch(
    settings: Settings,
    database: Database,
    sessions: int | None,
    cancellation: Cancellation,
    *,
    calls: int | None = None,
) -> dict[str, object]:
    """What `index-all` would send for the sources that it would take first; `calls` is the cap that is named for it."""
    found, _ = conversations.rows(settings, database)
    queue = _queue(settings, database)
    queued = {job.source for job in queue}
    ready = [(job.source, job.force) for job in queue]
    ready += [(row.source, False) for row in found if row.can_be_queued and row.source not in queued]
    bound = sessions or (len(ready) if settings.offline else settings.batch_sessions)
    count = _Count()
    run = _DryRun(settings, database, cancellation, count)
    catalogue = conversations.catalogue_of(settings, database)
    for name, force in ready:
        if count.sources + len(count.failed) >= bound:
            break
        try:
            run.source(catalogue.resolve(name), force=force)
        except RecallError as error:
            if error.code == "cancelled":
                raise
            if error.code in SKIPPED:
                continue
            count.failed.append((name, error))
    return _answer(settings, count, settings.batch_calls if calls is None else calls)


def _queue(settings: Settings, database: Database) -> list[jobs.Job]:
    with database.read() as connection:
        number = profile_number(connection, settings.profile)
        return [] if number is None else jobs.waiting(connection, number)


class _DryRun:
    """Reads sources the way a run does, and asks nobody."""

    def __init__(self, settings: Settings, database: Database, cancellation: Cancellation, count: _Count) -> None:
        self._settings = settings
        self._database = database
        self._cancellation = cancellation
        self._count = count
        with database.read() as connection:
            number = profile_number(connection, settings.profile)
        self._profile_no = _NO_PROFILE if number is None else number
        self._meter = meter_for(settings, pace.halvings(database, settings))
        self._road = Road(
            database,
            self._profile_no,
            "dry-run",
            choose_model(settings),
            CallLimits.of(settings),
            consent=ConsentGate(database, self._profile_no),
        )

    def source(self, source: SourceRef, *, force: bool) -> None:
        """Count one source. Raises what reading it raises."""
        standing = stand(self._database, self._profile_no, source, self._settings, force=force)
        if standing.unchanged is not None:
            return
        before = self._count.sources
        self._count.sources += 1
        staging = self._staged(source, standing)
        if self._settings.offline:
            return
        requests = list(plan_requests(staging, self._meter, frozenset(standing.before.cuts if standing.before else ())))
        if not requests:
            return
        sizes = [self._road.would_send(request) for request in requests]
        unsent = [size for size in sizes if size is not None]
        certain = Bound(len(unsent), sum(unsent))
        narrowing = is_loopback(endpoint_of(self._settings.model, self._settings.api_base))
        with self._database.read() as connection:
            catalogue = topics.cards(connection, self._profile_no)
        above = planning.joining(len(requests), narrowing=narrowing)
        above += planning.placing(catalogue, self._meter, before=before)
        self._count.certain += certain
        self._count.sent += certain + above
        self._count.exact = self._count.exact and above.calls == 0

    def _staged(self, source: SourceRef, standing: Standing) -> Staging:
        known: dict[str, int] = {}
        if standing.before is not None:
            with self._database.read() as connection:
                known = stored.placeholders(connection, standing.before.conversation_no)
        redactor = Redactor(known)
        staging = Staging(self._database.staging())
        with open_log(source, redactor, cancelled=self._cancellation) as log:
            for _ in staging.fill(log.entries()):
                self._cancellation.check()
            staging.mark(log.outline().marks)
        staging.leave_copies(self._profile_no, None if standing.before is None else standing.before.conversation_no)
        for kind, number in redactor.counts.items():
            self._count.redactions[kind] = self._count.redactions.get(kind, 0) + number
        return staging


def _cap(settings: Settings, sent: int, calls: int) -> dict[str, object] | None:
    """Where one run stops, and how many runs what would be sent makes; None where nothing is capped."""
    if settings.offline:
        return None
    return {"calls": calls, "runs": math.ceil(sent / calls) if calls else None}


def _answer(settings: Settings, count: _Count, calls: int) -> dict[str, object]:
    endpoint = None if settings.offline else endpoint_of(settings.model, settings.api_base)
    return {
        "would_send": {
            "calls": count.sent.calls,
            "bytes": count.sent.bytes,
            "endpoint": endpoint,
            "model": settings.model,
            "exact": count.exact,
            "at_least": {"calls": count.certain.calls, "bytes": count.certain.bytes},
        },
        "run_cap": _cap(settings, count.sent.calls, calls),
        "sources": count.sources,
        "redactions": dict(sorted(count.redactions.items())),
        "failed": [{"source": s, "code": e.code, "message": e.message} for s, e in count.failed],
    }
