"""One repair run, from what is to be looked at to what may be published.

`mend` runs the child and gives an `Outcome`; `publish` believes nothing of it: inside the publishing transaction it
makes the proof again from the database, looks at every source that it rests on once more, and only then writes.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from recall.errors import ModelError, SourceError
from recall.index import audits, mending
from recall.index.mending import Mended, Warrant
from recall.models.extractive.placement import neighbours
from recall.plans import Receipt
from repair import proof as proofs
from repair.agent import Agent, Asker, DialogueMeter, Originals
from repair.case import Case
from repair.draft import Health
from repair.limits import LIMITS, Limits
from repair.proof import Missing, Proof
from repair.report import RepairReport
from repair.selection import Audit, Rings, positions, select
from repair.state import Frozen, Stored


@dataclass(frozen=True, slots=True)
class Work:
    """What a run is about: topics that came up, topics that came close, and the conversations that are incoming."""

    assigned: tuple[str, ...]
    candidates: tuple[str, ...]
    incoming: frozenset[str]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a run came to. Without a proof nothing was looked at, and `report` says why."""

    report: RepairReport
    proof: Proof | None = None
    audit: Audit | None = None
    incoming: frozenset[str] = frozenset()
    limits: Limits = LIMITS


async def mend(
    view: Frozen,
    work: Work,
    road: Asker,
    originals: Originals,
    health: Health,
    meter: DialogueMeter,
    rings: Rings,
    *,
    source: str | None = None,
    progress: Callable[[int, int], None] = lambda done, total: None,
    limits: Limits = LIMITS,
) -> Outcome:
    """Run the child, where there is something to look at. Raises ModelError, SourceError, StateError."""
    near = neighbours(view.cards, limits.neighbours)
    audit = select(view, work.assigned, work.candidates, work.incoming, rings, near, health, limits)
    if not audit.facets:
        report = RepairReport("deferred" if audit.deferred else "nothing", audit.deferred)
        return Outcome(report, None, audit, work.incoming, limits)
    case = Case(view, limits, work.incoming, audit)
    agent = Agent(case, road, originals, health, meter, source, progress)
    proof = await agent.run()
    case = agent.case
    report = RepairReport(
        state="done" if proof.plan is not None else "nothing",
        deferred=tuple(sorted(case.deferred.items())),
        audited=len(case.audited),
        receipts=len({(one.conversation_id, one.entry_id) for one in proof.deliveries}) + len(proof.earlier),
    )
    return Outcome(report, proof, case.audit, work.incoming, limits)


def publish(
    connection: sqlite3.Connection,
    profile_no: int,
    outcome: Outcome,
    originals: Originals,
    *,
    extractive: bool,
    now: int,
) -> Mended:
    """Prove the outcome from what the transaction is about to commit, and write it. Writes nothing where that fails.

    Raises ModelError `repair_incomplete`, SourceError `stale_evidence`, StateError `topic_state_changed`.
    """
    if outcome.audit is None:
        return Mended()
    done = positions(outcome.audit, frozenset())
    mended = Mended()
    if outcome.proof is not None:
        proof, view = outcome.proof, Stored(connection, profile_no)
        read = _proved(view, proof, outcome, originals)
        warrant = Warrant(proof.digest, {one.facet_id: one for one in read})
        if proof.plan is not None:
            mended = mending.write(connection, profile_no, proof.plan, warrant, extractive=extractive, now=now)
        mending.keep_receipts(connection, profile_no, read, proof.digest, now)
        done = positions(outcome.audit, {one.facet_id for one in read})
    audits.audited(connection, profile_no, done, now)
    return mended


def _proved(view: Stored, proof: Proof, outcome: Outcome, originals: Originals) -> Sequence[Receipt]:
    """The receipts that a proof rests on, once it was made again and its sources stand."""
    try:
        proofs.verify(view, proof, outcome.limits, outcome.incoming)
    except Missing as missing:
        message = f"The proof of the repair does not hold: {missing}; nothing was published"
        hint = "run it again, or index with --no-repair"
        raise ModelError("repair_incomplete", message, hint, {"piece": missing.piece}) from missing
    used = proofs.used(view, proof)
    for member, receipt in used:
        fault = originals.look(member, [receipt.entry_id])()
        if fault is not None:
            message = f"A source of {member.conversation_id} changed after it was read ({fault}); nothing was published"
            raise SourceError("stale_evidence", message, "run the command again", {"code": fault})
    return [receipt for _, receipt in used]
