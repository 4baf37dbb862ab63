"""What the user authorised outside the hosts' own roots: add, remove, list."""

from __future__ import annotations

import os

from recall import conversations
from recall.errors import ArgumentError
from recall.hosts import walk
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
    """Authorise one file, or the .jsonl files directly in one folder. Adding twice is the same as once.

    Raises SourceError, also for a file that no host reads.
    """
    catalogue = conversations.catalogue_of(run.settings, run.database)
    path, kind = catalogue.authorise(argument)
    with run.database.write() as connection:
        number = ensure_profile(connection, run.settings.profile, run.clock())
        connection.execute(
            """INSERT INTO authorised_paths (profile_no, path, kind, added_at) VALUES (?, ?, ?, ?)
               ON CONFLICT (profile_no, path) DO UPDATE SET kind = excluded.kind""",
            (number, path, kind, run.clock()),
        )
    logs, others = catalogue.held(path, kind)
    said = _said(path, kind, logs, others, catalogue.root_over(path))
    return {"added": {"path": path, "kind": kind, "logs": logs, "unreadable": others}, "message": said}


def _said(path: str, kind: str, logs: int, others: int, host: str | None) -> str:
    """What a person should know of it: nothing is in it that can be read, or not all is, or it was there already."""
    if host is not None:
        return f"It lies in the own folder of {host}, which is looked through anyway."
    if kind == "file":
        return "" if logs else "No conversation is in it yet. It will be listed when one is."
    if others:
        unread = f"{others} of {logs + others} in it cannot be read as a log"
        return f"{unread}: `history-recall conversations` says why."
    if logs:
        return ""
    below = _with_logs(path)
    if below:
        return f"No log lies directly in it; {_folders(below)} below it, and each has to be added by itself."
    return "No log lies in it yet. Those that come will be listed."


def _folders(names: list[str]) -> str:
    shown = ", ".join(names[:3]) + (" …" if len(names) > 3 else "")
    return f"there are logs in {len(names)} folder{'s' if len(names) > 1 else ''} ({shown})"


def _with_logs(path: str) -> list[str]:
    """The names of the folders directly in this one that hold logs."""
    with os.scandir(path) as entries:
        folders = sorted(entry.name for entry in entries if entry.is_dir(follow_symlinks=False))
    return [name for name in folders if _holds_a_log(os.path.join(path, name))]


def _holds_a_log(folder: str) -> bool:
    try:
        return any(walk.is_log(name) for name in os.listdir(folder))
    except OSError:
        return False  # it is none that could be added


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
