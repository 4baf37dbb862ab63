"""Indexed conversations by the folder they ran in: those without a project, and what brings them into one.

Directories are compared in Python, by components; the database only knows them as text.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Sequence

from recall.folders import Folder, parse
from recall.index import lineage, projects
from recall.index.attribution import Seen, attribute

_MOST_FOLDERS = 5


def unplaced(connection: sqlite3.Connection, profile_no: int, folders: Sequence[Folder]) -> list[int]:
    """Conversations in no project, which the user did not put there, that ran in one of the folders or below."""
    rows = connection.execute(
        """SELECT conversation_no, cwd FROM conversations
           WHERE profile_no = ? AND project_no IS NULL AND why_project <> 'moved' AND cwd IS NOT NULL
           ORDER BY conversation_no""",
        (profile_no,),
    )
    found = []
    for row in rows:
        ran = parse(row["cwd"])
        if ran is not None and any(ran.is_in(folder) for folder in folders):
            found.append(row["conversation_no"])
    return found


def nearest(connection: sqlite3.Connection, profile_no: int, conversation_no: int) -> int | None:
    """The project that a conversation's directory leads to by the bindings there are now."""
    row = connection.execute("SELECT cwd FROM conversations WHERE conversation_no = ?", (conversation_no,)).fetchone()
    ran = parse(row["cwd"])
    known = projects.known(connection, profile_no)
    return attribute(Seen(folders=(ran,)), known).project_no if ran is not None else None


def bring(connection: sqlite3.Connection, numbers: Sequence[int], project_no: int, why: str) -> None:
    """Put conversations into a project that have none."""
    lineage.put(connection, numbers, project_no, why, unless="moved")


def bring_group(connection: sqlite3.Connection, profile_no: int, group: str, project_no: int) -> list[int]:
    """Put the conversations of a repository into a project, where they have none."""
    rows = connection.execute(
        """SELECT conversation_no FROM conversations
           WHERE profile_no = ? AND git_group = ? AND project_no IS NULL AND why_project <> 'moved'""",
        (profile_no, group),
    )
    numbers = [row[0] for row in rows]
    bring(connection, numbers, project_no, "git")
    return numbers


def folders_of(connection: sqlite3.Connection, project_no: int) -> list[dict[str, object]]:
    """The directories that a project's conversations ran in, the commonest first."""
    rows = connection.execute("SELECT cwd FROM conversations WHERE project_no = ? AND cwd IS NOT NULL", (project_no,))
    counts = Counter(row["cwd"] for row in rows)
    return [{"path": path, "conversations": count} for path, count in counts.most_common(_MOST_FOLDERS)]
