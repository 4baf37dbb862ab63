"""Projects and what leads to them, as the index holds them. Plain functions on an open connection; none commits."""

from __future__ import annotations

import json
import sqlite3
import uuid
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from recall import project_names
from recall.hashing import derived_id
from recall.hosts.place import Sighting
from recall.index.attribution import Belonging, FolderBinding, Known

DECLINE_MS = 30 * 86_400_000


@dataclass(frozen=True, slots=True)
class Project:
    """One project. `marker` is the UUID that its marker files hold."""

    project_no: int
    project_id: str
    name: str
    marker: str
    archived: bool
    created_at: int


@dataclass(frozen=True, slots=True)
class Binding:
    """What leads to a project: `kind` is folder, git or host. `seen`: how a folder looked when it was bound."""

    project_no: int
    kind: str
    key: str
    folds: bool
    shown: str
    seen: Sighting
    bound_at: int


def mint() -> str:
    """The UUID of a new project. Its id follows from it, so that a marker finds the same id in a new index."""
    return str(uuid.uuid4())


def project_id_of(marker: str) -> str:
    """The id of the project whose marker holds that UUID; minted with it once, and stored."""
    return derived_id("p", marker)


def create(connection: sqlite3.Connection, profile_no: int, name: str, marker: str, now: int) -> Project:
    """A project with that UUID: the one that is there, or a new one."""
    connection.execute(
        """INSERT INTO projects (project_id, profile_no, name, marker, created_at) VALUES (?, ?, ?, ?, ?)
           ON CONFLICT (profile_no, marker) DO NOTHING""",
        (project_id_of(marker), profile_no, name, marker, now),
    )
    row = connection.execute(
        "SELECT * FROM projects WHERE profile_no = ? AND marker = ?", (profile_no, marker)
    ).fetchone()
    return _project(row)


def free_name(name: str, every: Sequence[Project]) -> str:
    """A name for a new project, near to one that nobody chose; with a number where another live one has it."""
    taken = {project.name.casefold() for project in every if not project.archived}
    name = project_names.proper(name)
    found, number = name, 2
    while found.casefold() in taken:
        found, number = f"{name} {number}", number + 1
    return found


def all_of(connection: sqlite3.Connection, profile_no: int) -> list[Project]:
    """Every project of a profile, the oldest first."""
    rows = connection.execute("SELECT * FROM projects WHERE profile_no = ? ORDER BY project_no", (profile_no,))
    return [_project(row) for row in rows]


def by_number(connection: sqlite3.Connection, project_no: int) -> Project:
    """A project by its number."""
    return _project(connection.execute("SELECT * FROM projects WHERE project_no = ?", (project_no,)).fetchone())


def named(connection: sqlite3.Connection, profile_no: int, name: str) -> list[Project]:
    """The projects with that id, or else with that name (case aside); of these a live one hides archived ones."""
    every = all_of(connection, profile_no)
    folded = project_names.spelled(name).casefold()
    by_id = [project for project in every if project.project_id == name]
    by_name = [project for project in every if project_names.spelled(project.name).casefold() == folded]
    return by_id or [project for project in by_name if not project.archived] or by_name


def bindings(connection: sqlite3.Connection, profile_no: int) -> list[Binding]:
    """Every binding of a profile, in the order they were made."""
    rows = connection.execute("SELECT * FROM bindings WHERE profile_no = ? ORDER BY rowid", (profile_no,))
    return [
        Binding(
            row["project_no"],
            row["kind"],
            row["key"],
            bool(row["folds"]),
            row["shown"],
            _sighting(json.loads(row["seen"])),
            row["bound_at"],
        )
        for row in rows
    ]


def bind(connection: sqlite3.Connection, profile_no: int, binding: Binding) -> None:
    """Add a binding; what led elsewhere by the same key leads here now."""
    connection.execute(
        """INSERT INTO bindings (profile_no, project_no, kind, key, folds, shown, seen, bound_at)
           VALUES (?, ?, ?, ?, ?, ?, ?, ?)
           ON CONFLICT (profile_no, kind, key) DO UPDATE
           SET project_no = excluded.project_no, folds = excluded.folds,
               shown = excluded.shown, seen = excluded.seen""",
        (
            profile_no,
            binding.project_no,
            binding.kind,
            binding.key,
            int(binding.folds),
            binding.shown,
            json.dumps(asdict(binding.seen)),
            binding.bound_at,
        ),
    )


def unbind(connection: sqlite3.Connection, project_no: int, kinds: tuple[str, ...]) -> None:
    """Take away what of these kinds leads to a project."""
    connection.executemany(
        "DELETE FROM bindings WHERE project_no = ? AND kind = ?", [(project_no, kind) for kind in kinds]
    )


def known(connection: sqlite3.Connection, profile_no: int) -> Known:
    """What attribution asks."""
    bound = bindings(connection, profile_no)
    return Known(
        markers={project.marker: project.project_no for project in all_of(connection, profile_no)},
        folders=tuple(FolderBinding(b.key, b.folds, b.project_no) for b in bound if b.kind == "folder"),
        groups={b.key: b.project_no for b in bound if b.kind == "git"},
        records={(host, r): b.project_no for b in bound if b.kind == "host" for host, _, r in [b.key.partition(":")]},
    )


def decided(connection: sqlite3.Connection, profile_no: int, host: str, identity: str) -> Belonging | None:
    """Where the user put a conversation, by its host's id; None where they said nothing."""
    row = connection.execute(
        "SELECT project_no FROM decisions WHERE profile_no = ? AND host = ? AND host_conversation_id = ?",
        (profile_no, host, identity),
    ).fetchone()
    return None if row is None else Belonging(row["project_no"])


def decisions(connection: sqlite3.Connection, profile_no: int) -> dict[tuple[str, str], int | None]:
    """Every such word of the user's: (host, the host's id) -> project number, or None for no project."""
    rows = connection.execute(
        "SELECT host, host_conversation_id, project_no FROM decisions WHERE profile_no = ?", (profile_no,)
    )
    return {(row["host"], row["host_conversation_id"]): row["project_no"] for row in rows}


def decide(
    connection: sqlite3.Connection, profile_no: int, host: str, identity: str, project_no: int | None, now: int
) -> None:
    """Keep where the user put a conversation."""
    connection.execute(
        """INSERT INTO decisions (profile_no, host, host_conversation_id, project_no, decided_at)
           VALUES (?, ?, ?, ?, ?)
           ON CONFLICT (profile_no, host, host_conversation_id) DO UPDATE
           SET project_no = excluded.project_no, decided_at = excluded.decided_at""",
        (profile_no, host, identity, project_no, now),
    )


def decline(connection: sqlite3.Connection, profile_no: int, key: str, now: int) -> None:
    """Remember a no for a folder."""
    connection.execute(
        """INSERT INTO declines (profile_no, key, declined_at) VALUES (?, ?, ?)
           ON CONFLICT (profile_no, key) DO UPDATE SET declined_at = excluded.declined_at""",
        (profile_no, key, now),
    )


def declined_until(connection: sqlite3.Connection, profile_no: int, keys: tuple[str, ...], now: int) -> int | None:
    """Until when a no for one of the folders holds; None where none does."""
    rows = connection.execute(
        "SELECT declined_at FROM declines WHERE profile_no = ? AND key IN (SELECT value FROM json_each(?))",
        (profile_no, json.dumps(keys)),
    )
    until = max((row["declined_at"] + DECLINE_MS for row in rows), default=0)
    return until if until > now else None


def counts(connection: sqlite3.Connection, profile_no: int) -> dict[int | None, int]:
    """Project number -> how many conversations are indexed in it; None for no project."""
    rows = connection.execute(
        "SELECT project_no, count(*) FROM conversations WHERE profile_no = ? GROUP BY project_no", (profile_no,)
    )
    return {row[0]: row[1] for row in rows}


def _project(row: sqlite3.Row) -> Project:
    return Project(
        row["project_no"], row["project_id"], row["name"], row["marker"], bool(row["archived"]), row["created_at"]
    )


def _sighting(stored: dict[str, Any]) -> Sighting:
    return Sighting(stored.get("device", 0), stored.get("inode", 0), tuple(stored.get("names", ())))
