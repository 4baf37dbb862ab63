"""Taking over the projects that a host keeps, for conversations that have none: listed, backed up, undone exactly.

Only conversations of the named host are touched, and of these only what is in no project and was not put there by the
user. What no record claims stays where it is and is listed.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from recall import binding, folders, journal
from recall.errors import ArgumentError
from recall.folders import Folder
from recall.hosts import marker
from recall.hosts.place import Sighting, is_here, place_of, sighting
from recall.hosts.project_records import READERS, HostProject, project_records
from recall.index import lineage, projects, reads
from recall.index.database import Database, ensure_profile, profile_number
from recall.index.projects import Binding, Project
from recall.index.publish import bump_generation
from recall.journal import Change, Journal
from recall.lookaround import claiming
from recall.run import Run
from recall.settings import Settings


@dataclass(frozen=True, slots=True)
class _Share:
    """What one record comes to: its project (None: to be made), the folders to bind, the rows it claims."""

    record: HostProject
    project: Project | None
    folders: tuple[Folder, ...]
    rows: tuple[sqlite3.Row, ...]


@dataclass(frozen=True, slots=True)
class _Plan:
    shares: tuple[_Share, ...]
    unplaced: tuple[sqlite3.Row, ...]


def plan(settings: Settings, database: Database, host: str) -> dict[str, object]:
    """What `assign` would do. Raises ArgumentError `usage` for a host that keeps no projects, SourceError."""
    records = _records(settings, host)
    with database.read() as connection:
        number = profile_number(connection, settings.profile)
        found = _plan(connection, -1 if number is None else number, settings, host, records)
    return _answer(host, found, {}, dry_run=True)


def assign(run: Run, host: str) -> dict[str, object]:
    """Do it: a backup, a journal, one transaction. Nothing to do makes neither."""
    records = _records(run.settings, host)
    with run.database.write() as connection:
        number = ensure_profile(connection, run.settings.profile, run.clock())
        if not _does_something(_plan(connection, number, run.settings, host, records)):
            return _answer(host, _plan(connection, number, run.settings, host, records), {}, dry_run=False)
    kept, backup = journal.new_paths(run.database.path, run.clock())
    run.database.back_up(backup)
    try:
        with run.database.write() as connection:
            found = _plan(connection, number, run.settings, host, records)
            done, made = _carry_out(connection, number, run, found)
            journal.write(kept, done)
    except BaseException:
        kept.unlink(missing_ok=True)
        backup.unlink(missing_ok=True)
        raise
    return _answer(host, found, made, dry_run=False, kept=kept, backup=backup)


def revert(run: Run, argument: str) -> dict[str, object]:
    """Undo a run by its journal. What was changed since stays as it is."""
    path, done = journal.read(argument, run.database.path)
    if done.profile != run.settings.profile:
        raise ArgumentError("usage", f"The journal is of profile {done.profile!r}", "name it with --profile")
    with run.database.write() as connection:
        number = ensure_profile(connection, done.profile, run.clock())
        ids = {project.project_id: project.project_no for project in projects.all_of(connection, number)}
        kept = [c.conversation_id for c in done.changes if not _put_back(connection, number, ids, c)]
        undone = len(done.changes) - len(kept)
        undone += connection.executemany(
            "DELETE FROM bindings WHERE profile_no = ? AND kind = ? AND key = ? AND project_no IS ?",
            [(number, kind, key, ids.get(project_id)) for kind, key, project_id in done.bindings],
        ).rowcount
        undone += sum(_delete_empty(connection, number, project_id) for project_id in done.created)
        if reads.generation(connection, number) == done.generation_after:
            connection.execute(
                "UPDATE profiles SET generation = ? WHERE profile_no = ?", (done.generation_before, number)
            )
        elif undone:  # nothing is undone of a run that was killed before it was committed
            bump_generation(connection, number)
    path.replace(path.with_suffix(".reverted"))
    return {"journal": str(path), "reverted": len(done.changes) - len(kept), "kept": kept}


def _records(settings: Settings, host: str) -> tuple[HostProject, ...]:
    if host not in READERS:
        known = ", ".join(sorted(READERS)) or "none of the hosts here does"
        raise ArgumentError("usage", f"{host} keeps no records of projects", f"hosts that do: {known}")
    return project_records(settings, host)


def _plan(
    connection: sqlite3.Connection, profile_no: int, settings: Settings, host: str, records: Sequence[HostProject]
) -> _Plan:
    claimed: dict[str, list[sqlite3.Row]] = {record.host_project_id: [] for record in records}
    unplaced: list[sqlite3.Row] = []
    rows = connection.execute(
        """SELECT * FROM conversations WHERE profile_no = ? AND host = ? AND project_no IS NULL
           AND why_project <> 'moved' ORDER BY conversation_no""",
        (profile_no, host),
    )
    for row in rows:
        claims = claiming(records, row["host_conversation_id"], place_of(row["cwd"]).folders)
        (claimed[claims[0]] if claims else unplaced).append(row)
    shares = [
        _Share(
            record,
            _project_of(connection, profile_no, record),
            _bindable(connection, profile_no, settings, record),
            tuple(claimed[record.host_project_id]),
        )
        for record in records
    ]
    return _Plan(tuple(shares), tuple(unplaced))


def _project_of(connection: sqlite3.Connection, profile_no: int, record: HostProject) -> Project | None:
    """The project that a record leads to already: by its id, by a marker in its folders, by a bound folder."""
    known = projects.known(connection, profile_no)
    number = known.records.get((record.host, record.host_project_id))
    parsed = [folder for folder in map(folders.parse, record.folders) if folder is not None]
    if number is None:
        here = [path for path in record.folders if (f := folders.parse(path)) is not None and is_here(f)]
        number = next((n for path in here if (n := known.markers.get(marker.read(path) or "")) is not None), None)
    if number is None:
        bound = {b.key: b.project_no for b in known.folders}
        number = next((n for folder in parsed if (n := bound.get(folder.key())) is not None), None)
    return None if number is None else projects.by_number(connection, number)


def _bindable(
    connection: sqlite3.Connection, profile_no: int, settings: Settings, record: HostProject
) -> tuple[Folder, ...]:
    """The record's folders that lead nowhere yet and may be bound."""
    taken = {b.key for b in projects.bindings(connection, profile_no) if b.kind == "folder"}
    found = [folder for folder in map(folders.parse, record.folders) if folder is not None]
    return tuple(f for f in found if f.key() not in taken and binding.refusal(f, settings.home) is None)


def _does_something(found: _Plan) -> bool:
    return any(share.rows or share.folders or share.project is None for share in found.shares)


def _carry_out(
    connection: sqlite3.Connection, profile_no: int, run: Run, found: _Plan
) -> tuple[Journal, dict[str, Project]]:
    """Write the plan; what it did, and the project of each record."""
    now, before = run.clock(), reads.generation(connection, profile_no)
    made: dict[str, Project] = {}
    created: list[str] = []
    added: list[tuple[str, str, str]] = []
    changes: list[Change] = []
    for share in found.shares:
        project = share.project
        if project is None:
            name = projects.free_name(share.record.name, projects.all_of(connection, profile_no))
            project = projects.create(connection, profile_no, name, projects.mint(), now)
            created.append(project.project_id)
        made[share.record.host_project_id] = project
        added += _bind(connection, profile_no, share, project, now)
        lineage.put(connection, [row["conversation_no"] for row in share.rows], project.project_no, "host")
        changes += [
            Change(row["conversation_id"], (None, row["why_project"]), (project.project_id, "host"))
            for row in share.rows
        ]
    bump_generation(connection, profile_no)
    after = reads.generation(connection, profile_no)
    done = Journal(run.settings.profile, now, tuple(created), tuple(added), tuple(changes), before, after)
    return done, made


def _bind(
    connection: sqlite3.Connection, profile_no: int, share: _Share, project: Project, now: int
) -> list[tuple[str, str, str]]:
    record = share.record
    key = f"{record.host}:{record.host_project_id}"
    known = {(b.kind, b.key) for b in projects.bindings(connection, profile_no)}
    wanted = [Binding(project.project_no, "host", key, False, key, Sighting(), now)]
    for path in record.folders:
        folder = folders.parse(path)
        if folder is not None and folder in share.folders:
            look = sighting(path) if is_here(folder) else Sighting()
            wanted.append(Binding(project.project_no, "folder", folder.key(), False, path, look, now))
    added = [one for one in wanted if (one.kind, one.key) not in known]
    for one in added:
        projects.bind(connection, profile_no, one)
    return [(one.kind, one.key, project.project_id) for one in added]


def _put_back(connection: sqlite3.Connection, profile_no: int, ids: dict[str, int], change: Change) -> bool:
    """Whether the conversation was where the run had put it, and is back."""
    before, after = change.before, change.after
    return bool(
        connection.execute(
            """UPDATE conversations SET project_no = ?, why_project = ?
               WHERE profile_no = ? AND conversation_id = ? AND project_no IS ? AND why_project = ?""",
            (
                ids.get(before[0] or ""),
                before[1],
                profile_no,
                change.conversation_id,
                ids.get(after[0] or ""),
                after[1],
            ),
        ).rowcount
    )


def _delete_empty(connection: sqlite3.Connection, profile_no: int, project_id: str) -> int:
    """Delete a project that the run had made, unless something came to it since; how many went."""
    return connection.execute(
        """DELETE FROM projects WHERE profile_no = :profile AND project_id = :id
           AND NOT EXISTS (SELECT 1 FROM conversations AS c WHERE c.project_no = projects.project_no)
           AND NOT EXISTS (SELECT 1 FROM bindings AS b WHERE b.project_no = projects.project_no)
           AND NOT EXISTS (SELECT 1 FROM decisions AS d WHERE d.project_no = projects.project_no)""",
        {"profile": profile_no, "id": project_id},
    ).rowcount


def _answer(
    host: str,
    found: _Plan,
    made: dict[str, Project],
    *,
    dry_run: bool,
    kept: Path | None = None,
    backup: Path | None = None,
) -> dict[str, object]:
    shares = []
    for share in found.shares:
        project = made.get(share.record.host_project_id, share.project)
        shares.append(
            {
                "project_id": project.project_id if project else None,
                "name": project.name if project else share.record.name,
                "host_project_id": share.record.host_project_id,
                "created": share.project is None,
                "folders": list(share.record.folders),
                "conversations": [row["conversation_id"] for row in share.rows],
            }
        )
    return {
        "host": host,
        "dry_run": dry_run,
        "projects": shares,
        "assigned": sum(len(share.rows) for share in found.shares),
        "unplaced": [{"conversation_id": row["conversation_id"], "cwd": row["cwd"]} for row in found.unplaced],
        "journal": None if kept is None else str(kept),
        "backup": None if backup is None else str(backup),
        "message": "" if found.shares else f"{host} has no projects recorded",
    }
