"""Analyses of parts to one analysis, without a new word.

Facets of all parts that share enough terms become one; of more than five the largest are kept, the rest goes where it
fits best if it fits at all. Only what the parts cite is cited, only what they say is said.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from recall.models.extractive.claims import telling
from recall.models.extractive.placement import groups
from recall.models.extractive.prose import said
from recall.models.extractive.scopes import FACETS, inverse, weigh
from recall.models.extractive.status import intent
from recall.models.extractive.terms import count
from recall.models.request import ReduceTask

Json = dict[str, object]
Item = TypeVar("Item")
EVIDENCE, FINDINGS, ALIASES = 12, 6, 12
TITLE, DESCRIPTION, SUMMARY = 100, 500, 1200
GAP = " … "
# Overlap from which on facets of two parts are one subject; and the least with which one is taken in for want of room.
_SAME = 0.16
_ROOM = 0.05
# What a description has to say for a part to be a subject beside others.
_LITTLE = 60


@dataclass(frozen=True, slots=True)
class _Card:
    title: str
    description: str
    aliases: tuple[str, ...]
    evidence: tuple[Json, ...]
    findings: tuple[Json, ...]

    @property
    def size(self) -> int:
        return len(self.evidence) + 2 * len(self.findings)


def reduce(task: ReduceTask) -> Json:
    """The joined analysis of several parts, in their order."""
    cards = [card for part in task.parts for card in _cards(part)]
    # A part of nothing but listings had to be called something; beside others it is no subject.
    cards = [card for card in cards if card.findings or _spoken(card.description) >= _LITTLE] or cards
    terms = [
        count([(c.title, 2.0), (c.description, 1.0), *((a, 1.0) for a in c.aliases), *_statements(c)]) for c in cards
    ]
    idf = inverse(terms, background=20.0)
    vectors = [weigh(one, idf) for one in terms]
    made = groups(vectors, _SAME) if cards else []
    least = _SAME
    while len(made) > FACETS and least > _ROOM:
        least -= 0.02
        made = groups(vectors, least)
    made.sort(key=lambda group: (-sum(cards[index].size for index in group), group[0]))
    kept = sorted(made[:FACETS])
    facets = [_join([cards[index] for index in group]) for group in kept]
    return {"summary": _summary(task.parts), "facets": facets}


def _spoken(description: str) -> int:
    """How much of a description is what somebody said, without announcements."""
    quotes = (quote for quote in description.split(GAP) if not intent(quote) and telling(quote))
    return sum(len(said(quote).strip()) for quote in quotes)


def _join(cards: Sequence[_Card]) -> Json:
    if len(cards) == 1:
        only = cards[0]
        return _json(only.title, only.description, only.aliases, only.evidence, only.findings)
    largest = max(cards, key=lambda card: card.size)
    ordered = [largest, *(card for card in cards if card is not largest)]
    return _json(
        _title([card.title for card in ordered]),
        _pack([card.description for card in ordered], DESCRIPTION) or largest.description,
        _turns([card.aliases for card in ordered], ALIASES),
        _in_order(_turns([card.evidence for card in cards], EVIDENCE), [card.evidence for card in cards]),
        _in_order(_turns([card.findings for card in cards], FINDINGS), [card.findings for card in cards]),
    )


def _json(
    title: str, description: str, aliases: Iterable[str], evidence: Iterable[Json], findings: Iterable[Json]
) -> Json:
    return {
        "title": title,
        "description": description,
        "aliases": list(aliases),
        "evidence": list(evidence),
        "findings": list(findings),
    }


def _title(titles: Sequence[str]) -> str:
    """The first terms of each title in turn, at most four; a title that is a quote stands alone or not at all."""
    termed = [title for title in titles if " · " in title]
    if " · " not in titles[0] or not termed:
        return titles[0][:TITLE]
    titles = termed
    parts = _turns([tuple(title.split(" · ")) for title in titles], 12)
    text = ""
    for part in parts:
        longer = f"{text} · {part}" if text else part
        if len(longer) <= TITLE and text.count(" · ") < 3:
            text = longer
    return text or titles[0][:TITLE]


def _turns(lists: Sequence[Sequence[Item]], limit: int) -> tuple[Item, ...]:
    """The first of each list, then the second of each, each thing once."""
    taken: list[Item] = []
    for turn in range(max((len(one) for one in lists), default=0)):
        for one in lists:
            if turn < len(one) and one[turn] not in taken and len(taken) < limit:
                taken.append(one[turn])
    return tuple(taken)


def _in_order(chosen: Sequence[Json], lists: Sequence[Sequence[Json]]) -> list[Json]:
    """The chosen citations in the order of the parts."""
    return [item for one in lists for item in one if item in chosen and not _before(item, lists, one)]


def _before(item: Json, lists: Sequence[Sequence[Json]], here: Sequence[Json]) -> bool:
    """Whether an earlier list has the same citation already."""
    for one in lists:
        if one is here:
            return False
        if item in one:
            return True
    return False


def _pack(quotes: Sequence[str], limit: int) -> str:
    """Whole quotes, the first of each text in turn, while they fit."""
    text = ""
    for quote in _turns([tuple(one.split(GAP)) for one in quotes], 24):
        longer = f"{text}{GAP}{quote}" if text else quote
        if len(longer) <= limit:
            text = longer
    return text


def _summary(parts: Sequence[Mapping[str, object]]) -> str:
    """The beginning of the first part, then of every part what fits, last part first in each turn."""
    texts = [str(part.get("summary", "")) for part in parts]
    texts = [text for text in texts if text.strip(" –")]
    if not texts:
        return "–"
    share = max(200, SUMMARY // len(texts) - len(GAP))
    if len(texts) * (share + len(GAP)) > SUMMARY:
        # More parts than have room: the first, then the last ones.
        room = SUMMARY // (share + len(GAP))
        texts = [texts[0], *texts[len(texts) - room + 1 :]]
    packed = [_pack([text], share) or text[:share].strip() for text in texts]
    return GAP.join(packed)[:SUMMARY].strip()


def _statements(card: _Card) -> list[tuple[str, float]]:
    return [(str(finding.get("statement", "")), 0.5) for finding in card.findings]


def _cards(part: Mapping[str, object]) -> list[_Card]:
    facets = part.get("facets")
    return [_card(facet) for facet in facets if isinstance(facet, Mapping)] if isinstance(facets, Sequence) else []


def _card(facet: Mapping[str, object]) -> _Card:
    return _Card(
        str(facet.get("title", "")),
        str(facet.get("description", "")),
        tuple(str(alias) for alias in _list(facet.get("aliases"))),
        tuple(dict(item) for item in _list(facet.get("evidence")) if isinstance(item, Mapping)),
        tuple(dict(item) for item in _list(facet.get("findings")) if isinstance(item, Mapping)),
    )


def _list(value: object) -> Sequence[object]:
    return value if isinstance(value, Sequence) and not isinstance(value, str) else ()
