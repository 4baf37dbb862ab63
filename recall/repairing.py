"""Topic repair in its place in a run: when it is due, what it is about, and its part of the publication.

In a batch it runs once, with the last conversation; the ones before it leave what they touched waiting. Alone it takes
what waits, or the topics whose last audit is longest ago. The child itself is `repair`'s.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from recall.errors import ArgumentError, StateError
from recall.index import audits, catalogue, members, publish
from recall.index.mending import Mended
from recall.index.publish import Publication
from recall.models.calls import Road
from recall.models.tokens import Meter
from recall.originals import Originals
from recall.run import Progress, Run
from recall.settings import HOST
from repair import run as repair_run
from repair import selection
from repair.report import RepairReport
from repair.run import Outcome, Work
from repair.state import Frozen, StagedText, freeze

When = Literal["now", "later", "skip"]
"""With this publication; with a later one of the same batch; not at all."""

_TRIES = 6
_TOPICS = 8  # that a run alone takes up


@dataclass(frozen=True, slots=True)
class Maintained:
    """What a run alone came to: how many topics wait still."""

    report: RepairReport
    changed: Mended
    left: int


class Repairer:
    """The repairs of one command's run: the profile, the road to the model, and the conversations published so far."""

    def __init__(self, run: Run, profile_no: int, road: Road, meter: Meter) -> None:
        self._run = run
        self._profile_no = profile_no
        self._road = road
        self._meter = meter
        self._published: list[str] = []
        self._tried = self._put_off = False

    async def mend(self, publication: Publication, staged: StagedText, when: When) -> Outcome:
        """What repair comes to for a publication that is about to be made. Raises what stops the run."""
        policy = self._run.settings.repair
        if when == "skip" or policy == "never":
            return Outcome(RepairReport("skipped"))
        if self._run.settings.model == HOST:
            return Outcome(RepairReport("unsupported"))
        if when == "later":
            return Outcome(RepairReport("deferred"))
        self._tried = True
        seen = _Seen()
        incoming = frozenset([*self._published, publication.conversation_id])

        def rehearse(connection: sqlite3.Connection) -> str:
            changed = publish.rehearse(connection, publication).topics
            seen.is_due = self._is_due(connection, publication, changed, incoming)
            seen.waiting = audits.waiting(connection, self._profile_no)
            seen.touched = _touched(changed)
            return publication.conversation_id

        view = freeze(self._run.database, self._profile_no, rehearse, staged)
        if not seen.is_due:
            return Outcome(RepairReport("not_due"))
        work = Work(
            tuple(dict.fromkeys([*seen.touched, *seen.waiting])),
            tuple(topic for placed in publication.placement.placed for topic in placed.candidates),
            incoming,
        )
        return await self._child(view, work, publication.source.name, publication.conversation_id)

    def write(
        self,
        connection: sqlite3.Connection,
        publication: Publication,
        changed: Mapping[str, Sequence[str]],
        out: Outcome,
    ) -> tuple[RepairReport, Mended]:
        """Repair's part of the publishing transaction. What is due and was not done is left waiting."""
        own = Originals(self._run.settings, self._run.database, publication.conversation_id)
        mended = self._write(connection, out, own, publication.now)
        report = out.report
        if report.state in ("skipped", "deferred") and out.audit is None:
            # `never` queues too: a later `repair`, or another setting, goes on from there.
            incoming = frozenset([*self._published, publication.conversation_id])
            if self._is_due(connection, publication, changed, incoming, asked=True):
                audits.queue(connection, self._profile_no, _touched(changed), publication.now)
                self._put_off = self._put_off or report.state == "deferred"
            elif report.state == "deferred":
                report = RepairReport("not_due")
        return report, mended

    def published(self, conversation_id: str) -> None:
        """A conversation of this batch is visible: from now on it is one of the incoming."""
        self._published.append(conversation_id)

    @property
    def is_owed(self) -> bool:
        """Whether a conversation of this batch put repair off and no later one came to it."""
        return self._put_off and not self._tried

    async def maintain(self, topic_id: str | None = None) -> Maintained:
        """Repair without a conversation: one topic, else what waits, else what was audited longest ago."""
        for left in reversed(range(_TRIES)):
            with self._run.database.read() as connection:
                topics = self._to_maintain(connection, topic_id)
            view = freeze(self._run.database, self._profile_no)
            outcome = await self._child(view, Work(topics, (), frozenset(self._published)), None, None)
            try:
                with self._run.database.write(stoppable=True) as connection:
                    originals = Originals(self._run.settings, self._run.database)
                    mended = self._write(connection, outcome, originals, self._run.clock())
                    if outcome.proof is not None and outcome.proof.plan is not None:
                        publish.bump_generation(connection, self._profile_no)
                    waiting = len(audits.waiting(connection, self._profile_no))
                return Maintained(outcome.report, mended, waiting)
            except StateError as error:
                if error.code != "topic_state_changed" or left == 0:
                    raise
        raise AssertionError("the last try returns or raises")

    def _to_maintain(self, connection: sqlite3.Connection, topic_id: str | None) -> tuple[str, ...]:
        if topic_id is not None:
            row = catalogue.topic(connection, self._profile_no, topic_id)
            if row is None or row["state"] != "live":
                message = f"There is no live topic {topic_id!r} in this profile"
                raise ArgumentError("not_found", message, "`history-recall browse` lists the topics")
            return (str(row["topic_id"]),)
        waiting = audits.waiting(connection, self._profile_no)
        return tuple((waiting or audits.longest_ago(connection, self._profile_no, _TOPICS))[:_TOPICS])

    async def _child(self, view: Frozen, work: Work, source: str | None, conversation_id: str | None) -> Outcome:
        originals = Originals(self._run.settings, self._run.database, conversation_id)

        def rings(topic_ids: Sequence[str]) -> Mapping[str, audits.Standing]:
            with self._run.database.read() as connection:
                return audits.standings(connection, self._profile_no, topic_ids)

        def progress(done: int, total: int) -> None:
            self._run.report(Progress("repairing", source or "topics", done, total))

        return await repair_run.mend(
            view,
            work,
            self._road,
            originals,
            originals.health(),
            self._meter,
            rings,
            source=source,
            progress=progress,
        )

    def _write(self, connection: sqlite3.Connection, outcome: Outcome, originals: Originals, now: int) -> Mended:
        extractive = self._run.settings.offline
        return repair_run.publish(connection, self._profile_no, outcome, originals, extractive=extractive, now=now)

    def _is_due(
        self,
        connection: sqlite3.Connection,
        publication: Publication,
        changed: Mapping[str, Sequence[str]],
        incoming: frozenset[str],
        *,
        asked: bool = False,
    ) -> bool:
        policy = self._run.settings.repair
        return selection.due(
            "due" if asked and policy == "never" else policy,
            publication.placement,
            audits.standings(connection, self._profile_no, _touched(changed)),
            history=members.any_but(connection, self._profile_no, incoming),
            waiting=not asked and bool(audits.waiting(connection, self._profile_no)),
        )


@dataclass
class _Seen:
    """What a rehearsal showed besides the view."""

    is_due: bool = False
    waiting: Sequence[str] = ()
    touched: Sequence[str] = ()


def _touched(changed: Mapping[str, Sequence[str]]) -> list[str]:
    return [*changed["updated"], *changed["created"]]
