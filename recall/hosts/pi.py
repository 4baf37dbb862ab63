"""OMP and Pi: trees of entries that name their parent, in JSONL of versions 1 to 3 behind a header.

The two write the same format; OMP has a title slot in front, profiles, an archive, and subagents in a folder of the
log's name. Facts of the format: the programs' own documentation (docs/session.md of each) and what they write.
"""

from __future__ import annotations

import os
import shlex
from bisect import bisect_left
from collections.abc import Callable, Iterator
from pathlib import Path

from recall.hosts import header, paths, roots, text, walk
from recall.hosts.header import Head
from recall.hosts.host import Resumable
from recall.hosts.log_host import Glance, LogHost
from recall.hosts.notes import Notes
from recall.hosts.records import About, Records
from recall.hosts.saying import Redacting
from recall.hosts.text import Reading, Record
from recall.settings import Settings
from recall.types import Entry, Position, SourceRef

_ABOUT = ("type", "firstKeptEntryId", "firstKeptEntryIndex")


class PiGlance:
    """The title slot, the header, and the newest title. A title in the slot is newer than any other."""

    def __init__(self, *, subagent: bool) -> None:
        self.subagent = subagent
        self.entries = 0
        self._head: Head | None = None
        self._slot_title: str | None = None
        self._title: str | None = None

    @property
    def known(self) -> bool:
        return self._head is not None

    @property
    def version(self) -> int:
        return self._head.version if self._head is not None else 1

    def take(self, value: object, number: int) -> None:
        """One more value. The first that is not the slot has to be a header, or SourceError `invalid_source`."""
        if number == 1 and is_slot(value):
            self._slot_title = header.slot_title(value) if isinstance(value, dict) else None
        elif self._head is None:
            self._head = header.head(value)
        elif isinstance(value, dict):
            self.entries += 1
            self._title = header.title_in(value) or self._title
            self.subagent = self.subagent or value.get("type") == "session_init"

    def head(self) -> Head:
        if self._head is None:
            raise header.invalid("no line of it is a record")
        found = self._head
        return Head(
            identity=found.identity,
            version=found.version,
            started_at=found.started_at,
            cwd=found.cwd,
            title=self._slot_title or self._title or found.title,
            parent=found.parent,
            sidechain=self.subagent,
        )


class PiRecords(Records):
    """The entries behind the header."""

    def __init__(self, notes: Notes, redactor: Redacting, glance: PiGlance) -> None:
        super().__init__(notes, redactor, subagent=glance.subagent)
        self._glance = glance
        self._skipped: list[int] = []  # for firstKeptEntryIndex, which counts them too

    def slot(self, value: object) -> None:
        self._glance.take(value, 1)

    def head(self) -> Head:
        return self._glance.head()

    def take(self, value: object, place: Position, digest: str) -> Iterator[Entry]:
        if not self._glance.known:
            self._glance.take(value, place.line)
            return iter(())
        if isinstance(value, dict) and value.get("type") in ("session", "title"):
            self.skip(place.line, "extra_header")
            return iter(())
        self._glance.take(value, place.line)
        self.subagent = self._glance.subagent
        return super().take(value, place, digest)

    def about(self, record: Record) -> About:
        given, parent, message = record.get("id"), record.get("parentId"), record.get("message")
        host_id = given if isinstance(given, str) and given else None
        rooted = isinstance(parent, str) or (parent is None and "parentId" in record)
        inner = message.get("timestamp") if isinstance(message, dict) else None
        return About(
            host_id=host_id,
            parent=parent if isinstance(parent, str) else None,
            rooted=rooted,
            broken=host_id is not None and self._glance.version >= 2,
            times=(record.get("timestamp"), inner),
            more={key: record[key] for key in _ABOUT if key in record},
        )

    def read(self, record: Record) -> Reading:
        return text.reading(record)

    def skip(self, number: int, code: str) -> None:
        super().skip(number, code)
        self._skipped.append(len(self.tree) + len(self._skipped))

    def added(self, about: About, found: Reading) -> None:
        if found.kind == "compaction":
            kept, index = about.more.get("firstKeptEntryId"), about.more.get("firstKeptEntryIndex")
            if isinstance(kept, str):
                self.tree.compaction(kept)
            elif isinstance(index, int) and not isinstance(index, bool):
                # An index into all records, the header among them.
                self.tree.compaction(index - 1 - bisect_left(self._skipped, index - 1))
        elif found.kind == "reset_boundary":
            self.tree.reset()


class PiFamily(LogHost):
    """What OMP and Pi have in common."""

    slot_start = header.SLOT_START
    title_words = (b'"title_change"', b'"session_info"')

    def is_slot(self, value: object) -> bool:
        return is_slot(value)

    def glance(self, source: SourceRef) -> Glance:
        return PiGlance(subagent=source.sidechain)

    def records(self, source: SourceRef, notes: Notes, redactor: Redacting, survey: object) -> Records:
        return PiRecords(notes, redactor, PiGlance(subagent=source.sidechain))

    def reading(self, record: Record) -> Reading:
        return text.reading(record)

    def files(self, root: Path, notes: Notes) -> Iterator[walk.Found]:
        return walk.below_root(root, notes)

    def covers(self, root: Path, path: Path) -> bool:
        return path.suffix == walk.SUFFIX and paths.contains(root, path) and len(path.relative_to(root).parts) <= 3

    def parent_of(self, root: Path, path: Path) -> str | None:
        depth = len(path.relative_to(root).parts)
        above = path.parent.with_name(path.parent.name + walk.SUFFIX)
        return str(above) if depth == 3 or (depth == 2 and os.path.isfile(above)) else None


class Omp(PiFamily):
    """OMP (oh-my-pi)."""

    name = "omp"

    def roots(self, settings: Settings) -> Iterator[Path]:
        return roots.omp(settings)

    def recognises(self, value: object) -> bool:
        return header.is_omp(value)

    def resume(self, conversation: Resumable) -> str | None:
        return _in_place(conversation, lambda given: f"omp --resume {given}")


class Pi(PiFamily):
    """Pi."""

    name = "pi"
    sure = False  # what it writes, OMP may write as well

    def roots(self, settings: Settings) -> Iterator[Path]:
        return roots.pi(settings)

    def recognises(self, value: object) -> bool:
        return isinstance(value, dict) and value.get("type") == "session" and not header.is_omp(value)

    def resume(self, conversation: Resumable) -> str | None:
        return _in_place(conversation, lambda given: f"pi --session {given}")


def _in_place(conversation: Resumable, command: Callable[[str], str]) -> str | None:
    return None if conversation.sidechain else command(shlex.quote(conversation.path))


def is_slot(value: object) -> bool:
    """Whether a first line is OMP's title slot."""
    return isinstance(value, dict) and value.get("type") == "title"
