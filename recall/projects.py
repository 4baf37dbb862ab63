"""The projects of a profile: listed, created, renamed, archived, deleted."""

from __future__ import annotations

import sqlite3

from recall import binding, scope
from recall.counting import count
from recall.errors import StateError
from recall.index import projects
from recall.index.database import Database, ensure_profile, profile_number
from recall.index.projects import Binding, Project
from recall.index.publish import bump_generation
from recall.run import Run
from recall.scope import Here
from recall.settings import Settings
from recall.timewindow import iso


def listing(settings: Settings, database: Database, here: Here) -> dict[str, object]:
    """The `project list` answer: every project with its counts and bindings, and the git groups that none has.

    An agent that may look into one project only is shown that one.
    """
    with database.read() as connection:
        number = profile_number(connection, settings.profile)
        if number is None:
            return {"projects": [], "without_project": 0, "git_groups": [], "current_project": None}
        bound = projects.bindings(connection, number)
        counts = projects.counts(connection, number)
        last = _last(connection, number)
        current = scope.current_project(connection, number, here)
        kept = here.widest == "project"
        return {
            "projects": [
                _row(project, bound, counts, last.get(project.project_no))
                for project in projects.all_of(connection, number)
                if project == current or not kept
            ],
            "without_project": 0 if kept else counts.get(None, 0),
            "git_groups": [] if kept else _groups(connection, number),
            "current_project": current.project_id if current else None,
        }


def create(run: Run, name: str) -> dict[str, object]:
    """A project without a folder: conversations are moved into it."""
    with run.database.write() as connection:
        number = ensure_profile(connection, run.settings.profile, run.clock())
        checked = binding.check_name(name, projects.all_of(connection, number))
        return head(projects.create(connection, number, checked, projects.mint(), run.clock()))


def rename(run: Run, here: Here, project: str, name: str) -> dict[str, object]:
    """Another name for the same id."""
    with run.database.write() as connection:
        number = ensure_profile(connection, run.settings.profile, run.clock())
        found = scope.find(connection, number, project, here)
        checked = binding.check_name(name, projects.all_of(connection, number), but=found.project_no)
        connection.execute("UPDATE projects SET name = ? WHERE project_no = ?", (checked, found.project_no))
        bump_generation(connection, number)
        return {"project_id": found.project_id, "name": checked, "previous": found.name}


def archive(run: Run, here: Here, project: str, *, undo: bool = False) -> dict[str, object]:
    """Put a project out of sight, or take it out again. It keeps its conversations."""
    with run.database.write() as connection:
        number = ensure_profile(connection, run.settings.profile, run.clock())
        found = scope.find(connection, number, project, here)
        if undo:
            binding.check_name(found.name, projects.all_of(connection, number), but=found.project_no)
        connection.execute("UPDATE projects SET archived = ? WHERE project_no = ?", (int(not undo), found.project_no))
        held = projects.counts(connection, number).get(found.project_no, 0)
        return head(found) | {"archived": not undo, "conversations": held}


def delete(run: Run, here: Here, project: str) -> dict[str, object]:
    """Remove a project that holds nothing. Raises StateError `project_not_empty`."""
    with run.database.write() as connection:
        number = ensure_profile(connection, run.settings.profile, run.clock())
        found = scope.find(connection, number, project, here)
        held = projects.counts(connection, number).get(found.project_no, 0)
        if held:
            message = f"Project {found.name!r} holds {count(held, 'conversation')}"
            hint = "move each with `project move CONVERSATION PROJECT`, or `project archive` it"
            raise StateError("project_not_empty", message, hint, {"conversations": held})
        projects.unbind(connection, found.project_no, ("folder", "git", "host"))
        connection.execute("DELETE FROM decisions WHERE project_no = ?", (found.project_no,))
        connection.execute("DELETE FROM projects WHERE project_no = ?", (found.project_no,))
        return head(found) | {"deleted": True}


def head(project: Project) -> dict[str, object]:
    """How an answer names a project."""
    return {"project_id": project.project_id, "name": project.name}


def _row(project: Project, bound: list[Binding], counts: dict[int | None, int], last: int | None) -> dict[str, object]:
    own = {(b.kind, b.shown): b for b in bound if b.project_no == project.project_no}
    held = counts.get(project.project_no, 0)
    return head(project) | {
        "archived": project.archived,
        "conversations": held,
        "last_active_at": iso(last),
        "created_at": iso(project.created_at),
        "orphaned": bool(held) and not own,
        "bindings": [{"kind": kind, "path": shown} for kind, shown in own],
    }


def _last(connection: sqlite3.Connection, profile_no: int) -> dict[int | None, int | None]:
    rows = connection.execute(
        "SELECT project_no, max(last_active_at) FROM conversations WHERE profile_no = ? GROUP BY project_no",
        (profile_no,),
    )
    return {row[0]: row[1] for row in rows}


def _groups(connection: sqlite3.Connection, profile_no: int) -> list[dict[str, object]]:
    """Repositories whose conversations have no project: they can be named in a filter, or bound."""
    rows = connection.execute(
        """SELECT git_group, count(*) AS held FROM conversations
           WHERE profile_no = ? AND git_group IS NOT NULL AND project_no IS NULL
           GROUP BY git_group ORDER BY held DESC, git_group""",
        (profile_no,),
    )
    return [{"project": f"{scope.GROUP}{row['git_group']}", "conversations": row["held"]} for row in rows]
