"""What each tool answers: the host's words as one JSON line, and history behind them in a fence.

A tool changes the case and nothing else. Errors are typed and go back to the child; only what ends a run is raised.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from recall.fence import Block, fenced, quoted
from recall.hashing import canonical_json
from recall.index.members import Member
from recall.redact import redact_text
from recall.shown import piece_end
from recall.steps.evidence import fold
from repair import draft, receipts
from repair.case import Case, Page, Proposal
from repair.draft import Health, Refused
from repair.proof import Missing, Proof, Verdict
from repair.standing import AS_IT_IS

CONTEXT_FULL = "context_full"
SHORT_HASH = 12
Arguments = Mapping[str, Any]  # checked against the tool's schema


@dataclass(frozen=True, slots=True)
class Result:
    """A tool's answer. `covers` says what stands in for the blocks later: an entry that has a note, a checked page."""

    head: Mapping[str, object]
    blocks: tuple[Block, ...] = ()
    covers: tuple[str, str] | str | None = None

    @property
    def text(self) -> str:
        """The answer as the child reads it."""
        line = canonical_json(self.head)
        return f"{line}\n{fenced(self.blocks, '')}" if self.blocks else line

    @property
    def failed(self) -> bool:
        return "error" in self.head


@dataclass(frozen=True, slots=True)
class Paper:
    """What a page of a listing may hold at most, and how that is measured: the same all through a run."""

    size: int
    measure: Callable[[str], int]


def error(code: str, message: str) -> Result:
    """A typed error for the child."""
    return Result({"error": code, "message": message})


def full() -> Result:
    """Nothing more fits the child's context."""
    message = "no more fits: call repair_read with `remember` on each entry that you read, then ask again"
    return error(CONTEXT_FULL, message)


def topics(case: Case, arguments: Arguments, paper: Paper) -> Result:
    """A page of the catalogue."""
    blocks = []
    for card in case.view.cards:
        words = {"title": card.title, "description": card.description, "aliases": list(card.aliases[:6])}
        blocks.append(Block(f"topic_id {quoted(card.topic_id)}, members {card.members}", canonical_json(words)))
    pages = _pages(blocks, case.limits.topics_page, paper)
    number = int(arguments.get("page", 1))
    if number > len(pages):
        return error("no_such_page", f"the catalogue has {len(pages)} pages")
    return Result({"page": number, "pages": len(pages), "topics": len(blocks)}, pages[number - 1])


def members(case: Case, arguments: Arguments, health: Health, paper: Paper) -> Result:
    """A page of a topic's facets."""
    topic_id = str(arguments["topic_id"])
    if case.view.card(topic_id) is None:
        return error("unknown_topic", "there is no live topic with this id; repair_topics lists them")
    blocks = [member_block(case, one, health(one)) for one in case.view.members(topic_id)]
    pages = _pages(blocks, case.limits.members_page, paper)
    number = int(arguments.get("page", 1))
    if number > len(pages):
        return error("no_such_page", f"this topic has {len(pages)} pages of members")
    head = {"topic_id": topic_id, "page": number, "pages": len(pages), "members": len(blocks)}
    return Result(head, pages[number - 1])


def _pages(blocks: Sequence[Block], most: int, paper: Paper) -> list[tuple[Block, ...]]:
    """The blocks on pages: at most so many on one, and no more than its paper holds. Always at least one page."""
    pages: list[tuple[Block, ...]] = [()]
    size = 0
    for block in blocks:
        takes = paper.measure(block.head) + paper.measure(block.text)
        if pages[-1] and (len(pages[-1]) == most or size + takes > paper.size):
            pages.append(())
            size = 0
        pages[-1] = (*pages[-1], block)
        size += takes
    return pages


def member_block(case: Case, member: Member, code: str | None, *, brief: bool = False) -> Block:
    """A facet: its words, and what it cites. `code`: why its source is deferred. `brief`: without what was read."""
    head = [f"facet_id {quoted(member.facet_id)}", "incoming" if member.conversation_id in case.incoming else "history"]
    if code is not None:
        head.append(f"deferred ({code})")
    words: dict[str, object] = {"title": member.title, "description": member.description}
    if member.aliases and not brief:
        words["aliases"] = list(member.aliases[:4])
    if not brief or not case.receipts(member):
        words |= {"cites": cites(member)}
    return Block(", ".join(head), canonical_json(words))


def cites(member: Member, most: int = 12) -> list[dict[str, object]]:
    """What a facet cites, the shortest entry first."""
    shown = sorted((one for one in member.cited if one.stands), key=lambda one: one.chars)[:most]
    return [{"entry_id": one.entry_id, "sha256": one.sha256[:SHORT_HASH], "chars": one.chars} for one in shown]


def read(case: Case, arguments: Arguments, fault: str | None, room: int, measure: Callable[[str], int]) -> Result:
    """A range of an entry's text. `fault`: what is wrong with the source now; `room`: what still fits the context."""
    member = case.view.member(str(arguments["facet_id"]))
    if member is None:
        return error("unknown_facet", "there is no facet with this id; repair_members lists them")
    entry_id = str(arguments["entry_id"])
    found = case.view.text(member, entry_id)
    if found is None:
        return error("unknown_entry", "this facet cites no such entry; repair_members lists what it cites")
    # A note on what was never read would stand for nothing; then the text is given first.
    if "remember" in arguments and case.reached(member, entry_id, found.sha256) > 0:
        return _remember(case, member, entry_id, str(arguments["remember"]))
    if fault is not None:
        case.defer(member, fault)
        return error("deferred", f"its source cannot be read as it was indexed ({fault}); leave it out")
    start = int(arguments.get("offset", 0))
    if start >= len(found.text):
        return error("no_such_offset", f"this entry has {len(found.text)} characters")
    asked = int(arguments.get("max_chars", case.limits.usual_page))
    reached = case.reached(member, entry_id, found.sha256)
    if start + min(asked, len(found.text) - start) <= reached:
        said = {"error": "already_read", "message": "you were given this text already; read what is still to be read"}
        return Result(said | _standing(case, member, entry_id, reached, len(found.text)))
    end = piece_end(found.text, start, asked)
    while measure(found.text[start:end]) > room and end - start > case.limits.least_page:
        end = piece_end(found.text, start, max(case.limits.least_page, (end - start) // 2))
    text = found.text[start:end]
    if measure(text) > room:
        return full()
    case.deliver(member, entry_id, found, start, text)
    reached = case.reached(member, entry_id, found.sha256)
    place = f"characters {start}-{end} of {len(found.text)}"
    block = Block(f"entry_id {quoted(entry_id)}, {place}", text)
    head = _standing(case, member, entry_id, reached, len(found.text))
    return Result(head, (block,), (member.conversation_id, entry_id))


def least_shown(case: Case, name: str, arguments: Arguments) -> str:
    """What the answer to a call shows of history at least, if it shows any: to measure whether it fits."""
    if name == "repair_read" and "remember" not in arguments:
        member = case.view.member(str(arguments["facet_id"]))
        found = case.view.text(member, str(arguments["entry_id"])) if member is not None else None
        if found is None:
            return ""
        start = int(arguments.get("offset", 0))
        asked = int(arguments.get("max_chars", case.limits.usual_page))
        return found.text[start : piece_end(found.text, start, min(asked, case.limits.least_page))]
    page = _page(case, arguments) if name == "repair_coverage" else None
    if page is None or page.member is None:
        return ""
    block = member_block(case, page.member, None, brief=True)
    return block.head + block.text


def _page(case: Case, arguments: Arguments) -> Page | None:
    """The page that a call of repair_coverage asks for."""
    subjects = case.proposal.subjects if case.proposal is not None else ()
    pages = next((pages for one, pages in subjects if one.key == arguments["topic"]), ())
    number = int(arguments["page"])
    return pages[number - 1] if number <= len(pages) else None


def _standing(case: Case, member: Member, entry_id: str, reached: int, chars: int) -> dict[str, object]:
    """How far an entry is read, with the receipt where it is read to its end."""
    head: dict[str, object] = {"chars": chars, "read_to": reached}
    if reached < chars:
        return head | {"next_offset": reached}
    ids = [receipts.receipt_id(one) for one in case.receipts(member) if one.entry_id == entry_id]
    return head | ({"receipt_id": ids[0]} if ids else {})


def _remember(case: Case, member: Member, entry_id: str, note: str) -> Result:
    case.notes[(member.conversation_id, entry_id)] = fold(redact_text(note))
    return Result({"remembered": member.facet_id, "entry_id": entry_id})


def propose(case: Case, arguments: Arguments, health: Health) -> Result:
    """Take a proposal, or refuse it with the reason."""
    order = {card.topic_id: place for place, card in enumerate(case.view.cards)}
    try:
        plan = draft.plan_of(
            arguments.get("drafts", ()),
            arguments.get("redefinitions", ()),
            arguments.get("moves", ()),
            arguments.get("merge"),
            case.view,
            order,
        )
        draft.check(plan, case.view, case.incoming, case.limits, health)
    except Refused as refusal:
        return error(f"refused_{refusal.code}", refusal.message)
    case.proposal = Proposal.of(plan, case.view)
    covered = [{"topic": one.key, "members": len(one.members)} for one, _ in case.proposal.subjects]
    return Result({"proposal_id": case.proposal.proposal_id, "to_cover_in_full": covered})


def coverage(case: Case, arguments: Arguments, room: int, measure: Callable[[str], int]) -> Result:
    """A page of the final members of a subject."""
    if case.proposal is None:
        return error("no_proposal", "there is no proposal; repair_propose makes one")
    pages = next((pages for one, pages in case.proposal.subjects if one.key == arguments["topic"]), None)
    if pages is None:
        keys = ", ".join(one.key for one, _ in case.proposal.subjects) or "none: it can be finished once it is read"
        return error("not_to_cover", f"to cover are {keys}")
    number, topic = int(arguments["page"]), str(arguments["topic"])
    if number > len(pages):
        return error("no_such_page", f"{topic} has {len(pages) - 1} members; the end page is one more")
    page = pages[number - 1]
    head: dict[str, object] = {"page_id": page.page_id}
    if page.member is None:
        case.pages[page.page_id] = (topic, None)
        return Result(head | {"end": True, "members": len(pages) - 1})
    block = member_block(case, page.member, None, brief=True)
    if measure(block.text) + measure(block.head) > room:
        return full()
    case.pages[page.page_id] = (topic, page.member.facet_id)
    ids = [receipts.receipt_id(one) for one in case.receipts(page.member)]
    return Result(head | {"receipt_id": ids[0] if ids else None}, (block,), page.page_id)


def check(case: Case, arguments: Arguments) -> Result:
    """A verdict on the member of a page that was handed out."""
    page_id = str(arguments["page_id"])
    subject_key, facet_id = case.pages.get(page_id, ("", None))
    if not subject_key:
        return error("unknown_page", "no page with this page_id was handed out; repair_coverage hands them out")
    if facet_id is None:
        return error("end_page", "an end page has no member to check")
    member = case.view.member(facet_id)
    ids = [receipts.receipt_id(one) for one in case.receipts(member)] if member is not None else []
    if not ids:
        return error("not_read", f"{facet_id} was not read in this run; read a cited entry to its end first")
    if arguments["receipt_id"] not in ids:
        return error("wrong_receipt", f"this is not the receipt of {facet_id}, the member on this page")
    reason = fold(redact_text(str(arguments["reason"])))
    fits = bool(arguments["fits"])
    case.verdicts[page_id] = Verdict(page_id, facet_id, str(arguments["receipt_id"]), fits, reason)
    return Result({"checked": facet_id})


def finish(case: Case, arguments: Arguments) -> Result | Proof:
    """The proof of a run that may end so; else an error that names what is missing first."""
    # Small models write the word for the value; no proposal is called so.
    wanted = None if arguments["proposal_id"] in ("", "null") else arguments["proposal_id"]
    if wanted is not None and (case.proposal is None or wanted != case.proposal.proposal_id):
        last = case.proposal.proposal_id if case.proposal is not None else "none: no proposal was taken"
        return error("unknown_proposal", f"the last proposal that was taken is {last}; to change nothing, {AS_IT_IS}")
    try:
        return case.proved(with_plan=wanted is not None)
    except Missing as missing:
        rest = f"; or, to change nothing, {AS_IT_IS}" if wanted is not None else ""
        return error("not_proved", f"not ended: {missing}{rest}")
