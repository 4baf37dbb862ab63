"""Where a question looks: everything, this project first, or this project only; and which project "this" is.

The running conversation and its folder come from the caller (`Here`), never from a model. The current project is where
the user put the running conversation, else where it is indexed, else what its folder belongs to. Without one, `prefer`
is `all`, and `project` is a named empty answer. A project that nobody knows is an error.
"""

from __future__ import annotations

import os
import sqlite3
from dataclasses import dataclass, replace

from recall import project_names
from recall.errors import ArgumentError
from recall.hosts.place import NOWHERE, Place, git_group, place_of
from recall.index import catalogue, projects, reads
from recall.index.attribution import Seen, attribute
from recall.index.catalogue import EVERYWHERE, Within
from recall.index.filters import Filters
from recall.index.projects import Project
from recall.settings import SCOPES, Settings
from recall.shown import Belongs
from recall.tiers import Tier

NO_PROJECT = "no_project"
GROUP = "git:"
_NO_CURRENT = "No project is current: the caller named no folder or conversation that belongs to one"


@dataclass(frozen=True, slots=True)
class Here:
    """From where something is asked. `widest`: the widest scope that the asker may use; None for a person."""

    current: tuple[str, str] | None = None
    cwd: str | None = None
    widest: str | None = None
    place: Place = NOWHERE


ANYWHERE = Here()


def here_of(settings: Settings, *, agent: bool = False) -> Here:
    """Where the settings say that the caller is. Looks at the folder once, before any snapshot is taken."""
    widest = settings.agent_scope if agent else None
    return Here(settings.current, settings.cwd, widest, place_of(settings.cwd))


@dataclass(frozen=True, slots=True)
class Scope:
    """What a question comes to. `used`: all, prefer or project. `project`: its id, or git:PATH, for the answer.

    `reason` is `no_project` where nothing can be in it; `said` is what the answer has to say of it.
    """

    used: str = "all"
    project_no: int | None = None
    group: str | None = None
    project: str | None = None
    reason: str | None = None
    said: str = ""

    def narrow(self, filters: Filters) -> Filters:
        """The filters of a search, narrowed to the project where that was asked for."""
        if self.used != "project":
            return filters
        return replace(filters, project_no=self.project_no, git_group=self.group)

    def tier(self, row: sqlite3.Row) -> Tier:
        """Where a row of `conversations` stands: in this project, in none, or in another."""
        return self.tier_of(row["project_no"], row["git_group"])

    def tier_of(self, project_no: int | None, git_group: str | None) -> Tier:
        """The same for what has no row yet."""
        if self._is(project_no, git_group):
            return "project"
        return "none" if project_no is None else "other"

    def holds(self, row: sqlite3.Row) -> bool:
        """Whether a row of `conversations` is in this project."""
        return self._is(row["project_no"], row["git_group"])

    def _is(self, project_no: int | None, git_group: str | None) -> bool:
        if self.group is not None:
            return git_group == self.group
        return self.project_no is not None and project_no == self.project_no

    def as_json(self) -> dict[str, object]:
        """The fields of an answer; `reason` only where there is one."""
        named: dict[str, object] = {"scope": self.used, "project": self.project}
        return named if self.reason is None else named | {"reason": self.reason}

    @property
    def within(self) -> Within:
        """The same for browsing."""
        if self.used == "all":
            return EVERYWHERE
        return Within(self.project_no, self.group, only=self.used == "project")


EVERYTHING = Scope()


def resolve(
    connection: sqlite3.Connection, profile_no: int, here: Here, scope: str | None = None, project: str | None = None
) -> Scope:
    """What was asked for. Raises ArgumentError `unknown_project`, `no_project`, `scope_forbidden`, `usage`."""
    if scope is not None and scope not in SCOPES:
        raise ArgumentError("usage", f"scope is {scope!r}", f"use {', '.join(SCOPES)}")
    current = current_project(connection, profile_no, here)
    found = _named(connection, profile_no, here, current, project)
    wanted = scope or ("project" if project else "prefer" if found.project else "all")
    used, said = _allowed(here, wanted, scope)
    if here.widest == "project" and project and found.project_no != (current.project_no if current else None):
        message = "The user's settings keep agents to the current project"
        raise ArgumentError("scope_forbidden", message, "ask the user; the setting is projects.agent_scope")
    if found.project is None and used == "project":
        return Scope(used, reason=NO_PROJECT, said=f"{_NO_CURRENT} ({NO_PROJECT}).")
    if found.project is None and used == "prefer":
        used = "all"
    return replace(found, used=used, said=said)


def current_project(connection: sqlite3.Connection, profile_no: int, here: Here) -> Project | None:
    """The project of the running conversation, or of the caller's folder."""
    if here.current is not None:
        decided = projects.decided(connection, profile_no, *here.current)
        if decided is not None:
            return None if decided.project_no is None else projects.by_number(connection, decided.project_no)
        row = reads.conversation(connection, profile_no, "current", here.current)
        if row is not None and row["project_no"] is not None:
            return projects.by_number(connection, row["project_no"])
    seen = Seen(here.place.folders, here.place.marker, here.place.git_group)
    found = attribute(seen, projects.known(connection, profile_no)).project_no
    return None if found is None else projects.by_number(connection, found)


def find(connection: sqlite3.Connection, profile_no: int, name: str, here: Here) -> Project:
    """A project by its id, its name, or "." for the current one.

    Raises ArgumentError `unknown_project`, `no_project`.
    """
    if name == ".":
        current = current_project(connection, profile_no, here) or _of_process(connection, profile_no, here)
        if current is None:
            raise ArgumentError(NO_PROJECT, _NO_CURRENT, "pass --cwd DIR, or bind the folder: `project bind`")
        return current
    found = projects.named(connection, profile_no, name)
    if not found:
        message = f"There is no project {name[: project_names.LONGEST]!r} in this profile"
        hint = "`history-recall project list` lists them"
        raise ArgumentError("unknown_project", message, hint, {"project_id": name})
    if len(found) > 1:
        ids = [project.project_id for project in found]
        message = f"{len(found)} projects are called {name!r}"
        raise ArgumentError("unknown_project", message, f"give the id: {', '.join(ids)}", {"project_ids": ids})
    return found[0]


def _of_process(connection: sqlite3.Connection, profile_no: int, here: Here) -> Project | None:
    """A person at a terminal who writes "." means the folder that they are in."""
    if here.widest is not None or here.cwd is not None:
        return None
    return current_project(connection, profile_no, Here(place=place_of(os.getcwd())))


def _named(
    connection: sqlite3.Connection, profile_no: int, here: Here, current: Project | None, project: str | None
) -> Scope:
    if project is not None and project.startswith(GROUP):
        return _group(here, project.removeprefix(GROUP))
    if project is not None:
        current = find(connection, profile_no, project, here)
    return EVERYTHING if current is None else Scope(project_no=current.project_no, project=current.project_id)


def _group(here: Here, path: str) -> Scope:
    folder = os.path.join(here.cwd or os.getcwd(), os.path.expanduser(path or "."))
    group = git_group(os.path.realpath(folder)) if os.path.isdir(folder) else None
    if group is None:
        message = f"{folder} is in no git repository"
        raise ArgumentError("unknown_project", message, "name a folder of a repository: git:PATH")
    return Scope(group=group, project=GROUP + group)


def _allowed(here: Here, wanted: str, asked: str | None) -> tuple[str, str]:
    """The scope that the asker may use, and what has to be said where that is not the one asked for."""
    if here.widest is None or SCOPES.index(wanted) <= SCOPES.index(here.widest):
        return wanted, ""
    said = f"The user's settings keep agents to scope {here.widest}." if asked else ""
    return here.widest, said


def covered(connection: sqlite3.Connection, profile_no: int, here: Here, scope: Scope) -> int:
    """How many conversations are in scope; the running one is left out."""
    if scope.reason is not None:
        return 0
    without = reads.current_number(connection, profile_no, here.current)
    return catalogue.in_scope(connection, profile_no, without, scope.within)


def belongs_of(connection: sqlite3.Connection, profile_no: int, scope: Scope) -> Belongs:
    """A function from a row of `conversations` to what an answer says of its project."""
    known = {project.project_no: project for project in projects.all_of(connection, profile_no)}

    def belongs(row: sqlite3.Row) -> dict[str, object]:
        project = known.get(row["project_no"])
        return {
            "project": project.project_id if project else None,
            "project_name": project.name if project else None,
            "tier": scope.tier(row),
            "why_project": row["why_project"],
        }

    return belongs
