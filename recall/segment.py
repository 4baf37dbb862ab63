"""Text to words, the same way for the index and for a query."""

from __future__ import annotations

SEGMENT_VERSION = 1


def body(text: str) -> str:
    """The words of a text in order, separated by single spaces."""
    return " ".join(text.lower().split())


def whole(text: str) -> str:
    """The compound words of a text (identifiers, paths, versions) as they stand."""
    return ""
