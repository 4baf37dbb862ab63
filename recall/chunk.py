"""From entries to chunks: what is shown, in which order, and where one request ends and the next begins.

Joining the pieces of all chunks gives each shown text back exactly, every character once. A chunk costs at most
`limit` by the caller's `measure`, fence lines included. An entry that fits one chunk is never sliced; a longer one is
sliced where `recall.cut` allows it. The result depends only on the entries, the limit and the old cuts.

Old cuts are where the chunks of the last publication ended. They are kept, so an append leaves every old chunk byte
for byte as it was, its reply comes from the cache, and only what is new becomes new chunks. Many small appends would
leave many small chunks; so where more than `SMALL_TAIL` chunks at the end are each under a quarter of the limit, these
are joined: packed again without the cuts between them. Their text is sent once more, and then the count starts anew,
so over the life of a conversation a character is sent for such a join only a few times. (Where a limit is more than
four times what the provider really takes, halved chunks are small by this rule too, and an append tries them joined.)

A branch that is given up later gets its label, and one that is gone on with after another began moves the other on:
chunks with such entries are new questions, rightly. An append at the end of the latest branch changes nothing.

Chunks are made one at a time from an iterator; only a chunk and a tail of small ones are in memory.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import accumulate
from typing import Protocol

from recall import fence
from recall.cut import cut_to_fit, last_cut, may_cut, unbreakable
from recall.models.request import ShownEntry
from recall.types import Mark, Role

Chunk = tuple[ShownEntry, ...]
Cut = tuple[str, int]
Measure = Callable[[str], int]

SMALL_TAIL = 6
_HIDDEN: frozenset[Mark] = frozenset({"meta", "synthetic"})
_GIVEN_UP: frozenset[Mark] = frozenset({"abandoned_branch", "rewound", "rolled_back"})
_SHOWN_ROLES: frozenset[Role] = frozenset({"user", "assistant", "tool"})


class Skeleton(Protocol):
    """What the order of entries is made from."""

    @property
    def seq(self) -> int: ...
    @property
    def entry_id(self) -> str: ...
    @property
    def parent_id(self) -> str | None: ...


def shown(marks: frozenset[Mark], role: Role, text: str) -> bool:
    """Whether a model sees this entry: what a person or the agent said, and what tools gave. Summaries of a host are
    navigation and never evidence; what the host put there itself is not history.
    """
    return role in _SHOWN_ROLES and not marks & _HIDDEN and bool(text.strip())


def given_up(marks: frozenset[Mark]) -> bool:
    """Whether an entry is labelled as abandoned where it is shown."""
    return bool(marks & _GIVEN_UP)


def reading_order(entries: Sequence[Skeleton]) -> list[int]:
    """The `seq` of all entries, those of one branch together, branches in the order of their first line.

    An entry goes on with its parent's branch if it is the parent's first child. Any other entry begins a branch, but
    only if something follows on it: a lone side entry (a second tool result, a note without a parent) stays where it
    stands in the log. So the usual append, at the end of the latest branch, leaves the order before it as it was.
    A parent counts only if it stands earlier, which also opens cycles.
    """
    parents = _parents(entries)
    followed = set(parents)
    branch_of: list[int] = []
    branches: dict[int, list[int]] = defaultdict(list)
    continued: set[int] = set()
    for place, parent in enumerate(parents):
        if parent is not None and parent not in continued:
            continued.add(parent)
            branch = branch_of[parent]
        elif place in followed or place == 0:
            branch = place
        else:
            branch = branch_of[place - 1]
        branch_of.append(branch)
        branches[branch].append(place)
    return [entries[place].seq for branch in sorted(branches) for place in branches[branch]]


def chunks(
    entries: Iterable[ShownEntry], measure: Measure, limit: int, cuts: frozenset[Cut] = frozenset()
) -> Iterator[Chunk]:
    """The entries in chunks. Raises ModelError `model_context_too_small` where one character does not fit a chunk."""
    packer = _Packer(measure, limit)
    tail: list[Chunk] = []
    for chunk, size in packer.pack(_apart(entries, cuts)):
        if size * 4 < limit:
            tail.append(chunk)
            continue
        yield from tail
        tail = []
        yield chunk
    if len(tail) > SMALL_TAIL:
        whole = _fused(piece for chunk in tail for piece in chunk)
        yield from (chunk for chunk, _ in packer.pack((piece, False) for piece in whole))
    else:
        yield from tail


def end(chunk: Chunk) -> Cut:
    """Where a chunk ends."""
    last = chunk[-1]
    return last.entry_id, last.start + len(last.text)


def halves(chunk: Chunk, measure: Measure) -> tuple[Chunk, Chunk]:
    """A chunk that a model found too long, as two without loss. Raises `model_context_too_small` for one character."""
    if len(chunk) == 1:
        piece = chunk[0]
        at = last_cut(piece.text, 0, len(piece.text) // 2)
        if at == 0:  # the first character may be long
            at = next((at for at in range(1, len(piece.text)) if may_cut(piece.text, at)), 0)
        if at == 0:
            raise unbreakable()
        return (_part(piece, 0, at),), (_part(piece, at, len(piece.text)),)
    upto = list(accumulate(measure(fence.sample(fence.entry_block(piece))) for piece in chunk))
    # At least one entry on each side, even where the last is longer than all before it.
    first = min(1 + sum(1 for size in upto if size * 2 <= upto[-1]), len(chunk) - 1)
    return chunk[:first], chunk[first:]


class _Packer:
    """Fills chunks up to the limit."""

    def __init__(self, measure: Measure, limit: int) -> None:
        self._measure = measure
        self._room = limit - measure(fence.frame())

    def pack(self, pieces: Iterable[tuple[ShownEntry, bool]]) -> Iterator[tuple[Chunk, int]]:
        """Chunks with their sizes, from pieces with a mark on those that an old cut follows."""
        chunk: list[ShownEntry] = []
        used = 0
        for piece, ends in pieces:
            at = 0
            while at < len(piece.text):
                part, full = self._next(piece, at, self._room - used)
                if part is None and not chunk:
                    raise unbreakable()
                if part is not None:
                    chunk.append(part)
                    used += self._size(part)
                    at += len(part.text)
                if full:
                    yield tuple(chunk), used
                    chunk, used = [], 0
            if ends and chunk:
                yield tuple(chunk), used
                chunk, used = [], 0
        if chunk:
            yield tuple(chunk), used

    def _next(self, piece: ShownEntry, at: int, room: int) -> tuple[ShownEntry | None, bool]:
        """(what of the piece goes into this chunk, whether the chunk ends with it).

        What fits a chunk of its own is not sliced; what does not is sliced into this one if a quarter is left of it.
        """
        if self._end(piece, at, self._room) == len(piece.text):
            part = _part(piece, at, len(piece.text))
            return (part, False) if self._size(part) <= room else (None, True)
        if room * 4 < self._room or (end := self._end(piece, at, room)) == at:
            return None, True
        return _part(piece, at, end), True

    def _end(self, piece: ShownEntry, at: int, room: int) -> int:
        whole = piece.whole or piece.start + len(piece.text)
        label = replace(piece, text="", start=piece.start + at, whole=whole)
        return cut_to_fit(piece.text, at, room, lambda text: self._size(replace(label, text=text)))

    def _size(self, piece: ShownEntry) -> int:
        return self._measure(fence.sample(fence.entry_block(piece)))


def _apart(entries: Iterable[ShownEntry], cuts: frozenset[Cut]) -> Iterator[tuple[ShownEntry, bool]]:
    """The entries cut where an old chunk ended, each piece with whether it ends there."""
    places: dict[str, list[int]] = defaultdict(list)
    for entry_id, at in cuts:
        places[entry_id].append(at)
    for entry in entries:
        if not entry.text:
            continue
        start = 0
        for at in sorted(places.get(entry.entry_id, ())):
            # A text that redaction changed since can make an old place a bad one: then it is no cut.
            if start < at < len(entry.text) and may_cut(entry.text, at):
                yield _part(entry, start, at), True
                start = at
        ends = any(at >= len(entry.text) for at in places.get(entry.entry_id, ()))
        yield _part(entry, start, len(entry.text)), ends


def _fused(pieces: Iterable[ShownEntry]) -> Iterator[ShownEntry]:
    """Pieces with those of one entry that follow each other made one again."""
    last: ShownEntry | None = None
    for piece in pieces:
        if last is not None and last.entry_id == piece.entry_id and last.start + len(last.text) == piece.start:
            last = replace(last, text=last.text + piece.text)
            if last.start == 0 and len(last.text) == last.whole:
                last = replace(last, whole=0)
            continue
        if last is not None:
            yield last
        last = piece
    if last is not None:
        yield last


def _part(piece: ShownEntry, start: int, end: int) -> ShownEntry:
    if start == 0 and end == len(piece.text):
        return piece
    whole = piece.whole or piece.start + len(piece.text)
    return replace(piece, text=piece.text[start:end], start=piece.start + start, whole=whole)


def _parents(entries: Sequence[Skeleton]) -> list[int | None]:
    """The place of each entry's parent, where it stands earlier."""
    seen: dict[str, int] = {}
    parents: list[int | None] = []
    for place, entry in enumerate(entries):
        parents.append(seen.get(entry.parent_id) if entry.parent_id is not None else None)
        seen[entry.entry_id] = place
    return parents
