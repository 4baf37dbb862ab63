"""Words that are one slip of the keyboard apart. Letters a to z only: other scripts are typed in other ways."""

from __future__ import annotations

import re
from collections.abc import Iterable

_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_TYPED = re.compile("[a-z]{4,24}")  # nearly every word of three letters is a slip away from another


def judged(words: Iterable[str]) -> list[str]:
    """Those of the words that can be judged, in lower case, each once."""
    return list(dict.fromkeys(low for word in words if _TYPED.fullmatch(low := word.lower())))


def slips(word: str) -> list[str]:
    """All that a word becomes by one slip: two letters swapped, one left out, one put for another, one put in."""
    cuts = [(word[:place], word[place:]) for place in range(len(word) + 1)]
    swapped = [head + tail[1] + tail[0] + tail[2:] for head, tail in cuts if len(tail) > 1]
    without = [head + tail[1:] for head, tail in cuts if tail]
    changed = [head + letter + tail[1:] for head, tail in cuts if tail for letter in _LETTERS]
    longer = [head + letter + tail for head, tail in cuts for letter in _LETTERS]
    return [one for one in dict.fromkeys((*swapped, *without, *changed, *longer)) if one != word]


def distance(one: str, other: str) -> int:
    """How many slips lead from one word to the other, no letter touched twice (optimal string alignment)."""
    before, last = list[int](), list(range(len(other) + 1))
    for row, letter in enumerate(one, start=1):
        now = [row]
        for column, wanted in enumerate(other, start=1):
            best = min(last[column] + 1, now[-1] + 1, last[column - 1] + (letter != wanted))
            if row > 1 and column > 1 and letter == other[column - 2] and one[row - 2] == wanted:
                best = min(best, before[column - 2] + 1)
            now.append(best)
        before, last = last, now
    return last[-1]
