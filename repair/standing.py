"""Where a run of repair is: what is still to be read, covered and checked, and the one call to make now.

It stands behind the last answer of each turn, written as it is to be copied.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from recall.hashing import canonical_json
from recall.index.members import Member
from recall.plans import Receipt
from repair import receipts
from repair.case import AROUND, Case, Proposal

_PAGE = 1200  # of room that a page of a member takes, call and all
_LISTED = 10  # of what is left to do of each kind: so it is read, covered and checked side by side, in one turn's calls
AS_IT_IS = f"finish {canonical_json({'proposal_id': None, 'reason': 'nothing has to change'})}"
_END_AS_IT_IS = f"{AS_IT_IS}, if every facet is in the right topic; else repair_propose"


@dataclass(frozen=True, slots=True)
class Standing:
    """Where the run is, and the call to make now, as it is to be written: a small model copies what it sees."""

    where: Mapping[str, object]
    now: str


def standing(case: Case, room: int, to_note: Sequence[Mapping[str, object]] = ()) -> Standing:
    """Where the run is: what is to be read (as much as may fit the room), of a proposal what is to be covered and
    checked; and the call to make now. `to_note`: what was read and fills the room, where no more fits.

    What frees room comes first: a check stands in for a page and its text, a note for a text.
    """
    if case.proposal is None:
        wanted = [case.audited[facet_id] for facet_id in case.unread()]
        to_read = _to_read(case, wanted, room)
        unread = {"proposal_id": None, "to_read": to_read, "still_to_read": len(wanted)}
        if to_read and to_note:
            return Standing(unread | {"to_note": to_note}, _note_now(to_note))
        return Standing(unread, _read_now(to_read) if to_read else _END_AS_IT_IS)
    read = {one.facet_id: case.receipts(one) for one in case.proposal.members}
    to_read = _to_read(case, _unread(case, case.proposal, read), room)
    to_cover = _to_cover(case, case.proposal, read, room)
    to_check, misfits = _verdicts(case, case.proposal, read)
    where: dict[str, object] = {"proposal_id": case.proposal.proposal_id}
    where |= {"to_read": to_read, "to_cover": to_cover, "to_check": to_check[:_LISTED]}
    if misfits:
        return Standing(where | {"do_not_fit": misfits}, f"repair_propose without what does not fit; or {AS_IT_IS}")
    if to_check:
        return Standing(where, _check_now(to_check[:_LISTED]))
    if to_note and (to_read or to_cover):
        return Standing(where | {"to_note": to_note}, _note_now(to_note))
    if to_cover:
        return Standing(where, _cover_now(to_cover))
    if to_read:
        return Standing(where, _read_now(to_read))
    done = {"proposal_id": case.proposal.proposal_id, "reason": "every member was read and checked"}
    return Standing(where, f"finish {canonical_json(done)}")


def _unread(case: Case, proposal: Proposal, read: Mapping[str, Sequence[Receipt]]) -> list[Member]:
    """What a proposal moves or rewords and nobody has read."""
    moved = [case.view.member(move.facet_id) for move in proposal.plan.moves]
    wanted = [one for one in moved if one is not None and case.any_receipt(one) is None]
    wanted += [one for one in proposal.members if not read[one.facet_id]]
    return list({one.facet_id: one for one in wanted}.values())


def _to_cover(
    case: Case, proposal: Proposal, read: Mapping[str, Sequence[Receipt]], room: int
) -> list[dict[str, object]]:
    """The pages to hand out now: a page is of use once its member was read; until it is checked it takes room."""
    to_cover: list[dict[str, object]] = []
    for subject, pages in proposal.subjects:
        missing = [page for page in pages if page.page_id not in case.pages]
        ready = [page for page in missing if page.member is not None and read[page.member.facet_id]]
        ready = ready[: min(_LISTED, max(1, room // _PAGE))] if len(missing) > 1 else missing
        if ready:
            numbers = [page.number for page in ready]
            to_cover.append({"topic": subject.key, "pages": numbers, "end_page": len(pages)})
    return to_cover


def _verdicts(
    case: Case, proposal: Proposal, read: Mapping[str, Sequence[Receipt]]
) -> tuple[list[dict[str, object]], list[str]]:
    """The pages that were handed out and wait for a verdict, and the members that do not fit."""
    unchecked: list[dict[str, object]] = []
    misfits: list[str] = []
    for page in (page for _, pages in proposal.subjects for page in pages):
        verdict = case.verdicts.get(page.page_id)
        if page.member is None or page.page_id not in case.pages:
            continue
        if verdict is None and (own := read[page.member.facet_id]):
            ids = {"page_id": page.page_id, "receipt_id": receipts.receipt_id(own[0])}
            unchecked.append({**ids, "facet_id": page.member.facet_id})
        elif verdict is not None and not verdict.fits:
            misfits.append(page.member.facet_id)
    return unchecked, misfits


def _read_now(to_read: Sequence[Mapping[str, object]]) -> str:
    first = {key: value for key, value in to_read[0].items() if key != "chars"}
    return f"repair_read {canonical_json(first)}{_others(len(to_read) - 1, 'to_read')}"


def _note_now(to_note: Sequence[Mapping[str, object]]) -> str:
    first = canonical_json({**to_note[0], "remember": "what it is about"})
    return f"repair_read {first} in your own words{_others(len(to_note) - 1, 'to_note')}"


def _check_now(to_check: Sequence[Mapping[str, object]]) -> str:
    first = {key: value for key, value in to_check[0].items() if key != "facet_id"}
    others = _others(len(to_check) - 1, "to_check")
    return f"repair_check {canonical_json(first)} with your `fits` (true or false) and `reason`{others}"


def _cover_now(to_cover: Sequence[Mapping[str, Any]]) -> str:
    pages = [{"page": page, "topic": one["topic"]} for one in to_cover for page in one["pages"]]
    return f"repair_coverage {canonical_json(pages[0])}{_others(len(pages) - 1, 'to_cover')}"


def _others(number: int, name: str) -> str:
    return f", and in the same turn the {number} other{'s' if number > 1 else ''} of {name}" if number else ""


def _to_read(case: Case, members: Sequence[Member], room: int) -> list[dict[str, object]]:
    """For each member the entry that is read to its end soonest, and from where on; at least one."""
    found: list[dict[str, object]] = []
    for member in members[:_LISTED]:
        left = [(one.chars - case.reached(member, one.entry_id, one.sha256), one) for one in member.cited if one.stands]
        if left:
            rest, one = min(left, key=lambda pair: pair[0])
            room -= rest + AROUND
            if found and room < 0:
                break
            next_one: dict[str, object] = {"facet_id": member.facet_id, "entry_id": one.entry_id}
            found.append(next_one | {"offset": one.chars - rest, "chars": one.chars})
    return found
