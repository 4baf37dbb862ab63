"""Where a conversation changes its subject.

Entries make blocks (an exchange: a turn of the user and what follows it); neighbouring blocks are joined while their
vocabularies agree, most alike first, until few scopes are left; then scopes that return to an earlier subject are
joined with it. Turns that say themselves that something else begins ("by the way"), long silences and the border
of an abandoned branch hold scopes apart. Cost: one count of every entry, then work on at most `BLOCKS` blocks.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from recall.models.extractive import status
from recall.models.extractive.terms import Bag, bag
from recall.models.request import ShownEntry

BLOCKS = 64
FACETS = 5
_SILENCE_MS = 30 * 60 * 1000
_LONG_BLOCK = 12
# How much a turn counts by who wrote it. What a program printed is long and says little of the subject.
_WEIGHTS = {"user": 1.2, "assistant": 1.0, "tool": 0.25, "summary": 0.8, "system": 0.3}
# Agreement of two neighbours above which they are one subject, however few scopes that leaves.
_SAME = 0.34
_RETURN = 0.3
# The share of a conversation that one scope may have before it is held back.
_FAIR_SHARE = 0.35


@dataclass(frozen=True, slots=True)
class Scope:
    """The entries (by index) of one subject, in order, with what was counted in them."""

    entries: tuple[int, ...]
    counts: Bag
    abandoned: bool


@dataclass(slots=True)
class _Block:
    entries: list[int]
    counts: Bag
    abandoned: bool
    # How strongly the conversation itself says that something new begins here.
    shift: float


def scopes(
    entries: Sequence[ShownEntry], texts: Sequence[str], limit: int = FACETS
) -> tuple[list[Scope], dict[str, float]]:
    """At most `limit` scopes in the order of their first entry, and how rare each term is among the blocks.

    `texts` holds for each entry what is to be counted of it.
    """
    blocks = _blocks(entries, texts)
    idf = inverse([block.counts.terms for block in blocks])
    want = min(limit, max(1, math.ceil(len(blocks) / 2)))
    joined = _join_neighbours(blocks, idf, want)
    final = _join_returns(joined, idf, limit)
    return [Scope(tuple(b.entries), b.counts, b.abandoned) for b in final], idf


def inverse(bags: Sequence[Mapping[str, float]], background: float = 4.0) -> dict[str, float]:
    """How rare each term is among the bags. `background` softens the figures where there are few bags."""
    seen: dict[str, int] = {}
    for one in bags:
        for key in one:
            seen[key] = seen.get(key, 0) + 1
    total = len(bags) + background
    return {key: math.log((total + 0.5) / (n + 0.5)) for key, n in seen.items()}


def weigh(terms: Mapping[str, float], idf: Mapping[str, float]) -> dict[str, float]:
    """A bag as a vector of length one: damped counts times rarity."""
    vector = {key: math.log1p(count) * idf.get(key, 0.0) for key, count in terms.items()}
    norm = math.sqrt(sum(value * value for value in vector.values()))
    return {key: value / norm for key, value in vector.items()} if norm else {}


def alike(one: Mapping[str, float], other: Mapping[str, float]) -> float:
    """The cosine of two vectors of length one."""
    if len(one) > len(other):
        one, other = other, one
    return sum(value * other[key] for key, value in one.items() if key in other)


def _blocks(entries: Sequence[ShownEntry], texts: Sequence[str]) -> list[_Block]:
    starts: list[_Block] = []
    before: ShownEntry | None = None
    for index, (entry, text) in enumerate(zip(entries, texts, strict=True)):
        counts = bag(text, _WEIGHTS.get(entry.role, 0.5), phrases=entry.role != "tool")
        shift = _shift(before, entry)
        if not starts or _begins(starts[-1], entry, before, shift):
            starts.append(_Block([index], counts, entry.abandoned, shift))
        else:
            starts[-1].entries.append(index)
            starts[-1].counts.add(counts)
        before = entry
    return _thin(starts)


def _begins(block: _Block, entry: ShownEntry, before: ShownEntry | None, shift: float) -> bool:
    if entry.abandoned != block.abandoned:
        return True
    if entry.start > 0:  # the rest of an entry that was cut stays with its beginning
        return False
    if entry.role == "user":
        # Two turns of one speaker in a row are one exchange, unless time passed or they say otherwise.
        return before is None or before.role != "user" or shift > 0 or len(block.entries) >= 4
    return entry.role == "assistant" and len(block.entries) >= _LONG_BLOCK


def _shift(before: ShownEntry | None, entry: ShownEntry) -> float:
    if before is None:
        return 0.0
    shift = 0.0
    if entry.role == "user" and status.shifts(entry.text):
        shift += 0.08
    if before.at is not None and entry.at is not None and entry.at - before.at > _SILENCE_MS:
        shift += 0.05
    return shift


def _thin(blocks: list[_Block]) -> list[_Block]:
    """At most `BLOCKS` blocks: runs of neighbours of one branch are put together, evenly."""
    if len(blocks) <= BLOCKS:
        return blocks
    step = len(blocks) / BLOCKS
    thinned: list[_Block] = []
    slot = -1
    for number, block in enumerate(blocks):
        if int(number / step) == slot and thinned[-1].abandoned == block.abandoned:
            _absorb(thinned[-1], block)
        else:
            thinned.append(block)
        slot = int(number / step)
    # Branches that alternate can leave more than BLOCKS; then the abandoned ones are put together.
    return thinned if len(thinned) <= 2 * BLOCKS else _by_branch(thinned)


def _by_branch(blocks: list[_Block]) -> list[_Block]:
    active = [block for block in blocks if not block.abandoned]
    gone = [block for block in blocks if block.abandoned]
    for block in gone[1:]:
        _absorb(gone[0], block)
    return _thin(active) + gone[:1]


def _absorb(into: _Block, block: _Block) -> None:
    into.entries.extend(block.entries)
    into.counts.add(block.counts)


def _join_neighbours(blocks: list[_Block], idf: Mapping[str, float], want: int) -> list[_Block]:
    vectors = [weigh(block.counts.terms, idf) for block in blocks]
    total = sum(_size(block) for block in blocks) or 1.0
    bonds = [_bond(blocks, vectors, total, at) for at in range(len(blocks) - 1)]
    while len(blocks) > 1:
        at = max(range(len(bonds)), key=lambda i: (bonds[i], -i))
        if bonds[at] == -math.inf or (len(blocks) <= want and alike(vectors[at], vectors[at + 1]) < _SAME):
            break
        _absorb(blocks[at], blocks[at + 1])
        vectors[at] = weigh(blocks[at].counts.terms, idf)
        del blocks[at + 1], vectors[at + 1], bonds[at]
        for near in (at - 1, at):
            if 0 <= near < len(bonds):
                bonds[near] = _bond(blocks, vectors, total, near)
    return blocks


def _bond(blocks: list[_Block], vectors: list[dict[str, float]], total: float, at: int) -> float:
    left, right = blocks[at], blocks[at + 1]
    if left.abandoned != right.abandoned:
        return -math.inf
    # Small ones are taken in first: many scopes of one exchange beside one of fifty help nobody.
    small = 0.5 / math.sqrt(1 + min(_size(left), _size(right)))
    # And one that holds nearly everything is no scope: the larger it gets, the more it would have to agree.
    large = max(0.0, (_size(left) + _size(right)) / total - _FAIR_SHARE)
    return alike(vectors[at], vectors[at + 1]) - right.shift + small - large


def _apart(one: _Block, other: _Block, total: float) -> float:
    """What speaks against joining two scopes that are not neighbours."""
    large = max(0.0, (_size(one) + _size(other)) / total - _FAIR_SHARE)
    return large + (2.0 if one.abandoned != other.abandoned else 0.0)


def _size(block: _Block) -> float:
    return sum(block.counts.terms.values()) / 40


def _join_returns(blocks: list[_Block], idf: Mapping[str, float], limit: int) -> list[_Block]:
    """Scopes apart in time that are one subject; and any two, if there still are more than `limit`."""
    vectors = [weigh(block.counts.terms, idf) for block in blocks]
    total = sum(_size(block) for block in blocks) or 1.0
    while len(blocks) > 1:
        pairs = [
            (alike(vectors[i], vectors[j]) - _apart(blocks[i], blocks[j], total), -i, -j)
            for i in range(len(blocks))
            for j in range(i + 1, len(blocks))
        ]
        best, i, j = max(pairs)
        if best < _RETURN and len(blocks) <= limit:
            break
        i, j = -i, -j
        mixed = blocks[i].abandoned and blocks[j].abandoned
        _absorb(blocks[i], blocks[j])
        blocks[i].entries.sort()
        blocks[i].abandoned = mixed
        vectors[i] = weigh(blocks[i].counts.terms, idf)
        del blocks[j], vectors[j]
    return blocks
