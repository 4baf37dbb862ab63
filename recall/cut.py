"""Where a text may be cut: never inside what a person sees as one character, never inside a placeholder.

A cut inside a flag, a family of emoji or an accented letter would put two broken halves before a model; a cut inside
`[REDACTED:...]` would let a half placeholder pass for text. The rules for characters are those of Unicode's extended
grapheme clusters, a little wider where that is simpler: a cut that is avoided for nothing costs nothing.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable

from recall.errors import ModelError

# What redaction leaves in a text: a secret's placeholder, or the note of an elided blob.
PLACEHOLDER = re.compile(r"\[REDACTED:[^\[\]\s]{1,80}\]|\[[\w./+\-]{1,80} omitted, [0-9]{1,12} bytes\]")
_PLACEHOLDER_LENGTH = 112
# A pile of combining marks higher than this is no character of any script, and may be cut.
_CLUSTER_LENGTH = 64
_ZWJ = "\u200d"
_JOINED = re.compile("[\u200c\u200d\u0e33\u0eb3\uff9e\uff9f\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f]")
# Korean letters that join: leading with leading, middle or whole; whole or middle with middle or trailing; trailing
# with trailing.
_SYLLABLE = (
    (re.compile("[\u1100-\u115f\ua960-\ua97c]"), re.compile("[\u1100-\u11a7\ua960-\ua97c\uac00-\ud7a3\ud7b0-\ud7c6]")),
    (re.compile("[\u1160-\u11a7\uac00-\ud7a3\ud7b0-\ud7c6]"), re.compile("[\u1160-\u11ff\ud7b0-\ud7fb]")),
    (re.compile("[\u11a8-\u11ff\ud7cb-\ud7fb]"), re.compile("[\u11a8-\u11ff\ud7cb-\ud7fb]")),
)
_PREPENDED = re.compile("[\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\u0d4e\U000110bd\U000110cd]")
_FLAG = re.compile("[\U0001f1e6-\U0001f1ff]")
_VIRAMA = 9


def may_cut(text: str, at: int) -> bool:
    """Whether the text may be cut before its character `at`."""
    return at <= 0 or at >= len(text) or (_between_characters(text, at) and _placeholder_around(text, at) is None)


def last_cut(text: str, start: int, end: int) -> int:
    """The best place to cut in `start < place <= end`: behind a line or a word near the end, else anywhere allowed.

    Returns `start` where there is none: what begins at `start` cannot be cut before `end`.
    """
    if end >= len(text):
        return len(text)
    near = max(start + 1, end - max(1, (end - start) // 4))
    for good in (_behind_line, _behind_word):
        for at in range(end, near - 1, -1):
            if good(text, at) and may_cut(text, at):
                return at
    at = end
    while at > start and not may_cut(text, at):
        around = _placeholder_around(text, at)
        at = around[0] if around is not None else at - 1
    return max(at, start)


def longest(text: str, start: int, room: int, size: Callable[[str], int]) -> int:
    """The end of about the longest piece from `start` whose size is at most `room`.

    `size` may be a slow token counter and the text may be 30 MiB long: it only ever gets windows near the room's size.
    """
    rest = len(text) - start
    fits, too_long, window = 0, rest + 1, min(rest, max(1, room * 3))
    while too_long - fits > 1:
        measured = size(text[start : start + window])
        if measured <= room:
            fits = window
            if measured * 16 >= room * 15:
                break
        else:
            too_long = window
        # Aim for the room by the rate just seen; where that leaves the open interval, halve it.
        aim = min(window * room // max(measured, 1), window * 4)
        if measured > room:
            aim -= aim // 32
        window = aim if fits < aim < too_long else _middle(fits, too_long, rest)
    return start + fits


def cut_to_fit(text: str, start: int, room: int, size: Callable[[str], int]) -> int:
    """The end of the piece from `start` that fits `room` and ends where a cut is allowed; `start` if nothing fits."""
    end = longest(text, start, room, size)
    return last_cut(text, start, end) if end > start else start


def unbreakable() -> ModelError:
    """For where not even one character with its overhead fits a request."""
    return ModelError(
        "model_context_too_small",
        "the model's context does not hold the instructions and one character of history",
        "use a model with a larger context",
    )


def _middle(fits: int, too_long: int, rest: int) -> int:
    if too_long > rest:  # nothing was too long yet: go up in doubling steps, not to the end of 30 MiB at once
        return min(rest, max(fits * 2, 1))
    return (fits + too_long) // 2


def _behind_line(text: str, at: int) -> bool:
    return text[at - 1] == "\n"


def _behind_word(text: str, at: int) -> bool:
    return text[at - 1].isspace() or text[at - 1] in "。！？；"


def _placeholder_around(text: str, at: int) -> tuple[int, int] | None:
    """The placeholder that a cut before `at` would break."""
    if text.find("]", at, at + _PLACEHOLDER_LENGTH) < 0:
        return None
    start = max(0, at - _PLACEHOLDER_LENGTH)
    for found in PLACEHOLDER.finditer(text, start, at + _PLACEHOLDER_LENGTH):
        if found.start() < at < found.end():
            return found.span()
    return None


def _between_characters(text: str, at: int) -> bool:
    before, after = text[at - 1], text[at]
    if before < "\x80" and after < "\x80":
        return not (before == "\r" and after == "\n")
    if _continues(text, at):
        # A pile of marks without end may be cut, once more of it stands before the cut than any character has.
        return all(_continues(text, place) for place in range(at - 1, at - _CLUSTER_LENGTH, -1) if place > 0) and (
            at > _CLUSTER_LENGTH
        )
    return True


def _continues(text: str, at: int) -> bool:
    """Whether the character `at` belongs to the one before it."""
    before, after = text[at - 1], text[at]
    if before in "\r\n" or after in "\r\n":
        return False
    if unicodedata.category(after).startswith("M") or _JOINED.match(after):
        return True
    if before == _ZWJ or _PREPENDED.match(before):
        return True
    if _FLAG.match(before) and _FLAG.match(after):
        run = at
        while run > 0 and _FLAG.match(text[run - 1]):
            run -= 1
        return (at - run) % 2 == 1
    if unicodedata.combining(before) == _VIRAMA and unicodedata.category(after) == "Lo":
        return True
    return any(left.match(before) and right.match(after) for left, right in _SYLLABLE)
