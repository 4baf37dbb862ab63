"""What the layers are worth beside each other, and how their scores become one order.

Scores of one query are BM25 sums and add up across layers: an entry's own words, what analysis wrote about it, and
its neighbours. Several queries are fused by reciprocal rank. The weights were measured on the labelled sets (one
table, below). The order is total: equal scores go by time, then by place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

ROLE_WEIGHTS: Mapping[str, float] = {"user": 1.0, "assistant": 1.0, "tool": 0.6, "summary": 0.5, "system": 0.5}
CURATED_WEIGHTS: Mapping[str, float] = {"finding": 1.0, "facet": 1.0, "summary": 0.0, "topic": 0.1}
NEIGHBOUR_WEIGHT = 0.2  # of the scores of the turn before and the turn after
EXACT_BONUS = 1.0  # of the query's best score, for a spelling that stands there letter for letter
RECIPROCAL = 60
WEAK_SCORE = 0.15  # of the query's best score: what is below and holds none of the telling words is left out
WEAK_WORD = 0.5  # of the weight of the query's rarest word: a word below tells little
CLOSE = 0.7  # an entry that holds no word goes below one of its conversation that does and has this share of its score
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


def combine(layers: Mapping[str, Mapping[int, float]]) -> dict[int, dict[str, float]]:
    """Entry -> its score in each layer, for one query."""
    combined: dict[int, dict[str, float]] = {}
    for name, scores in layers.items():
        for entry_no, score in scores.items():
            combined.setdefault(entry_no, {})[name] = score
    return combined


def with_neighbours(
    scores: Mapping[int, float], neighbours: Mapping[int, Sequence[int]], weight: float = NEIGHBOUR_WEIGHT
) -> dict[int, float]:
    """What each entry gets from the turns beside it. `neighbours` is symmetric: entry -> the entries beside it."""
    gained: dict[int, float] = {}
    for entry_no, score in scores.items():
        for beside in neighbours.get(entry_no, ()):
            gained[beside] = gained.get(beside, 0.0) + weight * score
    return gained


def weak(combined: Mapping[int, Mapping[str, float]]) -> list[int]:
    """The entries whose score is far below the best, and that do not stand beside one whose score is not."""
    sums = {entry_no: sum(parts.values()) for entry_no, parts in combined.items()}
    least = WEAK_SCORE * max(sums.values(), default=0.0)
    return [
        entry_no
        for entry_no, score in sums.items()
        if score < least and combined[entry_no].get("neighbours", 0.0) < NEIGHBOUR_WEIGHT * least
    ]


def words_first(order: Sequence[Hit], group: Callable[[Hit], int]) -> list[Hit]:
    """The same hits: in each group, in its own places, one without words goes below those with words that are close."""
    own: dict[int, list[Hit]] = {}
    for hit in order:
        own.setdefault(group(hit), []).append(hit)
    turns = {
        number: iter(sorted(found, key=lambda hit: -hit.score * (1.0 if hit.has_words else CLOSE)))
        for number, found in own.items()
    }
    return [next(turns[group(hit)]) for hit in order]


def add_exact(combined: dict[int, dict[str, float]], exact: Iterable[int]) -> None:
    """Put entries that hold a spelling letter for letter above those that hold its parts."""
    best = max((sum(parts.values()) for parts in combined.values()), default=0.0)
    for entry_no in exact:
        combined[entry_no]["exact"] = max(EXACT_BONUS * best, 1e-6)


def fuse(queries: Sequence[Mapping[int, Mapping[str, float]]]) -> dict[int, Hit]:
    """All queries as one list of hits. One query keeps its scores; several are fused by reciprocal rank."""
    hits: dict[int, Hit] = {}
    for number, combined in enumerate(queries):
        order = sorted(combined, key=lambda entry_no: (-sum(combined[entry_no].values()), entry_no))
        for rank, entry_no in enumerate(order, 1):
            hit = hits.setdefault(entry_no, Hit(entry_no))
            hit.score += sum(combined[entry_no].values()) if len(queries) == 1 else 1 / (RECIPROCAL + rank)
            hit.queries.add(number)
            for name, score in combined[entry_no].items():
                hit.parts[name] = hit.parts.get(name, 0.0) + score
                hit.found_by.add("keyword" if name == "exact" else name)
    return hits
