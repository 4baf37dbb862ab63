"""The order of `prefer`: this project first, then what has no project, then other projects; relevance inside a tier.

A far better hit from elsewhere must not drown, so of every five places the fifth goes to the best that is left of the
other tiers. Pure: the order of the input is the order of relevance.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, TypeVar

Tier = Literal["project", "none", "other"]
TIERS: tuple[Tier, ...] = ("project", "none", "other")
EVERY = 5

Item = TypeVar("Item")


def ordered(items: Sequence[Item], tier: Callable[[Item], Tier]) -> list[Item]:
    """The items by tier, with one of every five places for the best from elsewhere."""
    places = {name: [i for i, item in enumerate(items) if tier(item) == name] for name in TIERS}
    own, elsewhere = places["project"], [*places["none"], *places["other"]]
    if not own or not elsewhere:
        return [items[i] for i in (*own, *elsewhere)]
    best = sorted(elsewhere)
    in_tiers = iter([*own, *elsewhere])
    taken: set[int] = set()
    result: list[int] = []
    while len(result) < len(items):
        from_elsewhere = len(result) % EVERY == EVERY - 1
        queue = iter([i for i in best if i not in taken]) if from_elsewhere else in_tiers
        chosen = next((i for i in queue if i not in taken), None)
        if chosen is None:  # all that is left is of this project
            chosen = next(i for i in in_tiers if i not in taken)
        taken.add(chosen)
        result.append(chosen)
    return [items[i] for i in result]
