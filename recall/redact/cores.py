"""Anchors by the longest word in them, and the anchors that a word can be a part of."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import NamedTuple

_LETTERS = "etaoinsrhldcumfpgwybvkxjqz"
_PART = re.compile(r"[A-Za-z0-9]+")
_WORD = re.compile(r"[A-Za-z0-9_\-]+")


class _Core(NamedTuple):
    """The part of an anchor that is in a word, where in the anchor, and whether the word has to begin or end with it."""

    anchor: str
    at: int
    begins: bool
    ends: bool


def _often(branch: tuple[str, set[str]]) -> tuple[int, str]:
    """Letters in the order in which texts have them: the branch that fits is found soon."""
    return (_LETTERS.find(branch[0].lower()) % 99, branch[0])


def trie(words: Iterable[str]) -> str:
    """One pattern for many literals that looks at each character once; the longest literal wins."""
    branches: dict[str, set[str]] = defaultdict(set)
    ends = False
    for word in words:
        if word:
            branches[word[0]].add(word[1:])
        else:
            ends = True
    parts = [re.escape(first) + trie(rest) for first, rest in sorted(branches.items(), key=_often)]
    if not parts:
        return ""
    body = parts[0] if len(parts) == 1 and not ends else f"(?:{'|'.join(parts)})"
    return f"{body}?" if ends and len(parts) > 0 and body.startswith("(?:") else body


class Cores:
    """The cores of many anchors, and which of the anchors a word can have in it."""

    def __init__(self, anchors: Iterable[str], shortest: int, common: frozenset[str] = frozenset()) -> None:
        """``common``: words that stand in every text; another word of an anchor, or a sign, is sought instead."""
        by_core: dict[str, list[_Core]] = defaultdict(list)
        self.bare: list[str] = []  # anchors without a word that is long and rare enough: sought in the whole text
        for anchor in anchors:
            runs = [run for run in _WORD.finditer(anchor) if run.group() not in common]
            run = max(runs, key=lambda found: len(found.group()), default=None)
            if run is None or len(run.group()) < shortest:
                self.bare.append(anchor)
                continue
            core = _Core(anchor, run.start(), run.start() > 0, run.end() < len(anchor))
            by_core[run.group()].append(core)
        self._ends = frozenset(core for core, held in by_core.items() if all(item.ends for item in held))
        self._free = frozenset(by_core) - self._ends
        self._pattern = re.compile(trie(by_core))
        self._by_hit = {
            hit: tuple((len(core), held) for core, held in by_core.items() if hit.startswith(core)) for hit in by_core
        }

    @staticmethod
    def in_lines(*of_all: "Cores") -> str:
        """A pattern that finds, in words one to a line, those that have a core, at their ends where it has to be there."""
        free = trie({core for cores in of_all for core in cores._free})
        ends = trie({core for cores in of_all for core in cores._ends})
        return "|".join(part for part in (free, f"(?:{ends})(?=\n|\\Z)" if ends else "") if part)

    def of(self, word: str, low: int) -> Iterator[tuple[int, str]]:
        """The anchors that the word can be a part of from an offset on, and where each begins as seen from the word."""
        hit = self._pattern.search(word, low)
        while hit is not None:
            yield from self._at(word, hit.start(), hit.group())
            hit = self._pattern.search(word, hit.start() + 1)

    def of_parts(self, word: str) -> Iterator[tuple[int, str]]:
        """The same for anchors that count only where no letter or digit stands before them."""
        for part in _PART.finditer(word):
            hit = self._pattern.match(word, part.start())
            if hit is not None:
                yield from self._at(word, hit.start(), hit.group())

    def _at(self, word: str, start: int, hit: str) -> Iterator[tuple[int, str]]:
        for length, cores in self._by_hit[hit]:
            for core in cores:
                if not (core.begins and start) and not (core.ends and start + length < len(word)):
                    yield start - core.at, core.anchor
