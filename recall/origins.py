"""What the hosts say now of an indexed conversation: whether its source still stands, and how to open it there.

Looks at files and rows and reads no log; a listing would say the same.
"""

from __future__ import annotations

import os
import sqlite3
from typing import TYPE_CHECKING

from recall import folders
from recall.errors import SourceError
from recall.hosts.reading import Resumable
from recall.hosts.reading import resume as command
from recall.index.database import Database
from recall.settings import Settings
from recall.shown import Resume, SourceState, state_by_stat, state_of

if TYPE_CHECKING:
    from recall.hosts.catalogue import Catalogue


def source_state_of(settings: Settings, database: Database) -> SourceState:
    """A function from a row of `conversations` to ok, grown, changed, gone or unreadable."""
    catalogue: Catalogue | None = None

    def state(row: sqlite3.Row) -> str:
        nonlocal catalogue
        if os.path.isabs(row["source"]):
            return state_by_stat(row)
        if catalogue is None:
            from recall import conversations  # only what is kept in a database is looked up so

            catalogue = conversations.catalogue_of(settings, database)
        try:
            now = catalogue.look(row["source"])
        except SourceError as error:
            return "gone" if error.code == "source_missing" else "unreadable"
        return state_of(row, now.size, now.mtime_ns, now.device, now.inode)

    return state


def resume(row: sqlite3.Row) -> str | None:
    """The host's own command that opens the conversation of a row, None where it has none.

    Also where the id or the path would be taken for an option: a log says of itself what it is called.
    """
    if row["host_conversation_id"].startswith("-") or row["source"].startswith("-"):
        return None
    cwd = row["cwd"] if folders.parse(row["cwd"]) is not None else None
    try:
        return command(
            row["host"],
            Resumable(
                identity=row["host_conversation_id"],
                path=row["source"],
                cwd=cwd,
                version=row["host_version"],
                sidechain=bool(row["sidechain"]),
            ),
        )
    except SourceError:  # of a host that this version does not read
        return None


__all__ = ["Resume", "resume", "source_state_of"]
