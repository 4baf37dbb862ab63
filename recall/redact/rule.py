"""What a rule is: a frozen value that says which kind of secret a pattern finds and where it is worth trying.

The engine looks for the anchors with a plain substring search, which is a hundred times cheaper than a pattern, and
tries the pattern only around a hit. A pattern marks the secret by its group ``v``; everything outside of it stays.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

# A secret may stand right behind an escape that ends in a letter or a digit: \n, %22, \u0022, a colour code.
BOUNDARY = r"(?:(?<![A-Za-z0-9])|(?<=\\[nrtbfv0])|(?<=%[0-9A-Fa-f]{2})|(?<=\\u00[0-9a-fA-F]{2})|(?<=\[[0-9]m)|(?<=\[[0-9]{2}m))"

# An opening or closing quote at any depth of escaping, as HTML entity, or URL-encoded.
QUOTE = r"(?:\\{0,15}[\"'`]|&(?:quot|apos|#3[49]|#x2[27]);|%2[27]|(?:\\{1,8}u002[27])|[“”‘’「」『』«»])"


@dataclass(frozen=True, slots=True)
class Rule:
    """``anchors``: literals, one of which is in every match. ``fold``: they are sought in the lower-cased text.

    ``least``: how many letters, digits, lines and dashes stand at least behind an anchor. ``back``: how many characters before the anchor a match may begin; ``reach``: how many after the anchor's start
    the search for its beginning may go (0: the match begins exactly at the anchor).
    """

    name: str
    kind: str
    anchors: tuple[str, ...]
    pattern: re.Pattern[str]
    check: Callable[[str], bool] | None = None
    fold: bool = False
    back: int = 0
    least: int = 0


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of text that has to go. The highest ``weight`` names the kind where spans overlap."""

    start: int
    end: int
    kind: str
    weight: int
