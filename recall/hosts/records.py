"""From a parsed record to an entry: its text, its id as it can be cited, its place in the tree, its time.

`Records` is what the readers of all hosts have in common; a host says in a class of its own what its records are. It
owns everything about a log that is known only when all records were seen (the tree, the counts), and knows nothing of
files and lines but their numbers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from recall.hosts import text
from recall.hosts.facts import Tally
from recall.hosts.header import Head
from recall.hosts.notes import Notes
from recall.hosts.saying import Redacting, said
from recall.hosts.text import Reading, Record, WrongShape
from recall.hosts.times import to_ms
from recall.hosts.tree import Tree
from recall.redact import redact_text
from recall.types import Entry, Facts, Mark, Position

# An id that can be cited. `L12` is ours: the name of an entry that has none.
_ID = re.compile(r"(?!L\d+\Z)[A-Za-z0-9_.:-]{1,64}", re.ASCII)
_NOTHING: Record = {}
SIDECHAIN: frozenset[Mark] = frozenset({"sidechain"})
SENTENCES = {
    "malformed_line": "the line is not JSON; it was skipped",
    "nested_too_deep": "the line is nested too deep; it was skipped",
    "not_an_object": "the line is JSON but no record; it was skipped",
    "no_type": "the record has no type; it was skipped",
    "no_message": "the record is a message without a body; it was skipped",
    "extra_header": "a second header was skipped",
    "no_role": "the record is a message without a role; it was skipped",
}


@dataclass(frozen=True, slots=True)
class About:
    """What places an entry, apart from what it says. `times`: what the log gives as its time, the best first.

    `parent` is the host's id; without one (`rooted` False) the entry follows the one before it, which is a break in the
    chain where `broken`. `follows`: nobody chose it, so it belongs where its parent belongs. `beside`: a record about
    the log, which has no place among the entries. `message`: the host's id of the message that this is a block of.
    """

    host_id: str | None = None
    parent: str | None = None
    rooted: bool = False
    broken: bool = False
    follows: bool = False
    beside: bool = False
    message: str | None = None
    times: tuple[object, ...] = ()
    more: Record = field(default_factory=lambda: _NOTHING)


class Records:
    """Takes the records of one log in file order. A host overrides `about`, `read`, and what else differs."""

    def __init__(self, notes: Notes, redactor: Redacting, *, subagent: bool = False) -> None:
        self.notes = notes
        self.subagent = subagent
        self.tree = Tree()
        self._redactor = redactor
        self._tally = Tally()
        self._messages: dict[str, str] = {}  # messages of several records -> the entry that begins each
        self._renamed: dict[str, str] = {}  # ids of the host that cannot be cited -> ours
        self._previous: str | None = None

    def __len__(self) -> int:
        return len(self.tree)

    # --- for a host to say ------------------------------------------------------------------------------------------

    def head(self) -> Head:
        """Who and when, once all was read. Raises SourceError for what is no conversation of this host."""
        raise NotImplementedError

    def slot(self, value: object) -> None:
        """The first line, where it is one that its host rewrites in place."""

    def about(self, record: Record) -> About:
        """What places the entry of a record."""
        raise NotImplementedError

    def read(self, record: Record) -> Reading:
        """What the record says. Raises WrongShape."""
        raise NotImplementedError

    def split(self, record: dict[str, object]) -> list[dict[str, object]]:
        """A record that holds what several said (a call and its result) as one record for each."""
        return [record]

    def added(self, about: About, found: Reading) -> None:
        """After an entry was put into the tree: what it does to the others."""

    def everywhere(self) -> frozenset[Mark]:
        """Marks of all entries of this log."""
        return SIDECHAIN if self.subagent else frozenset()

    def begun(self, message: str) -> bool:
        """Whether a block of that message was an entry already."""
        return message in self._messages

    # --- what they have in common -----------------------------------------------------------------------------------

    def skip(self, number: int, code: str) -> None:
        """A line that is JSON but no entry."""
        self.notes.add(code, number, SENTENCES[code])

    def take(self, value: object, place: Position, digest: str) -> Iterator[Entry]:
        """The entry of a record, without marks, or its entries; none for a value that is no record. Empties it."""
        if not isinstance(value, dict):
            self.skip(place.line, "not_an_object")
            return
        for record in self.split(value):
            entry = self.entry(record, place, digest)
            if entry is not None:
                yield entry
                del entry

    def entry(self, record: dict[str, object], place: Position, digest: str) -> Entry | None:
        """The entry of one record, or of one part of it."""
        about = self.about(record)
        try:
            found = self.read(record)
        except WrongShape as error:
            self._pass_over(about, place.line, error.code)
            return None
        except RecursionError:
            self._pass_over(about, place.line, "nested_too_deep")
            return None
        record.clear()  # what is said of the entry is in `about`, what it says in `found`: a long text is held once
        entry_id = self._cite(about.host_id, place.line)
        parts = list(found.parts)
        found = replace(found, parts=())
        try:
            words = said(parts, entry_id, self._redactor)
        except RecursionError:
            self._pass_over(about, place.line, "nested_too_deep")
            return None
        marks = found.marks | text.META if found.ours and not words.strip() else found.marks
        parent_id = self._hang(about, place.line, marks)
        self.added(about, found)
        at = self._time(about, place.line)
        self._tally.add(found.role, found.tool, at, activity="meta" not in marks)
        if not about.beside:
            self._previous = entry_id
        begins = entry_id if about.message is None else self._messages.setdefault(about.message, entry_id)
        return Entry(
            seq=len(self.tree) - 1,
            entry_id=entry_id,
            parent_id=parent_id,
            position=place,
            sha256=digest,
            kind=found.kind,
            role=found.role,
            at=at,
            text=words,
            tool=found.tool,
            turn=None if begins == entry_id else begins,
        )

    def outcome(self) -> tuple[tuple[frozenset[Mark], ...], Facts]:
        """Marks and facts, once the last record was seen; where the chain is broken is noted. Once."""
        graph = self.tree.graph(self.everywhere())
        for found in graph.breaks:
            reason = "its parent is not in the log" if found.code == "broken_chain" else "its parents form a circle"
            self.notes.add(found.code, found.line, f"the chain of entries is broken here: {reason}")
        return graph.marks, self._tally.facts(graph.marks, graph.branches, graph_damaged=bool(graph.breaks))

    def _pass_over(self, about: About, line: int, code: str) -> None:
        """A record that is no entry; what hangs on it hangs on its parent."""
        self.skip(line, code)
        if about.host_id is not None:
            self.tree.skip(about.host_id, about.parent if about.rooted else self._previous)

    def _cite(self, host_id: str | None, line: int) -> str:
        """The host's id where it can name one entry and was not used before, else the line."""
        own = f"L{line}"
        if host_id is None:
            return own
        if self.tree.known(host_id):
            self.notes.add("repeated_id", line, f"the entry's id was used before; it is cited as {own}")
            return own
        if not _citable(host_id):
            self._renamed[host_id] = own
            return own
        return host_id

    def _hang(self, about: About, line: int, marks: frozenset[Mark]) -> str | None:
        """Put the entry into the tree; the id of its parent as it can be cited."""
        if about.beside:
            self.tree.add_beside(line, marks)
            return None
        if not about.rooted:
            self.tree.add_after(line, about.host_id, marks, broken=about.broken and len(self.tree) > 0)
            return self._previous
        self.tree.add(line, about.host_id, about.parent, marks, follows=about.follows)
        if about.parent is None:
            return None
        return self._renamed.get(about.parent, about.parent if _citable(about.parent) else None)

    def _time(self, about: About, line: int) -> int | None:
        at = None
        for order, given in enumerate(about.times):
            at = to_ms(given)
            if at is not None:
                break
            if order == 0 and given is not None:
                self.notes.add("unknown_time", line, "the record's time cannot be read; it is left out of time filters")
        return at


def _citable(host_id: str) -> bool:
    """Whether an id can name an entry: it is plain, and holds no secret."""
    return _ID.fullmatch(host_id) is not None and redact_text(host_id) == host_id


def text_in(record: Mapping[str, object], *keys: str) -> str | None:
    """The first of the values that is a text with something in it."""
    return next((value for key in keys if isinstance(value := record.get(key), str) and value.strip()), None)
