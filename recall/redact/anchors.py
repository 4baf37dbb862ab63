"""Where the anchors of the rules stand in a text.

Conversations repeat their words, and hardly any of them has an anchor in it. So a text is cut into words, the words that
are known to be harmless are taken away as a set, and only for what is left each anchor that could be there is sought by
itself. What a word says is found out once, by two patterns made of all anchors, and remembered.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import NamedTuple

_LETTERS = "etaoinsrhldcumfpgwybvkxjqz"
_PART = re.compile(r"[A-Za-z0-9]+")
_WORD = re.compile(r"[A-Za-z0-9_\-]+")
CHUNK = 2048  # few enough words that an anchor which one of them calls for is sought in a short stretch
OVERLAP = 64  # more than the longest anchor: the word that calls for an anchor at the end of a chunk is whole in it
LONG = 20  # runs of this length with a dot behind them, and
LONGER = 49  # of this length, are told of, for rules that have no anchor
_LONGEST_KEPT = 80  # longer words hardly ever come twice; a line of encoded data is read again after a replacement
_MOST_KEPT = 60_000


class Hits(NamedTuple):
    """Places and anchors, in order of the place and the longest at each; where long runs begin; which words are there."""

    starts: list[tuple[int, str]]
    sought: list[tuple[int, str]]
    long: list[int]
    words: set[str]


class _Calls(NamedTuple):
    """What a word calls for."""

    starts: tuple[str, ...]
    sought: tuple[str, ...]
    words: tuple[str, ...]


class _Core(NamedTuple):
    """The part of an anchor that is in a word, and whether the word has to begin or to end with it."""

    anchor: str
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


class _Cores:
    """The cores of many anchors, and which of the anchors a word can have in it."""

    def __init__(self, anchors: Iterable[str], shortest: int) -> None:
        by_core: dict[str, list[_Core]] = defaultdict(list)
        self.bare: list[str] = []  # anchors with less than that: they are sought in the whole text
        for anchor in anchors:
            runs = list(_WORD.finditer(anchor))
            if not runs:
                self.bare.append(anchor)
                continue
            run = max(runs, key=lambda found: len(found.group()))
            if len(run.group()) < shortest:
                self.bare.append(anchor)
                continue
            core = _Core(anchor, run.start() > 0, run.end() < len(anchor))
            by_core[run.group()].append(core)
        self._pattern = re.compile(trie(by_core))
        self._by_hit = {
            hit: tuple((len(core), held) for core, held in by_core.items() if hit.startswith(core)) for hit in by_core
        }

    def of(self, word: str) -> Iterator[str]:
        """The anchors that the word can be a part of."""
        hit = self._pattern.search(word)
        while hit is not None:
            yield from self._at(word, hit.start(), hit.group())
            hit = self._pattern.search(word, hit.start() + 1)

    def of_parts(self, word: str) -> Iterator[str]:
        """The same for anchors that count only where no letter or digit stands before them."""
        for part in _PART.finditer(word):
            hit = self._pattern.match(word, part.start())
            if hit is not None:
                yield from self._at(word, hit.start(), hit.group())

    def _at(self, word: str, start: int, hit: str) -> Iterator[str]:
        for length, cores in self._by_hit[hit]:
            for core in cores:
                if not (core.begins and start) and not (core.ends and start + length < len(word)):
                    yield core.anchor


class Anchors:
    """``starts`` count where no letter or digit stands before them; ``sought`` are in lower case and count anywhere.

    Of ``words``, plain and in lower case, it is only told whether the text has them.
    """

    def __init__(self, starts: Iterable[str], sought: Iterable[str], words: Iterable[str]) -> None:
        self._starts = _Cores(starts, 1)
        self._sought = _Cores(sought, 2)
        self._words = _Cores(words, 1)
        self._bare = _by_sign(anchor for anchor in self._sought.bare if anchor.isascii())
        self._wide = tuple(anchor for anchor in self._sought.bare if not anchor.isascii())
        if self._starts.bare:
            raise ValueError(f"no letter and no digit: {self._starts.bare}")
        self._harmless: set[str] = set()
        self._calling: dict[str, _Calls] = {}

    def find(self, text: str, lower: str) -> Hits:
        hits = Hits([], [], [], set())
        bare = [anchor for sign, anchors in self._bare if sign in lower for anchor in anchors if anchor in lower]
        words_of = text
        if not text.isascii():
            bare += (anchor for anchor in self._wide if anchor in lower)
            # two letters beyond ASCII become a letter of an anchor when lowered
            words_of = text.replace("\u212a", "k").replace("\u0130", "i")
        for low in range(0, len(text), CHUNK):
            high = low + CHUNK
            rest = set(_WORD.findall(words_of, low, high + OVERLAP)) - self._harmless
            if words_of is not text and words_of != text:
                # for what counts as it stands, such a letter is no part of a word
                rest |= set(_WORD.findall(text, low, high + OVERLAP)) - self._harmless
            if rest or bare:
                self._in_chunk(text, lower, low, high, rest, bare, hits)
        return hits

    def _in_chunk(
        self, text: str, lower: str, low: int, high: int, words: set[str], bare: list[str], hits: Hits
    ) -> None:
        starts: set[str] = set()
        sought: set[str] = set(bare)
        long: list[str] = []
        for word in words:
            calls = self._calling.get(word) or self._told(word)
            starts.update(calls.starts)
            sought.update(calls.sought)
            if calls.words:
                hits.words.update(calls.words)
            if len(word) >= LONG:
                long.append(word)
        if starts:
            done = hits.starts[-1][0] + len(hits.starts[-1][1]) if hits.starts else 0
            for at, anchor in _places(text, low, high, starts):
                if at >= done and not (at and text[at - 1].isascii() and text[at - 1].isalnum()):
                    done = at + len(anchor)
                    hits.starts.append((at, anchor))
        if sought:
            hits.sought.extend(_places(lower, low, high, sought))
        if long:
            hits.long.extend(sorted(set(_runs(text, low, high, long))))

    def _told(self, word: str) -> _Calls:
        """What the word calls for; kept for the next time, as harmless where it is nothing."""
        lower = word.lower()
        calls = _Calls(
            tuple(set(self._starts.of_parts(word))),
            tuple(set(self._sought.of(lower))),
            tuple(set(self._words.of(lower))),
        )
        if len(word) <= _LONGEST_KEPT:
            if len(self._harmless) + len(self._calling) >= _MOST_KEPT:
                self._harmless = set()
                self._calling = {}
            if any(calls) or len(word) >= LONG:
                self._calling[word] = calls
            else:
                self._harmless.add(word)
        return calls


def _by_sign(anchors: Iterable[str]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """The anchors by a sign that is in them and rare: to seek one character costs next to nothing."""
    signs: dict[str, list[str]] = defaultdict(list)
    for anchor in anchors:
        signs[next((sign for sign in "~$*\\<" if sign in anchor), anchor)].append(anchor)
    return tuple((sign, tuple(held)) for sign, held in signs.items())


def _runs(text: str, low: int, high: int, words: list[str]) -> Iterator[int]:
    """Where long runs begin between two offsets. A word that the chunk cut off at its end is longer than ``LONGER``."""
    for word in words:
        run = word if len(word) >= LONGER else word + "."
        stop = high + len(run) - 1
        at = text.find(run, low, stop)
        while at >= 0:
            if at == 0 or _WORD.match(text, at - 1, at) is None:
                yield at
            at = text.find(run, at + len(word), stop)


def _places(text: str, low: int, high: int, anchors: set[str]) -> list[tuple[int, str]]:
    """Where the anchors begin between two offsets, in order; of several at one place the longest."""
    best: dict[int, str] = {}
    for anchor in anchors:
        stop = high + len(anchor) - 1
        at = text.find(anchor, low, stop)
        while at >= 0:
            if len(best.get(at, "")) < len(anchor):
                best[at] = anchor
            at = text.find(anchor, at + 1, stop)
    return sorted(best.items())
