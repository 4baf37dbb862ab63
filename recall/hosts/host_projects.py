"""The records of projects that Hermes and OpenCode keep: which folders, and of OpenCode which conversations."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from recall.hosts import database
from recall.hosts.database import columns, select
from recall.hosts.hermes import hermes_home
from recall.hosts.host import HostProject
from recall.hosts.opencode import OpenCode
from recall.settings import Settings


def hermes(settings: Settings) -> Sequence[HostProject]:
    """`projects.db` beside the conversations; archived projects are among them, for their conversations are."""
    home = hermes_home(settings)
    path = None if home is None else home / "projects.db"
    if path is None or not path.exists():
        return []
    return database.ask(str(path), hermes_records)


def hermes_records(connection: sqlite3.Connection) -> list[HostProject]:
    """The projects of an open `projects.db`, each with its folders, the first of them the primary one."""
    if not {"id", "name"} <= columns(connection, "projects"):
        return []
    folders: dict[str, list[str]] = {}
    if {"project_id", "path"} <= columns(connection, "project_folders"):
        listed = select(connection, "project_folders", ("project_id", "path", "is_primary"))
        for row in connection.execute(f"SELECT {listed} FROM project_folders ORDER BY is_primary DESC, path"):
            folders.setdefault(row["project_id"], []).append(row["path"])
    found = []
    for row in connection.execute(
        f"SELECT {select(connection, 'projects', ('id', 'name', 'primary_path'))} FROM projects"
    ):
        primary = [row["primary_path"]] if row["primary_path"] else []
        paths = dict.fromkeys((*primary, *folders.get(row["id"], [])))
        found.append(HostProject("hermes", str(row["id"]), str(row["name"]), tuple(paths)))
    return found


def opencode(settings: Settings) -> Sequence[HostProject]:
    """The projects of each database; `global`, for what lies in none, is no project."""
    found: list[HostProject] = []
    for path in OpenCode().roots(settings):
        if path.exists():
            found += database.ask(str(path), opencode_records)
    return found


def opencode_records(connection: sqlite3.Connection) -> list[HostProject]:
    """The projects of an open database: a working tree, and the sessions that name it."""
    if not {"id", "worktree"} <= columns(connection, "project"):
        return []
    sessions: dict[str, set[str]] = {}
    for row in connection.execute("SELECT id, project_id FROM session"):
        sessions.setdefault(row["project_id"], set()).add(str(row["id"]))
    found = []
    for row in connection.execute(f"SELECT {select(connection, 'project', ('id', 'worktree', 'name'))} FROM project"):
        if row["id"] != "global":
            name = row["name"] or Path(row["worktree"]).name or row["worktree"]
            folders = (row["worktree"],) if row["worktree"] else ()
            held = frozenset(sessions.get(row["id"], ()))
            found.append(HostProject("opencode", str(row["id"]), str(name), folders, held))
    return found


READERS: Mapping[str, Callable[[Settings], Sequence[HostProject]]] = {"hermes": hermes, "opencode": opencode}
