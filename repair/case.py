"""One run's record: what was looked at, what was handed out, what was said. The host writes it; the child never does.

Everything that a proof is made of is here, and everything that tells whether the run gets on.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field, replace

from recall.errors import SourceError
from recall.hashing import canonical_json, derived_id, sha256_text
from recall.index.members import Member
from recall.plans import Receipt, TopicPlan
from repair import draft, proof, receipts
from repair.draft import Subject
from repair.limits import Limits
from repair.proof import Audited, Proof, Seen, Verdict
from repair.receipts import Delivery
from repair.selection import Audit
from repair.state import EntryText, Frozen

AROUND = 700  # of room that reading an entry takes beside its text: the call, the answer, the fence


@dataclass(frozen=True, slots=True)
class Page:
    """A page to be handed out: of a member of a subject, or of its end (None)."""

    page_id: str
    number: int
    member: Member | None


@dataclass(frozen=True, slots=True)
class Proposal:
    """A plan that was taken, with the pages to cover for each subject. `proposal_id` is a digest of the plan."""

    proposal_id: str
    plan: TopicPlan
    subjects: tuple[tuple[Subject, tuple[Page, ...]], ...]

    @classmethod
    def of(cls, plan: TopicPlan, view: Frozen) -> Proposal:
        subjects = [(subject, _pages(subject)) for subject in draft.subjects(view, plan)]
        return cls(derived_id("pr", repr(plan)), plan, tuple(subjects))

    @property
    def pages(self) -> list[Page]:
        """All pages, in order."""
        return [page for _, pages in self.subjects for page in pages]

    @property
    def members(self) -> list[Member]:
        """Every final member of every subject."""
        return [member for subject, _ in self.subjects for member in subject.members]


def _pages(subject: Subject) -> tuple[Page, ...]:
    members: list[Member | None] = [*subject.members, None]
    return tuple(Page(proof.page_id(subject, one), number, one) for number, one in enumerate(members, start=1))


@dataclass
class Case:
    """One run. `incoming`: ids of the conversations that count as incoming; `audited`: what has to be read."""

    view: Frozen
    limits: Limits
    incoming: frozenset[str]
    audit: Audit
    audited: dict[str, Member] = field(default_factory=dict)
    deferred: dict[str, str] = field(default_factory=dict)
    deliveries: list[Delivery] = field(default_factory=list)
    chars: dict[tuple[str, str, str], int] = field(default_factory=dict)  # lengths of the entries that were opened
    notes: dict[tuple[str, str], str] = field(default_factory=dict)  # (conversation id, entry id) -> note
    pages: dict[str, tuple[str, str | None]] = field(default_factory=dict)  # page id -> (subject, facet or the end)
    verdicts: dict[str, Verdict] = field(default_factory=dict)
    proposal: Proposal | None = None

    def __post_init__(self) -> None:
        self.audited = {facet.facet_id: facet for facet in self.audit.facets}
        self.deferred = dict(self.audit.deferred)

    def reached(self, member: Member, entry_id: str, sha256: str) -> int:
        """How far an entry was delivered from its beginning."""
        key = (member.conversation_id, entry_id, sha256)
        return receipts.reached(self.deliveries, *key) if key in self.chars else 0

    def deliver(self, member: Member, entry_id: str, found: EntryText, start: int, text: str) -> None:
        """Something of an entry is handed out."""
        self.chars[member.conversation_id, entry_id, found.sha256] = len(found.text)
        self.deliveries.append(receipts.delivery(member, entry_id, found.sha256, start, text))

    def receipts(self, member: Member) -> list[Receipt]:
        """The receipts of this run: those that the proof will find."""
        return [
            Receipt(member.facet_id, member.sha256, one.entry_id, one.sha256, chars)
            for one in member.cited
            if (chars := self.chars.get((member.conversation_id, one.entry_id, one.sha256)))
            and self.reached(member, one.entry_id, one.sha256) >= chars
        ]

    def any_receipt(self, member: Member) -> Receipt | None:
        """A receipt of this run, or of an earlier published one."""
        return next(iter(self.receipts(member)), None) or receipts.earlier(self.view, member)

    def unread(self) -> list[str]:
        """The audited facets that no receipt stands for yet."""
        return [facet_id for facet_id, facet in self.audited.items() if self.any_receipt(facet) is None]

    def to_read(self) -> int:
        """What reading the audited facets takes at least of a child's room, in characters."""
        shortest = [
            min((one.chars for one in self.audited[name].cited if one.stands), default=0) for name in self.unread()
        ]
        return sum(chars + AROUND for chars in shortest)

    def shorten(self) -> None:
        """Leave the last audited facet to a later run: the model has no room for it, nor for its topic's neighbours."""
        facets = self.audit.facets[:-1]
        topics = tuple(one for one in self.audit.topics if any(facet.topic_id == one for facet in facets))
        self.audit = replace(self.audit, facets=facets, topics=topics)
        self.audited = {facet.facet_id: facet for facet in facets}

    def defer(self, member: Member, code: str) -> None:
        """A source turned out bad. Where something of it was delivered before, the run has read what is gone."""
        if any(one.conversation_id == member.conversation_id for one in self.deliveries):
            message = f"A source of {member.conversation_id} changed after it was read; nothing was published"
            raise SourceError("stale_evidence", message, "run the command again")
        self.deferred[member.conversation_id] = code
        self.audited = {
            facet_id: facet
            for facet_id, facet in self.audited.items()
            if facet.conversation_id != member.conversation_id
        }

    def proved(self, *, with_plan: bool) -> Proof:
        """The proof as far as the run has come. Raises Missing with the first piece that it lacks."""
        plan = self.proposal.plan if with_plan and self.proposal is not None else None
        needed = [page.page_id for page in self.proposal.pages] if with_plan and self.proposal is not None else []
        wanted = [self.view.member(move.facet_id) for move in plan.moves] if plan else list(self.audited.values())
        older = [receipts.earlier(self.view, one) for one in wanted if one is not None and not self.receipts(one)]
        run = Proof(
            plan=plan,
            seen=tuple(Seen(topic_id, self._version(topic_id)) for topic_id in plan.touched) if plan else (),
            audited=tuple(Audited(facet.facet_id, facet.topic_id) for facet in self.audited.values()),
            deliveries=tuple(self.deliveries),
            pages=tuple(page for page in needed if page in self.pages),
            verdicts=tuple(self.verdicts[page] for page in needed if page in self.verdicts),
            earlier=tuple(one for one in older if one is not None),
        )
        return proof.make(self.view, run, self.limits, self.incoming)

    def copy(self) -> Case:
        """The record as it is now, to go back to."""
        same = replace(self)
        same.audited, same.deferred = dict(self.audited), dict(self.deferred)
        same.deliveries, same.notes = list(self.deliveries), dict(self.notes)
        same.pages, same.verdicts, same.chars = dict(self.pages), dict(self.verdicts), dict(self.chars)
        return same

    def state(self) -> str:
        """A digest of how far the run is: the same after a call that changed nothing."""
        said = [
            [f"{one.conversation_id} {one.entry_id} {one.start} {one.end}" for one in self.deliveries],
            sorted(self.pages),
            sorted(self.verdicts),
            [verdict.fits for _, verdict in sorted(self.verdicts.items())],
            self.proposal.proposal_id if self.proposal is not None else None,
            sorted(f"{key} {note}" for key, note in self.notes.items()),
        ]
        return sha256_text(canonical_json(said))

    def read_facets(self) -> Collection[str]:
        """The audited facets that have a receipt."""
        return {facet_id for facet_id, facet in self.audited.items() if self.any_receipt(facet) is not None}

    def _version(self, topic_id: str) -> int:
        card = self.view.card(topic_id)
        return card.version if card is not None else 0
