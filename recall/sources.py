"""What the user authorised outside the hosts' own roots: add, remove, list."""

from __future__ import annotations

import os

from recall import conversations
from recall.errors import ArgumentError
from recall.index import stored
from recall.index.database import Database, ensure_profile, profile_number
from recall.run import Run
from recall.settings import Settings


def listing(settings: Settings, database: Database) -> dict[str, object]:
    """The hosts' own roots and the added paths."""
    with database.read() as connection:
        number = profile_number(connection, settings.profile)
        added = [] if number is None else stored.authorised_paths(connection, number)
    roots = conversations.catalogue_of(settings, database).roots()
    return {
        "roots": [{"host": root.host, "path": str(root.path), "exists": root.path.exists()} for root in roots],
        "added": [{"path": path, "kind": kind} for path, kind in added],
    }


def add(run: Run, argument: str) -> dict[str, object]:
    """Authorise one file, or the .jsonl files directly in one folder. Adding twice is the same as once."""
    path, kind = conversations.catalogue_of(run.settings, run.database).authorise(argument)
    with run.database.write() as connection:
        number = ensure_profile(connection, run.settings.profile, run.clock())
        connection.execute(
            """INSERT INTO authorised_paths (profile_no, path, kind, added_at) VALUES (?, ?, ?, ?)
               ON CONFLICT (profile_no, path) DO UPDATE SET kind = excluded.kind""",
            (number, path, kind, run.clock()),
        )
    return {"added": {"path": path, "kind": kind}}


def remove(run: Run, argument: str) -> dict[str, object]:
    """Take an authorisation back. What was indexed from it stays; its source shows as gone."""
    wanted = {argument, os.path.abspath(os.path.expanduser(argument)), os.path.realpath(os.path.expanduser(argument))}
    with run.database.write() as connection:
        number = ensure_profile(connection, run.settings.profile, run.clock())
        for path, kind in stored.authorised_paths(connection, number):
            if path in wanted:
                connection.execute("DELETE FROM authorised_paths WHERE profile_no = ? AND path = ?", (number, path))
                return {"removed": {"path": path, "kind": kind}}
    raise ArgumentError("not_found", f"{argument} was not added", "see `history-recall sources list`")
