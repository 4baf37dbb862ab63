"""What the host lets stand of a model's analysis: only what it can prove.

A citation counts if its entry was in the very text that the model was shown and its quote stands there word for word,
white space and quotation marks folded. The stored quote is the entry's own text at that place, not the model's copy.
What fails is dropped and counted; a facet without a citation left is dropped with it. Entry ids are compared as they
are, case included. The same claim twice (the same place, or the same statement after folding) is kept once.

On the levels above the first, "shown" means cited by the level below: a quote there has to lie within a cited one.
"""

from __future__ import annotations

import functools
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, TypedDict, cast

from recall.chunk import Chunk
from recall.models.replies import InvalidReply
from recall.types import Evidence, Facet, Finding, FindingStatus

Fault = Literal["entry_not_shown", "quote_not_found"]


@dataclass(frozen=True, slots=True)
class Misplaced:
    """The quote does not stand in the entry that was named, but in this other one that was shown."""

    entry_id: str
    fault: Fault


Citable = Callable[[str, str], Evidence | Fault | Misplaced]
"""From an entry id and a quote to the place it stands at, or what is wrong with it."""

TextOf = Callable[[str], tuple[str, str] | None]
"""From an entry id to the entry's redacted text and the hash of its record."""

MAX_FAULTS_TOLD = 8
LEAST_WORDS = 4  # fewer of a quote's words in a row stand in many a text by chance
_ANY_MARK = "[\"'`\u2018\u2019\u201c\u201d]"
_MARK = re.compile(_ANY_MARK)
_PLAIN_ID = re.compile(r"[A-Za-z0-9_.:-]{1,64}")
_SAYING: Mapping[Fault, str] = {
    "entry_not_shown": "no entry with this entry_id was shown",
    "quote_not_found": "the quote does not stand word for word in this entry",
}


class CitationReply(TypedDict):
    """A citation in a reply."""

    entry_id: str
    quote: str


class FindingReply(CitationReply):
    """A finding in a reply."""

    statement: str
    status: FindingStatus


class FacetReply(TypedDict):
    """A facet in a reply."""

    title: str
    description: str
    aliases: list[str]
    evidence: list[CitationReply]
    findings: list[FindingReply]


class Reply(TypedDict):
    """What the schema of an analysis lets through."""

    summary: str
    facets: list[FacetReply]


@dataclass(frozen=True, slots=True)
class Part:
    """One verified analysis: of a chunk, of several parts, or of the whole conversation."""

    summary: str
    facets: tuple[Facet, ...]
    dropped: Mapping[str, int] = field(default_factory=dict)


def fold(text: str) -> str:
    """A text with its white space folded."""
    return " ".join(text.split())


def locate(text: str, quote: str) -> tuple[int, int] | None:
    """(start, length) of the first place where the quote stands in the text, white space and quotation marks folded."""
    words = quote.split()
    if not words:
        return None
    found = re.search(r"\s+".join(map(_pattern, words)), text)
    return None if found is None else (found.start(), found.end() - found.start())


def _pattern(word: str) -> str:
    """A word as it may stand. A model that writes JSON likes to turn double quotation marks into single ones."""
    return _MARK.sub(_ANY_MARK, re.escape(word))


def shown_in(chunk: Chunk, text_of: TextOf) -> Citable:
    """What may be cited from a chunk: its pieces, and nothing else of the conversation."""
    pieces = defaultdict(list)
    for piece in chunk:
        pieces[piece.entry_id].append(piece)
    texts = [(piece.entry_id, piece.text) for piece in chunk]
    stored = functools.lru_cache(maxsize=4)(text_of)  # quotes of one entry often follow each other

    def find(entry_id: str, quote: str) -> Evidence | Fault | Misplaced:
        if entry_id not in pieces or (own := stored(entry_id)) is None:
            return _only_holder(quote, texts, "entry_not_shown")
        text, sha256 = own
        for piece in pieces[entry_id]:
            place = locate(piece.text, quote)
            if place is not None:
                start, length = piece.start + place[0], place[1]
                if locate(words := text[start : start + length], quote) == (0, length):
                    return Evidence(entry_id, sha256, words, start, length)
        return _only_holder(quote, texts, "quote_not_found")

    return find


def cited_by(parts: Iterable[Part]) -> Citable:
    """What may be cited from parts: what they cite, or a passage of it."""
    cited: dict[str, list[Evidence]] = defaultdict(list)
    for part in parts:
        for facet in part.facets:
            for evidence in (*facet.evidence, *(finding.evidence for finding in facet.findings)):
                cited[evidence.entry_id].append(evidence)

    def find(entry_id: str, quote: str) -> Evidence | Fault | Misplaced:
        texts = [(one.entry_id, one.quote) for several in cited.values() for one in several]
        if entry_id not in cited:
            return _only_holder(quote, texts, "entry_not_shown")
        for evidence in cited[entry_id]:
            place = locate(evidence.quote, quote)
            if place is not None:
                at, length = place
                words = evidence.quote[at : at + length]
                return replace(evidence, quote=words, start=evidence.start + at, length=length)
        return _only_holder(quote, texts, "quote_not_found")

    return find


def _only_holder(quote: str, texts: Iterable[tuple[str, str]], fault: Fault) -> Fault | Misplaced:
    """The fault of a citation, with the one entry that its quote does stand in."""
    holders = {entry_id for entry_id, text in texts if locate(text, quote) is not None}
    return Misplaced(holders.pop(), fault) if len(holders) == 1 else fault


def verified(reply: object, citable: Citable, given_up: Collection[str], *, at_least: int) -> Part:
    """A reply that satisfies the schema, reduced to what can be proved. `given_up`: ids of abandoned entries.

    Raises InvalidReply where fewer than `at_least` facets are left.
    """
    checker = _Checker(citable, given_up)
    made = cast("Reply", reply)
    facets = tuple(
        facet for place, raw in enumerate(made["facets"]) if (facet := checker.facet(f"facets[{place}]", raw))
    )
    if len(facets) < at_least or (made["facets"] and not facets):
        raise InvalidReply(_complaint(made, checker.faults))
    return Part(made["summary"].strip(), facets, dict(checker.dropped))


class _Checker:
    """Checks the facets of one reply in turn; a claim that an earlier one made is a repetition."""

    def __init__(self, citable: Citable, given_up: Collection[str]) -> None:
        self._citable = citable
        self._given_up = given_up
        self._claimed: set[tuple[str, int, int] | str] = set()
        self.dropped: Counter[str] = Counter()
        self.faults: list[str] = []

    def facet(self, place: str, raw: FacetReply) -> Facet | None:
        title, description = fold(raw["title"]), raw["description"].strip()
        evidence: dict[tuple[str, int, int], Evidence] = {}
        for number, citation in enumerate(raw["evidence"]):
            found = self._find(f"{place}.evidence[{number}]", citation)
            if found is not None:
                evidence.setdefault(_spot(found), found)
        if not title or not evidence:
            self.dropped["facet_without_evidence" if title else "facet_without_title"] += 1
            self.faults.append(f"{place}: " + ("no evidence is left" if title else "the title is empty"))
            return None
        findings = self._findings(place, raw["findings"])
        cited = {*(one.entry_id for one in evidence.values()), *(one.evidence.entry_id for one in findings)}
        return Facet(
            title=title,
            description=description or title,
            aliases=_aliases(title, raw["aliases"]),
            evidence=tuple(evidence.values()),
            findings=findings,
            abandoned=all(entry_id in self._given_up for entry_id in cited),
        )

    def _findings(self, place: str, raws: Sequence[FindingReply]) -> tuple[Finding, ...]:
        findings: list[Finding] = []
        for number, raw in enumerate(raws):
            found = self._find(f"{place}.findings[{number}]", raw)
            statement = fold(raw["statement"])
            if found is None or not statement:
                continue
            claim = (_spot(found), statement.casefold())
            if self._claimed.intersection(claim):
                self.dropped["repeated_claim"] += 1
                continue
            self._claimed.update(claim)
            findings.append(Finding(statement, raw["status"], found))
        return tuple(findings)

    def _find(self, place: str, citation: CitationReply) -> Evidence | None:
        found = self._citable(citation["entry_id"], citation["quote"])
        if isinstance(found, Evidence):
            return found
        fault = found.fault if isinstance(found, Misplaced) else found
        self.dropped[fault] += 1
        self.faults.append(f"{place}: {_SAYING[fault]}" + (_pointer(found) or self._stretch(citation)))
        return None

    def _stretch(self, citation: CitationReply) -> str:
        """Which words of the quote do stand in the entry, by number: a text of a log is not repeated in a complaint."""
        if len(self.faults) >= MAX_FAULTS_TOLD:
            return ""
        entry_id, words = citation["entry_id"], citation["quote"].split()

        def stands(first: int, end: int) -> bool:
            return isinstance(self._citable(entry_id, " ".join(words[first:end])), Evidence)

        first, end = 0, 0
        for start in range(len(words)):
            while (stop := start + end - first + 1) <= len(words) and stands(start, stop):
                first, end = start, stop
        if end - first < LEAST_WORDS:
            return ""
        return f", only its words {first + 1} to {end} do: quote just these"


def _pointer(found: Fault | Misplaced) -> str:
    """Where the quote does stand. Only an id that can hold no words of its own is repeated outside the fence."""
    if isinstance(found, Misplaced) and _PLAIN_ID.fullmatch(found.entry_id):
        return f"; it stands in {found.entry_id}"
    return ""


def _spot(evidence: Evidence) -> tuple[str, int, int]:
    return evidence.entry_id, evidence.start, evidence.length


def _aliases(title: str, raws: Iterable[str]) -> tuple[str, ...]:
    """Each alias once; the title is none."""
    kept = {alias.casefold(): alias for alias in reversed([fold(raw) for raw in raws])}
    return tuple(alias for key, alias in reversed(kept.items()) if alias and key != title.casefold())


def _complaint(reply: Reply, faults: Sequence[str]) -> str:
    if not reply["facets"]:
        return "facets is empty, but this is the whole conversation: give at least one facet"
    told = "; ".join(faults[:MAX_FAULTS_TOLD])
    more = f"; and {len(faults) - MAX_FAULTS_TOLD} more" if len(faults) > MAX_FAULTS_TOLD else ""
    return f"no facet is left, because: {told}{more}. Copy entry_id and quote exactly from what was shown"
