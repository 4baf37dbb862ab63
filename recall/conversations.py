"""The authorised sources with their states: what the catalogue sees, joined with what the index holds.

No model call, no write. A listing compares inode, size and time; only `index` compares contents, and a listing those
of a copy that is longer than what is indexed.
"""

from __future__ import annotations

import bisect
import os
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from recall import cursor as cursors
from recall import folders
from recall import scope as scopes
from recall.errors import SourceError
from recall.hosts.catalogue import Catalogue, Listed
from recall.hosts.reading import fingerprint
from recall.index import jobs, listing, projects, reads, stored, tombstones
from recall.index.attribution import Belonging, Known, Seen, attribute
from recall.index.database import Database, profile_number
from recall.index.listing import Chosen, Line
from recall.index.stored import Stored
from recall.redact import redact_text
from recall.scope import ANYWHERE, Here, Scope
from recall.settings import Settings
from recall.tiers import Tier
from recall.timewindow import iso
from recall.types import SourceRef, SourceWarning
from recall.wholes import Wholes, links

_PROBLEM_STATES = {
    "source_empty": "empty",
    "invalid_source": "invalid",
    "unsupported_source": "invalid",
    "source_too_large": "too_large",
    "source_missing": "gone",
}
_TO_INDEX = frozenset({"new", "grown", "changed", "queued"})
PAGE = 50

_MILLISECOND = 1_000_000
_SECOND = 1_000_000_000  # in a cursor, nanoseconds are two numbers that JSON carries exactly


@dataclass(frozen=True, slots=True)
class Row:
    """One source with its state. `listed` is None for a conversation whose source is gone, `stored` for a new one.

    `copy_of`: the source that the conversation is indexed from, where this one is a copy of it.
    `apart`: what says that this copy has entries of its own, which are in no answer.
    `due`: nothing changed in it, but `index-all` has something to do: a model to replace the extractive analysis,
    or a new place to note. `belonging`: the number of its project, and why; of one that is not indexed, where it is to
    be or what its folder says.
    """

    state: str
    listed: Listed | None
    stored: Stored | None
    running: bool = False
    copy_of: str | None = None
    apart: str | None = None
    due: bool = False
    belonging: tuple[int | None, str] = (None, "none")

    @property
    def source(self) -> str:
        return self.listed.source.name if self.listed else self._kept().source

    @property
    def host(self) -> str:
        return self.listed.source.host if self.listed else self._kept().host

    @property
    def modified_ns(self) -> int:
        return self.listed.mtime_ns if self.listed else self._kept().mtime_ns

    @property
    def active_ns(self) -> int:
        """When it was last active, and what a listing is ordered by: its last entry; the file's time where that entry
        is not in the index. To the nanosecond: files that are written one after another have an order."""
        last = self.stored.last_active_at if self.stored is not None and self.state != "grown" else None
        return max(0, self.modified_ns if last is None else last * _MILLISECOND)

    @property
    def order(self) -> tuple[int, str]:
        """Its place in a listing: newest first."""
        return -self.active_ns, self.source

    @property
    def can_be_queued(self) -> bool:
        """Whether `index-all` would take it."""
        if self.listed is None or self.running or self.copy_of is not None:
            return False
        return self.state in _TO_INDEX or self.due

    @property
    def is_indexed(self) -> bool:
        """Whether the index holds what is in this source, and no other source stands for it."""
        return self.state == "indexed" and self.copy_of is None and not self.running

    @property
    def is_unread(self) -> bool:
        """Whether it is a file in which no conversation can be read."""
        return self.stored is None and self.listed is not None and self.listed.problem is not None

    @property
    def line(self) -> Line:
        """What a listing chooses it by."""
        return Line(self.host, self.state, self.belonging[0], self.stored.git_group if self.stored else None)

    def _kept(self) -> Stored:
        if self.stored is None:
            raise TypeError("a row has a source, an indexed conversation, or both")
        return self.stored

    def as_json(self, project_id: str | None, tier: Tier) -> dict[str, object]:
        header = self.listed.header if self.listed else None
        kept = self.stored
        gone = self.state == "forgotten"  # its log is there still, and nothing that it says is told
        identity = header.host_conversation_id if header else (kept.host_conversation_id if kept else None)
        problem = self.listed.problem.message if self.listed and self.listed.problem else self.apart
        if self.state == "unreadable" and self.listed is None:
            problem = "no longer authorised, or its folder cannot be read; `history-recall sources add` it again"
        return {
            "source": redact_text(self.source),  # a name of a file can hold a secret
            "host": self.host,
            "host_conversation_id": identity,
            "conversation_id": kept.conversation_id if kept else None,
            "state": self.state,
            "running": self.running,
            "sidechain": bool(header.sidechain if header else self.listed and self.listed.source.sidechain),
            "size_bytes": self.listed.size if self.listed else self._kept().size,
            "active_at": iso(self.active_ns // _MILLISECOND),
            "modified_at": iso(self.modified_ns // _MILLISECOND),
            "last_active_at": iso(kept.last_active_at) if kept else None,
            "title": None if gone else (header.title if header else None) or (kept.title if kept else None),
            "cwd": None if gone else header.cwd if header else (kept.cwd if kept else None),
            "project": project_id,
            "tier": tier,
            "why_project": self.belonging[1],
            "copy_of": None if self.copy_of is None else redact_text(self.copy_of),
            "analysis": None if kept is None else "extractive" if kept.extractive else "model",
            "problem": None if problem is None else redact_text(problem),
        }


def catalogue_of(settings: Settings, database: Database) -> Catalogue:
    """The catalogue of a profile: the hosts' own roots and what the user authorised."""
    with database.read() as connection:
        number = profile_number(connection, settings.profile)
        paths = [] if number is None else stored.authorised_paths(connection, number)
    return Catalogue(settings, paths)


def source_of(settings: Settings, database: Database, argument: str) -> SourceRef:
    """The authorised source that an argument names: a path, HOST:ID, an id alone, or our id of what is indexed.

    Raises SourceError, `forgotten` for the name of one that the user wants forgotten.
    """
    with database.read() as connection:
        number = profile_number(connection, settings.profile)
        if number is not None:
            tombstones.confirm_name(connection, number, argument)
    if "/" not in argument and "~" not in argument:  # a path is itself, whatever is indexed of it
        with database.read() as connection:
            kept = None if number is None else reads.conversation(connection, number, argument, None)
        if kept is not None:
            argument = f"{kept['host']}:{kept['host_conversation_id']}"
    return catalogue_of(settings, database).resolve(argument)


def rows(settings: Settings, database: Database) -> tuple[list[Row], list[SourceWarning]]:
    """All sources and all indexed conversations whose source is gone, newest first."""
    catalogue = catalogue_of(settings, database)
    listed, warnings = catalogue.listed()
    with database.read() as connection:
        kept, queued, places = _known(connection, settings.profile)
    by_identity = {(s.host, s.host_conversation_id): s for s in kept}
    by_source = {s.source: s for s in kept}
    paths = {item.source.name for item in listed}
    forgotten = Wholes(links(listed)).whole(places.forgotten)
    seen: set[str] = set()
    result: list[Row] = []
    for item in listed:
        found = by_source.get(item.source.name)
        if item.header is not None:
            found = by_identity.get((item.source.host, item.header.host_conversation_id))
        if found is not None:
            seen.add(found.conversation_id)
        job = queued.get(item.source.name)
        state = _state(item, found, None if job is None else job.force)
        if item.header is not None and (item.source.host, item.header.host_conversation_id) in forgotten:
            state = "forgotten"
        elsewhere = found.source if found is not None and found.source != item.source.name else None
        if state == "grown" and found is not None and elsewhere in paths and not _goes_on(item, found):
            state = "indexed"
        apart = None
        if job is not None and job.is_apart and item.problem is None and state != "forgotten" and elsewhere in paths:
            state, apart = "changed", job.message
        copy_of = elsewhere if (state == "indexed" or apart is not None) and elsewhere in paths else None
        due = state == "indexed" and found is not None and (elsewhere is not None or _replaceable(found, settings))
        running = catalogue.is_current(item)
        result.append(Row(state, item, found, running, copy_of, apart, due, places.of(item, found)))
    missing = [s for s in kept if s.conversation_id not in seen]
    result += [Row(_state_of_missing(s), None, s, belonging=places.of(None, s)) for s in missing]
    result.sort(key=lambda row: row.order)
    return result, warnings


def conversations(
    settings: Settings,
    database: Database,
    *,
    host: str | None = None,
    state: str | None = None,
    project: str | None = None,
    limit: int = PAGE,
    cursor: str | None = None,
    here: Here = ANYWHERE,
) -> dict[str, object]:
    """The `conversations` answer of contract.md: one page, newest first."""
    found, warnings = rows(settings, database)
    lines = [row.line for row in found]
    with database.read() as connection:
        number = profile_number(connection, settings.profile)
        scope = scopes.resolve(connection, -1 if number is None else number, here, None, project)
        ids = {} if number is None else {p.project_no: p.project_id for p in projects.all_of(connection, number)}
        key = ["conversations", settings.profile, host, state, scope.used, scope.project]
        first = 0 if cursor is None else _place_after(cursors.decode(cursor, key), found)
        chosen = listing.choose(connection, lines, scope.within, host=host, state=state, first=first, limit=limit + 1)
    page, more = [found[place] for place in chosen.places[:limit]], len(chosen.places) > limit
    return {
        **scope.as_json(),
        "in_scope": chosen.in_scope,
        "conversations": [
            row.as_json(ids.get(row.belonging[0] or 0), scope.tier_of(row.line.project_no, row.line.git_group))
            for row in page
        ],
        "total": chosen.total if cursor is None else None,
        "message": _message(len(found), chosen, page, scope),
        "warnings": [{"code": w.code, "message": w.message} for w in warnings],
        "next_cursor": cursors.encode([*divmod(page[-1].active_ns, _SECOND), page[-1].source], key) if more else None,
    }


def _place_after(position: Sequence[object], found: Sequence[Row]) -> int:
    """The place behind the row that a cursor names, also where that row is gone."""
    seconds, rest, source = position if len(position) == 3 else (None, None, None)
    after = (-cursors.whole_number(seconds) * _SECOND - cursors.whole_number(rest), str(source))
    return bisect.bisect_right(found, after, key=lambda row: row.order)


def coverage(found: Sequence[Row]) -> Mapping[str, Mapping[str, int]]:
    """For each host: how many sources in which state."""
    table: dict[str, dict[str, int]] = {}
    for row in found:
        if row.copy_of is not None and row.apart is None:
            continue
        states = table.setdefault(row.host, {})
        states[row.state] = states.get(row.state, 0) + 1
    return {host: dict(sorted(states.items())) for host, states in sorted(table.items())}


@dataclass(frozen=True, slots=True)
class _Places:
    """What says where a conversation belongs: the index of those in it, of others the user's word and their folder."""

    known: Known
    decided: Mapping[tuple[str, str], int | None]
    forgotten: frozenset[tuple[str, str]] = frozenset()

    def of(self, item: Listed | None, found: Stored | None) -> tuple[int | None, str]:
        if found is not None:
            return found.project_no, found.why_project
        if item is None or item.header is None:
            return None, "none"
        identity = (item.source.host, item.header.host_conversation_id)
        decided = Belonging(self.decided[identity]) if identity in self.decided else None
        folder = folders.parse(item.header.cwd)
        seen = Seen(folders=() if folder is None else (folder,), decided=decided)
        attribution = attribute(seen, self.known)
        return attribution.project_no, attribution.why


def _known(connection: sqlite3.Connection, profile: str) -> tuple[list[Stored], Mapping[str, jobs.Job], _Places]:
    """What is indexed; what is queued, by its source; what says where."""
    number = profile_number(connection, profile)
    if number is None:
        return [], {}, _Places(Known(), {})
    queued = {job.source: job for job in jobs.waiting(connection, number)}
    gone = tombstones.all_of(connection, number)
    places = _Places(projects.known(connection, number), projects.decisions(connection, number), gone)
    return stored.all_of(connection, number), queued, places


def _state(item: Listed, found: Stored | None, forced: bool | None) -> str:
    """`forced` is None where it is not queued. What is indexed and only waits for another model stays indexed."""
    if item.problem is not None:
        return _PROBLEM_STATES.get(item.problem.code, "unreadable")
    state = _state_of_file(item, found)
    return "queued" if forced or (forced is not None and state != "indexed") else state


def _state_of_file(item: Listed, found: Stored | None) -> str:
    if found is None:
        return "new"
    if found.source != item.source.name:  # a moved file or a copy: what is longer than the stored one is news
        return "grown" if item.size > found.size else "indexed"
    if found.same_file(item.size, item.mtime_ns, item.device, item.inode):
        return "indexed"
    return "grown" if item.size > found.size else "changed"


def _goes_on(item: Listed, found: Stored) -> bool:
    """Whether a longer copy goes on from what is indexed; one that went another way stays a copy."""
    try:
        prefix = fingerprint(item.source, prefix_bytes=found.content_bytes).prefix_sha256
    except SourceError:
        return True  # to index it will say what is wrong
    return prefix == found.content_sha256


def _replaceable(found: Stored, settings: Settings) -> bool:
    """What the built-in analyser made gives way to what a model makes."""
    return found.extractive and not settings.offline


def _message(found: int, chosen: Chosen, page: Sequence[Row], scope: Scope) -> str | None:
    if page:
        return scope.said or None
    if scope.reason is not None:
        return scope.said
    if found and not chosen.in_scope:
        return "There are no conversations in this project"
    if chosen.total:
        return "There are no more conversations"
    if found == 1:
        return "The one conversation is not of that host and state"
    if found:
        return f"None of the {found} conversations is of that host and state"
    return "No conversations found; `history-recall sources list` says where they are looked for"


def _state_of_missing(kept: Stored) -> str:
    if not os.path.isabs(kept.source):  # a conversation in a database that no longer has it, or is not there
        return "gone"
    try:
        os.stat(kept.source)
    except (FileNotFoundError, NotADirectoryError):
        return "gone"
    except (OSError, ValueError):  # in a folder that was closed to us
        return "unreadable"
    return "unreadable"  # there, and no longer authorised
