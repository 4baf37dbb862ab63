"""From a parsed record to an entry: its text, its id as it can be cited, its place in the tree, its time.

Owns everything about a log that is known only when all its records were seen (the tree, the counts, the newest title,
whether a subagent wrote it), and knows nothing of files and lines but their numbers.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import replace

from recall.hosts import header, text
from recall.hosts.facts import Tally
from recall.hosts.notes import Notes
from recall.hosts.saying import Redacting, said
from recall.hosts.text import WrongShape
from recall.hosts.times import to_ms
from recall.hosts.tree import Tree
from recall.redact import redact_text
from recall.types import Entry, Facts, Mark, Position

# An id that can be cited. `L12` is ours: the name of an entry that has none.
_ID = re.compile(r"(?!L\d+\Z)[A-Za-z0-9_.:-]{1,64}", re.ASCII)
_SIDECHAIN: frozenset[Mark] = frozenset({"sidechain"})
_ABOUT = ("type", "parentId", "timestamp", "firstKeptEntryId", "firstKeptEntryIndex", "title", "name")
SENTENCES = {
    "malformed_line": "the line is not JSON; it was skipped",
    "nested_too_deep": "the line is nested too deep; it was skipped",
    "not_an_object": "the line is JSON but no record; it was skipped",
    "no_type": "the record has no type; it was skipped",
    "no_message": "the record is a message without a body; it was skipped",
    "extra_header": "a second header was skipped",
    "no_role": "the record is a message without a role; it was skipped",
}


class Records:
    """Takes the records of one log in file order. `version` is the header's."""

    def __init__(self, version: int, notes: Notes, redactor: Redacting, *, subagent: bool) -> None:
        self.notes = notes
        self.subagent = subagent
        self.title: str | None = None
        self._version = version
        self._redactor = redactor
        self._tree = Tree()
        self._tally = Tally()
        self._skipped: list[int] = []  # for firstKeptEntryIndex, which counts them too
        self._renamed: dict[str, str] = {}  # ids of the host that cannot be cited -> ours
        self._previous: str | None = None

    def __len__(self) -> int:
        return len(self._tree)

    def skip(self, number: int, code: str) -> None:
        """A line that is JSON but no entry."""
        self.notes.add(code, number, SENTENCES[code])
        self._skipped.append(len(self._tree) + len(self._skipped))

    def entry(self, record: dict[str, object], place: Position, digest: str) -> Entry | None:
        """The entry of a record, without marks; None for a record that is none. Empties the record."""
        host_id = record.get("id")
        host_id = host_id if isinstance(host_id, str) and host_id else None
        if record.get("type") in ("session", "title"):
            self.skip(place.line, "extra_header")
            return None
        about = _about(record)
        try:
            found = text.reading(record)
        except WrongShape as error:
            self._pass_over(about, host_id, place.line, error.code)
            return None
        except RecursionError:
            self._pass_over(about, host_id, place.line, "nested_too_deep")
            return None
        record.clear()  # what is said of the entry is in `about`, what it says in `found`: a long text is held once
        entry_id = self._cite(host_id, place.line)
        parts = list(found.parts)
        found = replace(found, parts=())
        try:
            words = said(parts, entry_id, self._redactor)
        except RecursionError:
            self._pass_over(about, host_id, place.line, "nested_too_deep")
            return None
        marks = found.marks | text.META if found.ours and not words.strip() else found.marks
        parent_id = self._hang(about, host_id, place.line, marks)
        self._note_kind(about, found.kind)
        at = self._time(about, place.line)
        self._tally.add(found.role, found.tool, at, activity="meta" not in marks)
        self._previous = entry_id
        return Entry(
            seq=len(self._tree) - 1,
            entry_id=entry_id,
            parent_id=parent_id,
            position=place,
            sha256=digest,
            kind=found.kind,
            role=found.role,
            at=at,
            text=words,
            tool=found.tool,
        )

    def _pass_over(self, about: Mapping[str, object], host_id: str | None, line: int, code: str) -> None:
        """A record that is no entry; what hangs on it hangs on its parent."""
        self.skip(line, code)
        if host_id is not None:
            parent = about.get("parentId", self._previous)
            self._tree.skip(host_id, parent if isinstance(parent, str) else None)

    def _cite(self, host_id: str | None, line: int) -> str:
        """The host's id where it can name one entry and was not used before, else the line."""
        own = f"L{line}"
        if host_id is None:
            return own
        if self._tree.known(host_id):
            self.notes.add("repeated_id", line, f"the entry's id was used before; it is cited as {own}")
            return own
        if not _citable(host_id):
            self._renamed[host_id] = own
            return own
        return host_id

    def _hang(self, record: Mapping[str, object], host_id: str | None, line: int, marks: frozenset[Mark]) -> str | None:
        """Put the entry into the tree; the id of its parent as it can be cited."""
        parent = record.get("parentId")
        if isinstance(parent, str):
            self._tree.add(line, host_id, parent, marks)
            return self._renamed.get(parent, parent if _citable(parent) else None)
        if parent is None and "parentId" in record:
            self._tree.add(line, host_id, None, marks)
            return None
        expected = host_id is None or self._version < 2
        self._tree.add_after(line, host_id, marks, broken=not expected and len(self._tree) > 0)
        return self._previous

    def _note_kind(self, record: Mapping[str, object], kind: str) -> None:
        if kind == "compaction":
            kept, index = record.get("firstKeptEntryId"), record.get("firstKeptEntryIndex")
            if isinstance(kept, str):
                self._tree.compaction(kept)
            elif isinstance(index, int) and not isinstance(index, bool):
                # An index into all records, the header among them.
                self._tree.compaction(index - 1 - bisect_left(self._skipped, index - 1))
        elif kind == "reset_boundary":
            self._tree.reset()
        elif kind == "session_init":
            self.subagent = True
        self.title = header.title_in(record) or self.title

    def _time(self, record: Mapping[str, object], line: int) -> int | None:
        given = record.get("timestamp")
        at = to_ms(given)
        if at is None and given is not None:
            self.notes.add("unknown_time", line, "the record's time cannot be read; it is left out of time filters")
        return to_ms(record.get("message.timestamp")) if at is None else at

    def outcome(self) -> tuple[tuple[frozenset[Mark], ...], Facts]:
        """Marks and facts, once the last record was seen; where the chain is broken is noted. Once."""
        graph = self._tree.graph(_SIDECHAIN if self.subagent else frozenset())
        for found in graph.breaks:
            reason = "its parent is not in the log" if found.code == "broken_chain" else "its parents form a circle"
            self.notes.add(found.code, found.line, f"the chain of entries is broken here: {reason}")
        return graph.marks, self._tally.facts(graph.marks, graph.branches, graph_damaged=bool(graph.breaks))


def _citable(host_id: str) -> bool:
    """Whether an id can name an entry: it is plain, and holds no secret."""
    return _ID.fullmatch(host_id) is not None and redact_text(host_id) == host_id


def _about(record: Mapping[str, object]) -> dict[str, object]:
    """What places an entry, apart from what it says."""
    about = {key: record[key] for key in _ABOUT if key in record}
    message = record.get("message")
    return about | {"message.timestamp": message.get("timestamp")} if isinstance(message, dict) else about
