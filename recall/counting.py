"""A number with its word, as a person reads it."""

from __future__ import annotations


def count(number: int, word: str) -> str:
    """`1 topic`, `2 topics`, `3 entries`; of several words the last one is counted."""
    return f"{number} {word if number == 1 else many(word)}"


def many(word: str) -> str:
    """The plural of a word of ours."""
    return word[:-1] + "ies" if word.endswith("y") else word + "s"
