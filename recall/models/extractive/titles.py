"""What a scope is called: its telling terms, as titles and aliases.

A phrase tells if it stands often here and seldom elsewhere in the conversation, if a person would type it
(identifiers, codes, names), and if it has no dull words. Phrases that repeat a better one are left out.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from recall.models.extractive.terms import Bag, word
from recall.models.extractive.words import DULL_HAN

TITLE = 100
ALIAS = 100
ALIASES = 12
# A title of running words is read as a whole; longer than this it is no title.
_PHRASE = TITLE
# What a sentence begins with and a title does not.
_OPENING = re.compile(
    r"(?:(?:ok|okay|alright|yes|yeah|no|so|and|but|then|hm+|well|also|please|wait|actually|now"
    r"|btw|by the way|好|好的|那)"
    r"(?:[,.，、…!]+ ?|(?<=ok) |(?<=alright) |(?<=hm) ))+",
    re.IGNORECASE,
)
_LOOKED_AT = 400
_KEPT = 160
_UNCONFIRMED = 0.35


@dataclass(frozen=True, slots=True)
class Phrase:
    """A phrase to show, the keys that it covers, and how much it tells."""

    text: str
    keys: tuple[str, ...]
    score: float


class Names:
    """The phrases of the scopes of one conversation.

    `idf` says how rare a term is in it, `whole` has the phrase counts of all of it. What a phrase weighs apart from
    its counts is kept: scopes share most of their phrases.
    """

    def __init__(self, idf: Mapping[str, float], whole: Mapping[str, float]) -> None:
        self._idf = idf
        self._whole = whole
        self._weights: dict[str, float] = {}

    def telling(self, counts: Bag, words: Mapping[str, int]) -> list[Phrase]:
        """The phrases of one scope, best first. `words` are its repeated Han words."""
        scored: list[Phrase] = []
        for key, count in _often(counts, words):
            surface = counts.surfaces.get(key, key)
            if not 2 <= len(surface) <= ALIAS:
                continue
            weight = self._weights.get(key)
            if weight is None:
                weight = self._weights[key] = _weight(key, tuple(key.split(" ")), surface, self._idf)
            share = min(1.0, count / self._whole.get(key, count))
            if weight > 0:
                scored.append(Phrase(surface, tuple(key.split(" ")), weight * count**0.6 * (0.6 + 0.4 * share)))
        scored.sort(key=lambda phrase: (-phrase.score, phrase.text))
        return scored[:_KEPT]


def _often(counts: Bag, words: Mapping[str, int]) -> list[tuple[str, float]]:
    """The phrases of a scope with their counts; of many those that stand there most."""
    # A run between particles that no repeated word confirms may be cut anywhere.
    often = [
        (key, count * _UNCONFIRMED if _is_han(key) else count)
        for key, count in counts.phrases.items()
        if key not in words
    ]
    often.extend((key, float(count)) for key, count in words.items())
    return often if len(often) <= _LOOKED_AT else sorted(often, key=lambda pair: -pair[1])[:_LOOKED_AT]


def distinct(phrases: Sequence[Phrase], limit: int) -> list[Phrase]:
    """The best phrases that do not repeat each other."""
    chosen: list[Phrase] = []
    covered: set[str] = set()
    for phrase in phrases:
        if len(chosen) >= limit:
            break
        new = [key for key in phrase.keys if key not in covered]
        if len(new) * 2 <= len(phrase.keys) or any(_holds(other.text, phrase.text) for other in chosen):
            continue
        chosen.append(phrase)
        covered.update(phrase.keys)
    return chosen


def title(phrases: Sequence[Phrase], parts: int = 4) -> str:
    """A title of the best phrases: what there is, joined by dots, at most `TITLE` long."""
    text = ""
    for phrase in distinct(phrases, parts + 2):
        longer = f"{text} · {phrase.text}" if text else phrase.text
        if len(longer) > TITLE:
            continue
        text = longer
        if text.count(" · ") + 1 >= parts:
            break
    return text


def strong(phrases: Sequence[Phrase], parts: int = 4) -> bool:
    """Whether the terms of a title name something: identifiers, names, several words, Han; not everyday words alone."""
    naming = [_names(phrase.text) for phrase in distinct(phrases, parts)]
    return sum(naming) >= 0.5 * len(naming) and naming.count(0.0) <= 1


def phrase(sentence: str) -> str:
    """A sentence as a title: the whole of it, or its beginning up to a border of clauses; empty if that is nothing."""
    folded = " ".join(sentence.split())
    folded = folded[opening.end() :] if (opening := _OPENING.match(folded)) else folded
    if len(folded) > _PHRASE:
        at = max(folded.rfind(mark, 24, _PHRASE) for mark in (", ", "; ", ": ", ". ", "，", "；", "。", " ("))
        if at < 0:
            at = folded.rfind(" ", 24, _PHRASE)
        folded = folded[: at if at > 0 else _PHRASE]
    return folded.strip(" .,;:，。；：*_")


def _names(text: str) -> float:
    """How much a term is a name: 1 for identifiers, names and Han, less for two everyday words, 0 for one."""
    if not text.isascii() or any(mark in text for mark in "._/-:0123456789") or any(c.isupper() for c in text):
        return 1.0
    return 0.5 if " " in text else 0.0


def _holds(one: str, other: str) -> bool:
    one, other = one.casefold(), other.casefold()
    return one in other or other in one


def _is_han(text: str) -> bool:
    return not text[0].isascii() and " " not in text and not text.isascii()


def _weight(key: str, keys: tuple[str, ...], surface: str, idf: Mapping[str, float]) -> float:
    if _is_han(surface):
        pairs = [math.sqrt(idf.get(surface[i : i + 2], 0.0)) for i in range(len(surface) - 1)]
        # Longer runs of Han are more often a whole word, up to where they are a clause.
        dull = 0.35 if surface in DULL_HAN else 1.0
        return dull * sum(pairs) / max(1, len(pairs)) * (0.9, 1.2, 1.3, 1.1, 1.0, 0.6, 0.5)[min(len(surface), 8) - 2]
    weights = [word(part).weight * math.sqrt(idf.get(part, 0.0)) for part in keys]
    mean = sum(weights) / len(weights)
    if len(keys) > 1:
        # Two words say more than one; a dull neighbour adds nothing.
        return mean * (1.45 if min(weights) > 0.5 * max(weights) else 0.8)
    if weights and max(word(part).weight for part in keys) < 0.5:
        return mean * 0.3
    if key.isdigit() or len(surface) > 48:
        return mean * 0.5
    shape = 1.25 if surface[:1].isupper() and surface[1:2].isalpha() else 1.0
    return mean * shape * (0.6 if len(surface) <= 3 and surface.islower() else 1.0)
