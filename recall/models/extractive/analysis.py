"""One chunk of a conversation to an analysis of quotes.

Scopes become facets. Of every entry the sentence that tells most is its quote; sentences that clearly carry a status
become findings. Titles, descriptions and the summary come from what was said, never from what a program printed.
Nothing is written: titles and aliases are terms of the text, everything else stands in it word for word.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from recall.models.extractive import claims, scopes, titles
from recall.models.extractive.prose import SHOWING, code, label, said, shows, unlabelled
from recall.models.extractive.repeats import repeated, together
from recall.models.extractive.scopes import Scope
from recall.models.extractive.sentences import spans, trim
from recall.models.extractive.status import Cue, intent, read, read_output
from recall.models.extractive.terms import Bag, keys_of
from recall.models.request import AnalysisTask, ShownEntry
from recall.types import FindingStatus

SUMMARY, DESCRIPTION, STATEMENT = 1200, 500, 300
EVIDENCE, FINDINGS = 12, 6
SHARED = 4
_LITTLE = 120
_LED = 5
GAP = " … "
_ROLE = {"user": 1.1, "assistant": 1.0, "tool": 0.7, "summary": 0.6, "system": 0.2}
Json = dict[str, object]
_VARIES = re.compile(r"\S*[/\\]\S*|\d+")


@dataclass(frozen=True, slots=True)
class Line:
    """One quotable sentence: where it stands, what it tells, what it speaks for."""

    entry: int
    text: str
    tells: float
    cue: Cue | None
    role: str = "user"
    # Whether it may stand where a scope is named, described or summed up.
    speaks: bool = False

    @property
    def claims(self) -> float:
        """How much it is worth as a finding."""
        return 0.0 if self.cue is None else (0.5 + self.tells) * min(self.cue.weight, 6.0) ** 0.7


def analyse(task: AnalysisTask) -> Json:
    """The analysis of one chunk."""
    entries = [entry for entry in task.entries if entry.text.strip()]
    if not entries:
        return {"summary": "–", "facets": []}
    texts = [unlabelled(entry.text) if entry.role == "tool" else unlabelled(said(entry.text)) for entry in entries]
    found, idf = scopes.scopes(entries, [trim(text, e.role == "tool") for text, e in zip(texts, entries, strict=True)])
    everything = Bag()
    for scope in found:
        everything.add(scope.counts)
    names = titles.Names(idf, everything.phrases)
    words = [repeated(scope.counts.runs) for scope in found]
    common = titles.distinct(names.telling(everything, together(words)), SHARED)
    showing = _showing(entries)
    facets: list[tuple[Json, list[Line]]] = []
    for scope, repeats in zip(found, words, strict=True):
        lines = _lines(entries, texts, scope, idf, showing)
        if lines:
            facets.append((_facet(entries, lines, names.telling(scope.counts, repeats), common), lines))
    facets = [one for one in facets if _says_something(*one)] or facets[:1]
    summary = _summary([lines for _, lines in facets], task.top)
    return {"summary": summary or "–", "facets": [facet for facet, _ in facets]}


def _showing(entries: Sequence[ShownEntry]) -> frozenset[int]:
    """The results that only show what stands somewhere: those of reading tools and of commands that print files."""
    found: set[int] = set()
    printed = False
    for index, entry in enumerate(entries):
        if entry.role != "tool":
            printed = shows(entry.text)
        elif printed or entry.tool in SHOWING:
            found.add(index)
    return frozenset(found)


def _lines(
    entries: Sequence[ShownEntry],
    texts: Sequence[str],
    scope: Scope,
    idf: Mapping[str, float],
    showing: frozenset[int],
) -> list[Line]:
    """The sentences of a scope in order. What a sentence tells is the mean weight of its terms in the scope."""
    weights = scopes.weigh(scope.counts.terms, idf)
    top = max(weights.values(), default=0.0) or 1.0
    lines: list[Line] = []
    seen: set[str] = set()
    # Where nothing was said at all, what was shown is all there is.
    blank = not any(texts[index].strip() for index in scope.entries)
    for index in scope.entries:
        entry = entries[index]
        output = entry.role == "tool"
        for span in spans(entry.text if blank else texts[index], output):
            text = entry.text[span.start : span.end]
            if text in seen or (output and label(text)):
                continue
            seen.add(text)
            tells = _tells(entry, text, weights, top)
            spoken = not output and not blank
            said_it = spoken and claims.telling(text)
            whole = said_it and claims.clear(texts[index], span.start, span.end)
            cue = _cue(entry, text, index in showing) if output or (whole and not span.cut) else None
            # A person writes as it comes; what an agent announces, and its headings, describe nothing.
            fit = entry.role == "user" or (whole and not intent(text))
            speaks = said_it and fit and not claims.unfinished(text) and claims.decent(text)
            lines.append(Line(index, text, tells, cue, entry.role, speaks))
    return lines


def _tells(entry: ShownEntry, text: str, weights: Mapping[str, float], top: float) -> float:
    keys = dict.fromkeys(key for key, _ in keys_of(text))
    # Short sentences name their subject elsewhere; long ones say more, with less in each word.
    return sum(weights.get(key, 0.0) for key in keys) / top / (6.0 + len(keys)) * _ROLE.get(entry.role, 0.5)


def _cue(entry: ShownEntry, text: str, showing: bool) -> Cue | None:
    output = entry.role == "tool"
    if output and (showing or code(text)):
        return None
    cue = read_output(text) if output else read(text, bids=entry.role == "user")
    if cue is None or not entry.abandoned:
        return cue
    # What was given up with its branch is no outcome and no decision.
    gone: dict[FindingStatus, FindingStatus | None] = {"decided": "superseded", "worked": "superseded", "open": None}
    status = gone.get(cue.status, cue.status)
    return None if status is None else Cue(status, cue.weight)


def _facet(
    entries: Sequence[ShownEntry],
    lines: Sequence[Line],
    phrases: Sequence[titles.Phrase],
    common: Sequence[titles.Phrase],
) -> Json:
    findings = _findings(lines)
    lead = _lead(lines, findings)
    name = _name(lines, phrases)
    evidence = _evidence(lines, {line.entry for line in findings}, lead[0].entry)
    return {
        "title": name,
        "description": _quotes(lead, DESCRIPTION) or _short(lead[0].text, DESCRIPTION),
        "aliases": _aliases(phrases, common, name),
        "evidence": [{"entry_id": entries[line.entry].entry_id, "quote": line.text} for line in evidence],
        "findings": [
            {
                "statement": _fold(line.text)[:STATEMENT],
                "status": line.cue.status,
                "entry_id": entries[line.entry].entry_id,
                "quote": line.text,
            }
            for line in findings
            if line.cue is not None
        ],
    }


def _findings(lines: Sequence[Line]) -> list[Line]:
    """The claims of a scope in order: the strongest, no entry more than twice, no status more than half of them."""
    chosen: list[Line] = []
    shapes: set[str] = set()
    for line in sorted(lines, key=lambda line: (-line.claims, line.entry)):
        if len(chosen) >= FINDINGS or line.claims <= 0.0:
            break
        if line.cue is None or line.cue.weight < 2.0 or len(line.text) < 8:
            continue
        if sum(other.entry == line.entry for other in chosen) >= (1 if line.role == "tool" else 2):
            continue
        if sum(other.cue is not None and other.cue.status == line.cue.status for other in chosen) >= 3:
            continue
        shape = _VARIES.sub("#", line.text)
        if shape in shapes:  # the same line of a program with other numbers and paths
            continue
        shapes.add(shape)
        chosen.append(line)
    return sorted(chosen, key=lambda line: (line.entry, lines.index(line)))


def _evidence(lines: Sequence[Line], cited: set[int], opening: int) -> list[Line]:
    """For each entry its most telling sentence; where there are too many, the opening and entries without a finding."""
    best: dict[int, Line] = {}
    for line in lines:
        if line.entry not in best or line.tells > best[line.entry].tells:
            best[line.entry] = line
    ranked = sorted(
        best.values(), key=lambda line: (line.entry != opening, line.entry in cited, -line.tells, line.entry)
    )
    return sorted(ranked[:EVIDENCE], key=lambda line: line.entry)


def _name(lines: Sequence[Line], phrases: Sequence[titles.Phrase]) -> str:
    """The telling terms; where these are everyday words, what the user said best; what there is, if nothing else."""
    name = titles.title(phrases)
    if name and titles.strong(phrases):
        return name
    spoken = [line for line in lines if line.speaks and "[REDACTED:" not in line.text]
    asked = [line for line in spoken if line.role == "user"] or spoken
    for line in sorted(asked, key=lambda line: (-line.tells * claims.readable(line.text), line.entry)):
        if phrase := titles.phrase(line.text):
            return phrase
    return name or _short(lines[0].text, titles.TITLE)


def _lead(lines: Sequence[Line], findings: Sequence[Line]) -> list[Line]:
    """What describes a scope: how it began, its strongest outcomes, how it ended, and what tells most of it."""
    spoken = [line for line in lines if line.speaks] or [line for line in lines if line.role != "tool"] or list(lines)
    opener = next((line.entry for line in spoken if line.role == "user"), spoken[0].entry)
    opening = max((line for line in spoken if line.entry == opener), key=lambda line: line.tells)
    best = sorted((line for line in findings if line.speaks), key=lambda line: -line.claims)[:_LED]
    closer = next((line.entry for line in reversed(spoken) if line.role == "assistant"), opener)
    best.append(max((line for line in spoken if line.entry == closer), key=lambda line: line.tells))
    if len(best) < _LED:
        best.extend(sorted(spoken, key=lambda line: (-line.tells, line.entry))[:_LED])
    return list(dict.fromkeys([opening, *best]))[: _LED + 1]


def _quotes(lines: Sequence[Line], limit: int) -> str:
    """Quotes joined, in the order of the conversation, as many as fit whole."""
    kept: list[Line] = []
    used = 0
    for line in lines:
        size = len(_fold(line.text)) + len(GAP)
        if used + size - len(GAP) > limit:
            continue
        kept.append(line)
        used += size
    return GAP.join(_fold(line.text) for line in sorted(kept, key=lambda line: line.entry))


def _says_something(facet: Json, lines: Sequence[Line]) -> bool:
    """Whether a scope is more than an `ok` and a listing."""
    return bool(facet["findings"]) or sum(len(line.text) for line in lines if line.speaks) >= _LITTLE


def _summary(scopes_lines: Sequence[Sequence[Line]], top: bool) -> str:
    """How the conversation began, and of each facet its end and the strongest claims, while there is room.

    Of a part in which nothing was said there is none: the other parts have enough.
    """
    if not top:
        scopes_lines = [lines for lines in scopes_lines if any(line.speaks for line in lines)]
    if not scopes_lines:
        return ""
    ranked = [
        sorted((line for line in lines if line.speaks), key=lambda line: (-line.claims, line.entry))
        for lines in scopes_lines
    ]
    rounds = [_lead(scopes_lines[0], ())[0]]
    for turn in range(3):
        rounds.extend(lines[turn] for lines in ranked if len(lines) > turn and lines[turn].claims > 0)
    if len(rounds) < 3:
        rounds.extend(line for lines in scopes_lines for line in _lead(lines, ()))
    return _quotes(list(dict.fromkeys(rounds)), SUMMARY) or _short(rounds[0].text, SUMMARY)


def _aliases(phrases: Sequence[titles.Phrase], common: Sequence[titles.Phrase], name: str) -> list[str]:
    """Telling terms that the title has no room for; the last few are those of the whole conversation."""
    shown = {part.casefold() for part in name.split(" · ")}
    own = [phrase.text for phrase in titles.distinct(phrases, titles.ALIASES + 6)]
    fresh = [text for text in own if text.casefold() not in shown]
    wide = [phrase.text for phrase in common if phrase.text.casefold() not in shown]
    first = fresh[: titles.ALIASES - SHARED]
    return list(dict.fromkeys([*first, *wide, *fresh]))[: titles.ALIASES]


def _fold(text: str) -> str:
    return " ".join(text.split())


def _short(text: str, limit: int) -> str:
    return _fold(text)[:limit].strip()
