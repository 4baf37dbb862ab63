"""The redacted original record of an entry, read from its source and proved by its hash."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable

from recall import conversations
from recall.errors import ArgumentError, SourceError
from recall.hosts.catalogue import Catalogue
from recall.hosts.raw import read_record
from recall.index import stored
from recall.index.database import Database
from recall.redact import Redactor
from recall.settings import Settings
from recall.types import Position, SourceRef


def reader_of(settings: Settings, database: Database) -> Callable[[sqlite3.Row, str], str]:
    """A function from (row of `conversations`, entry id) to the redacted original JSON.

    It raises SourceError: `not_authorised` where the source is no longer one of the user's, `source_missing`,
    `stale_evidence` where other bytes stand at that place now.
    """
    catalogue = conversations.catalogue_of(settings, database)

    def original(conversation: sqlite3.Row, entry_id: str) -> str:
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


def _where(catalogue: Catalogue, conversation: sqlite3.Row) -> SourceRef:
    """The source where it was last seen, or wherever the same conversation stands now."""
    try:
        return catalogue.resolve(conversation["source"], running=True)
    except SourceError as error:
        if error.code != "source_missing":
            raise
    return catalogue.resolve(f"{conversation['host']}:{conversation['host_conversation_id']}", running=True)
