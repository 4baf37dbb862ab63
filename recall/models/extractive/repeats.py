"""Words of Han script, found without a dictionary: what stands again and again.

A run of two to six characters that is repeated, begins and ends with characters that carry meaning, and is not nearly
always part of a longer one, is a word or a fixed phrase often enough to be shown to a reader. Longer runs are counted
only where both their halves are repeated, so that the cost stays near that of counting pairs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from operator import add

from recall.models.extractive.words import STOP_HAN_CHARS, STOP_HAN_WORDS, SURE_HAN, WHOLE_HAN

_LONGEST = 6
# A text this long repeats its words in its first part too.
_MOST_CHARS = 30_000
_WORDS = frozenset(STOP_HAN_WORDS)


def repeated(runs: Sequence[str]) -> dict[str, int]:
    """The repeated words of some runs of Han and how often each stands there, in the order of first sight."""
    kept = _first(runs)
    found: dict[str, int] = {}
    before: dict[str, int] | None = None
    for size in range(2, _LONGEST + 1):
        seen: Counter[str] = Counter()
        for run in kept:
            if before is None:
                seen.update(map(add, run, run[1:]))
                continue
            for at in range(len(run) - size + 1):
                piece = run[at : at + size]
                if piece[:-1] in before and piece[1:] in before:
                    seen[piece] += 1
        often = {piece: count for piece, count in seen.items() if count > 1}
        if not often:
            break
        _drop_parts(found, often)
        found.update(often)
        before = often
    return {piece: count for piece, count in found.items() if _is_word(piece)}


def together(found: Iterable[Mapping[str, int]]) -> dict[str, int]:
    """The words of several stretches as those of one."""
    total: dict[str, int] = {}
    for words in found:
        for piece, count in words.items():
            total[piece] = total.get(piece, 0) + count
    return total


def _first(runs: Sequence[str]) -> list[str]:
    kept: list[str] = []
    room = _MOST_CHARS
    for run in runs:
        if room <= 0:
            break
        kept.append(run[:room])
        room -= len(run)
    return kept


def _drop_parts(found: dict[str, int], longer: dict[str, int]) -> None:
    """Leave out what is nearly always part of a longer repeated run."""
    for piece, count in longer.items():
        if not _is_word(piece):
            continue
        for part in (piece[:-1], piece[1:]):
            if part in found and count >= 0.75 * found[part]:
                del found[part]


def _is_word(piece: str) -> bool:
    if piece in _WORDS:
        return False
    if piece in WHOLE_HAN:
        return True
    if piece[0] in STOP_HAN_CHARS and piece[:2] not in WHOLE_HAN:
        return False
    if piece[-1] in STOP_HAN_CHARS and piece[-2:] not in WHOLE_HAN:
        return False
    return SURE_HAN.isdisjoint(piece)
