"""Which status a sentence speaks for, read from the tables of `cues`.

Cost is one look per word: forms are found by their first word, Han forms by their first two characters.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping
from dataclasses import dataclass

from recall.models.extractive import cues
from recall.models.extractive.cues import Kind
from recall.types import FindingStatus

_WORDS = re.compile(r"[a-z0-9]+(?:['’-][a-z0-9]+)*")
_MEASURE = re.compile(cues.MEASURE)
_DIGIT = re.compile(r"\d")
_QUESTION = re.compile(cues.QUESTION)
_ASKS_OPEN = re.compile(cues.ASKS_OPEN, re.IGNORECASE)
_SHIFT = re.compile(cues.SHIFT, re.IGNORECASE)
# At equal weight the rarer and more telling status goes first.
_ORDER: tuple[FindingStatus, ...] = ("superseded", "open", "decided", "failed", "worked", "found")


@dataclass(frozen=True, slots=True)
class Cue:
    """What a sentence speaks for, and how strongly."""

    status: FindingStatus
    weight: float


@dataclass(frozen=True, slots=True)
class _Form:
    rest: tuple[str, ...]
    kind: Kind
    weight: float
    row: int


def read(sentence: str) -> Cue | None:
    """The status that a sentence of a turn speaks for, or None."""
    totals = _count(sentence)
    question = sentence[-3:].find("?") >= 0 or bool(_QUESTION.search(sentence[-6:]))
    if question:
        # A question states nothing; it may be the open point itself.
        asks = bool(_ASKS_OPEN.search(sentence))
        return Cue("open", 1.5 + min(totals.get("open", 0.0), 3.0)) if asks or totals.get("open", 0.0) >= 2 else None
    if totals.pop("attempt", 0.0) and "worked" in totals:
        del totals["worked"]
    return _best(totals)


def read_output(line: str) -> Cue | None:
    """The status that a line of a program's output speaks for, or None."""
    if not any(literal in line for literal in cues.GATE):
        return None
    totals: dict[Kind, float] = {}
    for status, weight, pattern in _OUTPUT:
        if pattern.search(line):
            totals[status] = totals.get(status, 0.0) + weight
    return _best(totals)


def shifts(text: str) -> bool:
    """Whether a turn says itself that it begins something else."""
    return bool(_SHIFT.search(text[:60]))


def _best(totals: Mapping[Kind, float]) -> Cue | None:
    best: FindingStatus | None = None
    for status in _ORDER:
        if totals.get(status, 0.0) > (totals[best] if best else 0.0):
            best = status
    return Cue(best, totals[best]) if best else None


def _count(sentence: str) -> dict[Kind, float]:
    """What the forms in a sentence add up to, each row once."""
    totals: dict[Kind, float] = {}
    rows: set[int] = set()
    words = _WORDS.findall(sentence.lower().replace("’", "'"))
    at = 0
    while at < len(words):
        taken = 1
        for form in _LATIN.get(words[at], ()):
            size = len(form.rest)
            if tuple(words[at + 1 : at + 1 + size]) == form.rest:
                taken = 1 + size
                _add(totals, rows, form)
                break
        at += taken
    if not sentence.isascii():
        at = 0
        while at < len(sentence) - 1:
            taken = 1
            for form in _HAN.get(sentence[at : at + 2], ()):
                if sentence.startswith(form.rest[0], at):
                    taken = len(form.rest[0])
                    _add(totals, rows, form)
                    break
            at += taken
    if _DIGIT.search(sentence) and _MEASURE.search(sentence):
        totals["found"] = totals.get("found", 0.0) + 1.0
    return totals


def _add(totals: dict[Kind, float], rows: set[int], form: _Form) -> None:
    if form.row not in rows:
        rows.add(form.row)
        totals[form.kind] = totals.get(form.kind, 0.0) + form.weight


def _latin() -> dict[str, list[_Form]]:
    forms: dict[str, list[_Form]] = {}
    for row, (kind, weight, text) in enumerate(cues.LATIN):
        for form in text.split("|"):
            for words in itertools.product(*(word.split("/") for word in form.split())):
                forms.setdefault(words[0], []).append(_Form(words[1:], kind, weight, row))
    for found in forms.values():
        found.sort(key=lambda form: (-len(form.rest), -form.weight, form.row))
    return forms


def _han() -> dict[str, list[_Form]]:
    forms: dict[str, list[_Form]] = {}
    for row, (kind, weight, text) in enumerate(cues.HAN, start=len(cues.LATIN)):
        for form in text.split():
            forms.setdefault(form[:2], []).append(_Form((form,), kind, weight, row))
    for found in forms.values():
        found.sort(key=lambda form: (-len(form.rest[0]), -form.weight, form.row))
    return forms


_LATIN = _latin()
_HAN = _han()
_OUTPUT = tuple((status, weight, re.compile(forms)) for status, weight, forms in cues.OUTPUT)
