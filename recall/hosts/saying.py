"""Redacting what a record yields: its values as they are parsed, then the whole text, and nothing is cut before.

`at` names the place to the redactor by entry id, so that a secret keeps its number when the log has grown.
"""

from __future__ import annotations

from typing import Protocol

from recall.hosts import blobs
from recall.hosts.text import Part, render


class Redacting(Protocol):
    """What is needed of a redactor (`recall.redact.Redactor`)."""

    def text(self, text: str, *, at: str) -> str:
        """The text with its secrets replaced."""

    def tree(self, value: object, *, at: str) -> object:
        """The JSON value with the secrets in its strings replaced."""


def said(parts: list[Part], entry_id: str, redactor: Redacting) -> str:
    """The redacted text of an entry; empty where it yields none.

    Takes the parts out of their list: a long line must not be held as it was while the rules look at what it became.
    """
    if not parts:
        return ""
    labels = [part.label for part in parts]
    values = [part.value for part in parts]
    parts.clear()
    redacted = redactor.tree(values, at=f"{entry_id}:parts")
    if not isinstance(redacted, list):
        raise TypeError("a redactor gives a list for a list")
    if redacted is not values:
        values.clear()
    whole = render(labels, redacted)
    if len(redacted) == 1 and whole is redacted[0]:  # one string without a label: it has just been looked at as it is
        return blobs.without_runs(whole)
    redacted.clear()
    return blobs.without_runs(redactor.text(whole, at=f"{entry_id}:text"))
