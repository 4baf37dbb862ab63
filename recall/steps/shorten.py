"""A part cut down so that at least two fit one request: the reason why joining always comes to an end.

In steps, from what is missed least: fewer citations and aliases, shorter quotes and descriptions, then fewer findings.
Every facet keeps its title and a citation. A shortened quote is still the entry's own words, at its own place.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from recall.cut import last_cut
from recall.steps.evidence import Part
from recall.types import Evidence, Facet


@dataclass(frozen=True, slots=True)
class _Step:
    evidence: int
    findings: int
    aliases: int
    quote: int
    description: int
    summary: int


_STEPS = (
    _Step(6, 6, 6, 240, 400, 1200),
    _Step(4, 5, 4, 160, 300, 900),
    _Step(3, 4, 3, 120, 240, 600),
    _Step(2, 3, 2, 100, 180, 400),
    _Step(1, 2, 1, 80, 120, 300),
    _Step(1, 1, 0, 60, 80, 200),
    _Step(1, 0, 0, 40, 40, 100),
)


def shortened(part: Part, fits: Callable[[Part], bool]) -> Part | None:
    """The part with as much as fits, or None where nothing does."""
    if fits(part):
        return part
    for step in _STEPS:
        less = replace(
            part,
            summary=_text(part.summary, step.summary),
            facets=tuple(_facet(facet, step) for facet in part.facets),
        )
        if fits(less):
            return less
    return None


def _facet(facet: Facet, step: _Step) -> Facet:
    findings = facet.findings[: step.findings]
    return replace(
        facet,
        description=_text(facet.description, step.description),
        aliases=facet.aliases[: step.aliases],
        evidence=tuple(_evidence(one, step) for one in _spread(facet.evidence, step.evidence)),
        findings=tuple(replace(one, evidence=_evidence(one.evidence, step)) for one in findings),
    )


def _spread(evidence: Sequence[Evidence], most: int) -> Sequence[Evidence]:
    """From the beginning to the end, with gaps."""
    if len(evidence) <= most:
        return evidence
    return [evidence[place * (len(evidence) - 1) // max(most - 1, 1)] for place in range(most)]


def _evidence(evidence: Evidence, step: _Step) -> Evidence:
    if evidence.length <= step.quote:
        return evidence
    end = last_cut(evidence.quote, 0, step.quote) or evidence.length
    words = evidence.quote[:end].rstrip()
    return replace(evidence, quote=words, length=len(words))


def _text(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"
