"""How the scores of several queries become one list of hits: by reciprocal rank; one query keeps its scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

# The parts of a score that say how an entry was found, in the words of the answer.
FOUND_BY = {name: (name,) for name in ("keyword", "literal", "neighbours", "curated", "rewrite")} | {
    "exact": ("keyword",),
    "related": ("rewrite",),
    "close": ("rewrite",),
}
WORDS = frozenset({"keyword", "literal"})  # the layers that found an entry by what stands in it


@dataclass
class Hit:
    """One entry on its way into the answer. `parts` are its scores by layer, summed over the queries."""

    entry_no: int
    score: float = 0.0
    found_by: set[str] = field(default_factory=set)
    queries: set[int] = field(default_factory=set)
    parts: dict[str, float] = field(default_factory=dict)

    @property
    def has_words(self) -> bool:
        """Whether it was found by what stands in it, and not only by what was said of it or beside it."""
        return not WORDS.isdisjoint(self.found_by)

    def take(self, copy: Hit) -> None:
        """Count what was found of a copy of the same record."""
        self.score = max(self.score, copy.score)
        self.found_by |= copy.found_by
        self.queries |= copy.queries
        for name, score in copy.parts.items():
            self.parts[name] = max(self.parts.get(name, 0.0), score)


def fuse(queries: Sequence[Mapping[int, Mapping[str, float]]], reciprocal: float) -> dict[int, Hit]:
    """All queries as one list of hits. One query keeps its scores; several are fused by reciprocal rank."""
    hits: dict[int, Hit] = {}
    for number, combined in enumerate(queries):
        order = sorted(combined, key=lambda entry_no: (-sum(combined[entry_no].values()), entry_no))
        for rank, entry_no in enumerate(order, 1):
            hit = hits.setdefault(entry_no, Hit(entry_no))
            hit.score += sum(combined[entry_no].values()) if len(queries) == 1 else 1 / (reciprocal + rank)
            hit.queries.add(number)
            for name, score in combined[entry_no].items():
                hit.parts[name] = hit.parts.get(name, 0.0) + score
                hit.found_by.update(FOUND_BY.get(name, ()))
    return hits
