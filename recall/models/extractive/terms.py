"""Text to terms and phrases.

A term has a key (folded as the text index folds, plural and verb endings cut) under which its forms are counted
together, and a surface, the form a reader sees. Identifiers, paths and codes count whole and in parts; Han, kana and
hangul count in pairs of characters for comparing, and in longer runs between particles for showing. Placeholders of
redacted secrets are never terms. Every table is walked in the order of first sight, so equal input gives equal output
in every process.
"""

from __future__ import annotations

import functools
import itertools
import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from recall import segment
from recall.models.extractive.words import DULL, STOP, STOP_HAN_CHARS, STOP_HAN_WORDS, SURE_HAN, SWEAR, WHOLE_HAN

HAN = r"\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\u3040-\u30ff\uac00-\ud7af\U00020000-\U0003ffff"
_TOKEN = re.compile(
    r"\[REDACTED:[^\]\n]{1,80}\]"
    r"|https?://\S{1,300}"
    rf"|[{HAN}]{{1,400}}"
    r"|(?:--?)?[^\W_" + HAN + r"][^\W" + HAN + r"]{0,80}(?:(?:[./:\\@+-]|::|'(?=[a-z]))[^\W" + HAN + r"]{1,80}){0,12}"
)
_HAN_RUN = re.compile(rf"[{HAN}]")
_PART = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+|[^\W\d_A-Za-z]+")
_HEXISH = re.compile(r"(?=.*\d)[0-9a-f]{6,}|[0-9a-f]{32,}|[0-9a-f-]{30,}", re.IGNORECASE)
# Characters that end a clause of place or time and begin many words.
_TRAILING = "时里中上下后前好完到出"
# Measure words: after a number, which breaks a run, they stay as a first character that belongs to nothing.
_MEASURES = "些条种份次件张部家边类间块位名篇段组套项步台根层层"
_BREAK_HAN = re.compile("|".join(sorted(map(re.escape, STOP_HAN_WORDS), key=lambda w: (-len(w), w))))


@dataclass(frozen=True, slots=True)
class Word:
    """What one token stands for. `weight` 0: breaks a phrase. `code`: looks like something typed, not said."""

    keys: tuple[str, ...]
    weight: float
    code: bool = False


@dataclass(slots=True)
class Bag:
    """Counts of one stretch of text: `terms` by key for comparing, `phrases` by key with the surface for showing.

    `runs` are the runs of Han in it, from which `repeats` finds words when a scope is complete.
    """

    terms: dict[str, float] = field(default_factory=dict)
    phrases: dict[str, float] = field(default_factory=dict)
    surfaces: dict[str, str] = field(default_factory=dict)
    runs: list[str] = field(default_factory=list)

    def add(self, other: Bag) -> None:
        for key, count in other.terms.items():
            self.terms[key] = self.terms.get(key, 0.0) + count
        for key, count in other.phrases.items():
            self.phrases[key] = self.phrases.get(key, 0.0) + count
        for key, surface in other.surfaces.items():
            self.surfaces.setdefault(key, surface)
        self.runs.extend(other.runs)


def composed(text: str) -> str:
    """The text with each letter and its accents as one character: apart, an accent would end a word."""
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def stem(word: str) -> str:
    """A rough stem of an English word: enough to count `deadlocks` and `deadlock` together, no more."""
    for ending, keep in (
        ("ations", 4), ("ation", 4), ("ies", 3), ("ings", 4), ("ing", 4), ("ied", 3), ("ers", 4), ("ed", 4), ("es", 4),
        ("er", 5), ("s", 3), ("e", 4),
    ):  # fmt: skip
        if word.endswith(ending) and len(word) - len(ending) >= keep and not word.endswith(("ss", "us", "is")):
            return word[: -len(ending)]
    return word


@functools.lru_cache(maxsize=65536)
def word(token: str) -> Word:
    """The keys of one token that is not Han, and how much it can say."""
    if token.startswith("[REDACTED:"):
        return Word((), 0.0)
    if token.startswith("http"):
        return Word((), 0.0)
    plain = segment.fold(token)
    folded = segment.lower(plain)
    if folded in STOP or folded in SWEAR or len(folded) < 2:
        return Word((), 0.0)
    if _HEXISH.fullmatch(folded):
        return Word((folded,), 0.4, code=True)
    parts = tuple(dict.fromkeys(p.casefold() for p in _PART.findall(plain)))
    if len(parts) <= 1 and folded.isalpha():
        return Word((stem(folded),), 0.25 if folded in DULL else 1.0)
    if folded.isdigit():
        return Word((folded,), 0.7 if len(folded) >= 4 else 0.0)
    if "-" in folded and all(part.isalpha() for part in folded.split("-")):  # lock-order, not an identifier
        keys = tuple(stem(p) for p in folded.split("-") if p not in STOP and len(p) > 1)
        return Word((folded, *keys), 1.0)
    if "'" in folded:
        base = folded.split("'")[0]
        return Word((), 0.0) if base in STOP else Word((stem(base),), 0.25 if base in DULL else 1.0)
    letters = any(c.isalpha() for c in folded)
    keys = tuple(stem(p) for p in parts if p not in STOP and len(p) > 1 and not p.isdigit())
    return Word(tuple(dict.fromkeys((folded, *keys))), 1.3 if letters and len(folded) >= 3 else 0.4, code=True)


@functools.lru_cache(maxsize=16384)
def han_pieces(run: str) -> tuple[str, ...]:
    """The pieces of a run of Han between particles: what a reader would take for words, mostly.

    Only pieces whose ends are sure are given: an end of the run, a word that breaks runs, or a character that is part
    of no word. The other stop characters begin and end many words, and a word cut in two is worse than none.
    """
    pieces: list[str] = []
    for part in _BREAK_HAN.sub(" ", run).split():
        whole = _inside(part)
        start, sure = 0, True
        for at, char in enumerate(part + "的"):
            if char not in STOP_HAN_CHARS or at in whole:
                continue
            if sure and (char in SURE_HAN or at == len(part)):
                piece = part[start:at].rstrip(_TRAILING)
                if len(piece) > 2:
                    piece = piece[piece[0] in _MEASURES :]
                if 2 <= len(piece) <= 8:
                    pieces.append(piece)
            start, sure = at + 1, char in SURE_HAN
    return tuple(pieces)


def _inside(part: str) -> frozenset[int]:
    """The places in a run whose stop character belongs to a whole word."""
    return frozenset(
        place
        for at in range(len(part) - 1)
        for size in (2, 3)
        if part[at : at + size] in WHOLE_HAN
        for place in range(at, at + size)
    )


@functools.lru_cache(maxsize=16384)
def han_keys(run: str) -> tuple[tuple[str, float], ...]:
    """The pairs of characters of a run of Han, with their weights. Kept, for each run is asked for twice."""
    keys: list[tuple[str, float]] = []
    for piece in _BREAK_HAN.sub(" ", run).split():
        for first, second in itertools.pairwise(piece):
            dull = (first in STOP_HAN_CHARS) + (second in STOP_HAN_CHARS)
            if dull < 2:
                keys.append((first + second, 0.3 if dull else 0.8))
    return tuple(keys)


def keys_of(text: str) -> Iterator[tuple[str, float]]:
    """The comparing keys of a text with their weights, in order."""
    for match in _TOKEN.finditer(composed(text)):
        token = match.group()
        if _HAN_RUN.match(token):
            yield from han_keys(token)
            continue
        found = word(token)
        if found.weight:
            for number, key in enumerate(found.keys):
                yield key, found.weight if number == 0 else found.weight * 0.6


def count(texts: Iterable[tuple[str, float]]) -> dict[str, float]:
    """Weighed keys of several texts, each text with a weight of its own."""
    terms: dict[str, float] = {}
    for text, weight in texts:
        for key, by in keys_of(text):
            terms[key] = terms.get(key, 0.0) + by * weight
    return terms


def _starts(text: str, at: int) -> bool:
    """Whether a sentence starts at this place."""
    before = text[max(0, at - 4) : at].rstrip(" \t*_`\"'(-#>")
    return not before or before[-1] in ".!?\n:]|。！？"


def bag(text: str, weight: float, phrases: bool) -> Bag:
    """All counts of one text. `phrases` only for prose: the lines of a tool result make none."""
    result = Bag()
    terms, shown, surfaces = result.terms, result.phrases, result.surfaces
    run: list[tuple[str, str]] = []
    end = -1

    def close() -> None:
        for size in (2, 3):
            for at in range(len(run) - size + 1):
                piece = run[at : at + size]
                key = " ".join(part[0] for part in piece)
                shown[key] = shown.get(key, 0.0) + weight
                if key not in surfaces:
                    surfaces[key] = " ".join(part[1] for part in piece)
        run.clear()

    text = composed(text)
    for match in _TOKEN.finditer(text):
        token = match.group()
        start = match.start()
        if _HAN_RUN.match(token):
            if run:
                close()
            for key, by in han_keys(token):
                terms[key] = terms.get(key, 0.0) + by * weight
            if phrases:
                result.runs.append(token)
                for piece in han_pieces(token):
                    shown[piece] = shown.get(piece, 0.0) + weight
                    surfaces.setdefault(piece, piece)
            continue
        found = word(token)
        if not found.weight:
            if run:
                close()
            continue
        for number, key in enumerate(found.keys):
            terms[key] = terms.get(key, 0.0) + weight * (found.weight if number == 0 else found.weight * 0.6)
        key = found.keys[0]
        surface = token.rstrip(".:-/")
        if surface[:1].isupper() and surface[1:].islower() and _starts(text, start):
            # A capital at the start of a sentence makes no name.
            surface = surface.lower()
        surfaces.setdefault(key, surface)
        if not phrases:
            continue
        shown[key] = shown.get(key, 0.0) + weight
        if run and text[end:start] != " ":
            close()
        if found.code and found.weight > 1:
            # An identifier stands by itself; a phrase around it would only repeat it.
            if run:
                close()
        else:
            run.append((key, surface))
        end = match.end()
    if run:
        close()
    return result
