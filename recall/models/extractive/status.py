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
_LABELS = tuple(
    (status, re.compile(rf"\W{{0,4}}(?:{forms})\W{{0,2}}\s*[:：]", re.IGNORECASE)) for status, forms in cues.LABELS
)
_INTENT = re.compile(cues.INTENT, re.IGNORECASE)
_REQUEST = re.compile(cues.REQUEST, re.IGNORECASE)
_BIDS = re.compile(cues.BIDS, re.IGNORECASE)
_REASON = re.compile(cues.REASON, re.IGNORECASE)
_BUT = re.compile(cues.BUT, re.IGNORECASE)
_BOILERPLATE = re.compile(cues.BOILERPLATE)
_SHIFT = re.compile(cues.SHIFT, re.IGNORECASE)
# At equal weight the rarer and more telling status goes first.
_ORDER: tuple[FindingStatus, ...] = ("superseded", "open", "decided", "failed", "worked", "found")
# What is only tried, wished or possible is none of these; nor has it been found.
_OUTCOMES: tuple[FindingStatus, ...] = ("worked", "failed", "superseded")
# Hints add to a cue; they make none.
_CUE = 2.0
_LABELLED = 6.0
_NO = frozenset("no not never nothing none nobody without neither nor cannot can't isn't aren't wasn't weren't".split())
_NOTHING = re.compile(r"\W*(?:nothing|none|nobody|no)\b(?!,)", re.IGNORECASE)
_NO_HAN = re.compile(r"(?:不会|不再|没有?|未|避免|防止|不)[^,，。;；]{0,2}$")


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


def read(sentence: str, bids: bool = False) -> Cue | None:
    """The status that a sentence of a turn speaks for, or None where it is not clear.

    `bids` for a turn of the user, whose wishes decide.
    """
    for status, pattern in _LABELS:
        if pattern.match(sentence):
            return Cue(status, _LABELLED)
    if _INTENT.match(sentence):
        return None
    if "?" in sentence or "？" in sentence or _QUESTION.search(sentence[-6:]):
        # A question states nothing, and what follows mostly answers it; it is open only where it says so.
        totals = _count(sentence)
        return Cue("open", totals["open"]) if totals.get("open", 0.0) >= _CUE else None
    totals = _count(sentence)
    if "failed" in totals and _NOTHING.match(sentence):
        del totals["failed"]
    cue = _clear(totals, bids)
    if (cue is None or cue.status == "found") and _BIDS.match(sentence):
        return Cue("decided", _CUE)
    if cue is None and _REASON.match(sentence):
        return Cue("found", _CUE)
    if cue is not None and cue.status in _OUTCOMES and len(clauses := _BUT.split(sentence, maxsplit=1)) == 2:
        # "It passes, but it is not safe": what stands behind the turn is what counts, if both say something.
        turned = _clear(_count(clauses[1]), bids)
        if turned is None or turned.status != cue.status:
            cue = turned if turned is not None and turned.status in _OUTCOMES else None
    return None if cue is not None and cue.status != "decided" and _REQUEST.search(sentence) else cue


def read_output(line: str) -> Cue | None:
    """The status that a line of a program's output speaks for, or None."""
    if not any(literal in line for literal in cues.GATE) or boilerplate(line):
        return None
    totals: dict[Kind, float] = {}
    for status, weight, pattern in _OUTPUT:
        if pattern.search(line):
            totals[status] = totals.get(status, 0.0) + weight
    return _best(totals)


def shifts(text: str) -> bool:
    """Whether a turn says itself that it begins something else."""
    return bool(_SHIFT.search(text[:60]))


def intent(sentence: str) -> bool:
    """Whether a sentence says only what its writer is going to do now."""
    return bool(_INTENT.match(sentence))


def boilerplate(line: str) -> bool:
    """Whether a line of output tells only that a program ended or a file was written."""
    return bool(_BOILERPLATE.match(line))


def _clear(totals: dict[Kind, float], bids: bool) -> Cue | None:
    """The status of a sentence that speaks for one. Weights below a cue were hints; an attempt has no outcome."""
    bid = totals.pop("bid", 0.0)
    if bid and bids and "attempt" not in totals:
        totals["decided"] = totals.get("decided", 0.0) + bid
    if "attempt" in totals:
        totals = {kind: weight for kind, weight in totals.items() if kind not in _OUTCOMES and kind != "found"}
    if "worked" in totals and "failed" in totals and abs(totals["worked"] - totals["failed"]) < 1.0:
        return None
    return _best({kind: weight for kind, weight in totals.items() if weight >= _CUE})


def _best(totals: Mapping[Kind, float]) -> Cue | None:
    best: FindingStatus | None = None
    for status in _ORDER:
        # A reason stands beside nearly every outcome; then it is the outcome that is told.
        if totals.get(status, 0.0) > (totals[best] if best else 0.0) and not (best and status == "found"):
            best = status
    return Cue(best, totals[best]) if best else None


def _count(sentence: str) -> dict[Kind, float]:
    """What the cues in a sentence add up to, each row once; hints add to their cue and are nothing without one."""
    totals: dict[Kind, float] = {}
    hints: dict[Kind, float] = {}
    rows: set[int] = set()
    words = _WORDS.findall(sentence.lower().replace("’", "'"))
    at = 0
    while at < len(words):
        taken = 1
        for form in _LATIN.get(words[at], ()):
            size = len(form.rest)
            if tuple(words[at + 1 : at + 1 + size]) == form.rest:
                taken = 1 + size
                if form.kind not in _OUTCOMES or _NO.isdisjoint(words[max(0, at - 3) : at]):
                    _add(totals if form.weight >= _CUE or form.kind == "attempt" else hints, rows, form)
                break
        at += taken
    if not sentence.isascii():
        at = 0
        while at < len(sentence) - 1:
            taken = 1
            for form in _HAN.get(sentence[at : at + 2], ()):
                if sentence.startswith(form.rest[0], at):
                    taken = len(form.rest[0])
                    if form.kind not in _OUTCOMES or not _NO_HAN.search(sentence[max(0, at - 4) : at]):
                        _add(totals if form.weight >= _CUE or form.kind == "attempt" else hints, rows, form)
                    break
            at += taken
        if "attempt" in totals and totals.get("decided", 0.0) < 3.0:
            # What is advised or may be done is not decided; the Latin forms have these words in them.
            totals.pop("decided", None)
    if _DIGIT.search(sentence) and _MEASURE.search(sentence):
        hints["found"] = hints.get("found", 0.0) + 1.0
    return {kind: weight + 0.5 * hints.get(kind, 0.0) for kind, weight in totals.items()}


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
