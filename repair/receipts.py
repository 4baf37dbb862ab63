"""What of the originals was really delivered to a child, and the receipts that follow from it.

A delivery is a range of an entry's text with its digest. Ranges join from character 0; a receipt needs them to reach
the end. What is delivered of an entry counts for every facet that cites the entry, once in a run.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from recall.hashing import derived_id, sha256_text
from recall.index.members import Member
from recall.plans import Receipt
from repair.state import View


@dataclass(frozen=True, slots=True)
class Delivery:
    """Characters `start` to `end` of an entry, the entry by the hash of its record, the characters by their digest."""

    conversation_id: str
    entry_id: str
    sha256: str
    start: int
    end: int
    text_sha256: str


def delivery(member: Member, entry_id: str, sha256: str, start: int, text: str) -> Delivery:
    """What handing out `text` from `start` on is."""
    return Delivery(member.conversation_id, entry_id, sha256, start, start + len(text), sha256_text(text))


def reached(deliveries: Iterable[Delivery], conversation_id: str, entry_id: str, sha256: str) -> int:
    """How far an entry was delivered without a gap, from its first character on."""
    key = (conversation_id, entry_id, sha256)
    ranges = sorted((d.start, d.end) for d in deliveries if (d.conversation_id, d.entry_id, d.sha256) == key)
    end = 0
    for start, stop in ranges:
        if start > end:
            break
        end = max(end, stop)
    return end


def fresh(view: View, member: Member, deliveries: Iterable[Delivery]) -> list[Receipt]:
    """The receipts that a run's own deliveries make for a member: one for each cited entry that was delivered whole."""
    found_receipts: list[Receipt] = []
    own = [one for one in deliveries if one.conversation_id == member.conversation_id]
    begun = {one.entry_id for one in own}
    for cited in member.cited:
        if cited.entry_id not in begun:
            continue
        found = view.text(member, cited.entry_id)
        if found is not None and found.text:
            end = reached(own, member.conversation_id, cited.entry_id, found.sha256)
            if end >= len(found.text):
                one = Receipt(member.facet_id, member.sha256, cited.entry_id, found.sha256, len(found.text))
                found_receipts.append(one)
    return found_receipts


def earlier(view: View, member: Member) -> Receipt | None:
    """A receipt of an earlier published run that still holds: the same facet, the same entry."""
    return next((one for one in view.earlier(member) if holds(view, member, one)), None)


def holds(view: View, member: Member, receipt: Receipt) -> bool:
    """Whether a receipt is for this member as it is now, and for the entry as it is now."""
    found = view.text(member, receipt.entry_id)
    return (
        found is not None
        and (receipt.facet_id, receipt.facet_sha256) == (member.facet_id, member.sha256)
        and (receipt.sha256, receipt.chars) == (found.sha256, len(found.text))
    )


def receipt_id(receipt: Receipt) -> str:
    """The name that a child knows a receipt by."""
    return derived_id("rc", receipt.facet_id, receipt.facet_sha256, receipt.entry_id, receipt.sha256)
