"""What is offered where the caller's folder leads to no project: to bind it, or to point a project that moved here."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

from recall import binding, folders, scope
from recall.counting import count
from recall.hosts.place import (
    sighting,
)
from recall.index import placed, projects
from recall.index.database import Database, profile_number
from recall.scope import Here
from recall.settings import Settings


def hint(connection: sqlite3.Connection, profile_no: int, home: Path, here: Here, now: int) -> dict[str, object] | None:
    """What to offer where the caller's folder leads to no project; None where it does or cannot, or after a no."""
    place = here.place
    if here.cwd is None or not place.folders or scope.current_project(connection, profile_no, here) is not None:
        return None
    keys = tuple(folder.key() for folder in place.folders)
    refused = any(binding.refusal(folder, home) for folder in place.folders)
    if refused or projects.declined_until(connection, profile_no, keys, now) is not None:
        return None
    known = place.marker is not None
    waiting = len(placed.unplaced(connection, profile_no, place.folders))
    if not folders.is_text(here.cwd) or not (place.there or waiting):
        return None
    moved = _moved_from(connection, profile_no, here.cwd)
    return {
        "folder": here.cwd,
        "marker": known,
        "conversations": waiting,
        "moved_from": moved,
        "message": _offer(here.cwd, known, waiting, moved),
    }


def hint_of(settings: Settings, database: Database, here: Here, now: int) -> dict[str, object] | None:
    """The same, for an answer that is being made."""
    if here.cwd is None:
        return None
    with database.read() as connection:
        profile_no = profile_number(connection, settings.profile)
        return hint(connection, -1 if profile_no is None else profile_no, settings.home, here, now)


def _offer(folder: str, marked: bool, waiting: int, moved: dict[str, object] | None) -> str:
    if moved is not None:
        what = f"looks like the folder of project {moved['name']!r}, which was at {moved['was']}"
        return f"{folder} {what}: `project rebind {moved['project_id']}` points it here"
    if marked:
        return f"{folder} has the marker of a project that this index does not know: `project bind` adopts it"
    held = f"; {count(waiting, 'indexed conversation')} ran here" if waiting else ""
    return f"{folder} belongs to no project{held}: `project bind` makes it one, `project decline` ends the question"


def _moved_from(connection: sqlite3.Connection, profile_no: int, folder: str) -> dict[str, object] | None:
    """The project of a bound folder that is no longer there and looked like this one."""
    now = sighting(folder)
    counts = projects.counts(connection, profile_no)
    for bound in projects.bindings(connection, profile_no):
        if bound.kind == "folder" and not os.path.exists(bound.shown) and now.resembles(bound.seen):
            project = projects.by_number(connection, bound.project_no)
            held = counts.get(project.project_no, 0)
            return binding.head(project) | {"was": bound.shown, "conversations": held}
    return None
