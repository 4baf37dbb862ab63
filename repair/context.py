"""What the child is shown: the opening, the turns so far, and where it stands; kept inside the model's room.

A pure function of the case and the turns: no clock, no path, nothing random, so that the same state asks the same
question and a kept reply answers it. Where the room ends, the oldest call goes first, with its answer, that a note or a
check stands in for; a turn of which nothing is left goes as a whole. Behind the last answer stands where the run is,
notes included, and the call to make now.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from recall.fence import Block, fenced, quoted
from recall.hashing import canonical_json
from recall.index.members import Member
from recall.models.turns import Turn, assistant_message, tool_message
from recall.types import TopicCard
from repair.case import Case
from repair.serving import CONTEXT_FULL, Result, cites
from repair.standing import standing
from repair.tools import arguments_of

Message = Mapping[str, object]
Measure = Callable[[str], int]
_NOTED = 10  # entries that a note is asked for at once
_INCOMING = 12  # incoming facets that the opening shows
NOW = "Now call:"
_NUDGE = "Only tool calls are read; what you wrote was not."
# Room in units of the measure (bytes, of which tokens need fewer): a short answer, the ids and keys around a message,
# the host's words and the fence around a text.
FOR_NOTES = 6  # this part of the room is kept from texts, so that notes can be written once they fill the rest
SHORT_ANSWER = 200
ENVELOPE = 120
FRAME = 320


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

    def messages(self, last: str = "") -> list[Message]:
        """As messages; `last` is added to the last of them."""
        if not self.turn.calls:
            return [assistant_message(self.turn), {"role": "user", "content": _NUDGE + last}]
        texts = [result.text for result in self.results]
        texts[-1] += last
        answers = zip(self.turn.calls, texts, strict=True)
        return [assistant_message(self.turn), *(tool_message(call, text) for call, text in answers)]


def fitting(case: Case, room: int, measure: Measure) -> Message | None:
    """The most detailed opening that fits, with as many of the audited facets as can then be read in one turn.

    None where not one fits.
    """
    most = int(room * case.limits.opening)
    while True:
        for detail in DETAILS:
            message = _opening(case, detail, room)  # all of the audit is offered: it was cut to what fits
            size = size_of(message, measure)
            if size <= most and (len(case.audited) <= 1 or case.to_read() <= room - size - room // FOR_NOTES):
                return message
        if len(case.audited) <= 1:
            return None
        case.shorten()


def compose(
    first: Message, records: Sequence[Record], case: Case, room: int, measure: Measure
) -> tuple[tuple[Message, ...], int]:
    """The messages of the next request, and their size: within the room, if that can be.

    The newest record stays: the child has not seen those answers yet. Where its calls are too long for the room that
    the texts before leave, their arguments go, which the child wrote itself; never an answer.
    """
    if not records:
        return (first,), size_of(first, measure)
    free = room - least(first, records, case, measure)
    fills = _fills(records, case)
    said = _status(case, free, fills, notes=False)
    kept, size = _shrunk(first, records, case, room - measure(canonical_json(said)), measure, seen=len(records) - 1)
    if len(kept) < len(records) or any(one is not other for one, other in zip(kept, records, strict=False)):
        said = _status(case, free, fills, notes=True)
        kept, size = _shrunk(first, records, case, room - measure(canonical_json(said)), measure, seen=len(records) - 1)
    if (over := size + measure(canonical_json(said)) - room) > 0:
        size -= _size(kept[-1], measure)
        kept[-1] = _without_arguments(kept[-1], over, measure)
        size += _size(kept[-1], measure)
    messages = [first]
    for place, record in enumerate(kept, start=1):
        messages += record.messages(f"\n\n{said}" if place == len(kept) else "")
    return tuple(messages), size + measure(canonical_json(said))


def least(first: Message, records: Sequence[Record], case: Case, measure: Measure) -> int:
    """What the context takes once everything has gone that something stands in for."""
    if not records:
        return size_of(first, measure)
    _, size = _shrunk(first, records, case, 0, measure, seen=len(records))
    return size + measure(canonical_json(_status(case, 0, (), notes=True)))


def _shrunk(
    first: Message, records: Sequence[Record], case: Case, room: int, measure: Measure, *, seen: int
) -> tuple[list[Record], int]:
    """The turns of which as much was left out as the room asks for, the oldest first, and their size. Only of the
    first `seen` turns is anything left out.
    """
    kept = list(records)
    sizes = [_size(record, measure) for record in kept]
    size = size_of(first, measure) + sum(sizes)
    while size > room:
        place = _shrink(kept, case, seen - len(records) + len(kept), size - room, measure)
        if place is None:
            break
        # Either this record went, or it is shorter now.
        gone = len(kept) < len(sizes)
        smaller = 0 if gone else _size(kept[place], measure)
        size += smaller - sizes[place]
        sizes[place : place + 1] = [] if gone else [smaller]
    return kept, size


def size_of(message: Message, measure: Measure) -> int:
    """What a message takes of the room, calls included."""
    return measure(canonical_json(message))


def _opening(case: Case, detail: Detail, room: int) -> Message:
    """The first message: what is looked at, and what it takes to end."""
    topics = [card for card in map(case.view.card, case.audit.topics) if card is not None]
    moves = f"at most {case.limits.moves} moves of history and {case.limits.incoming_moves} incoming"
    lines = [f"{len(topics)} topics, {len(case.audited)} audited facets of history; {moves}."]
    if case.deferred:
        lines.append(f"Deferred, to be left alone: {', '.join(sorted(case.deferred))}.")
    blocks = [_topic(card, detail) for card in topics]
    blocks += [_facet(case, facet, detail, audited=True) for facet in case.audited.values()]
    blocks += [_facet(case, facet, detail, audited=False) for facet in _incoming(case, topics)]
    text = "\n".join(lines) + "\n" + fenced(blocks, "") + _status(case, room, (), notes=False)
    return {"role": "user", "content": text}


def _fills(records: Sequence[Record], case: Case) -> list[Mapping[str, object]]:
    """What was read, is in sight and has no note, where the last turn was told that no more fits."""
    if all(result.head.get("error") != CONTEXT_FULL for result in records[-1].results):
        return []
    found: dict[tuple[str, str], Mapping[str, object]] = {}
    for record in records:
        for call, result in zip(record.turn.calls, record.results, strict=False):
            if result.blocks and isinstance(result.covers, tuple) and not _covered(result, case):
                arguments = arguments_of(call)
                found[result.covers] = {name: arguments[name] for name in ("facet_id", "entry_id")}
    return list(found.values())[:_NOTED]


def _status(case: Case, room: int, fills: Sequence[Mapping[str, object]], *, notes: bool) -> str:
    """Where the run stands, in the host's words; the child's own notes in a fence."""
    stands = standing(case, room, fills)
    text = f"Where you are: {canonical_json(stands.where)}\n"
    if notes and case.notes:
        blocks = [Block(f"your note on entry_id {quoted(entry)}", note) for (_, entry), note in case.notes.items()]
        text += fenced(blocks, "")
    return f"{text}{NOW} {stands.now}"


def _size(record: Record, measure: Measure) -> int:
    return sum(size_of(message, measure) for message in record.messages())


def _shrink(records: list[Record], case: Case, seen: int, over: int, measure: Measure) -> int | None:
    """Leave out of the oldest turn that has any the calls, with their answers, that something stands in for: as many
    as it is too long by. The place of the turn, or None where there is none; one of which nothing is left goes.
    """
    for place, record in enumerate(records[:seen]):
        gone: list[int] = []
        for number, result in enumerate(record.results):
            if over > 0 and (not result.blocks or _covered(result, case)):
                over -= measure(result.text)
                gone.append(number)
        if gone or not record.turn.calls:
            calls = tuple(call for number, call in enumerate(record.turn.calls) if number not in gone)
            left = tuple(result for number, result in enumerate(record.results) if number not in gone)
            records[place : place + 1] = [Record(replace(record.turn, calls=calls), left)] if calls else []
            return place
    return None


def _without_arguments(record: Record, over: int, measure: Measure) -> Record:
    """The turn without as many of its longest arguments as it is too long by."""
    calls = list(record.turn.calls)
    for place in sorted(range(len(calls)), key=lambda one: -measure(calls[one].arguments)):
        if over <= 0:
            break
        left_out = canonical_json({"left_out": f"{len(calls[place].arguments)} characters"})
        over -= measure(calls[place].arguments) - measure(left_out)
        calls[place] = replace(calls[place], arguments=left_out)
    return replace(record, turn=replace(record.turn, calls=tuple(calls)))


def _covered(result: Result, case: Case) -> bool:
    if isinstance(result.covers, str):
        return result.covers in case.verdicts
    if isinstance(result.covers, tuple):
        return result.covers in case.notes or _checked(result.covers, case)
    return True  # lists of topics and members can be asked for again


def _checked(entry: tuple[str, str], case: Case) -> bool:
    """Whether every member of the proposal that rests on this entry was checked."""
    checked = {verdict.facet_id for verdict in case.verdicts.values()}
    members = [
        one.facet_id
        for one in (case.proposal.members if case.proposal is not None else ())
        if one.conversation_id == entry[0] and any(cited.entry_id == entry[1] for cited in one.cited)
    ]
    return bool(members) and checked.issuperset(members)


def _incoming(case: Case, topics: Sequence[TopicCard]) -> list[Member]:
    members = [one for card in topics for one in case.view.members(card.topic_id)]
    return [one for one in members if one.conversation_id in case.incoming][:_INCOMING]


def _topic(card: TopicCard, detail: Detail) -> Block:
    words = {
        "title": card.title,
        "description": card.description[: detail.description],
        "aliases": list(card.aliases[: detail.aliases]),
    }
    return Block(f"topic_id {quoted(card.topic_id)}, members {card.members}", canonical_json(words))


def _facet(case: Case, member: Member, detail: Detail, *, audited: bool) -> Block:
    kind = "audited" if audited else "incoming"
    head = [f"facet_id {quoted(member.facet_id)}", kind, f"in {quoted(member.topic_id)}"]
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
