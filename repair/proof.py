"""The proof of a run, and the one way it is believed: made again from the database.

A proof holds what the host saw happen (deliveries, pages handed out, verdicts) and a chain of digests over the plan,
the touched topics, every moved facet, every final member of every topic whose words change, and each delivered text.
`derive` walks that chain from a `View`. A run ends with a proof made from the frozen view; the publishing transaction
derives it once more from what it is about to commit, and `verify` refuses by the name of the first piece that is
missing or different. Nothing in it rests on what the child said, but its verdicts.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace

from recall.hashing import canonical_json, derived_id, sha256_text
from recall.index.members import Member
from recall.plans import Receipt, TopicPlan
from recall.types import Draft
from repair import draft, receipts
from repair.draft import Refused, Subject
from repair.limits import Limits
from repair.receipts import Delivery
from repair.state import View, lost


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the child said of the member on a page, with the receipt that it named."""

    page_id: str
    facet_id: str
    receipt_id: str
    fits: bool
    reason: str


@dataclass(frozen=True, slots=True)
class Seen:
    """A touched topic in the version that the run saw."""

    topic_id: str
    version: int


@dataclass(frozen=True, slots=True)
class Audited:
    """A healthy facet of history that the run looked at, in its topic."""

    facet_id: str
    topic_id: str


@dataclass(frozen=True, slots=True)
class Proof:
    """Everything that a run did which its publication rests on. `plan` is None where nothing is to be changed.

    `pages`: ids of the pages handed out; `earlier`: receipts of published runs that it rests on; `links`: the chain,
    its last being the digest of the whole.
    """

    plan: TopicPlan | None
    seen: tuple[Seen, ...]
    audited: tuple[Audited, ...]
    deliveries: tuple[Delivery, ...]
    pages: tuple[str, ...]
    verdicts: tuple[Verdict, ...]
    earlier: tuple[Receipt, ...]
    links: tuple[str, ...] = ()

    @property
    def digest(self) -> str:
        return self.links[-1] if self.links else ""


class Missing(Exception):
    """The first piece of a proof that is not there, or not what it should be."""

    def __init__(self, piece: str, why: str = "is missing") -> None:
        super().__init__(f"{piece} {why}")
        self.piece = piece
        self.why = why


@dataclass(frozen=True, slots=True)
class Piece:
    """One link of the chain: its name, and the value that is hashed."""

    name: str
    value: object


def page_id(subject: Subject, member: Member | None) -> str:
    """The name of a page: of a member of a subject, or of the end (None), which stands for all of them in order.

    It is a digest: it cannot be known before the page was handed out, and another wording, member or order has others.
    """
    words = subject.words
    what = member.sha256 if member is not None else canonical_json([one.sha256 for one in subject.members])
    named = [subject.key, words.title, words.description, *words.aliases]
    return derived_id("pg", canonical_json(named), "member" if member is not None else "end", what)


def make(view: View, run: Proof, limits: Limits, incoming: Collection[str]) -> Proof:
    """The run with its chain. Raises Missing with the first piece that it lacks."""
    return replace(run, links=_links(derive(view, run, limits, incoming)))


def verify(view: View, proof: Proof, limits: Limits, incoming: Collection[str]) -> None:
    """Derive the chain again, and hold it against the proof's. Raises Missing, or StateError `topic_state_changed`."""
    link = ""
    pieces = 0
    for piece in derive(view, proof, limits, incoming):
        link = _link(link, piece)
        if pieces >= len(proof.links):
            raise Missing(f"the link of {piece.name}")
        if proof.links[pieces] != link:
            raise Missing(piece.name, "is not what was proved")
        pieces += 1
    if pieces != len(proof.links):
        raise Missing("the end of the chain", "does not come where it should")


def used(view: View, proof: Proof) -> tuple[tuple[Member, Receipt], ...]:
    """What the proof rests on: members with their receipts, each once. Their sources have to stand."""
    found: dict[str, tuple[Member, Receipt]] = {}
    wanted = [one.facet_id for one in proof.audited]
    if proof.plan is not None:
        wanted += [move.facet_id for move in proof.plan.moves]
        wanted += [one.facet_id for subject in draft.subjects(view, proof.plan) for one in subject.members]
    for facet_id in wanted:
        member = view.member(facet_id)
        receipt = _receipt(view, member, proof) if member is not None else None
        if member is not None and receipt is not None:
            found[facet_id] = (member, receipt)
    return tuple(found.values())


def derive(view: View, run: Proof, limits: Limits, incoming: Collection[str]) -> Iterator[Piece]:
    """The pieces of a run in their order, each made from the view. Raises Missing for the first that cannot be made."""
    if run.plan is not None:
        yield from _plan(view, run, run.plan, limits, incoming)
    yield from _audit(view, run)
    yield from _earlier(view, run)
    yield from _deliveries(view, run, _cited(view, run))


def _plan(view: View, run: Proof, plan: TopicPlan, limits: Limits, incoming: Collection[str]) -> Iterator[Piece]:
    if tuple(one.topic_id for one in run.seen) != plan.touched:
        raise Missing("the list of touched topics", "is not that of the plan")
    for one in run.seen:
        card = view.card(one.topic_id)
        if card is None or card.version != one.version:
            raise lost(one.topic_id)
        yield Piece(f"topic {one.topic_id}", [one.version, card.title, card.description, list(card.aliases)])
    try:
        draft.check(plan, view, incoming, limits, _healthy)
    except Refused as error:
        raise Missing("the plan", f"breaks a rule: {error.message}") from error
    yield Piece("the plan", _plan_value(plan))
    for move in plan.moves:
        member = _member(view, move.facet_id, move.source)
        receipt = _receipt(view, member, run)
        if receipt is None:
            raise Missing(f"the receipt of {move.facet_id}")
        yield Piece(f"the move of {move.facet_id}", [member.sha256, draft.key_of(move.target), _value(receipt)])
    needed: list[str] = []
    verdicts = {verdict.page_id: verdict for verdict in run.verdicts}
    for subject in draft.subjects(view, plan):
        yield from _coverage(view, run, subject, verdicts, needed)
    if list(run.pages) != needed:
        raise Missing("the list of pages", "is not that of the final members")
    members = [page for page in needed if page in verdicts]
    if [verdict.page_id for verdict in run.verdicts] != members:
        raise Missing("the list of checks", "is not that of the final members")


def _coverage(
    view: View, run: Proof, subject: Subject, verdicts: dict[str, Verdict], needed: list[str]
) -> Iterator[Piece]:
    handed_out = set(run.pages)
    for number, member in enumerate(subject.members, start=1):
        page, where = page_id(subject, member), f"{member.facet_id} in {subject.key}"
        if page not in handed_out:
            raise Missing(f"page {number} of {subject.key} ({member.facet_id})")
        own = {receipts.receipt_id(one): one for one in receipts.fresh(view, member, run.deliveries)}
        if not own:
            raise Missing(f"the receipt of {where}")
        verdict = verdicts.get(page)
        if verdict is None or verdict.facet_id != member.facet_id:
            raise Missing(f"the check of {where}")
        receipt = own.get(verdict.receipt_id)
        if receipt is None:
            raise Missing(f"the check of {where}", "names another receipt")
        if verdict.fits is not True:
            raise Missing(f"{where}", "was found not to fit")
        needed.append(page)
        yield Piece(f"member {where}", [number, page, member.sha256, _value(receipt), verdict.reason])
    end = page_id(subject, None)
    if end not in handed_out:
        raise Missing(f"the end page of {subject.key}")
    needed.append(end)
    yield Piece(f"the end page of {subject.key}", [len(subject.members), end])


def _audit(view: View, run: Proof) -> Iterator[Piece]:
    """With a plan the audit only says where the rings go on; without one it is what the run stands for."""
    for one in run.audited:
        name = f"audited facet {one.facet_id}"
        if run.plan is not None:
            yield Piece(name, one.topic_id)
            continue
        member = _member(view, one.facet_id, one.topic_id)
        receipt = _receipt(view, member, run)
        if receipt is None:
            raise Missing(f"the receipt of {one.facet_id}")
        yield Piece(name, [one.topic_id, member.sha256, _value(receipt)])


def _earlier(view: View, run: Proof) -> Iterator[Piece]:
    for receipt in run.earlier:
        member = view.member(receipt.facet_id)
        known = member is not None and receipt in view.earlier(member) and receipts.holds(view, member, receipt)
        if not known:
            raise Missing(f"the earlier receipt of {receipt.facet_id}")
        yield Piece(f"the earlier receipt of {receipt.facet_id}", _value(receipt))


def _deliveries(view: View, run: Proof, cited: dict[tuple[str, str], Member]) -> Iterator[Piece]:
    for number, one in enumerate(run.deliveries, start=1):
        name = f"delivery {number} ({one.entry_id}, {one.start} to {one.end})"
        member = cited.get((one.conversation_id, one.entry_id))
        found = view.text(member, one.entry_id) if member is not None else None
        if found is None or found.sha256 != one.sha256:
            # Read for something that the plan does not touch, or that is gone since: it proves nothing here.
            yield Piece(name, [one.conversation_id, one.sha256, one.text_sha256])
            continue
        text = found.text[one.start : one.end]
        if len(text) != one.end - one.start or sha256_text(text) != one.text_sha256:
            raise Missing(name, "is not what stands there")
        yield Piece(name, [one.conversation_id, one.sha256, one.text_sha256])


def _cited(view: View, run: Proof) -> dict[tuple[str, str], Member]:
    """Who of the members that the proof is about cites an entry."""
    members = [view.member(one.facet_id) for one in run.audited]
    if run.plan is not None:
        members += [view.member(move.facet_id) for move in run.plan.moves]
        members += [one for subject in draft.subjects(view, run.plan) for one in subject.members]
    return {(one.conversation_id, cited.entry_id): one for one in members if one is not None for cited in one.cited}


def _receipt(view: View, member: Member, run: Proof) -> Receipt | None:
    """The run's own receipt, else an earlier one that the proof names: for membership, never for changed words."""
    own = receipts.fresh(view, member, run.deliveries)
    return own[0] if own else next((one for one in run.earlier if one.facet_id == member.facet_id), None)


def _member(view: View, facet_id: str, topic_id: str) -> Member:
    member = view.member(facet_id)
    if member is None or member.topic_id != topic_id:
        raise lost(topic_id)
    return member


def _healthy(member: Member) -> str | None:
    """What the database can say: whether it holds what is cited. The sources are looked at beside it."""
    return None if all(one.stands for one in member.cited) else "stale_evidence"


def _plan_value(plan: TopicPlan) -> object:
    merge = plan.merge
    return [
        [[one.number, *_words(one.words), one.reason] for one in plan.new],
        [[one.topic_id, *_words(one.words), one.reason] for one in plan.redefinitions],
        [[one.facet_id, one.source, one.target, one.reason] for one in plan.moves],
        [merge.kept, merge.gone, *_words(merge.words), merge.reason] if merge is not None else None,
    ]


def _words(words: Draft) -> list[object]:
    return [words.title, words.description, list(words.aliases)]


def _value(receipt: Receipt) -> list[object]:
    return [receipt.facet_sha256, receipt.entry_id, receipt.sha256, receipt.chars]


def _links(pieces: Iterator[Piece]) -> tuple[str, ...]:
    links: list[str] = []
    for piece in pieces:
        links.append(_link(links[-1] if links else "", piece))
    return tuple(links)


def _link(before: str, piece: Piece) -> str:
    return sha256_text(canonical_json([before, piece.name, piece.value]))
