"""Marks from the parent graph: which entries are on the active branch, and what was compacted or reset away.

The active leaf is the last entry in file order; its ancestors are active, everything else is an abandoned branch. A log
may be broken in any way: a parent that is not there, a cycle, an id given twice. Then the walk goes on at the entry
before, in file order, so that nothing older is lost; the place is named, and the graph is called damaged.

Of each entry a few bytes are kept in arrays (and its id in one table), so that a million entries fit. All walks are
loops over arrays and touch each entry a bounded number of times.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, get_args

from recall.types import Mark

ROOT = -1
_OPEN = -2  # names a parent that was not seen yet
_BESIDE = 2

_MARKS: tuple[Mark, ...] = get_args(Mark)
BIT: dict[Mark, int] = {mark: 1 << index for index, mark in enumerate(_MARKS)}
_ACTIVE, _ABANDONED = BIT["active"], BIT["abandoned_branch"]
_HIDDEN = BIT["compacted"] | BIT["before_reset"]


@dataclass(frozen=True, slots=True)
class Break:
    """A place where the chain of parents is broken: the entry, its line, and in which way."""

    seq: int
    line: int
    code: Literal["broken_chain", "parent_cycle"]


@dataclass(frozen=True, slots=True)
class Graph:
    """What the whole log came to. `branches` counts the ends of the tree: 1 for a conversation without a fork."""

    marks: tuple[frozenset[Mark], ...]
    branches: int
    breaks: tuple[Break, ...]


class Tree:
    """Takes entries in file order, gives marks at the end."""

    def __init__(self) -> None:
        self._ids: dict[str, int] = {}
        self._skipped: dict[str, int] = {}
        self._parents = array("q")
        self._bits = array("H")
        self._lines = array("q")
        self._follows = bytearray()
        self._open: dict[int, str] = {}
        self._missing: set[int] = set()
        self._kept: list[tuple[int, str | int]] = []
        self._resets: list[int] = []
        self._leaf: int | None = None

    def __len__(self) -> int:
        return len(self._parents)

    def known(self, host_id: str) -> bool:
        """Whether an entry had this id before."""
        return host_id in self._ids

    def add(
        self, line: int, host_id: str | None, parent: str | None, marks: frozenset[Mark], *, follows: bool = False
    ) -> None:
        """An entry that names its parent, or None for a root. `follows`: where its parent is active, it is too."""
        seq = self._append(line, host_id, marks, follows=follows)
        self._link(seq, parent)

    def add_after(self, line: int, host_id: str | None, marks: frozenset[Mark], *, broken: bool) -> None:
        """An entry that names no parent: it follows the one before (versions without ids, foreign records)."""
        seq = self._append(line, host_id, marks, follows=host_id is None)
        self._parents[seq] = seq - 1
        if broken:
            self._missing.add(seq)

    def add_beside(self, line: int, marks: frozenset[Mark]) -> None:
        """A record about the log that has no place in the tree: no entry hangs on it, and it belongs to no branch."""
        self._parents[self._append(line, None, marks, follows=_BESIDE)] = ROOT

    def skip(self, host_id: str, parent: str | None) -> None:
        """A record that is no entry but has an id: its children hang on its parent."""
        target = ROOT if parent is None else self._find(parent)
        self._skipped.setdefault(host_id, len(self) - 1 if target is None else target)

    def compaction(self, kept: str | int) -> None:
        """The last added entry is a compaction that kept everything from this entry on (an id, or a seq)."""
        self._kept.append((len(self) - 1, kept))

    def reset(self) -> None:
        """The last added entry is where the person began anew."""
        self._resets.append(len(self) - 1)

    def also(self, first: int, end: int, mark: Mark) -> None:
        """One more mark on the entries from `first` to before `end`."""
        for seq in range(first, end):
            self._bits[seq] |= BIT[mark]

    def lead(self, seq: int) -> None:
        """The active branch ends at this entry, not at the last one."""
        self._leaf = seq

    def graph(self, everywhere: frozenset[Mark] = frozenset()) -> Graph:
        """Resolve what is open, cut cycles, walk the active branch."""
        for seq, name in self._open.items():
            target = self._find(name)
            if target is None:
                self._missing.add(seq)
            self._parents[seq] = ROOT if target is None else target
        self._open.clear()
        cut = self._cut_cycles()
        path = self._active_path(self._missing | cut)
        self._mark(path, everywhere)
        broken = self._missing | cut
        breaks = [
            Break(seq, self._lines[seq], "parent_cycle" if seq in cut else "broken_chain") for seq in sorted(broken)
        ]
        return Graph(self._frozen(), self._ends(broken), tuple(breaks))

    def _append(self, line: int, host_id: str | None, marks: frozenset[Mark], *, follows: int) -> int:
        seq = len(self._parents)
        self._parents.append(_OPEN)
        self._lines.append(line)
        self._bits.append(sum(BIT[mark] for mark in marks))
        self._follows.append(follows)
        if host_id is not None:
            self._ids.setdefault(host_id, seq)
        return seq

    def _link(self, seq: int, parent: str | None) -> None:
        if parent is None:
            self._parents[seq] = ROOT
        elif (target := self._find(parent)) is not None:
            self._parents[seq] = target
        else:
            self._open[seq] = parent

    def _find(self, name: str) -> int | None:
        target = self._ids.get(name)
        return self._skipped.get(name) if target is None else target

    def _cut_cycles(self) -> set[int]:
        """Make a root of the first entry of each cycle. Each entry is walked over once."""
        parents, cut = self._parents, set()
        walk = array("q", bytes(8 * len(parents)))  # which walk came by: 0 none yet
        for start in range(len(parents)):
            at = start
            while at != ROOT and walk[at] == 0:
                walk[at] = start + 1
                at = parents[at]
            if at != ROOT and walk[at] == start + 1:
                first, here = at, parents[at]
                while here != at:
                    first, here = min(first, here), parents[here]
                parents[first] = ROOT
                cut.add(first)
        return cut

    def _active_path(self, broken: set[int]) -> array[int]:
        """The active branch from its leaf to its root, over breaks on to what stands before them in the file."""
        path = array("q")
        at = len(self._parents) - 1 if self._leaf is None else self._leaf
        lowest = at
        while at != ROOT:
            path.append(at)
            lowest = min(lowest, at)
            if at in broken:
                at = lowest - 1
                while at != ROOT and self._follows[at] == _BESIDE:
                    at -= 1
            else:
                at = self._parents[at]
        return path

    def _mark(self, path: array[int], everywhere: frozenset[Mark]) -> None:
        bits, parents = self._bits, self._parents
        common = sum(BIT[mark] for mark in everywhere)
        place = array("q", [ROOT]) * len(bits)  # on the active branch, counted from the leaf
        for index, seq in enumerate(path):
            place[seq] = index
            bits[seq] |= _ACTIVE
        for seq in range(len(bits)):
            # Nobody chose it (a record without an id, a result, a note): it belongs where its parent belongs.
            follows, parent = self._follows[seq], parents[seq]
            if follows == _BESIDE or (follows and parent >= 0 and bits[parent] & _ACTIVE):
                bits[seq] |= _ACTIVE
            bits[seq] |= common if bits[seq] & _ACTIVE else common | _ABANDONED
        self._hide(path, self._compacted_from(place), BIT["compacted"])
        self._hide(path, [place[seq] + 1 for seq in self._resets if place[seq] >= 0], BIT["before_reset"])
        for seq in range(len(bits)):
            if place[seq] < 0 and self._follows[seq] and parents[seq] >= 0 and bits[seq] & _ACTIVE:
                bits[seq] |= bits[parents[seq]] & _HIDDEN

    def _compacted_from(self, place: array[int]) -> Iterator[int]:
        for seq, kept in self._kept:
            boundary = self._ids.get(kept, ROOT) if isinstance(kept, str) else kept
            if place[seq] >= 0 and 0 <= boundary < len(place) and place[boundary] >= 0:
                yield max(place[boundary], place[seq]) + 1

    def _hide(self, path: array[int], starts: Iterator[int] | list[int], bit: int) -> None:
        first = min(starts, default=len(path))  # what an earlier one hides, a later one hides too
        for seq in path[first:]:
            self._bits[seq] |= bit

    def _ends(self, broken: set[int]) -> int:
        """Roots, and each further child of one entry; a break makes no branch, nor does an entry that only follows."""
        parents = self._parents
        stem = array("q", range(len(parents)))  # the entry that it follows, over any number of steps
        children = array("l", [0]) * len(parents)
        ends = 0
        for seq, parent in enumerate(parents):
            if parent < 0:
                ends += seq not in broken and self._follows[seq] != _BESIDE
            elif self._follows[seq]:
                stem[seq] = stem[parent]
            else:
                children[stem[parent]] += 1
                ends += children[stem[parent]] > 1
        return max(1, ends) if len(parents) else 0

    def _frozen(self) -> tuple[frozenset[Mark], ...]:
        sets: dict[int, frozenset[Mark]] = {}
        for value in set(self._bits):
            sets[value] = frozenset(mark for mark in _MARKS if value & BIT[mark])
        return tuple(sets[value] for value in self._bits)
