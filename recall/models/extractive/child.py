"""The built-in repair child: it works with the tools like any other, and proposes only what overlap figures justify.

What it knows is what the messages show: the topics and facets of the opening, the members that it asked for, and where
the run is. It moves a facet that shares far more with another topic than with its own, and merges two topics that share
most of what their members say, or are closer to each other than to any third. It never writes a sentence: the words of
a merge are those of the older topic. Its verdict on a member is the overlap of that member with the rest. It redefines
and splits nothing.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from recall.models.extractive.child_seen import Seen, SeenFacet, Terms, look
from recall.models.extractive.scopes import alike, weigh
from recall.models.request import ModelReply
from recall.models.turns import ToolCall, TurnRequest

# Overlap with another topic from which on a facet may go there, and how much more it has to be than with its own.
MOVE = 0.1
TIMES = 3.0
# Overlap from which on two topics may be one, and how much most of their members have to share with the usual member of
# the other: this part of what they share with their own, and so many times what they share with any third.
MERGE = 0.22
OF_OWN = 0.75
OF_THIRD = 1.5
MEMBERS = 2 / 3
# Or, beside so many third topics: overlap from which on they may be the halves of one, how many times that with any
# third it has to be; and of each one's members this part has to share so many times as much with the other as with any
# third, and so much of what it shares with its own. Of the coding set's 12 topics cut in two that finds 5, of its 66
# pairs none, and none of 132 topics to which half of another one was added.
HALVES = 0.18
OF_OTHERS = 1.4
PART, CLEARLY, AS_OWN = 0.65, 1.2, 0.5
THIRDS = 3
# Of a topic that holds a second subject, half of the members say nothing of what the others have in common.
MIDDLE, HIGH = 0.5, 0.75
KNOWN = 0.6  # part of a topic's members that have to be in sight before anything is said of it
# Overlap with the rest below which a member does not fit.
FIT = 0.01
MOST_MOVES, MOST_INCOMING = 8, 5
_CALLS = 32
_PAGE = 12_000
_BACKGROUND = 20.0


def take_turn(request: TurnRequest) -> ModelReply:
    """The next turn. The same messages give the same calls."""
    seen = look(request.messages)
    calls = [ToolCall(f"c{number:04}", name, json.dumps(arguments)) for number, (name, arguments) in _calls(seen)]
    return ModelReply("", "tool_calls", calls=tuple(calls))


def _calls(seen: Seen) -> Iterator[tuple[int, tuple[str, dict[str, Any]]]]:
    made = _next(seen)
    return enumerate(made[:_CALLS], start=1)


def _next(seen: Seen) -> list[tuple[str, dict[str, Any]]]:
    standing = seen.standing
    if seen.full and seen.read:
        return [
            ("repair_read", {"facet_id": facet, "entry_id": entry, "remember": " ".join(text.split())[:100] or "-"})
            for (facet, entry), text in seen.read.items()
        ]
    if standing.get("proposal_id") and not standing.get("do_not_fit"):
        made = _checks(seen) + _reads(standing) + _pages(standing)
        return made or [_finish(standing["proposal_id"], "every member was read and checked")]
    if standing.get("to_read"):
        return _reads(standing) + _listings(seen)
    if not seen.proposed:
        # What was listed and is out of sight again would be listed for ever: then it is judged by what is in sight.
        if (unlisted := _listings(seen)) and not seen.warned:
            return unlisted
        proposal = _judge(seen)
        if proposal is not None:
            return [("repair_propose", proposal)]
    return [_finish(None, "no overlap justifies a change")]


def _finish(proposal_id: str | None, reason: str) -> tuple[str, dict[str, Any]]:
    return "finish", {"proposal_id": proposal_id, "reason": reason}


def _reads(standing: Mapping[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """Each entry that is to be read, to its end."""
    return [
        ("repair_read", {"facet_id": one["facet_id"], "entry_id": one["entry_id"], "offset": at, "max_chars": _PAGE})
        for one in standing["to_read"]
        for at in range(one["offset"], max(one["chars"], one["offset"] + 1), _PAGE)
    ]


def _pages(standing: Mapping[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    return [
        ("repair_coverage", {"topic": one["topic"], "page": page})
        for one in standing["to_cover"]
        for page in one["pages"]
    ]


def _checks(seen: Seen) -> list[tuple[str, dict[str, Any]]]:
    made = []
    for one in seen.standing["to_check"]:
        score = _fit(seen, one["facet_id"])
        made.append(
            (
                "repair_check",
                {
                    "page_id": one["page_id"],
                    "receipt_id": one["receipt_id"],
                    "fits": score >= FIT,
                    "reason": f"overlap {score:.2f} with the other members",
                },
            )
        )
    return made


def _listings(seen: Seen) -> list[tuple[str, dict[str, Any]]]:
    return [("repair_members", {"topic_id": topic}) for topic in seen.words if topic not in seen.asked]


def _judge(seen: Seen) -> dict[str, Any] | None:
    """The proposal that the figures justify, or None."""
    idf = _rarity(seen)
    merge = _merge(seen, idf)
    together = set(merge["topic_ids"]) if merge is not None else set()
    moves = _moves(seen, idf, together)
    if merge is None and not moves:
        return None
    return ({"moves": moves} if moves else {}) | ({"merge": merge} if merge is not None else {})


def _moves(seen: Seen, idf: Mapping[str, float], together: set[str]) -> list[dict[str, Any]]:
    """Facets that share far more with another topic than with the rest of their own. Merged topics are left alone."""
    found: list[tuple[float, SeenFacet, str]] = []
    for facet_id in seen.movable:
        facet = seen.facets[facet_id]
        if facet.topic_id in together or len(_members(seen, facet.topic_id)) < 2:
            continue
        if not _is_known(seen, facet.topic_id):
            continue
        own = _score(seen, facet, facet.topic_id, idf)
        scores = [
            (_score(seen, facet, topic, idf), topic)
            for topic in seen.words
            if topic != facet.topic_id and topic not in together and _is_known(seen, topic)
        ]
        best, topic = max(scores, default=(0.0, ""))
        if best >= MOVE and best >= TIMES * own:
            found.append((best, facet, topic))
    found.sort(key=lambda one: (-one[0], one[1].facet_id))
    chosen = [one for one in found if not one[1].incoming][:MOST_MOVES]
    chosen += [one for one in found if one[1].incoming][:MOST_INCOMING]
    leaving = {facet.facet_id for _, facet, _ in chosen}
    return [
        {"facet_id": facet.facet_id, "to": topic, "reason": f"overlap {best:.2f} there, {TIMES:.0f} times that here"}
        for best, facet, topic in chosen
        if any(one.facet_id not in leaving for one in _members(seen, topic))
    ]


def _merge(seen: Seen, idf: Mapping[str, float]) -> dict[str, Any] | None:
    """The two topics that share most, where most members of each could as well be in the other."""
    topics = [topic for topic in seen.words if _is_known(seen, topic)]
    shelves = {topic: weigh(_sum(_members(seen, topic)), idf) for topic in topics}
    pairs = [
        (_agree(shelves[one], shelves[other]), one, other)
        for place, one in enumerate(topics)
        for other in topics[place + 1 :]
    ]
    found = [
        pair
        for pair in pairs
        if (pair[0] >= MERGE and _are_one(seen, *pair[1:], topics, idf))
        or (pair[0] >= HALVES and _are_halves(seen, *pair[1:], shelves, idf))
    ]
    best, one, other = max(found, default=(0.0, "", ""))
    if not found:
        return None
    words = seen.words[one]
    aliases = [*words["aliases"], seen.words[other]["title"]][:12]
    return {
        "topic_ids": [one, other],
        "title": words["title"],
        "description": words["description"],
        "aliases": aliases,
        "reason": f"overlap {best:.2f} of what their members say",
    }


def _is_known(seen: Seen, topic: str) -> bool:
    """Whether most members of a topic are in sight: the few that the opening shows may be the ones that are astray."""
    return 0 < len(_members(seen, topic)) >= KNOWN * seen.sizes.get(topic, 0)


def _are_one(seen: Seen, one: str, other: str, topics: Sequence[str], idf: Mapping[str, float]) -> bool:
    """Whether two topics are about the same: not by a few members that they have in common, nor by a way of speaking
    that all topics share."""
    thirds = [topic for topic in topics if topic not in (one, other)]
    for here, there in ((one, other), (other, one)):
        members = _members(seen, here)
        agree = 0
        for facet in members:
            across = _usual(seen, facet, there, idf, MIDDLE)
            own = _usual(seen, facet, here, idf, HIGH)
            third = max((_usual(seen, facet, topic, idf, HIGH) for topic in thirds), default=0.0)
            agree += across > 0 and across >= max(OF_OWN * own, OF_THIRD * third)
        if agree < MEMBERS * len(members):
            return False
    return True


def _are_halves(seen: Seen, one: str, other: str, shelves: Mapping[str, Terms], idf: Mapping[str, float]) -> bool:
    """Whether two topics are closer to each other than to any third, and so are most members of each."""
    thirds = [shelf for topic, shelf in shelves.items() if topic not in (one, other)]
    if len(thirds) < THIRDS:
        return False
    closest = max(_agree(shelves[here], third) for here in (one, other) for third in thirds)
    if _agree(shelves[one], shelves[other]) < OF_OTHERS * closest:
        return False
    for here, there in ((one, other), (other, one)):
        members = _members(seen, here)
        closer = 0
        for facet in members:
            terms = weigh(facet.terms, idf)
            across = _agree(terms, shelves[there])
            third = max(_agree(terms, shelf) for shelf in thirds)
            closer += across > 0 and across >= max(CLEARLY * third, AS_OWN * _score(seen, facet, here, idf))
        if closer < PART * len(members):
            return False
    return True


def _usual(seen: Seen, facet: SeenFacet, topic: str, idf: Mapping[str, float], part: float) -> float:
    """What a facet shares with the members of a topic, one by one: so much or less with this part of them, so that a
    few strays among them do not count."""
    own = weigh(facet.terms, idf)
    others = [one for one in _members(seen, topic) if one.facet_id != facet.facet_id]
    scores = sorted(_agree(own, weigh(one.terms, idf)) for one in others)
    return scores[int(part * (len(scores) - 1))] if scores else 0.0


def _fit(seen: Seen, facet_id: str) -> float:
    """How much a member shares with all that is in sight beside it."""
    facet = seen.facets.get(facet_id)
    if facet is None:
        return 0.0
    idf = _rarity(seen)
    rest = [one for one in seen.facets.values() if one.facet_id != facet_id]
    return max((_agree(weigh(facet.terms, idf), weigh(one.terms, idf)) for one in rest), default=0.0)


def _score(seen: Seen, facet: SeenFacet, topic: str, idf: Mapping[str, float]) -> float:
    others = [one for one in _members(seen, topic) if one.facet_id != facet.facet_id]
    return _agree(weigh(facet.terms, idf), weigh(_sum(others), idf)) if others else 0.0


def _members(seen: Seen, topic: str) -> list[SeenFacet]:
    return [one for one in seen.facets.values() if one.topic_id == topic]


def _sum(facets: Sequence[SeenFacet]) -> Terms:
    total: Terms = {}
    for facet in facets:
        for key, by in facet.terms.items():
            total[key] = total.get(key, 0.0) + by
    return total


def _agree(one: Mapping[str, float], other: Mapping[str, float]) -> float:
    """The overlap of two vectors; a single shared term is a coincidence, not a subject."""
    return alike(one, other) if sum(key in other for key in one) > 1 else 0.0


def _rarity(seen: Seen) -> dict[str, float]:
    often: dict[str, int] = {}
    for facet in seen.facets.values():
        for key in facet.terms:
            often[key] = often.get(key, 0) + 1
    total = _BACKGROUND + len(seen.facets)
    return {key: math.log((total + 0.5) / (n + 0.5)) for key, n in often.items()}
