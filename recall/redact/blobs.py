"""Image and blob data: not secret, but nobody reads it. It is replaced by a note of what it was and how long."""

import re
from collections.abc import Iterator

from .rule import Span

SHORTEST = 512
WEIGHT = 1
_DATA_ADDRESS = re.compile(
    r"data:(?P<mime>[a-z]{1,20}/[\w.+\-]{1,60})?(?:;[\w\-]{1,30}=[\w\-]{1,60}){0,4};base64,(?P<v>[A-Za-z0-9+/_\-]{64,}+={0,2})"
)
# A run of this length covers one of these blocks whole, wherever it begins.
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/_-"
_BLOCK = re.compile(r"[A-Za-z0-9+/_\-]{256}")
_RUN = re.compile(r"(?<![A-Za-z0-9+/_\-])(?:[A-Za-z0-9+/]{512,}+|[A-Za-z0-9_\-]{512,}+)={0,2}")


def find(text: str) -> Iterator[tuple[Span, str]]:
    """Spans of blobs, each with the note that takes its place."""
    done = 0
    if ";base64," in text:
        for match in _DATA_ADDRESS.finditer(text):
            done = match.end()
            yield (
                Span(match.start(), match.end(), "blob", WEIGHT),
                note(match.group("mime") or "base64", match.group("v")),
            )
    if len(text) >= SHORTEST:
        for match in _runs(text):
            if match.start() >= done and is_blob(match.group()):
                yield Span(match.start(), match.end(), "blob", WEIGHT), note("base64", match.group())


def _runs(text: str) -> Iterator[re.Match[str]]:
    step = SHORTEST // 2
    for at in range(0, len(text), step):
        if _BLOCK.match(text, at) is not None:
            # a run that began before the block in front of this one was met there
            before = text[max(0, at - step) : at]
            letters = len(before) - len(before.rstrip(_LETTERS))
            match = _RUN.match(text, at - letters) if letters < step else None
            if match is not None:
                yield match


def is_blob(value: str) -> bool:
    """Base64 of real data: three classes of characters in its first part, and no single letter over and over."""
    head = value[:2048]
    return (
        any(c.isdigit() for c in head)
        and any(c.isupper() for c in head)
        and any(c.islower() for c in head)
        and len(set(head)) > 24
    )


def note(mime: str, value: str) -> str:
    size = len(value) * 3 // 4 - value[-2:].count("=")
    return f"[{mime} omitted, {size} bytes]"
