"""Binding folders to projects: bind, rebind, adopt, decline.

A bound folder leads there by its path and its real path, by its marker, and, where it is the root of a repository, by
that repository, so that its worktrees are with it. The marker is written only after the user agreed. Nothing here
moves a conversation out of a project; `bind` and `adopt` bring those in that have none and ran in the folder.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from recall import folders, project_names, scope
from recall.errors import ArgumentError, StateError
from recall.folders import Folder
from recall.hashing import derived_id
from recall.hosts import marker
from recall.hosts.place import (
    Sighting,
    folds_case,
    git_group,
    is_git_root,
    is_here,
    sighting,
)
from recall.index import placed, projects
from recall.index.database import ensure_profile, profile_number
from recall.index.projects import Binding, Project
from recall.index.publish import bump_generation
from recall.run import Run
from recall.scope import Here
from recall.settings import Settings
from recall.timewindow import iso

_DIRECTORY = "a folder"


@dataclass(frozen=True, slots=True)
class _Target:
    """A folder that is to be bound: as it was given, its real path, and whether it is there."""

    given: Folder
    real: Folder
    path: str
    there: bool

    @property
    def marker(self) -> str | None:
        return marker.read(self.path) if self.there else None


def bind(
    run: Run,
    here: Here,
    folder: str | None,
    *,
    name: str | None = None,
    project: str | None = None,
    write_marker: bool = True,
    agreed: bool = False,
    token: str | None = None,
) -> dict[str, object]:
    """Make a folder lead to a project: the one named, the one that its marker names, or a new one.

    `agreed`: the user asked for it in their own words; `token`: their yes to the question, carried back.
    Raises ArgumentError `bind_refused`, `unknown_project`, `name_taken`,
    StateError `confirmation_required`.
    """
    if name is not None and project is not None:
        raise ArgumentError("usage", "--name is for a new project, --project for one that is there", "give one of them")
    target = _target(run.settings, here, folder)
    mark = write_marker and target.there
    if mark and not agreed and target.marker is None and token != _token(run.settings, target):
        raise _question(run.settings, target)
    with run.database.write() as connection:
        profile_no = ensure_profile(connection, run.settings.profile, run.clock())
        chosen, made = _project_for(connection, profile_no, here, target, name, project, run.clock())
        if not target.there and not placed.unplaced(connection, profile_no, [target.given]):
            raise ArgumentError("bind_refused", f"{target.path} is not there, and nothing ran in it", "name a folder")
        if mark:
            marker.write(Path(target.path), chosen.marker)
        return _bound(connection, profile_no, chosen, target, run.clock()) | {"created": made}


def rebind(run: Run, here: Here, project: str, folder: str | None, *, write_marker: bool = True) -> dict[str, object]:
    """Point a new folder at a project, in the place of its folders so far. No conversation moves.

    The project's marker goes from these: it would outweigh every binding.
    """
    target = _target(run.settings, here, folder)
    if not target.there:
        raise ArgumentError("bind_refused", f"{target.path} is not there", "name the folder as it is now")
    with run.database.write() as connection:
        profile_no = ensure_profile(connection, run.settings.profile, run.clock())
        chosen = scope.find(connection, profile_no, project, here)
        _refuse_other(target, chosen)
        before = [b.shown for b in projects.bindings(connection, profile_no) if _is_folder_of(b, chosen)]
        projects.unbind(connection, chosen.project_no, ("folder", "git"))
        if write_marker:
            marker.write(Path(target.path), chosen.marker)
        _add(connection, profile_no, chosen, target, run.clock())
        bump_generation(connection, profile_no)
        # Before it is committed: a run that dies here is done once more, and the old binding leads there until then.
        removed, left = _without_marker([path for path in before if not _same(path, target.path)], chosen.marker)
    bound = {"folder": target.path, "marker": target.marker is not None, "conversations": 0}
    return head(chosen) | bound | {"markers_removed": removed, "markers_left": left}


def _is_folder_of(binding: Binding, project: Project) -> bool:
    return binding.kind == "folder" and binding.project_no == project.project_no


def _same(one: str, other: str) -> bool:
    try:
        return os.path.samefile(one, other)
    except OSError:
        return False


def _without_marker(paths: Sequence[str], uuid: str) -> tuple[list[str], list[str]]:
    """Take a project's marker out of folders: those it was taken from, and those where that could not be done."""
    removed: list[str] = []
    left: list[str] = []
    for path in dict.fromkeys(paths):
        folder = folders.parse(path)
        if folder is not None and is_here(folder) and marker.read(path) == uuid:
            (removed if marker.remove(path, uuid) else left).append(path)
    return removed, left


def adopt(
    run: Run, here: Here, project: str | None, folder: str | None, *, write_marker: bool = True
) -> dict[str, object]:
    """Bind a folder to a project that has conversations and no binding left; without one, list these projects."""
    if project is None:
        return {"orphans": orphans(run)}
    with run.database.read() as connection:
        profile_no = profile_number(connection, run.settings.profile)
        chosen = scope.find(connection, -1 if profile_no is None else profile_no, project, here)
        bound = [] if profile_no is None else projects.bindings(connection, profile_no)
    if any(binding.project_no == chosen.project_no for binding in bound):
        message = f"Project {chosen.name!r} is bound already"
        raise ArgumentError("bind_refused", message, "`project rebind` points it at another folder")
    return bind(run, here, folder, project=chosen.project_id, write_marker=write_marker, agreed=True)


def orphans(run: Run) -> list[dict[str, object]]:
    """Projects with conversations and without a binding, with the folders that these ran in."""
    with run.database.read() as connection:
        profile_no = profile_number(connection, run.settings.profile)
        if profile_no is None:
            return []
        bound = {binding.project_no for binding in projects.bindings(connection, profile_no)}
        counts = projects.counts(connection, profile_no)
        return [
            head(project)
            | {
                "conversations": counts[project.project_no],
                "folders": placed.folders_of(connection, project.project_no),
            }
            for project in projects.all_of(connection, profile_no)
            if project.project_no in counts and project.project_no not in bound
        ]


def decline(run: Run, here: Here, folder: str | None) -> dict[str, object]:
    """Remember that the user does not want this folder bound, for 30 days."""
    target = _target(run.settings, here, folder, refuse=False)
    now = run.clock()
    with run.database.write() as connection:
        profile_no = ensure_profile(connection, run.settings.profile, now)
        projects.decline(connection, profile_no, target.real.key(), now)
    return {"folder": target.path, "until": iso(now + projects.DECLINE_MS)}


def _project_for(
    connection: sqlite3.Connection,
    profile_no: int,
    here: Here,
    target: _Target,
    name: str | None,
    named: str | None,
    now: int,
) -> tuple[Project, bool]:
    """The project that a folder is to lead to, and whether it was made."""
    every = projects.all_of(connection, profile_no)
    marked = target.marker
    if named is not None:
        chosen = scope.find(connection, profile_no, named, here)
        _refuse_other(target, chosen)
        return chosen, False
    there = [project for project in every if project.marker == marked]
    there += [
        projects.by_number(connection, binding.project_no)
        for binding in projects.bindings(connection, profile_no)
        if marked is None and binding.kind == "folder" and binding.key in _keys(target, binding.folds)
    ]
    if there:
        _refuse_other_name(target, there[0], name)
        return there[0], False
    free = projects.free_name(target.real.name, every) if name is None else check_name(name, every)
    return projects.create(connection, profile_no, free, marked or projects.mint(), now), True


def check_name(name: str, every: Sequence[Project], *, but: int | None = None) -> str:
    """The name as it is stored. Raises ArgumentError `usage`, `name_taken`."""
    shown = project_names.spelled(name)
    if not project_names.fits(shown):
        hint = (
            "use 1 to 100 characters that can be seen, and nothing that means something else where a project is named"
        )
        raise ArgumentError("usage", f"A project cannot be called {name[: project_names.LONGEST]!r}", hint)
    for project in every:
        if not project.archived and project.project_no != but and project.name.casefold() == shown.casefold():
            message = f"A project is called {shown!r} already"
            raise ArgumentError("name_taken", message, f"its id is {project.project_id}")
    return shown


def _bound(
    connection: sqlite3.Connection, profile_no: int, project: Project, target: _Target, now: int
) -> dict[str, object]:
    group = _add(connection, profile_no, project, target, now)
    both = (target.given, target.real)
    brought = placed.unplaced(connection, profile_no, both)
    nearer = [n for n in brought if placed.nearest(connection, profile_no, n) == project.project_no]
    placed.bring(connection, nearer, project.project_no, "folder")
    if group is not None:
        nearer += placed.bring_group(connection, profile_no, group, project.project_no)
    bump_generation(connection, profile_no)
    return head(project) | {
        "folder": target.path,
        "marker": target.marker is not None,
        "git_group": group,
        "conversations": len(nearer),
    }


def _add(connection: sqlite3.Connection, profile_no: int, project: Project, target: _Target, now: int) -> str | None:
    """Add the bindings of a folder; the repository that it is the root of, where no other project has it."""
    folds = target.there and folds_case(target.path)
    look = sighting(target.path) if target.there else Sighting()
    for key in dict.fromkeys(_keys(target, folds)):
        projects.bind(connection, profile_no, Binding(project.project_no, "folder", key, folds, target.path, look, now))
    group = git_group(target.path) if target.there and is_git_root(target.path) else None
    taken = {b.key: b.project_no for b in projects.bindings(connection, profile_no) if b.kind == "git"}
    if group is None or taken.get(group, project.project_no) != project.project_no:
        return None
    projects.bind(connection, profile_no, Binding(project.project_no, "git", group, False, group, Sighting(), now))
    return group


def _keys(target: _Target, folds: bool) -> tuple[str, ...]:
    return (target.given.key(folds=folds), target.real.key(folds=folds))


def _target(settings: Settings, here: Here, folder: str | None, *, refuse: bool = True) -> _Target:
    """Raises ArgumentError `bind_refused` for what is no folder, the home folder, what is above it, or a root."""
    argument = folder or here.cwd or "."
    given = folders.parse(argument)
    if given is None:
        argument = os.path.join(here.cwd or os.getcwd(), os.path.expanduser(argument))
        given = folders.parse(argument)
    if given is None:
        raise ArgumentError("bind_refused", f"{argument!r} is no absolute folder", f"name {_DIRECTORY}")
    there = is_here(given) and os.path.isdir(argument)
    path = os.path.realpath(argument) if there else argument
    # What a command line cannot decode arrives with the sign for that.
    unreadable = "\ufffd" in argument and not there
    if unreadable or not (folders.is_text(argument) and folders.is_text(path)):
        raise ArgumentError("bind_refused", "the folder's name is no text in UTF-8", "give it another name first")
    real = folders.parse(path) or given
    for each in (given, real) if refuse else ():
        if reason := refusal(each, settings.home):
            raise ArgumentError("bind_refused", f"{path} is {reason}", "bind the folder of the project itself")
    return _Target(given, real, path, there)


def refusal(folder: Folder, home: Path) -> str | None:
    """Why a folder cannot be bound: everything would belong to it."""
    if folder.is_root:
        return "the root of a file system"
    homes = (folders.parse(str(home)), folders.parse(os.path.realpath(home)))
    for each in homes:
        if each is not None and each == folder:
            return "the home folder"
        if each is not None and each.is_in(folder):
            return "above the home folder"
    return None


def _refuse_other(target: _Target, project: Project) -> None:
    if target.marker not in (None, project.marker):
        message = f"{target.path} has the marker of another project"
        raise ArgumentError("bind_refused", message, "remove its .history-recall-id first, if it is no longer right")


def _refuse_other_name(target: _Target, project: Project, name: str | None) -> None:
    if name is not None and project_names.spelled(name).casefold() != project.name.casefold():
        message = f"{target.path} belongs to project {project.name!r}, which has its name"
        raise ArgumentError("bind_refused", message, f"`project rename {project.project_id} NAME` gives it another")


def _token(settings: Settings, target: _Target) -> str:
    """Carries the user's yes back: it stands for the marker in exactly this folder."""
    return derived_id("y", "marker", settings.profile, target.path)


def _question(settings: Settings, target: _Target) -> StateError:
    message = f"Binding writes the file {marker.NAME} into {target.path}; the user has to agree"
    hint_ = "ask the user, then ask again with the token as confirm"
    data = {"question": message, "folder": target.path, "token": _token(settings, target)}
    return StateError("confirmation_required", message, hint_, data)


def head(project: Project) -> dict[str, object]:
    """A project, as answers name it."""
    return {"project_id": project.project_id, "name": project.name}
