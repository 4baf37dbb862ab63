"""Original records, read from their source and proved by their hash: shown redacted, or only held against it."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Sequence

from recall import conversations
from recall.errors import ArgumentError, SourceError
from recall.hosts.catalogue import Catalogue
from recall.hosts.reading import missing, open_log, read_record
from recall.index import stored
from recall.index.database import Database
from recall.index.members import Member
from recall.settings import Settings
from recall.shown import Lost
from recall.types import Position, SourceRef

READ_AGAIN = 4 << 20  # bytes of changed sources that one search reads again


def reader_of(settings: Settings, database: Database) -> Callable[[sqlite3.Row, str], str]:
    """A function from (row of `conversations`, entry id) to the redacted original JSON.

    It raises SourceError: `not_authorised` where the source is no longer one of the user's, `source_missing`,
    `stale_evidence` where other bytes stand at that place now.
    """
    catalogue = conversations.catalogue_of(settings, database)

    def original(conversation: sqlite3.Row, entry_id: str) -> str:
        from recall.redact import Redactor  # a page without originals needs none of its rules

        source = _where(catalogue, conversation)
        number = conversation["conversation_no"]
        with database.read() as connection:
            row = connection.execute(
                "SELECT line, offset, length, sha256 FROM entries WHERE conversation_no = ? AND entry_id = ?",
                (number, entry_id),
            ).fetchone()
            known = stored.placeholders(connection, number)
        if row is None:
            raise ArgumentError("not_found", f"There is no entry {entry_id!r} in this conversation", "see `read`")
        position = Position(row["line"], row["offset"], row["length"])
        record = read_record(source, position, row["sha256"], Redactor(known), entry_id=entry_id)
        return json.dumps(record, ensure_ascii=False, indent=2)

    return original


def prover_of(settings: Settings, database: Database) -> Callable[[sqlite3.Row, Sequence[str]], frozenset[str] | None]:
    """A function from (row of `conversations`, entry ids) to the ids whose record no longer stands in the source.

    Each record is found by its place and held against the hash it was indexed under; None where the source cannot be
    read at all.
    """
    catalogue = conversations.catalogue_of(settings, database)

    def gone(conversation: sqlite3.Row, entry_ids: Sequence[str]) -> frozenset[str] | None:
        with database.read() as connection:
            rows = _places(connection, conversation["conversation_no"], entry_ids)
        try:
            return missing(_where(catalogue, conversation), rows)
        except SourceError:
            return None

    return gone


def standing_of(settings: Settings, database: Database) -> Lost:
    """Says of one search's hits in a source that has changed which were edited or undone there since.

    A source is read again, without its rules of redaction, for nothing of it is kept: a record may stand elsewhere in
    it now, or on a branch that was given up since. Of what is too long for that, or more than one search may read, each
    record is looked for at its place.
    """
    catalogue: Catalogue | None = None
    left = READ_AGAIN

    def lost(conversation: sqlite3.Row, entry_ids: Sequence[str], hidden: frozenset[str]) -> frozenset[str] | None:
        nonlocal catalogue, left
        catalogue = catalogue or conversations.catalogue_of(settings, database)
        with database.read() as connection:
            places = _places(connection, conversation["conversation_no"], entry_ids)
        try:
            source = _where(catalogue, conversation)
            seen, now = _read_again(source, left)
            left -= seen
            if now is None:
                return missing(source, places)
        except SourceError:
            return None
        return frozenset(
            entry_id
            for entry_id, _, digest in places
            if not any(hidden.isdisjoint(marks) for marks in now.get(digest, ()))
        )

    return lost


class _AsItIs:
    """Redacts nothing: for a reading of which nothing but hashes and marks is kept."""

    def text(self, text: str, *, at: str) -> str:  # noqa: ARG002 - the protocol's name
        return text

    def tree(self, value: object, *, at: str) -> object:  # noqa: ARG002 - the protocol's name
        return value


def _read_again(source: SourceRef, most: int) -> tuple[int, dict[str, list[frozenset[str]]] | None]:
    """How many bytes were read of a source, and hash -> marks of its records; None where it has more than `most`.

    Raises SourceError.
    """
    reached = 0
    with open_log(source, _AsItIs()) as log:
        digests: list[str] = []
        for entry in log.entries():
            reached = entry.position.offset + entry.position.length
            if reached > most:
                return reached, None
            digests.append(entry.sha256)
        found: dict[str, list[frozenset[str]]] = {}
        for digest, marks in zip(digests, log.outline().marks, strict=True):
            found.setdefault(digest, []).append(frozenset(marks))
    return reached, found


class Originals:
    """Whether what repair reads still stands in its sources. What stands there is found by place, proved by hash."""

    def __init__(self, settings: Settings, database: Database, incoming: str | None = None) -> None:
        self._settings = settings
        self._database = database
        self._incoming = incoming  # its source is held against what was read of it when it is published
        self._catalogue: Catalogue | None = None
        self._sources: dict[int, SourceRef] = {}  # where they were found; what stands there is looked at each time

    def look(self, member: Member, entry_ids: Sequence[str]) -> Callable[[], str | None]:
        """A job for any thread: the code of what is wrong with these records of the member's source, or None."""
        if member.conversation_id == self._incoming:
            return lambda: None
        if any(not one.stands for one in member.cited if one.entry_id in entry_ids):
            return lambda: "stale_evidence"
        with self._database.read() as connection:
            conversation = connection.execute(
                "SELECT * FROM conversations WHERE conversation_no = ?", (member.conversation_no,)
            ).fetchone()
            places = _places(connection, member.conversation_no, entry_ids)
        if self._catalogue is None:
            self._catalogue = conversations.catalogue_of(self._settings, self._database)
        number = member.conversation_no
        try:
            source = self._sources.get(number) or _where(self._catalogue, conversation)
        except SourceError as error:
            code = error.code
            return lambda: code
        self._sources[number] = source
        return lambda: _fault(source, places)

    def health(self) -> Callable[[Member], str | None]:
        """What is wrong with anything that a member cites; looked at once for each member."""
        known: dict[str, str | None] = {}

        def look(member: Member) -> str | None:
            if member.facet_id not in known:
                known[member.facet_id] = self.look(member, [one.entry_id for one in member.cited])()
            return known[member.facet_id]

        return look


def _fault(source: SourceRef, places: Sequence[tuple[str, Position, str]]) -> str | None:
    try:
        return "stale_evidence" if missing(source, places) else None
    except SourceError as error:
        return error.code


def _places(
    connection: sqlite3.Connection, conversation_no: int, entry_ids: Sequence[str]
) -> list[tuple[str, Position, str]]:
    """(entry id, place, hash) of each record."""
    rows = connection.execute(
        """SELECT e.entry_id, e.line, e.offset, e.length, e.sha256
           FROM json_each(?) AS shown JOIN entries AS e ON e.entry_id = shown.value
           WHERE e.conversation_no = ?""",
        (json.dumps(list(entry_ids)), conversation_no),
    )
    return [(row["entry_id"], Position(row["line"], row["offset"], row["length"]), row["sha256"]) for row in rows]


def _where(catalogue: Catalogue, conversation: sqlite3.Row) -> SourceRef:
    """The source where it was last seen, or wherever the same conversation stands now."""
    try:
        return catalogue.resolve(conversation["source"], running=True)
    except SourceError as error:
        if error.code != "source_missing":
            raise
    return catalogue.resolve(f"{conversation['host']}:{conversation['host_conversation_id']}", running=True)
