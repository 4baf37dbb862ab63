"""Told at a glance: most strings of a log are so plain that no rule can find anything in them.

Such a text has only words that call for nothing, and none of the signs that call for a rule by themselves, that end a
heading, or that let a text be read otherwise than it is written. What is not plain is read by ``engine``; so a text may
be called less plain than it is, never plainer.
"""

import re

from . import assignments, blobs, listed, pairs, view
from .anchors import Anchors
from .cores import trie

LONGEST = blobs.SHORTEST - 1  # a longer text has nearly always a word that calls for something
_SIGNS = (*"\x00\x07\x08\x1b\\&%[@", ":\n", ":\r\n", "id.json", ";base64,")


class Glance:
    """Knows all that can call for anything beside the words of the anchors."""

    def __init__(self, anchors: Anchors) -> None:
        self._anchors = anchors
        signs = "|".join(map(re.escape, {*_SIGNS, *anchors.signs}))
        self._signs = re.compile(rf"{signs}|{pairs.DIGEST.pattern}".encode())
        self._names = re.compile(trie({*anchors.wide, *assignments.OTHER_NAMES, *listed.OTHER_SIGNS}))

    def is_plain(self, text: str) -> bool:
        """Whether nothing can be found in the text; where it says no there need not be anything either."""
        if len(text) > LONGEST:
            return False
        plain = text.encode("ascii", "replace")
        low = plain.lower()
        if not text.isascii():
            if view.reads_otherwise(text):
                return False
            lower = view.narrowed(text).lower()
            if len(lower) != len(text) or self._names.search(lower) is not None:
                return False
            low = lower.encode("ascii", "replace")
        return self._signs.search(low) is None and not self._anchors.in_words(plain, low)
