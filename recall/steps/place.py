"""Placing: every facet of a conversation against the whole catalogue of topics.

The catalogue goes by in pages. On each page but the last the model names for each facet at most three topics that it
could belong to; these are shown again beside the next page, where they can be kept or lose to better ones. On the
last page it decides: an existing topic, or a new one, and which facets share a new one. A topic is its id; titles,
equal or not, decide nothing. Any id that was not shown makes a reply invalid, and so does a facet that is missing,
unknown or there twice. What came close and was not chosen stays in `Placed.candidates`: repair is due by it.

An empty catalogue needs no request. Then only facets with the same title after folding are joined.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypedDict, TypeVar, cast

from recall import prompts
from recall.errors import ModelError
from recall.models.replies import InvalidReply
from recall.models.request import FacetCard, ModelRequest, PlacementTask
from recall.steps import pages, succession
from recall.steps.asking import Asker, Meter, room, too_long
from recall.steps.evidence import fold
from recall.steps.succession import NO_FINDINGS, NOTHING_COMPARED, Claims, Compared, Findings, PairReply
from recall.types import Analysis, Draft, Facet, Placed, Placement, TopicCard

DECIDING, SHORTLISTING, COMPARING = "placement", "shortlist", "placement_findings"
MAX_DESCRIPTION = 500
MAX_ALIASES = 24
# How often the pages are made half as large when a provider finds them too long.
_HALVINGS = 4
_NEW = "no topics were there to compare with"

Candidates = tuple[tuple[TopicCard, ...], ...]
"""For each facet, the topics that are carried to the next page."""

Item = TypeVar("Item", bound="_Numbered")


class _Numbered(TypedDict):
    facet: int
    candidates: list[str]


class _Decided(_Numbered):
    topic_id: str | None
    draft: int | None
    reason: str


@dataclass(frozen=True, slots=True)
class _Choice:
    """What was decided about one facet. Facets with equal `draft` share a new topic."""

    topic_id: str | None
    draft: int
    candidates: tuple[str, ...]
    reason: str


async def place(
    analysis: Analysis,
    catalogue: Sequence[TopicCard],
    asker: Asker,
    meter: Meter,
    *,
    source: str | None = None,
    findings: Findings = NO_FINDINGS,
) -> Placement:
    """Where the facets of an analysis go. `catalogue`: every live topic of the profile, the oldest first.

    `findings`: what earlier conversations found, for the question which of two replaces the other. It is asked with the
    last page, and only where an earlier finding speaks of the same things; so it costs no request of its own, but for
    one where topics leave hardly any room there. What finds none even then is counted in `Placement.uncompared`.
    Raises ModelError or StateError; pages that were answered before that are cached.
    """
    if not analysis.facets:
        return Placement((), (), {})
    if not catalogue:
        return _placement(analysis.facets, _by_title(analysis.facets), {})
    choices, claims = await _choices(analysis.facets, catalogue, asker, meter, source, findings)
    placement = _placement(analysis.facets, choices, {card.topic_id: card.version for card in catalogue})
    topic_ids = [choice.topic_id for choice in choices]
    successions = succession.verified(claims, topic_ids, findings)
    return replace(placement, successions=successions, uncompared=claims[0].left_out)


def facet_card(facet: Facet) -> FacetCard:
    """A facet as placement shows it."""
    return FacetCard(
        facet.title, facet.description, facet.aliases, tuple(finding.statement for finding in facet.findings)
    )


def page_request(
    facets: tuple[FacetCard, ...],
    page: tuple[TopicCard, ...],
    carried: Candidates,
    detail: pages.Detail,
    *,
    last: bool,
    compared: Compared = NOTHING_COMPARED,
) -> ModelRequest:
    """The question about one page of the catalogue."""
    name = SHORTLISTING if not last else COMPARING if compared else DECIDING
    return ModelRequest(
        kind="placement",
        prompt=prompts.load(name),
        content=pages.content(facets, page, carried, detail, compared.blocks()),
        task=PlacementTask(facets, page, carried, last),
    )


async def _choices(
    facets: Sequence[Facet],
    catalogue: Sequence[TopicCard],
    asker: Asker,
    meter: Meter,
    source: str | None,
    findings: Findings,
) -> tuple[list[_Choice], Claims]:
    cards = tuple(facet_card(facet) for facet in facets)
    limit = min(room(meter, prompts.load(name)) for name in (DECIDING, SHORTLISTING))
    for halving in range(_HALVINGS + 1):
        layout = pages.layout(cards, catalogue, meter, limit >> halving)

        def compare(visible: Collection[str], content: str, most: int = limit >> halving) -> Compared:
            left = most - meter.measure(content) - room_for_instructions(meter)
            return succession.compared(facets, findings, visible, meter, left)

        try:
            return await _through(cards, layout, asker, source, compare)
        except ModelError as error:
            if not too_long(error) or halving == _HALVINGS:
                raise
    raise AssertionError("the last try returns or raises")


def room_for_instructions(meter: Meter) -> int:
    """How much longer the instructions are that come with findings."""
    return room(meter, prompts.load(DECIDING)) - room(meter, prompts.load(COMPARING))


async def _through(
    facets: tuple[FacetCard, ...],
    layout: pages.Layout,
    asker: Asker,
    source: str | None,
    compare: Callable[[Collection[str], str], Compared],
) -> tuple[list[_Choice], Claims]:
    """Go through the catalogue page by page."""

    async def shortlisted(page: tuple[TopicCard, ...], carried: Candidates) -> Candidates:
        request = page_request(facets, page, carried, layout.detail, last=False)
        judge = _shortlist(_visible(page, carried), layout.detail.carried, len(facets))
        return await asker.ask(request, judge, source=source)

    carried: Candidates = tuple(() for _ in facets)
    for page in layout.pages[:-1]:
        carried = await shortlisted(page, carried)
    page = layout.pages[-1]
    visible = _visible(page, carried)
    compared = compare(visible, pages.content(facets, page, carried, layout.detail))
    if compared.crowded and (len(layout.pages) > 1 or len(page) > pages.MOST_CARRIED):
        # Topics fill the last page: what came close goes on to one more, where there is room for findings. Where all
        # of them would go on, it would be as full.
        carried, page = await shortlisted(page, carried), ()
        visible = _visible(page, carried)
        compared = compare(visible, pages.content(facets, page, carried, layout.detail))
    request = page_request(facets, page, carried, layout.detail, last=True, compared=compared)
    choices, said = await asker.ask(request, _decision(visible, len(facets)), source=source)
    decided = [
        _Choice(choice.topic_id, choice.draft, _close(choice, candidates), choice.reason)
        for choice, candidates in zip(choices, carried, strict=True)
    ]
    return decided, (compared, said)


def _visible(page: Sequence[TopicCard], carried: Candidates) -> Mapping[str, TopicCard]:
    return {card.topic_id: card for card in (*(card for cards in carried for card in cards), *page)}


def _shortlist(visible: Mapping[str, TopicCard], most: int, count: int) -> Callable[[object], Candidates]:
    """The validator of a page before the last: what is carried on."""

    def validate(reply: object) -> Candidates:
        items = _each_once(cast("Mapping[str, list[_Numbered]]", reply)["facets"], count)
        return tuple(tuple(visible[topic_id] for topic_id in _known(item, visible)[:most]) for item in items)

    return validate


def _decision(
    visible: Mapping[str, TopicCard], count: int
) -> Callable[[object], tuple[list[_Choice], Sequence[PairReply]]]:
    """The validator of the last page: a choice for each facet, and what it says of findings, which is checked later."""

    def validate(reply: object) -> tuple[list[_Choice], Sequence[PairReply]]:
        items = _each_once(cast("Mapping[str, list[_Decided]]", reply)["facets"], count)
        pairs = cast("Mapping[str, list[PairReply]]", reply).get("supersedes", [])
        return [_choice(number, item, visible, count) for number, item in enumerate(items)], pairs

    return validate


def _choice(number: int, item: _Decided, visible: Collection[str], count: int) -> _Choice:
    topic_id, draft = item["topic_id"], item["draft"]
    if topic_id is not None and topic_id not in visible:
        raise InvalidReply(f"facet {item['facet']}: topic_id is not one of those shown")
    if topic_id is not None and draft is not None:
        raise InvalidReply(f"facet {item['facet']}: give topic_id or draft, and null for the other")
    # Neither given is a new topic too, of its own.
    own = count + 1 + number
    return _Choice(topic_id, own if draft is None else draft, _known(item, visible), fold(item["reason"]))


def _each_once(items: Sequence[Item], count: int) -> list[Item]:
    """The items in the order of the facets."""
    by_number = {item["facet"]: item for item in items}
    if len(items) != count or set(by_number) != set(range(1, count + 1)):
        raise InvalidReply(f"facets must hold one item for each facet, numbered from 1 to {count}, each once")
    return [by_number[number] for number in range(1, count + 1)]


def _known(item: _Numbered | _Decided, visible: Collection[str]) -> tuple[str, ...]:
    for place, topic_id in enumerate(item["candidates"]):
        if topic_id not in visible:
            raise InvalidReply(f"facet {item['facet']}: candidates[{place}] is not one of the topic_ids shown")
    return tuple(dict.fromkeys(item["candidates"]))


def _close(choice: _Choice, carried: Sequence[TopicCard]) -> tuple[str, ...]:
    """What came close and was not chosen: the last page's candidates, then those that were carried to it."""
    ids = dict.fromkeys((*choice.candidates, *(card.topic_id for card in carried)))
    return tuple(topic_id for topic_id in ids if topic_id != choice.topic_id)


def _by_title(facets: Sequence[Facet]) -> list[_Choice]:
    """Without a catalogue: a new topic for each title."""
    numbers: dict[str, int] = {}
    return [
        _Choice(None, numbers.setdefault(fold(facet.title).casefold(), len(numbers) + 1), (), _NEW) for facet in facets
    ]


def _placement(facets: Sequence[Facet], choices: Sequence[_Choice], versions: Mapping[str, int]) -> Placement:
    groups: dict[int, list[Facet]] = {}
    for facet, choice in zip(facets, choices, strict=True):
        if choice.topic_id is None:
            groups.setdefault(choice.draft, []).append(facet)
    drafts = {number: place for place, number in enumerate(groups)}
    return Placement(
        placed=tuple(
            Placed(
                facet=number,
                topic_id=choice.topic_id,
                draft=drafts[choice.draft] if choice.topic_id is None else None,
                reason=choice.reason,
                candidates=choice.candidates,
            )
            for number, choice in enumerate(choices)
        ),
        drafts=tuple(_draft(group) for group in groups.values()),
        versions={choice.topic_id: versions[choice.topic_id] for choice in choices if choice.topic_id is not None},
    )


def _draft(facets: Sequence[Facet]) -> Draft:
    """A topic from the facets that share it: the first names it, the others add to it."""
    title, description = facets[0].title, facets[0].description
    for facet in facets[1:]:
        if facet.description not in description and len(description) + 1 + len(facet.description) <= MAX_DESCRIPTION:
            description += f" {facet.description}"
    names = [*(facet.title for facet in facets[1:]), *(alias for facet in facets for alias in facet.aliases)]
    aliases = {name.casefold(): name for name in reversed(names) if name.casefold() != title.casefold()}
    return Draft(title, description, tuple(reversed(aliases.values()))[:MAX_ALIASES])
