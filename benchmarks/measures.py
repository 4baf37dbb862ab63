"""How good an order is: hit and recall at k, mean reciprocal rank, nDCG, over the questions of a labelled set.

R@k      the mean share of a question's gold that stands in the first k
H@k      the share of questions with any of their gold in the first k
MRR      the mean of one over the place of the first gold
nDCG@10  with a gain of 1 for each gold
"""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass

RECALL, HIT, DEPTH = (1, 5, 10, 20), (1, 5, 10), 10
Figures = dict[str, float]


@dataclass(frozen=True, slots=True)
class Judged:
    """Where the gold of one question stands: places from 1, in order; `gold` is how many there are."""

    places: tuple[int, ...]
    gold: int

    @classmethod
    def of(cls, found: Iterable[Hashable], gold: Collection[Hashable]) -> Judged:
        wanted = set(gold)
        return cls(tuple(place for place, one in enumerate(found, 1) if one in wanted), len(wanted))


def figures(judged: Sequence[Judged]) -> Figures:
    """The means over the questions; zeros where there is none."""
    number = max(1, len(judged))
    made: Figures = {}
    for k in RECALL:
        made[f"R@{k}"] = sum(_within(one, k) / one.gold for one in judged) / number
    for k in HIT:
        made[f"H@{k}"] = sum(_within(one, k) > 0 for one in judged) / number
    made["MRR"] = sum(1 / one.places[0] for one in judged if one.places) / number
    made[f"nDCG@{DEPTH}"] = sum(map(_ndcg, judged)) / number
    return made


def _within(judged: Judged, k: int) -> int:
    return sum(place <= k for place in judged.places)


def _ndcg(judged: Judged) -> float:
    best = sum(1 / math.log2(place + 1) for place in range(1, min(judged.gold, DEPTH) + 1))
    return sum(1 / math.log2(place + 1) for place in judged.places if place <= DEPTH) / best


def percentile(values: Sequence[float], share: float) -> float:
    """The value that `share` of the values do not exceed; 0 where there is none."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, math.ceil(share * len(ordered)) - 1)] if ordered else 0.0
