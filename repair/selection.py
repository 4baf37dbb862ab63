"""When repair is due, and what a run looks at: which topics, and which facets of history in them.

The assigned topics (those that the incoming conversations went into, and those that wait for maintenance) come first,
then their neighbours: what placement named and did not choose, and the topics that share most words. Their members of
history are taken in turns, one of each topic, at most eight; each topic's ring goes on behind the facet that was
audited last. A member whose source is bad is deferred, and its topic gives the next one.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from recall.index.audits import Standing
from recall.index.members import Member
from recall.types import Placement, TopicCard
from repair.draft import Health
from repair.limits import Limits
from repair.state import View

UNAUDITED = 8
"""Publications that may touch a topic before its next audit is due."""

_TRIES = 8  # bad members of one topic, after which it is left alone

Rings = Callable[[Sequence[str]], Mapping[str, Standing]]
Neighbours = Callable[[TopicCard], Sequence[str]]
"""Ids of the topics that share most words with one, the closest first."""


@dataclass(frozen=True, slots=True)
class Audit:
    """What a run looks at. `topics`: assigned ones first; `facets`: of history, healthy, in the order of the turns.

    `deferred`: (conversation id, error code) of sources that were bad before the run; `empty`: topics without a
    healthy member of history.
    """

    topics: tuple[str, ...]
    facets: tuple[Member, ...]
    deferred: tuple[tuple[str, str], ...]
    empty: tuple[str, ...] = ()


def due(policy: str, placement: Placement, touched: Mapping[str, Standing], *, history: bool, waiting: bool) -> bool:
    """Whether repair is due for a publication. `touched`: how its topics stand, it included."""
    if not history or policy == "never":
        return False
    return (
        policy == "always"
        or waiting
        or any(placed.topic_id is not None or placed.candidates for placed in placement.placed)
        or any(standing.publications >= UNAUDITED for standing in touched.values())
    )


def select(
    view: View,
    assigned: Sequence[str],
    candidates: Sequence[str],
    incoming: Collection[str],
    rings: Rings,
    neighbours: Neighbours,
    health: Health,
    limits: Limits,
) -> Audit:
    """The audit of a run. `candidates`: topics that placement carried and did not choose."""
    topics = _topics(view, assigned, candidates, neighbours, limits)
    standings = rings(topics)
    deferred: dict[str, str] = {}
    turns = {
        topic_id: _ring(view.members(topic_id), standings[topic_id].position, incoming, health, deferred)
        for topic_id in topics
    }
    facets: list[Member] = []
    empty: list[str] = []
    while turns and len(facets) < limits.audited:
        for topic_id, turn in list(turns.items())[: limits.audited - len(facets)]:
            member = next(turn, None)
            if member is not None:
                facets.append(member)
                continue
            del turns[topic_id]
            if all(facet.topic_id != topic_id for facet in facets):
                empty.append(topic_id)
    return Audit(tuple(topics), tuple(facets), tuple(deferred.items()), tuple(empty))


def positions(audit: Audit, read: Collection[str]) -> dict[str, int | None]:
    """Where the rings go on, by topic: behind the last audited facet before the first that was not read (None: stay).

    A topic that the run did not come to is not in it, and goes on waiting.
    """
    found: dict[str, int | None] = dict.fromkeys(audit.empty)
    for topic_id in audit.topics:
        own = [facet for facet in audit.facets if facet.topic_id == topic_id]
        done = _prefix(own, read)
        if done:
            found[topic_id] = done[-1].facet_no
    return found


def _prefix(facets: Sequence[Member], read: Collection[str]) -> list[Member]:
    done: list[Member] = []
    for facet in facets:
        if facet.facet_id not in read:
            break
        done.append(facet)
    return done


def _topics(
    view: View, assigned: Sequence[str], candidates: Sequence[str], neighbours: Neighbours, limits: Limits
) -> list[str]:
    cards = {topic_id: view.card(topic_id) for topic_id in dict.fromkeys([*assigned, *candidates])}
    live = {topic_id: card for topic_id, card in cards.items() if card is not None}
    near: list[str] = []
    for topic_id in assigned:
        if topic_id in live:
            near += list(neighbours(live[topic_id]))[: limits.neighbours]
    return list(dict.fromkeys([*live, *(topic_id for topic_id in near if view.card(topic_id) is not None)]))


def _ring(
    members: Sequence[Member], position: int, incoming: Collection[str], health: Health, deferred: dict[str, str]
) -> Iterator[Member]:
    """A topic's members of history from behind the position on, once around."""
    history = sorted((one for one in members if one.conversation_id not in incoming), key=lambda one: one.facet_no)
    start = next((place for place, one in enumerate(history) if one.facet_no > position), 0)
    bad = 0
    for member in history[start:] + history[:start]:
        code = health(member)
        if code is None:
            yield member
            continue
        deferred[member.conversation_id] = code
        bad += 1
        if bad >= _TRIES:
            return
