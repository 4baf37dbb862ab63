"""What a conversation's redactor has found once: a strong secret is looked for wherever it stands again, bare.

A value is strong where it could hardly stand for anything else: eight characters or more, mixed, no word, no number, no
file. The number of values is bounded; few are sought one by one, more by one pattern made of all of them.
"""

import re
from collections.abc import Iterator

from .rule import Span
from .values import PLACEHOLDER, has_digit, has_letter, is_public_id, is_reference, mixed

WEIGHT = 40
MOST = 400
FEW = 12
LONGEST = 4000
_WEAK_KINDS = frozenset(("session", "blob", "cookie", "env-value", "connection-string"))
_WORDS = re.compile(r"[A-Za-z][a-z]*[0-9]{0,2}|[A-Z]+|[0-9.,:\- ]+|[\w.\-]+\.[a-z]{2,5}")
_SIGN = re.compile(r"[!@#$%^&*+=?~]")


def strong(value: str, kind: str) -> bool:
    if not 8 <= len(value) <= LONGEST or kind in _WEAK_KINDS or "[REDACTED" in value:
        return False
    if kind == "mnemonic" or (value.count(" ") == 3 and len(value) == 19):
        return True
    if any(character.isspace() for character in value) or is_public_id(value) or is_reference(value, True):
        return False
    if _WORDS.fullmatch(value) or "/" in value[:1]:
        return False
    return (has_digit(value) and has_letter(value)) or mixed(value) or _SIGN.search(value) is not None


class Known:
    """The strong values found so far, each with its kind."""

    def __init__(self) -> None:
        self._kinds: dict[str, str] = {}
        self._pattern: re.Pattern[str] | None = None

    def add(self, value: str, kind: str) -> None:
        if value not in self._kinds and len(self._kinds) < MOST and strong(value, kind):
            self._kinds[value] = kind
            self._pattern = None

    def __len__(self) -> int:
        return len(self._kinds)

    def find(self, text: str) -> Iterator[Span]:
        """Where a known value stands by itself, outside of placeholders."""
        if not self._kinds:
            return
        held = [match.span() for match in PLACEHOLDER.finditer(text)] if "[REDACTED:" in text else []
        spans = sorted(self._one_by_one(text) if len(self._kinds) <= FEW else self._at_once(text))
        done = index = 0
        for start, end, value in spans:
            while index < len(held) and held[index][1] <= start:
                index += 1
            if start >= done and (index == len(held) or held[index][0] >= end):
                done = end
                yield Span(start, end, self._kinds[value], WEIGHT)

    def _one_by_one(self, text: str) -> Iterator[tuple[int, int, str]]:
        for value in self._kinds:
            at = text.find(value)
            while at >= 0:
                end = at + len(value)
                if _alone(text, at, end):
                    yield at, end, value
                at = text.find(value, end)

    def _at_once(self, text: str) -> Iterator[tuple[int, int, str]]:
        if self._pattern is None:
            # the beginnings of all values, by their first letters: a hit is compared with the values that begin so
            heads = sorted({value[:6] for value in self._kinds})
            self._pattern = re.compile("(?=(" + "|".join(map(re.escape, heads)) + "))")
        for hit in self._pattern.finditer(text):
            best = max(
                (value for value in self._kinds if value.startswith(hit[1]) and text.startswith(value, hit.start())),
                key=len,
                default="",
            )
            if best and _alone(text, hit.start(), hit.start() + len(best)):
                yield hit.start(), hit.start() + len(best), best


def _alone(text: str, start: int, end: int) -> bool:
    before, after = text[start - 1 : start], text[end : end + 1]
    return not (before.isalnum() and text[start].isalnum() and text[max(0, start - 2) : start - 1] != "\\") and not (
        after.isalnum() and text[end - 1].isalnum()
    )
