"""The conversation as analysis reads it: shown entries in reading order, one text in memory at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, cast

from recall.chunk import given_up, reading_order, shown
from recall.models.request import ShownEntry
from recall.types import Entry, Mark, Role


class Material(Protocol):
    """Where the redacted entries of one conversation are held while it is analysed."""

    def skeleton(self) -> Sequence[tuple[int, str, str | None, str, str, int]]:
        """(seq, entry id, parent id, role, marks in words, characters) of every entry."""
        ...

    def entry(self, seq: int) -> Entry: ...

    def text_of(self, entry_id: str) -> tuple[str, str] | None:
        """(redacted text, hash of the record)."""
        ...


@dataclass(frozen=True, slots=True)
class _Line:
    seq: int
    entry_id: str
    parent_id: str | None
    role: Role
    marks: frozenset[Mark]
    characters: int


class Shown:
    """The entries that a model sees. Can be gone through again and again; `characters` is how much there is to see."""

    def __init__(self, material: Material) -> None:
        lines = [
            _Line(seq, entry_id, parent_id, cast("Role", role), cast("frozenset[Mark]", frozenset(marks.split())), size)
            for seq, entry_id, parent_id, role, marks, size in material.skeleton()
        ]
        by_seq = {line.seq: line for line in lines}
        # Whether a text is blank is seen only when it is read; a stand-in decides the rest without reading it.
        self._lines = [
            line
            for line in (by_seq[seq] for seq in reading_order(lines))
            if line.characters and shown(line.marks, line.role, "x")
        ]
        self._material = material
        self.characters = sum(line.characters for line in self._lines)
        self.given_up = frozenset(line.entry_id for line in self._lines if given_up(line.marks))

    def __iter__(self) -> Iterator[ShownEntry]:
        begun: dict[str, str] = {}  # messages of several entries -> the first that is shown of each
        for line in self._lines:
            entry = self._material.entry(line.seq)
            if shown(line.marks, line.role, entry.text):
                first = begun.setdefault(entry.turn or line.entry_id, line.entry_id)
                yield ShownEntry(
                    entry_id=line.entry_id,
                    role=line.role,
                    text=entry.text,
                    abandoned=line.entry_id in self.given_up,
                    at=entry.at,
                    tool=entry.tool,
                    turn=None if first == line.entry_id else first,
                )
