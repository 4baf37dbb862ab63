"""The catalogue in pages: every topic on exactly one, each page with all facets and what was carried to it.

The catalogue comes oldest topic first and keeps that order, so a new topic changes only the last page. How much of a
card is shown is the same on all pages of one placement: as much as leaves a third of the room for topics of the page
itself, with as many carried cards as there can be. A card that is cut says so by nothing; its id stays whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from recall import fence
from recall.errors import ModelError
from recall.fence import Block
from recall.hashing import canonical_json
from recall.models.request import FacetCard
from recall.steps.asking import Meter
from recall.types import TopicCard


@dataclass(frozen=True, slots=True)
class Detail:
    """How many characters of a card's parts are shown, and how many candidates a facet can have carried.

    Facets are few and shown longer than topics.
    """

    description: int
    aliases: int
    facet_aliases: int
    statements: int
    carried: int


DETAILS = (Detail(400, 300, 600, 6, 3), Detail(240, 120, 240, 2, 3), Detail(100, 0, 80, 0, 3), Detail(60, 0, 0, 0, 1))
MOST_CARRIED = max(detail.carried for detail in DETAILS)
_TITLE = 100


@dataclass(frozen=True, slots=True)
class Layout:
    """The pages, and how their cards are shown."""

    pages: tuple[tuple[TopicCard, ...], ...]
    detail: Detail


def layout(facets: Sequence[FacetCard], catalogue: Sequence[TopicCard], meter: Meter, limit: int) -> Layout:
    """The catalogue in pages of at most `limit`. Raises ModelError `model_context_too_small`."""
    for detail in DETAILS:
        pages = pages_at(detail, facets, catalogue, meter, limit)
        if pages is not None:
            return Layout(pages, detail)
    raise ModelError(
        "model_context_too_small",
        "the model's context does not hold the facets of this conversation beside a page of topics",
        "use a model with a larger context",
    )


def pages_at(
    detail: Detail, facets: Sequence[FacetCard], catalogue: Sequence[TopicCard], meter: Meter, limit: int
) -> tuple[tuple[TopicCard, ...], ...] | None:
    """The pages with cards shown in this detail, or None where that leaves too little room."""

    def size(block: Block) -> int:
        return meter.measure(fence.sample(block))

    left = limit - meter.measure(fence.frame())
    left -= sum(size(facet_block(number, facet, detail)) for number, facet in enumerate(facets, start=1))
    sizes = [size(topic_block(card, detail)) for card in catalogue]
    if sum(sizes) <= left:
        return (tuple(catalogue),)
    # A carried card also says for which facets.
    everyone = tuple(range(1, len(facets) + 1))
    carried = max(size(topic_block(card, detail, everyone)) for card in catalogue) * detail.carried * len(facets)
    left -= carried
    if left < _least(detail, sizes, limit):
        return None
    return _filled(catalogue, sizes, left)


def most_pages(facets: Sequence[FacetCard], catalogue: Sequence[TopicCard], meter: Meter, limit: int) -> int:
    """At most how many pages there are for facets that are no longer than these."""
    fullest = pages_at(DETAILS[0], facets, catalogue, meter, limit)
    if fullest is not None and len(fullest) == 1:
        return 1
    counts = []
    for detail in DETAILS:
        sizes = [meter.measure(fence.sample(topic_block(card, detail))) for card in catalogue]
        # No page that is laid out in this detail has less room.
        counts.append(len(_filled(catalogue, sizes, _least(detail, sizes, limit))))
    return max(counts)


def _least(detail: Detail, sizes: Sequence[int], limit: int) -> int:
    """The room for a page's own topics from which on this detail is taken."""
    return max(sizes) if detail == DETAILS[-1] else max(limit // 3, max(sizes))


def content(
    facets: Sequence[FacetCard],
    page: Sequence[TopicCard],
    carried: Sequence[Sequence[TopicCard]],
    detail: Detail,
    findings: Sequence[Block] = (),
) -> str:
    """What a model is shown of one page. `findings` come last, where there are any to be compared."""
    numbers: dict[str, list[int]] = {}
    cards: dict[str, TopicCard] = {}
    for number, candidates in enumerate(carried, start=1):
        for card in candidates:
            cards[card.topic_id] = card
            numbers.setdefault(card.topic_id, []).append(number)
    return fence.fenced(
        [
            *(facet_block(number, facet, detail) for number, facet in enumerate(facets, start=1)),
            *(topic_block(card, detail, numbers[topic_id]) for topic_id, card in cards.items()),
            *(topic_block(card, detail) for card in page),
            *findings,
        ]
    )


def facet_block(number: int, facet: FacetCard, detail: Detail) -> Block:
    """A facet under its number."""
    card: dict[str, object] = {
        "title": _cut(facet.title, _TITLE),
        "description": _cut(facet.description, detail.description),
    }
    if aliases := _some(facet.aliases, detail.facet_aliases):
        card["aliases"] = aliases
    if statements := list(facet.statements[: detail.statements]):
        card["findings"] = statements
    return Block(f"facet {number}", canonical_json(card))


def topic_block(card: TopicCard, detail: Detail, carried_for: Sequence[int] = ()) -> Block:
    """A topic under its id, which is all that it is known by."""
    shown: dict[str, object] = {
        "title": _cut(card.title, _TITLE),
        "description": _cut(card.description, detail.description),
    }
    if aliases := _some(card.aliases, detail.aliases):
        shown["aliases"] = aliases
    carried = f", carried for {' '.join(map(str, carried_for))}" if carried_for else ""
    return Block(f"topic_id {fence.quoted(card.topic_id)}{carried}", canonical_json(shown))


def _filled(catalogue: Sequence[TopicCard], sizes: Sequence[int], room: int) -> tuple[tuple[TopicCard, ...], ...]:
    pages: list[list[TopicCard]] = [[]]
    used = 0
    for card, size in zip(catalogue, sizes, strict=True):
        if pages[-1] and used + size > room:
            pages.append([])
            used = 0
        pages[-1].append(card)
        used += size
    return tuple(map(tuple, pages))


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else text[: length - 1].rstrip() + "…"


def _some(aliases: Sequence[str], length: int) -> list[str]:
    """The first aliases that fit."""
    kept: list[str] = []
    for alias in aliases:
        length -= len(alias)
        if length < 0:
            break
        kept.append(alias)
    return kept
