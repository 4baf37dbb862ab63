"""Where the anchors of the rules stand in a text.

Conversations repeat their words, and hardly any of them has an anchor in it. So a text is cut into words, and only where
one stands that calls for an anchor it is looked whether the anchor is there. What a word says is found out once, for all
new words of a text together, and remembered.

All of this reads the text as bytes, one for each character, because words are cut from bytes several times faster than
from a string; a character beyond ASCII is a question mark there, which is in no word.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import compress
from typing import NamedTuple

from .cores import Cores

_IN_WORDS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"
_ONLY_WORDS = bytes(point if point in _IN_WORDS else 32 for point in range(256))
LONG = 20  # runs of this length with a dot behind them, and
LONGER = 49  # of this length, are told of, for rules that have no anchor; words so long hardly ever come twice
_DOTTED = re.compile(rb"\.(?<=[A-Za-z0-9_\-]{%d}\.)" % LONG)
_MOST_KEPT = 60_000
_EACH_SOUGHT = 4000  # in a text of this length an anchor is sought faster than the place of the word that calls for it
# A long run of random letters and digits: names have no place inside of it, only at its end.
DATA = re.compile(
    rf"(?=[A-Za-z]*[0-9][A-Za-z]*[0-9][A-Za-z]*[0-9])(?=[^a-z]*[a-z])(?=[^A-Z]*[A-Z])[A-Za-z0-9]{{{LONGER},}}"
)
_END_OF_DATA = 40
# Words of anchors that stand in every text: what stands beside them there is rarer.
_COMMON = frozenset("in with get user create output sha".split())
_SIGNS = "~$*\\<[{"


class Hits(NamedTuple):
    """Places and anchors, in order of the place and the longest at each; where long runs begin; which words are there."""

    starts: list[tuple[int, str]]
    sought: list[tuple[int, str]]
    long: list[int]
    words: set[str]


class _Calls(NamedTuple):
    """What a word calls for: anchors, each with its place as seen from the beginning of the word; and plain words."""

    starts: tuple[tuple[int, bytes], ...]
    sought: tuple[tuple[int, bytes], ...]
    words: tuple[str, ...]


_NOTHING = _Calls((), (), ())


class Anchors:
    """``starts`` count where no letter or digit stands before them; ``sought`` are in lower case and count anywhere.

    With each of ``starts`` goes how many characters of a word stand at least behind it where it is of any use; 0 where
    it is not itself a part of a word.

    Of ``words``, plain and in lower case, it is only told whether the text has them. ``inner`` are those of ``sought``
    that are looked for inside of data as well, as they are written.
    """

    def __init__(
        self,
        starts: Mapping[str, int],
        sought: Iterable[str],
        words: Iterable[str],
        inner: Iterable[str] = (),
    ) -> None:
        self._starts = Cores(starts, 1)
        self._least = dict(starts)
        wanted = frozenset(sought)
        self._sought = Cores(wanted, 2, _COMMON - wanted)
        self._words = Cores(words, 1)
        self._bare = _by_sign(anchor for anchor in self._sought.bare if anchor.isascii())
        self._wide = tuple(anchor for anchor in self._sought.bare if not anchor.isascii())
        self.signs = tuple(sign.decode() for sign, _, _ in self._bare)
        self.wide = self._wide
        if self._starts.bare:
            raise ValueError(f"no letter and no digit: {self._starts.bare}")
        # one of these is in every word that calls for something; of the first behind a sign or a line end
        self._begins = re.compile(rf"[\n_\-](?:{Cores.in_lines(self._starts)})")
        self._in_lower = re.compile(Cores.in_lines(self._sought, self._words))
        self._inner = re.compile("|".join(map(re.escape, inner)) or "(?!)")
        self._harmless: set[bytes] = set()
        self._calling: dict[bytes, _Calls] = {}

    def in_words(self, plain: bytes, low_plain: bytes) -> bool:
        """Whether a word calls for an anchor that is in the text, if only by its letters, or for anything else."""
        words = plain.translate(_ONLY_WORDS).split()
        if not self._harmless.issuperset(words):
            for word, calls in self._told_of(words).items():
                if _is_called(word, calls, plain, low_plain):
                    return True
        return b"." in plain and _DOTTED.search(plain) is not None

    def find(self, text: str, lower: str) -> Hits:
        plain = text.encode("ascii", "replace")
        # two letters beyond ASCII become a letter of an anchor when lowered: then there are other words as well
        changes = not text.isascii() and ("\u212a" in text or "\u0130" in text)
        low_plain = lower.encode("ascii", "replace") if changes else plain.lower()
        hits = Hits([], [], [], set())
        starts: dict[int, bytes] = {}
        sought: dict[int, bytes] = {}
        spaced = plain.translate(_ONLY_WORDS)
        self._by_words(spaced, plain, low_plain, hits, starts, sought)
        if not text.isascii():
            if changes:
                folded = text.replace("\u212a", "k").replace("\u0130", "i").encode("ascii", "replace")
                self._by_words(folded.translate(_ONLY_WORDS), plain, low_plain, hits, starts, sought)
            for wide in self._wide:
                if wide[0] in lower:
                    for found in re.finditer(wide, lower):
                        _put(wide.encode(), found.start(), sought)
        for sign, pattern, anchors in self._bare:
            if sign in low_plain:
                for hit in pattern.finditer(low_plain):
                    for back, anchor in anchors:
                        at = hit.start() - back
                        if at >= 0 and low_plain.startswith(anchor, at):
                            _put(anchor, at, sought)
        if sought:
            hits.sought.extend((at, sought[at].decode()) for at in sorted(sought))
        if starts:
            hits.starts.extend(_apart(plain, starts))
        if hits.long or b"." in plain:
            hits.long[:] = sorted({*hits.long, *_dotted(plain, spaced)})
        return hits

    def _by_words(
        self,
        spaced: bytes,
        plain: bytes,
        low_plain: bytes,
        hits: Hits,
        starts: dict[int, bytes],
        sought: dict[int, bytes],
    ) -> None:
        words = spaced.split()
        calls_of = self._told_of(words)
        if not calls_of:
            return
        if len(plain) <= _EACH_SOUGHT and max(map(len, calls_of)) < LONGER:
            calls_of = _by_letters(calls_of, plain, low_plain, hits, sought)
            if not calls_of:
                return
        padded = b" %b " % spaced
        end = 0
        for word in compress(words, map(calls_of.__contains__, words)):
            place = padded.find(b" %b " % word, end)
            end = place + len(word)
            if len(word) >= LONGER:
                hits.long.append(place)
            calls = calls_of[word]
            for shift, anchor in calls.starts:
                if plain.startswith(anchor, place + shift) and place + shift >= 0:
                    _put(anchor, place + shift, starts)
            for shift, anchor in calls.sought:
                if low_plain.startswith(anchor, place + shift) and place + shift >= 0:
                    _put(anchor, place + shift, sought)
            if calls.words:
                hits.words.update(calls.words)

    def _told_of(self, words: list[bytes]) -> dict[bytes, _Calls]:
        """The words of this text that call for something, and all long ones; what is new is kept for the next time."""
        if len(self._harmless) + len(self._calling) >= _MOST_KEPT:
            self._harmless, self._calling = set(), {}
        unknown = set(words) - self._harmless
        told = {word: self._calling[word] for word in unknown if word in self._calling}
        unknown.difference_update(told)
        if unknown:
            fresh = self._read(unknown)
            told.update(fresh)
            self._calling.update((word, calls) for word, calls in fresh.items() if len(word) < LONGER)
            self._harmless.update(unknown.difference(fresh))
        return told

    def _read(self, words: set[bytes]) -> dict[bytes, _Calls]:
        """What new words call for, where it is anything; long ones are in the answer in any case."""
        lines = b"\n".join(words).decode("ascii")
        told = {word: _NOTHING for word in words if len(word) >= LONGER}
        data = {word.decode() for word in told if DATA.fullmatch(word.decode()) is not None}
        begins = _words_with(self._begins, "\n" + lines)
        within = {word for word in data if self._inner.search(word) or self._in_lower.match(word.lower())}
        ends: set[str] = set()
        if data:
            tails = "\n".join({word[-_END_OF_DATA:] for word in data})
            said = _words_with(self._in_lower, tails, tails.lower())
            ends = {word for word in data if word[-_END_OF_DATA:] in said}
            lines = "\n".join(word for word in lines.split("\n") if word not in data)
        within |= _words_with(self._in_lower, lines, lines.lower())
        for word in begins | within | ends:
            calls = self._told(word, word in begins, 0 if word in within else len(word) - _END_OF_DATA * (word in ends))
            if any(calls):
                told[word.encode()] = calls
        return told

    def _told(self, word: str, begins: bool, low: int) -> _Calls:
        """What a word calls for; ``low`` is where it begins to be read for what may stand anywhere in it."""
        lower = word.lower()
        return _Calls(
            tuple({(shift, anchor.encode()) for shift, anchor in self._starting(word)}) if begins else (),
            tuple({(shift, anchor.encode()) for shift, anchor in self._sought.of(lower, low)}),
            tuple({anchor for _, anchor in self._words.of(lower, low)}),
        )

    def _starting(self, word: str) -> Iterator[tuple[int, str]]:
        for shift, anchor in self._starts.of_parts(word):
            least = self._least[anchor]
            if not least or len(word) - shift - len(anchor) >= least:
                yield shift, anchor


def _is_called(word: bytes, calls: _Calls, plain: bytes, low_plain: bytes) -> bool:
    """Whether anything that the word calls for is in the text, be it only by its letters."""
    if calls.words or len(word) >= LONGER:
        return True
    for _, anchor in calls.sought:
        if anchor in low_plain:
            return True
    return bool(calls.starts) and any(anchor in plain for _, anchor in calls.starts)


def _by_letters(
    calls_of: dict[bytes, _Calls], plain: bytes, low_plain: bytes, hits: Hits, sought: dict[int, bytes]
) -> dict[bytes, _Calls]:
    """Put down what counts anywhere, and give back the words whose starts have to be looked at where they stand."""
    starting: dict[bytes, _Calls] = {}
    for word, calls in calls_of.items():
        for _, anchor in calls.sought:
            at = low_plain.find(anchor)
            while at >= 0:
                _put(anchor, at, sought)
                at = low_plain.find(anchor, at + 1)
        if calls.words:
            hits.words.update(calls.words)
        for _, anchor in calls.starts:
            if anchor in plain:
                starting[word] = calls
    return starting


def _words_with(pattern: re.Pattern[str], lines: str, sought_in: str = "") -> set[str]:
    """The words, one to a line, in which the pattern finds something, or in the same place of another text."""
    hay = sought_in or lines
    found: set[str] = set()
    hit = pattern.search(hay)
    while hit is not None:
        start = hay.rfind("\n", 0, hit.start() + 1) + 1
        end = hay.find("\n", hit.end())
        end = len(hay) if end < 0 else end
        found.add(lines[start:end])
        hit = pattern.search(hay, end)
    return found


def _by_sign(
    anchors: Iterable[str],
) -> tuple[tuple[bytes, re.Pattern[bytes], tuple[tuple[int, bytes], ...]], ...]:
    """The anchors by a sign that is in them and rare: to seek one character costs next to nothing.

    With each sign its anchors, how far the sign is from the beginning of each, and a pattern that begins with the sign.
    """
    signs: dict[str, list[tuple[int, str]]] = defaultdict(list)
    for anchor in anchors:
        sign = next((sign for sign in _SIGNS if sign in anchor), anchor)
        signs[sign].append((anchor.index(sign), anchor))
    return tuple(
        (
            sign.encode(),
            re.compile(_around_sign(sign, held).encode()),
            tuple((back, anchor.encode()) for back, anchor in held),
        )
        for sign, held in signs.items()
    )


def _around_sign(sign: str, held: list[tuple[int, str]]) -> str:
    """The sign first, so that it is found fast; then, without moving on, what has to stand before and behind it."""
    if len(sign) > 1:
        return re.escape(sign)
    each = (f"(?<={re.escape(anchor[: back + 1])})(?={re.escape(anchor[back + 1 :])})" for back, anchor in held)
    return f"{re.escape(sign)}(?:{'|'.join(each)})"


def _dotted(plain: bytes, spaced: bytes) -> Iterator[int]:
    """Where runs begin that have a dot behind them, as far as they are shorter than those told of anyway."""
    for dot in _DOTTED.finditer(plain):
        low = max(0, dot.start() - LONGER)
        start = spaced.rfind(b" ", low, dot.start()) + 1
        if start or low == 0:
            yield start


def _put(anchor: bytes, at: int, best: dict[int, bytes]) -> None:
    """Put down where the anchor stands; of several at one place the longest."""
    if len(best.get(at, b"")) < len(anchor):
        best[at] = anchor


def _apart(plain: bytes, starts: dict[int, bytes]) -> Iterator[tuple[int, str]]:
    """Those without a letter or digit before them, and none inside of the one before."""
    done = 0
    for at in sorted(starts):
        if at >= done and not plain[at - 1 : at].isalnum():
            done = at + len(starts[at])
            yield at, starts[at].decode()
