"""What the child is shown: the opening, the turns so far, and where it stands; kept inside the model's room.

A pure function of the case and the turns: no clock, no path, nothing random, so that the same state asks the same
question and a kept reply answers it. Where the room ends, the oldest text goes first that a note or a check stands in
for; a turn of which nothing is left goes as a whole. What was learnt stands in the status at the end, notes included.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from recall.fence import Block, fenced, quoted
from recall.hashing import canonical_json
from recall.models.turns import Turn, assistant_message, tool_message
from recall.types import TopicCard
from repair import receipts
from repair.case import Case
from repair.serving import Result, cites, left

Message = Mapping[str, object]
Measure = Callable[[str], int]
_INCOMING = 12  # incoming facets that the opening shows
_NUDGE = "Only tool calls are read. Call a tool, or end with finish, alone in its turn."
_CALL_ROOM = 220  # what a short answer may take


@dataclass(frozen=True, slots=True)
class Detail:
    """How much of a card the opening shows."""

    description: int
    aliases: int
    cites: int


DETAILS = (Detail(500, 6, 6), Detail(200, 3, 3), Detail(80, 0, 1))


@dataclass(frozen=True, slots=True)
class Record:
    """A turn that was taken, with the answers to its calls in their order. No calls: it was told to make some."""

    turn: Turn
    results: tuple[Result, ...]

    def messages(self) -> list[Message]:
        if not self.turn.calls:
            return [assistant_message(self.turn), {"role": "user", "content": _NUDGE}]
        answers = zip(self.turn.calls, self.results, strict=True)
        return [assistant_message(self.turn), *(tool_message(call, result.text) for call, result in answers)]


def opening(case: Case, detail: Detail) -> Message:
    """The first message: what is looked at, and what it takes to end."""
    topics = [card for card in map(case.view.card, case.audit.topics) if card is not None]
    unread = case.unread()
    lines = [
        f"{len(topics)} topics, {len(case.audited)} audited facets of history. "
        f"Moves: at most {case.limits.moves} of history and {case.limits.incoming_moves} incoming.",
        f"Read one cited entry of each of these before you finish: {', '.join(unread)}."
        if unread
        else "Every audited facet has a receipt from an earlier run: reading again is needed only for a change.",
    ]
    if case.deferred:
        lines.append(f"Deferred, to be left alone: {', '.join(sorted(case.deferred))}.")
    blocks = [_topic(card, detail) for card in topics]
    blocks += [_facet(case, facet_id, detail, audited=True) for facet_id in case.audited]
    blocks += [_facet(case, facet_id, detail, audited=False) for facet_id in _incoming(case, topics)]
    return {"role": "user", "content": "\n".join(lines) + "\n" + fenced(blocks, "Go on with tool calls.")}


def status(case: Case, *, notes: bool) -> Message:
    """Where the run stands, in the host's words; the child's own notes in a fence."""
    said: dict[str, object] = {"to_read": case.unread()}
    if case.proposal is not None:
        said = {"proposal_id": case.proposal.proposal_id} | left(case) | {"unchecked": _unchecked(case)}
    else:
        said["receipts"] = {
            facet_id: receipts.receipt_id(receipt)
            for facet_id, facet in case.audited.items()
            if (receipt := case.any_receipt(facet)) is not None
        }
    text = f"Where you are: {canonical_json(said)}"
    if notes and case.notes:
        blocks = [Block(f"your note on entry_id {quoted(entry)}", note) for (_, entry), note in case.notes.items()]
        text += "\n" + fenced(blocks, "")
    return {"role": "user", "content": text}


def compose(
    first: Message, records: Sequence[Record], case: Case, room: int, measure: Measure, spare: int = 0
) -> tuple[tuple[Message, ...], int]:
    """The messages of the next request, and their size: within `room` less `spare`, if that can be."""
    kept = list(records)
    left_out = False
    while True:
        last = status(case, notes=left_out) if records else None
        messages = [first, *(message for record in kept for message in record.messages()), *([last] if last else [])]
        size = sum(size_of(message, measure) for message in messages)
        if size <= room - spare or not _shrink(kept, case):
            return tuple(messages), size
        left_out = True


def size_of(message: Message, measure: Measure) -> int:
    """What a message takes of the room, calls included."""
    return measure(canonical_json(message))


def room_for(turn: Turn, measure: Measure) -> int:
    """What a turn's own words and the short answers to its calls take."""
    return size_of(assistant_message(turn), measure) + _CALL_ROOM * max(1, len(turn.calls))


def _shrink(records: list[Record], case: Case) -> bool:
    """Leave out the oldest thing that something stands in for; False where there is none."""
    for place, record in enumerate(records):
        if not record.turn.calls or all(not one.blocks or _covered(one, case) for one in record.results):
            del records[place]
            return True
        for number, result in enumerate(record.results):
            if result.blocks and _covered(result, case):
                results = list(record.results)
                results[number] = Result(result.head | {"text": "left out; your note stands for it"})
                records[place] = replace(record, results=tuple(results))
                return True
    return False


def _covered(result: Result, case: Case) -> bool:
    if isinstance(result.covers, str):
        return result.covers in case.verdicts
    if isinstance(result.covers, tuple):
        return result.covers in case.notes or _checked(result.covers, case)
    return True  # lists of topics and members can be asked for again


def _checked(entry: tuple[str, str], case: Case) -> bool:
    """Whether every member of the proposal that rests on this entry was checked."""
    checked = {verdict.facet_id for verdict in case.verdicts.values()}
    subjects = case.proposal.subjects if case.proposal is not None else ()
    members = [
        one.facet_id
        for subject in subjects
        for one in subject.members
        if one.conversation_id == entry[0] and any(cited.entry_id == entry[1] for cited in one.cited)
    ]
    return bool(members) and checked.issuperset(members)


def _unchecked(case: Case) -> list[dict[str, object]]:
    """Pages that were handed out and not checked, with the receipt to check them by."""
    found: list[dict[str, object]] = []
    for page_id, (topic, facet_id) in case.pages.items():
        if facet_id is None or page_id in case.verdicts:
            continue
        member = case.view.member(facet_id)
        ids = [receipts.receipt_id(one) for one in case.receipts(member)] if member is not None else []
        found.append({"page_id": page_id, "topic": topic, "facet_id": facet_id, "receipt_id": ids[0] if ids else None})
    return found


def _incoming(case: Case, topics: Sequence[TopicCard]) -> list[str]:
    members = [one for card in topics for one in case.view.members(card.topic_id)]
    return [one.facet_id for one in members if one.conversation_id in case.incoming][:_INCOMING]


def _topic(card: TopicCard, detail: Detail) -> Block:
    words = {
        "title": card.title,
        "description": card.description[: detail.description],
        "aliases": list(card.aliases[: detail.aliases]),
    }
    return Block(f"topic_id {quoted(card.topic_id)}, members {card.members}", canonical_json(words))


def _facet(case: Case, facet_id: str, detail: Detail, *, audited: bool) -> Block:
    member = case.view.member(facet_id)
    assert member is not None, facet_id  # the audit took it from this very view
    head = [f"facet_id {quoted(facet_id)}", "audited" if audited else "incoming", f"in {quoted(member.topic_id)}"]
    if audited and case.any_receipt(member) is not None:
        head.append("has a receipt")
    if member.candidates:
        head.append(f"near {', '.join(map(quoted, member.candidates[:3]))}")
    words: dict[str, object] = {
        "title": member.title,
        "description": member.description[: detail.description],
        "aliases": list(member.aliases[: detail.aliases]),
        "cites": cites(member, detail.cites),
    }
    return Block(", ".join(head), canonical_json(words))


def fitting(case: Case, room: int, measure: Measure) -> Message | None:
    """The most detailed opening that fits, with as many of the audited facets as then fit; None where not one does."""
    most = int(room * case.limits.opening)
    while True:
        for detail in DETAILS:
            message = opening(case, detail)
            if size_of(message, measure) <= most:
                return message
        if len(case.audited) <= 1:
            return None
        case.shorten()
