"""English endings off, so that `configured` finds `configures`. Frozen with the segmenter (SEGMENT_VERSION).

Light on purpose: it takes off plural, -ed, -ing and -ly and evens out a final e or y; it never makes two unlike
words one as the heavier stemmers do (`universe`, `university`). Words with other letters than a to z stay.
"""

from __future__ import annotations

import re
from functools import lru_cache

_PLAIN = re.compile(r"[a-z]{4,30}")
_VOWEL = re.compile(r"[aeiouy]")
_KEEP_DOUBLE = "lsz"


@lru_cache(maxsize=1 << 16)
def stem(word: str) -> str:
    """The word without its English ending; any other word as it is."""
    if not _PLAIN.fullmatch(word):
        return word
    word = _singular(word)
    for ending in ("edly", "ingly", "ed", "ing"):
        rest = word.removesuffix(ending)
        if rest != word and len(rest) >= 3 and _VOWEL.search(rest):
            return _even(rest)
    if word.endswith("ly") and len(word) > 5:
        word = word[:-2]
    return _final(word)


def _singular(word: str) -> str:
    if word.endswith("sses"):
        return word[:-2]
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("xes", "ches", "shes", "zes")):
        return word[:-2]
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def _even(rest: str) -> str:
    if rest[-1] == rest[-2] and rest[-1] not in _KEEP_DOUBLE and rest[-1] not in "aeiou":
        return rest[:-1]
    return _final(rest)


def _final(word: str) -> str:
    if len(word) > 3 and word.endswith("e"):
        return word[:-1]
    if len(word) > 2 and word.endswith("y") and word[-2] not in "aeiou":
        return word[:-1] + "i"
    return word
