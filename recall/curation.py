"""One conversation, from its log to a publication: read, analyse, place, repair, publish.

A lease is held around the whole run. Reading, redacting and segmenting end before the write lock is asked for; only
`publish` writes conversations and topics. What a model answered is cached as it comes, so a run that is stopped at
any point goes on from there.
"""

from __future__ import annotations

import contextlib
import sqlite3
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from recall.cut import last_cut
from recall.errors import SourceError, StateError
from recall.freshness import Standing, stand, stands
from recall.hashing import conversation_id
from recall.hosts.reading import fingerprint, open_log, reader_version
from recall.index import belonging, cache, lease, publish, stored, successions, tombstones, topics
from recall.index.attribution import Seen
from recall.index.consent import UNPLACED
from recall.index.faults import translated
from recall.index.lease import Owner
from recall.index.mending import Mended
from recall.index.staging import Staging
from recall.index.stored import Stored
from recall.lookaround import LookAround
from recall.models.calls import Road
from recall.models.gate import ConsentGate, anything
from recall.models.tokens import Meter
from recall.redact import RULES_VERSION, Redactor
from recall.repairing import Repairer, When
from recall.run import Progress, Run
from recall.steps.analyse import analyse
from recall.steps.place import place
from recall.steps.succession import NO_FINDINGS, Findings
from recall.types import Analysis, Outline, Placement, SourceRef, SourceWarning, StoredFinding
from repair.report import NO_REPAIR, RepairReport
from repair.run import Outcome

_TITLE_CHARS = 80
_PLACING_TRIES = 6
_LEASE_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class Curated:
    """What came of one source. `published` is None where nothing had changed: nothing was sent or written.

    `topics`: topic ids by what happened to them, in the publication and in its repair.
    """

    source: SourceRef
    conversation_id: str
    published: publish.Published | None
    topics: Mapping[str, Sequence[str]]
    repair: RepairReport
    calls: int
    redactions: Mapping[str, int]
    warnings: tuple[SourceWarning, ...] = ()


@dataclass(frozen=True, slots=True)
class _Reading:
    """A source that was read into the staging table. `above`: the host's ids of what it is a part of."""

    source: SourceRef
    conversation_id: str
    before: Stored | None
    outline: Outline
    redactor: Redactor
    staging: Staging
    seen: Seen
    above: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Placing:
    """Where the facets go that had no topic yet (`indices`), as things stood: the catalogue, and what was settled.

    `withheld`: how many topics the consent does not let a model see.
    """

    catalogue: frozenset[str]
    settled: frozenset[str]
    indices: tuple[int, ...]
    placement: Placement
    withheld: int


class Curator:
    """Curates sources one after another for one run: the profile, the owner of the leases, the road to the model.

    The gate of that road is told which project each source is of.
    """

    def __init__(self, run: Run, profile_no: int, owner: Owner, road: Road, meter: Meter, gate: ConsentGate) -> None:
        self.repairer = Repairer(run, profile_no, road, meter)
        self._run = run
        self._profile_no = profile_no
        self._owner = owner
        self._road = road
        self._meter = meter
        self._gate = gate
        self._renewed = 0.0
        self._look_around = LookAround(run, profile_no)

    async def curate(self, source: SourceRef, *, force: bool, repair: When = "now") -> Curated:
        """Index one source. Raises SourceError, ModelError or StateError; nothing of it is visible then."""
        try:
            return await self._curate(source, force=force, repair=repair)
        finally:
            self._gate.about = anything

    async def _curate(self, source: SourceRef, *, force: bool, repair: When) -> Curated:
        with self._run.cancellation.torn():
            standing = stand(self._run.database, self._profile_no, source, self._run.settings, force=force)
        if standing.unchanged is not None:
            return self._nothing_to_do(source, standing.unchanged, standing)
        self._gate.about = lambda connection: frozenset()  # whether anything may be sent at all
        self._road.admit()
        calls = self._road.calls
        with self._run.database.write() as connection:
            lease.acquire(
                connection, self._profile_no, source.name, self._owner, self._run.database.path, self._run.clock()
            )
            if self._run.follower is not None:
                self._run.follower.begin(connection, self._profile_no, self._run)
        try:
            if not stands(self._run.database, self._profile_no, source, standing):
                # Another run was faster, and had the lease until now: begin again from what it made.
                with self._run.cancellation.torn():
                    standing = stand(self._run.database, self._profile_no, source, self._run.settings, force=force)
                if standing.unchanged is not None:
                    self._release(source)
                    return self._nothing_to_do(source, standing.unchanged, standing)
            with translated(self._run.database.path):  # staging is SQLite too, and its disk can be full
                reading = self._read(source, standing)
            self._gate.about = lambda connection: frozenset((self._project(connection, reading),))
            self._road.admit()
            analysis = await self._analyse(reading)
            if self._gate.limits(self._road.model) is not None:
                repair = "skip"  # it reads originals of any conversation
            published, report, mended, placing = await self._place_and_publish(reading, analysis, repair)
        except BaseException as error:
            # Also after a cancel: the road has ended every request that it started before it raised.
            with contextlib.suppress(StateError):  # what went wrong is told; a dead owner's lease is free anyway
                if isinstance(error, SourceError) and error.code == "forgotten":
                    self._drop_replies(source)
                self._release(source)
            raise
        self.repairer.published(reading.conversation_id)
        return Curated(
            source,
            reading.conversation_id,
            published,
            mended.joined_with(published.topics),
            report,
            self._road.calls - calls,
            dict(reading.redactor.counts),
            (*reading.outline.warnings, *_uncompared(placing.placement.uncompared), *_withheld(placing.withheld)),
        )

    def _project(self, connection: sqlite3.Connection, reading: _Reading) -> str:
        """The project that a consent has to be for: the one where the user has it now, or would find it."""
        header = reading.outline.header
        found = belonging.project_of(connection, self._profile_no, header, reading.source, reading.seen)
        return found or UNPLACED

    def _drop_replies(self, source: SourceRef) -> None:
        """What came while the conversation was being forgotten."""
        with self._run.database.write() as connection:
            cache.drop_source(connection, self._profile_no, source.name)

    def _release(self, source: SourceRef) -> None:
        with self._run.database.write() as connection:
            lease.release(connection, self._profile_no, source.name, self._owner)

    def _nothing_to_do(self, source: SourceRef, indexed: Stored, standing: Standing) -> Curated:
        if standing.touched:  # same contents under another time or inode: keep the listing quiet about it
            with self._run.database.write() as connection:
                stored.remember_file(connection, indexed.conversation_no, source.name, standing.fingerprint)
        self._reclaim(source)
        return Curated(source, indexed.conversation_id, None, Mended().joined_with({}), NO_REPAIR, 0, {})

    def _reclaim(self, source: SourceRef) -> None:
        """A run that was killed here has nothing left to go on with."""
        with self._run.database.read() as connection:
            left = [held for held in self._dead(connection) if held.source == source.name]
        if left:
            with self._run.database.write() as connection:
                lease.reclaim(connection, self._profile_no, left)

    def _dead(self, connection: sqlite3.Connection) -> list[lease.Lease]:
        return lease.dead(connection, self._profile_no, self._run.database.path)

    def _read(self, source: SourceRef, standing: Standing) -> _Reading:
        before = standing.before
        known: Mapping[str, int] = {}
        if before is not None:
            with self._run.database.read() as connection:
                known = stored.placeholders(connection, before.conversation_no)
        redactor = Redactor(known)
        staging = Staging(self._run.database.staging())
        size = max(standing.fingerprint.size, standing.fingerprint.content_bytes)
        with self._run.cancellation.torn(), open_log(source, redactor, cancelled=self._run.cancellation) as log:
            for reached in staging.fill(log.entries()):
                self._run.cancellation.check()
                self._progress(source, "reading", reached, size)
            outline = log.outline()
        staging.mark(outline.marks)
        staging.leave_copies(self._profile_no, None if before is None else before.conversation_no)
        header = outline.header
        if header.title is None:
            outline = replace(outline, header=replace(header, title=_opening_words(staging.opening())))
        if before is not None and header.host_conversation_id != before.host_conversation_id:
            message = f"{source.name} became another conversation while it was being read; nothing was published"
            raise SourceError("source_identity_changed", message, "index it again")
        minted = conversation_id(self._run.settings.profile, header.host, header.host_conversation_id)
        identity = before.conversation_id if before else minted
        seen = self._look_around.seen(header, staging)
        return _Reading(source, identity, before, outline, redactor, staging, seen, standing.above)

    async def _analyse(self, reading: _Reading) -> Analysis:
        # The built-in analyser is asked anew at no cost, and finds better scopes where it cuts for itself.
        before = None if self._run.settings.offline else reading.before
        cuts = frozenset(before.cuts) if before is not None else frozenset()
        self._progress(reading.source, "analysing", 0, 0, now=True)

        def step(done: int, total: int) -> None:
            self._progress(reading.source, "analysing", done, total)

        settings = self._run.settings
        analysis = await analyse(
            reading.staging,
            self._road,
            self._meter,
            cuts,
            source=reading.source.name,
            progress=step,
            model=settings.model,
            extractive=settings.offline,
        )
        facets = {publish.facet_id(reading.conversation_id, facet): facet for facet in reversed(analysis.facets)}
        return replace(analysis, facets=tuple(reversed(facets.values())))

    async def _place_and_publish(
        self, reading: _Reading, analysis: Analysis, repair: When
    ) -> tuple[publish.Published, RepairReport, Mended, _Placing]:
        """Place against the catalogue as it is, repair, publish; again where another run changed one of the topics.

        Also where it made a topic and this one would make some too: they could be the same. On the last try that is
        let pass, for it is no conflict.
        """
        for left in reversed(range(_PLACING_TRIES)):
            placing = await self._place(reading, analysis)
            publication = self._publication(reading, analysis, placing)
            self._progress(reading.source, "repairing", 0, 1, now=True)
            try:
                outcome = await self.repairer.mend(publication, reading.staging.text_of, repair)
                self._progress(reading.source, "publishing", 0, 1, now=True)
                done = self._publish(reading, publication, placing, outcome, whole_catalogue=left > 0)
                return (*done, placing)
            except StateError as error:
                if error.code != "topic_state_changed" or left == 0:
                    raise
        raise AssertionError("the last try returns or raises")

    async def _place(self, reading: _Reading, analysis: Analysis) -> _Placing:
        with self._run.database.read() as connection:
            catalogue = topics.cards(connection, self._profile_no)
            settled = self._settled(connection, reading)
            withheld = self._beyond(connection, reading)
        indices = stored.needs_placing(reading.conversation_id, analysis.facets, settled)
        self._progress(reading.source, "placing", 0, len(indices), now=True)
        incoming = replace(analysis, facets=tuple(analysis.facets[i] for i in indices))
        placement = await place(
            incoming,
            [card for card in catalogue if card.topic_id not in withheld],
            self._road,
            self._meter,
            source=reading.source.name,
            findings=self._findings(reading),
        )
        known = frozenset(card.topic_id for card in catalogue)
        return _Placing(known, settled, indices, placement, len(withheld) if indices else 0)

    def _beyond(self, connection: sqlite3.Connection, reading: _Reading) -> frozenset[str]:
        """The topics that are of projects for which there is no consent: the model is not shown them."""
        allowed = self._gate.limits(self._road.model)
        if allowed is None:
            return frozenset()
        allowed |= {self._project(connection, reading)}
        return topics.beyond(connection, self._profile_no, allowed, UNPLACED)

    def _findings(self, reading: _Reading) -> Findings:
        """What earlier conversations found. The built-in analyser does not judge which of two holds."""
        if self._run.settings.offline:
            return NO_FINDINGS
        own = reading.before.conversation_no if reading.before is not None else 0

        def stored_findings(topic_ids: Collection[str]) -> Sequence[StoredFinding]:
            with self._run.database.read() as connection:
                return successions.findings(connection, self._profile_no, topic_ids, own)

        def text(finding: StoredFinding) -> str | None:
            with self._run.database.read() as connection:
                return successions.text(connection, finding)

        return Findings(stored_findings, text, reading.staging.text_of, reading.staging.at_of)

    def _settled(self, connection: sqlite3.Connection, reading: _Reading) -> frozenset[str]:
        before = reading.before
        return frozenset() if before is None else stored.settled_facets(connection, before.conversation_no)

    def _publication(self, reading: _Reading, analysis: Analysis, placing: _Placing) -> publish.Publication:
        return publish.Publication(
            profile_no=self._profile_no,
            conversation_id=reading.conversation_id,
            source=reading.source,
            outline=reading.outline,
            analysis=analysis,
            placed_facets=placing.indices,
            placement=placing.placement,
            placeholders=reading.redactor.locations,
            redactions=reading.redactor.counts,
            rules_version=RULES_VERSION,
            reader_version=reader_version(reading.source.host),
            now=self._run.clock(),
            seen=reading.seen,
        )

    def _publish(
        self,
        reading: _Reading,
        publication: publish.Publication,
        placing: _Placing,
        outcome: Outcome,
        *,
        whole_catalogue: bool,
    ) -> tuple[publish.Published, RepairReport, Mended]:
        self._confirm_source(reading)
        with self._run.database.write(stoppable=True) as connection:
            lease.confirm(connection, self._profile_no, reading.source.name, self._owner)
            header = reading.outline.header
            tombstones.confirm(connection, self._profile_no, header.host, header.host_conversation_id, reading.above)
            self._confirm_stored(connection, reading, placing.settled)
            if whole_catalogue and placing.placement.drafts:
                topics.check_complete(connection, self._profile_no, placing.catalogue)
            published = publish.publish(connection, publication)
            report, mended = self.repairer.write(connection, publication, published.topics, outcome)
            # Together, so that a kill after the commit does not leave work that is done as interrupted.
            lease.release(connection, self._profile_no, reading.source.name, self._owner)
        return published, report, mended

    def _confirm_source(self, reading: _Reading) -> None:
        """What was read must still stand at the start of the source; growth is fine and shows as `grown`."""
        read = reading.outline.fingerprint
        now = fingerprint(reading.source, prefix_bytes=read.content_bytes)
        if now.prefix_sha256 != read.content_sha256:
            message = f"{reading.source.name} was rewritten while it was being indexed; nothing was published"
            raise SourceError("stale_evidence", message, "index it again; what was paid for is in the cache")

    def _confirm_stored(self, connection: sqlite3.Connection, reading: _Reading, settled: frozenset[str]) -> None:
        """The lease is on the source; the same conversation may have been published from a copy of it."""
        header, before = reading.outline.header, reading.before
        now = stored.by_identity(connection, self._profile_no, header.host, header.host_conversation_id)
        same = now is None if before is None else now is not None and now.content_sha256 == before.content_sha256
        if not same or self._settled(connection, reading) != settled:
            message = f"The conversation of {reading.source.name} was published from elsewhere meanwhile"
            raise SourceError("source_busy", message, "index it again; what was paid for is in the cache")

    def _progress(self, source: SourceRef, stage: str, done: int, total: int, *, now: bool = False) -> None:
        """Report a step forward and, at most every two seconds, move the lease with it."""
        self._run.report(Progress(stage, source.name, done, total))
        if not now and time.monotonic() - self._renewed < _LEASE_SECONDS:
            return
        connection = self._run.database.staging()
        if connection.in_transaction:  # staging is being filled; the next step outside it moves the lease
            return
        self._renewed = time.monotonic()
        with self._run.database.write() as connection:
            lease.progress(
                connection, self._profile_no, source.name, self._owner, stage, done, total, self._run.clock()
            )


def _uncompared(pairs: int) -> tuple[SourceWarning, ...]:
    """What an answer says of findings that the question which of two replaces the other had no room for."""
    if not pairs:
        return ()
    message = f"{pairs} pairs of findings found no room in the question which of two replaces the other; neither does"
    return (SourceWarning("findings_not_compared", 0, message),)


def _withheld(number: int) -> tuple[SourceWarning, ...]:
    """What an answer says of topics that the model may not see."""
    if not number:
        return ()
    message = f"{number} topics hold conversations that the consent does not cover; it was not placed among them"
    return (SourceWarning("topics_withheld", 0, message),)


def _opening_words(text: str | None) -> str | None:
    """A title for a conversation whose host gave it none: how it began, as the hosts' own lists show it."""
    words = " ".join((text or "").split())
    if len(words) <= _TITLE_CHARS:
        return words or None
    return words[: last_cut(words, 0, _TITLE_CHARS)].rstrip() + "…"
