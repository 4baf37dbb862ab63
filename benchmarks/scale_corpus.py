"""An invented history of any size: conversations of entries, seeded, with Zipf's law for words and mixed scripts.

Seven entries in ten are made of English-like words, two of Chinese words, one of identifiers, paths and codes among
words. No word is a stop word, so the most frequent ones stand in most entries and each of them is really searched
for: harder on an index than a natural text, where those are words that a query leaves out.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from recall.types import Role

SEED = 20
ENTRIES = 100  # of a conversation
_WORDS, _HAN_WORDS, _HAN = 60_000, 30_000, 2_500
_ZIPF = 1.05  # a little steeper than natural text
_SHORTEST, _LONGEST = 8, 72  # words of an entry; the mean is about 30
_START = 1_700_000_000_000
_MINUTE = 60_000
_ONSETS = "b bl br c ch cl cr d dr f fl g gl gr h j k l m n p ph pl pr qu r s sc sh sl sp st t th tr v w z".split()
_VOWELS = "a e i o u ai ea ee io oa ou".split()
_CODAS = ["", "", "", "n", "r", "l", "m", "t", "ck", "nd", "st", "x"]
_ROLES: tuple[Role, ...] = ("user", "assistant", "tool", "assistant")


@dataclass(frozen=True, slots=True)
class Turn:
    """One entry to be."""

    role: Role
    at: int
    text: str


@dataclass(frozen=True, slots=True)
class Talk:
    """One conversation to be."""

    name: str
    title: str
    turns: tuple[Turn, ...]


class _Drawn:
    """Words drawn by Zipf's law, many at a time: one draw costs more than the word."""

    def __init__(self, chance: random.Random, words: Sequence[str]) -> None:
        self._chance = chance
        self._words = words
        self._weights = list(itertools.accumulate(1 / rank**_ZIPF for rank in range(1, len(words) + 1)))
        self._ready: list[str] = []

    def take(self, number: int) -> list[str]:
        if len(self._ready) < number:
            self._ready += self._chance.choices(self._words, cum_weights=self._weights, k=1 << 14)
        taken, self._ready = self._ready[-number:], self._ready[:-number]
        return taken


def talks(entries: int, seed: int = SEED) -> Iterator[Talk]:
    """Conversations with so many entries in all, oldest first."""
    chance = random.Random(seed)
    english, chinese = _Drawn(chance, _english(chance)), _Drawn(chance, _chinese(chance))
    for number, first in enumerate(range(0, entries, ENTRIES)):
        start = _START + number * 30 * _MINUTE
        turns = tuple(
            Turn(_ROLES[place % len(_ROLES)], start + place * _MINUTE, _text(chance, english, chinese))
            for place in range(min(ENTRIES, entries - first))
        )
        yield Talk(f"talk-{number}", " ".join(english.take(4)), turns)


def _english(chance: random.Random) -> list[str]:
    made: dict[str, None] = {}
    while len(made) < _WORDS:
        syllables = 1 + (len(made) > 300) + (len(made) > 15_000)
        parts = [chance.choice(_ONSETS) + chance.choice(_VOWELS) + chance.choice(_CODAS) for _ in range(syllables)]
        word = "".join(parts)
        if len(word) > 3:
            made[word] = None
    return list(made)


def _chinese(chance: random.Random) -> list[str]:
    signs = [chr(0x4E00 + place * 8) for place in range(_HAN)]
    weights = list(itertools.accumulate(1 / (rank + 20) for rank in range(_HAN)))
    made: dict[str, None] = {}
    while len(made) < _HAN_WORDS:
        made["".join(chance.choices(signs, cum_weights=weights, k=2))] = None
    return list(made)


def _text(chance: random.Random, english: _Drawn, chinese: _Drawn) -> str:
    length = round(chance.triangular(_SHORTEST, _LONGEST, _SHORTEST + 4))
    script = chance.random()
    if script < 0.7:
        return _sentences(english.take(length))
    if script < 0.9:
        words = chinese.take(length)
        return "，".join("".join(words[at : at + 7]) for at in range(0, length, 7)) + "。"
    return " ".join(
        _identifier(chance, english) if chance.random() < 0.3 else word for word in english.take(length // 2)
    )


def _sentences(words: Sequence[str]) -> str:
    return ". ".join(" ".join(words[at : at + 12]).capitalize() for at in range(0, len(words), 12)) + "."


def _identifier(chance: random.Random, english: _Drawn) -> str:
    first, second, third = english.take(3)
    match chance.randrange(5):
        case 0:
            return f"{first}_{second}_{third}"
        case 1:
            return f"{first}{second.capitalize()}{third.capitalize()}()"
        case 2:
            return f"src/{first}/{second}_{third}.py:{chance.randrange(900)}"
        case 3:
            return f"{first[:2].upper()}{chance.randrange(10_000):04d}"
        case _:
            return f"--{first}-{second}={chance.randrange(1 << 28):07x}"
