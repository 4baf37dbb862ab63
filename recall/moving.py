"""Moving a conversation into a project or out of all: the user's word, which nothing overwrites.

One attribute changes, for the whole logical conversation: what goes on after a compaction moves along, and so do its
subagents; forks and resets do not. Nothing is analysed again. The decision is kept by the host's id, so that it holds
for a conversation that is not indexed yet, and for one that is being indexed at this moment.
"""

from __future__ import annotations

import os
import sqlite3
from dataclasses import dataclass

from recall import conversations, folders, scope
from recall.errors import ArgumentError, SourceError
from recall.hashing import conversation_id
from recall.hosts.header import identity_of
from recall.hosts.names import HOSTS
from recall.hosts.place import is_here
from recall.hosts.reading import probe
from recall.index import lineage, projects, reads
from recall.index.attribution import Seen, attribute
from recall.index.database import ensure_profile, profile_number
from recall.index.projects import Project
from recall.index.publish import bump_generation
from recall.run import Run
from recall.scope import Here

# No host lets another program switch a conversation's directory. Hermes has a call for what runs inside it, which our
# plugin makes for the running conversation; OMP a command of the person's.
_SWITCHING = {
    "hermes": "Only Hermes itself can switch the directory, of the conversation that runs in it",
    "omp": "Only the person can switch the directory in OMP, by typing `/move {folder}`",
}


@dataclass(frozen=True, slots=True)
class _Named:
    """A conversation by its host's id; `cwd`: the folder that it runs in, of one that may not be indexed."""

    host: str
    identity: str
    cwd: str | None = None


def move(run: Run, here: Here, conversation: str, project: str, *, with_cwd: bool = False) -> dict[str, object]:
    """Put a conversation into a project; `""` takes it out of every one.

    `conversation`: our id, the host's id, HOST:ID, a path, or "current". One that is not indexed is answered by the id
    that it will have. Raises ArgumentError `not_found`,
    `unknown_project`, `no_project`, `scope_forbidden`.
    """
    named = _named(run, here, conversation)
    with run.database.write() as connection:
        profile_no = ensure_profile(connection, run.settings.profile, run.clock())
        target = scope.find(connection, profile_no, project, here) if project else None
        found = reads.conversation(connection, profile_no, "current", (named.host, named.identity))
        previous = _previous(connection, profile_no, here, named, found)
        if here.widest == "project":
            _refuse_beyond(connection, profile_no, here, previous, target)
        moved = _moved(connection, profile_no, named, found, target, run.clock())
        bump_generation(connection, profile_no)
    return {
        "conversation_id": (
            conversation_id(run.settings.profile, named.host, named.identity)
            if found is None
            else found["conversation_id"]
        ),
        "host": named.host,
        "host_conversation_id": named.identity,
        "project": None if target is None else target.project_id,
        "project_name": None if target is None else target.name,
        "previous": previous,
        "moved": moved,
        "indexed": found is not None,
        "cwd": _switched(run, named, target) if with_cwd else None,
    }


def _named(run: Run, here: Here, conversation: str) -> _Named:
    if conversation == "current":
        if here.current is None:
            message = "No running conversation was named"
            raise ArgumentError("not_found", message, "pass --current HOST:ID, or name the conversation")
        _check_named(*here.current)
        return _Named(*here.current, here.cwd)
    with run.database.read() as connection:
        number = profile_number(connection, run.settings.profile)
        row = None if number is None else reads.conversation(connection, number, conversation, None)
        decided = () if number is None else projects.decisions(connection, number)
    if row is not None:
        return _Named(row["host"], row["host_conversation_id"])
    for host, identity in decided:  # moved before it was indexed: the answer named it so
        if conversation == conversation_id(run.settings.profile, host, identity):
            return _Named(host, identity)
    if conversation == ":".join(here.current or ()):
        return _named(run, here, "current")
    try:
        source = conversations.catalogue_of(run.settings, run.database).resolve(conversation, running=True)
        header = probe(source)
        return _Named(source.host, header.host_conversation_id, header.cwd)
    except SourceError as error:
        message = f"There is no conversation {conversation!r} in profile {run.settings.profile!r}"
        hint = "`history-recall conversations` lists them; one that is not indexed is named HOST:ID"
        raise ArgumentError("not_found", message, hint) from error


def _check_named(host: str, identity: str) -> None:
    """Raise ArgumentError `not_found` for a name that no conversation can have: what is decided of it is kept."""
    hint = f"the program passes --current HOST:ID; the hosts are {', '.join(HOSTS)}"
    if host not in HOSTS:
        raise ArgumentError("not_found", f"No host is called {host[:40]!r}", hint)
    try:
        identity_of(identity, "the running conversation")
    except SourceError as error:
        raise ArgumentError("not_found", error.message, hint) from error


def _refuse_beyond(
    connection: sqlite3.Connection, profile_no: int, here: Here, previous: str | None, target: Project | None
) -> None:
    """Who may look into one project only does not bring others' conversations in, nor itself into another one."""
    current = scope.current_project(connection, profile_no, here)
    own = None if current is None else current.project_id
    if own is None or previous != own or (target is not None and target.project_id != own):
        message = (
            "The user's settings keep agents to the current project: only what is in it can be moved, and only out"
        )
        raise ArgumentError("scope_forbidden", message, "ask the user; the setting is projects.agent_scope")


def _previous(
    connection: sqlite3.Connection, profile_no: int, here: Here, named: _Named, found: sqlite3.Row | None
) -> str | None:
    """Where it was: where it is indexed, else where the user had put it, else what its folder says."""
    if found is not None:
        number = found["project_no"]
    elif (named.host, named.identity) == here.current:
        current = scope.current_project(connection, profile_no, here)
        number = None if current is None else current.project_no
    else:
        folder = folders.parse(named.cwd)
        decided = projects.decided(connection, profile_no, named.host, named.identity)
        seen = Seen(() if folder is None else (folder,), decided=decided)
        number = attribute(seen, projects.known(connection, profile_no)).project_no
    return None if number is None else projects.by_number(connection, number).project_id


def _moved(
    connection: sqlite3.Connection,
    profile_no: int,
    named: _Named,
    found: sqlite3.Row | None,
    target: Project | None,
    now: int,
) -> int:
    """Write the move; how many indexed conversations it moved."""
    number = None if target is None else target.project_no
    projects.decide(connection, profile_no, named.host, named.identity, number, now)
    if found is None:
        return 0
    whole = lineage.whole(connection, profile_no, named.host, found["conversation_no"])
    lineage.put(connection, whole, number, "moved")
    for identity in lineage.identities(connection, whole):
        projects.decide(connection, profile_no, named.host, identity, number, now)
    below = lineage.delegates(connection, profile_no, named.host, whole)
    lineage.put(connection, below, number, "inherited", unless="moved")
    return len(whole) + len(below)


def _switched(run: Run, named: _Named, target: Project | None) -> dict[str, object]:
    """What became of the wish that the host switches the conversation's directory as well."""
    with run.database.read() as connection:
        profile_no = profile_number(connection, run.settings.profile)
        bound = [] if profile_no is None or target is None else projects.bindings(connection, profile_no)
    paths = [b.shown for b in bound if target and b.project_no == target.project_no and b.kind == "folder"]
    if not paths:
        return {"switched": False, "code": "no_folder", "message": "The project has no folder; the directory stays"}
    path = next((path for path in paths if os.path.isdir(path)), None)
    named_folder = folders.parse(paths[0])
    if path is None or named_folder is None or not is_here(named_folder):
        message = f"{paths[0]} is not there; the move holds, the directory stays"
        return {"switched": False, "code": "folder_missing", "message": message}
    said = _SWITCHING.get(named.host, "{host} has no way to switch it").format(host=named.host, folder=path)
    code = "inside_only" if named.host in _SWITCHING else "unsupported"
    return {"switched": False, "code": code, "message": f"{said}; the move holds, the directory stays", "folder": path}
