"""Where facets go: by weighted term overlap with the cards of topics.

The facets of one conversation that share enough telling terms are one subject and go together: they are joined first,
most alike first, by the mean of their pairs. Each group then goes to the topic with the highest overlap, if that is
high enough; else it is a draft. A topic that holds many kinds of things counts for less, or it would hold everything
before long. Rarity is measured on all cards in sight (page, carried, facets) over a fixed
background, so that scores of different pages can be compared; what is carried is scored again on the last page, with
the cards that stand beside it there. Titles are terms like any other: two equal titles prove nothing by themselves.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from recall.models.extractive.scopes import alike, weigh
from recall.models.extractive.terms import count, keys_of
from recall.models.request import FacetCard, PlacementTask
from recall.types import TopicCard

# Overlap from which on facets of one conversation are one subject.
SIBLINGS = 0.025
# Overlap from which on a facet goes into a topic.
TOPIC = 0.08
# From here on a topic is worth a look on the next page.
CANDIDATE = 0.03
CANDIDATES = 3
# Cards that a catalogue is taken to have beside those in sight: with few cards, rarity is mostly unknown.
BACKGROUND = 20.0
Terms = Mapping[str, float]


def place(task: PlacementTask) -> dict[str, object]:
    """The placement of all facets, or on a page before the last the candidates to carry on."""
    cards = _in_sight(task)
    facets = [facet_terms(facet) for facet in task.facets]
    topics = [topic_terms(card) for card in cards]
    idf = rarity(facets, cards)
    vectors = [weigh(terms, idf) for terms in facets]
    shelves = [_held(terms, card.members, idf) for terms, card in zip(topics, cards, strict=True)]
    scores = [[_agree(vector, shelf) for shelf in shelves] for vector in vectors]
    if not task.last:
        return {
            "facets": [
                {"facet": number, "candidates": _best(row, cards, CANDIDATE)}
                for number, row in enumerate(scores, start=1)
            ]
        }
    return {"facets": _decide(task.facets, facets, vectors, cards, shelves, idf, scores)}


def facet_terms(facet: FacetCard) -> dict[str, float]:
    """The terms of a facet: its title counts double."""
    return count([(facet.title, 2.0), (facet.description, 1.0), *((alias, 1.0) for alias in facet.aliases)])


def topic_terms(card: TopicCard) -> dict[str, float]:
    """The terms of a topic: of its own words and of its members' titles and aliases."""
    return count(
        [(card.title, 2.0), (card.description, 1.0), *((alias, 1.0) for alias in card.aliases), (card.terms, 1.0)]
    )


def rarity(facets: Sequence[Terms], cards: Sequence[TopicCard]) -> dict[str, float]:
    """How rare each term is among all facets known here: those to be placed, and the members of the topics.

    A topic counts as many facets as it has members, and a term in it as often as its members' names have it. Were a
    topic one document, a topic that took everything in would make every term of it look rare, and take in more.
    """
    seen: dict[str, float] = {}
    for facet in facets:
        for key in facet:
            seen[key] = seen.get(key, 0.0) + 1.0
    total = BACKGROUND + len(facets)
    for card in cards:
        members = max(1, card.members)
        total += members
        named = Counter(key for key, _ in keys_of("\n".join((card.title, *card.aliases, card.terms))))
        for key in topic_terms(card):
            seen[key] = seen.get(key, 0.0) + min(members, max(1, named[key]))
    return {key: math.log((total + 0.5) / (often + 0.5)) for key, often in seen.items()}


def neighbours(cards: Sequence[TopicCard], most: int) -> Callable[[TopicCard], list[str]]:
    """From a topic to the ids of the others that share enough words with it, the closest first."""
    idf: dict[str, float] = {}
    shelves: dict[str, dict[str, float]] = {}

    def near(card: TopicCard) -> list[str]:
        if not shelves:
            idf.update(rarity((), cards))
            shelves.update((one.topic_id, _held(topic_terms(one), one.members, idf)) for one in cards)
        own = weigh(topic_terms(card), idf)
        scores = {name: _agree(own, shelf) for name, shelf in shelves.items() if name != card.topic_id}
        ranked = sorted(scores, key=lambda name: (-scores[name], name))
        return [name for name in ranked[:most] if scores[name] >= CANDIDATE]

    return near


def _held(terms: Terms, members: int, idf: Mapping[str, float]) -> dict[str, float]:
    """A topic as a vector, the shorter the less its members have in common.

    Of a topic that holds members of every kind something agrees with everything; its length (that of the mean of its
    members, against the mean of theirs) makes it weigh as little as its members would one by one.
    """
    share = {key: min(count / max(1, members), 1.0) for key, count in terms.items()}
    mean = sum((part * idf[key]) ** 2 for key, part in share.items())
    each = sum(part * idf[key] ** 2 for key, part in share.items())
    length = math.sqrt(mean / each) if each else 0.0
    return {key: value * length for key, value in weigh(terms, idf).items()}


def _agree(one: Terms, other: Terms) -> float:
    """The overlap of two vectors; a single shared term is a coincidence, not a subject."""
    return alike(one, other) if sum(key in other for key in one) > 1 else 0.0


def groups(vectors: Sequence[Terms], least: float) -> list[list[int]]:
    """Facets that are one subject: joined while the mean overlap of two groups is at least `least`."""
    made = [[index] for index in range(len(vectors))]
    overlap = [[_agree(one, other) for other in vectors] for one in vectors]
    while len(made) > 1:
        best, first, second = max(
            (sum(overlap[i][j] for i in made[a] for j in made[b]) / (len(made[a]) * len(made[b])), -a, -b)
            for a in range(len(made))
            for b in range(a + 1, len(made))
        )
        if best < least:
            break
        made[-first] = made[-first] + made[-second]
        del made[-second]
    return [sorted(group) for group in made]


def _decide(
    facets: Sequence[FacetCard],
    counts: Sequence[Terms],
    vectors: Sequence[Terms],
    cards: Sequence[TopicCard],
    shelves: Sequence[Terms],
    idf: Mapping[str, float],
    scores: Sequence[Sequence[float]],
) -> list[dict[str, object]]:
    answers: dict[int, dict[str, object]] = {}
    drafts = 0
    for group in groups(vectors, SIBLINGS):
        joined = weigh(_sum([counts[index] for index in group]), idf)
        row = [_agree(joined, shelf) for shelf in shelves]
        at = max(range(len(row)), key=lambda i: (row[i], -i), default=None)
        topic = cards[at] if at is not None and row[at] >= TOPIC else None
        if topic is None:
            drafts += 1
        for index in group:
            others = [name for name in _best(scores[index], cards, TOPIC) if topic is None or name != topic.topic_id]
            shared = _shared(vectors[index], shelves[at]) if topic is not None and at is not None else ""
            answers[index] = {
                "facet": index + 1,
                "topic_id": topic.topic_id if topic else None,
                "draft": None if topic else drafts,
                "candidates": others,
                "reason": _reason(shared, row[at] if at is not None else 0.0, topic is not None, len(group)),
            }
    return [answers[index] for index in range(len(facets))]


def _in_sight(task: PlacementTask) -> list[TopicCard]:
    """The cards of this page and those carried to it, each once, by id: the order of pages must not matter."""
    seen = {card.topic_id: card for cards in task.carried for card in cards}
    seen.update({card.topic_id: card for card in task.page})
    return [seen[name] for name in sorted(seen)]


def _best(row: Sequence[float], cards: Sequence[TopicCard], least: float) -> list[str]:
    ranked = sorted(range(len(row)), key=lambda i: (-row[i], cards[i].topic_id))
    return [cards[i].topic_id for i in ranked[:CANDIDATES] if row[i] >= least]


def _sum(bags: Sequence[Terms]) -> dict[str, float]:
    total: dict[str, float] = {}
    for one in bags:
        for key, by in one.items():
            total[key] = total.get(key, 0.0) + by
    return total


def _shared(vector: Terms, shelf: Terms) -> str:
    """The terms that speak most for a placement, for its reason."""
    both = sorted((-value * shelf[key], key) for key, value in vector.items() if key in shelf)
    return ", ".join(key for _, key in both[:6])


def _reason(shared: str, score: float, found: bool, together: int) -> str:
    if found:
        text = f"overlap {score:.2f}: {shared}" if shared else f"overlap {score:.2f}, with its siblings"
    else:
        text = f"no topic in sight overlaps enough (best {score:.2f}, needed {TOPIC:.2f})"
    if together > 1:
        text += f"; {together} facets agree"
    return text[:200]
