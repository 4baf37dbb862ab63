"""Forgetting: a conversation, a project's, or what ended before a date, removed from every layer and kept out.

One transaction takes out all that was made of it and leaves a tombstone, so that no run brings it back until
`--unforget`; its subagents and what goes on from it go with it, indexed or not. Forks and resets are conversations of
their own: where they hold copies of what is forgotten, the answer names them. Afterwards the log is brought into the
file, and the files are searched for words that only the forgotten had; what is left in free pages makes the file be
written anew. Backups of ours hold the same text and go too. Where that was cut short, forgetting it once more does the
rest: the words to look for are gone then, so the file is written anew. The log in the host's store is the user's own
and stays.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass

from recall import conversations, journal, scope, timewindow
from recall.errors import ArgumentError, SourceError, StateError
from recall.hosts.reading import probe
from recall.index import copies, forget, frequencies, lineage, reads, residue, tombstones
from recall.index.database import Database, ensure_profile, profile_number
from recall.index.forget import Erased
from recall.index.publish import bump_generation
from recall.run import Run
from recall.scope import Here
from recall.settings import Settings
from recall.timewindow import iso
from recall.wholes import Wholes, links


@dataclass(frozen=True, slots=True)
class Wanted:
    """What to forget: exactly one of the three."""

    conversation: str | None = None
    project: str | None = None
    before: str | None = None

    def checked(self) -> Wanted:
        """Itself. Raises ArgumentError `usage`, `invalid_time`."""
        if sum(value is not None for value in (self.conversation, self.project, self.before)) != 1:
            hint = "give a CONVERSATION, --project P, or --before DATE"
            raise ArgumentError("usage", "forget needs one thing to forget", hint)
        if self.before is not None:
            self.end()
        return self

    def end(self) -> int | None:
        """The time of `before`. Raises ArgumentError `invalid_time`."""
        return timewindow.instant("--before", self.before)


@dataclass(frozen=True, slots=True)
class _Target:
    """One conversation; `number` is None for one that is not indexed."""

    host: str
    identity: str
    conversation_id: str | None
    number: int | None
    title: str | None
    last_active_at: int | None


def plan(settings: Settings, database: Database, here: Here, wanted: Wanted) -> dict[str, object]:
    """What would be forgotten. Raises ArgumentError `not_found`, `unknown_project`, `usage`, `invalid_time`."""
    wanted.checked()
    unindexed = _unindexed(settings, database, wanted)
    wholes = _wholes(settings, database)
    with database.read() as connection:
        number = profile_number(connection, settings.profile)
        profile_no = -1 if number is None else number
        found = _targets(connection, profile_no, here, wanted, unindexed, wholes)
        layers = _layers(connection, [t.number for t in found if t.number is not None])
        held = _copies(connection, profile_no, found, wholes)
    forgotten = [_shown(t) for t in found]
    return {
        "dry_run": True,
        "forgotten": forgotten,
        "layers": layers,
        "copies": held,
        "backups": _backups(database),
    }


def forget_now(run: Run, here: Here, wanted: Wanted) -> dict[str, object]:
    """Forget it, prove it, and let the model that is set word the topics anew from what is left in them."""
    wanted.checked()
    unindexed = _unindexed(run.settings, run.database, wanted)
    wholes = _wholes(run.settings, run.database)
    with run.database.write() as connection:
        profile_no = ensure_profile(connection, run.settings.profile, run.clock())
        found = _targets(connection, profile_no, here, wanted, unindexed, wholes)
        now = run.clock()
        gone = tombstones.all_of(connection, profile_no)
        again = any((target.host, target.identity) in gone for target in found)
        for target in found:
            identity = target.conversation_id or f"{target.host}:{target.identity}"
            tombstones.put(connection, profile_no, target.host, target.identity, identity, now)
        numbers = [target.number for target in found if target.number is not None]
        held = _copies(connection, profile_no, found, wholes)
        done = forget.erase(connection, profile_no, numbers, now) if numbers else Erased(proved=True)
        bump_generation(connection, profile_no)
    with contextlib.suppress(StateError):  # it is forgotten; without the counts searches are slower, not wrong
        frequencies.renew(run.database, profile_no)
    removed, left = _without_backups(run.database) if found else ([], [])

    # Loaded here: the commands that only look need no part of the road to a model.
    from recall.retelling import retell_topics

    return {
        "dry_run": False,
        "forgotten": [_shown(target) for target in found],
        "layers": dict(done.rows),
        "topics": done.topics,
        "copies": held,
        "backups": removed,
        "proof": _proof(run.database, done, left, anew=again),
        "words": retell_topics(run, profile_no, done.topics).as_json(),
    }


def unforget(run: Run, conversation: str) -> dict[str, object]:
    """Let a conversation in again, by an id or by the path of its log, with what was forgotten as a part of it.

    Raises ArgumentError `not_found`.
    """
    with run.database.read() as connection:
        number = profile_number(connection, run.settings.profile)
        known = number is not None and tombstones.named(connection, number, conversation) is not None
    name = conversation if known else _named_in_place(run, conversation) or conversation
    wholes = _wholes(run.settings, run.database)
    with run.database.write() as connection:
        profile_no = ensure_profile(connection, run.settings.profile, run.clock())
        gone = tombstones.named(connection, profile_no, name)
        names = tombstones.drop(connection, profile_no, name)
        if gone is not None:
            whole = wholes.whole([(gone["host"], gone["host_conversation_id"])])
            names += tombstones.drop_parts(connection, profile_no, whole, gone["forgotten_at"])
    if not names:
        message = f"Nothing called {conversation!r} was forgotten in profile {run.settings.profile!r}"
        raise ArgumentError("not_found", message, "`history-recall conversations --state forgotten` lists what was")
    return {"unforgotten": names}


def _named_in_place(run: Run, path: str) -> str | None:
    """HOST:ID of the log that is meant, by any name of it: what was forgotten is kept under that one."""
    try:
        source = conversations.catalogue_of(run.settings, run.database).resolve(path, running=True)
        return f"{source.host}:{probe(source).host_conversation_id}"
    except SourceError:
        return None  # no log of ours is there


def _proof(database: Database, done: Erased, backups: Sequence[str], *, anew: bool) -> dict[str, object]:
    """What was looked at afterwards, and what was found. `pending`: another process holds the log.

    Words that other conversations have too are still there and are not looked for: `words_elsewhere` says how many.
    `backups` could not be removed. `anew`: it was forgotten before, and nothing tells what that run may have left.
    """
    words = residue.sample(done.distinct)
    whole = database.checkpoint()
    with database.read() as connection:
        left = residue.left_over(connection, database.path, words)
    rewritten = False
    if left or not whole or anew:
        rewritten = database.vacuum()
        whole = whole or rewritten
        with database.read() as connection:
            left = residue.left_over(connection, database.path, words)
    return {
        "vocabulary": done.proved,
        "words_looked_for": len(words),
        "words_elsewhere": done.shared,
        "left_over": left,
        "rewritten": rewritten,
        "pending": not whole,
        "backups_left": list(backups),
        "ok": done.proved and not left and whole and not backups,
    }


def _unindexed(settings: Settings, database: Database, wanted: Wanted) -> _Target | None:
    """The conversation that is named, where nothing of it is indexed and it is one of the user's."""
    if wanted.conversation is None:
        return None
    with database.read() as connection:
        number = profile_number(connection, settings.profile)
        if number is not None and reads.conversation(connection, number, wanted.conversation, None) is not None:
            return None
    try:
        source = conversations.catalogue_of(settings, database).resolve(wanted.conversation, running=True)
        header = probe(source)
    except SourceError:
        return None
    return _Target(source.host, header.host_conversation_id, None, None, header.title, None)


def _wholes(settings: Settings, database: Database) -> Wholes:
    """How the sources that are there now belong together."""
    listed, _ = conversations.catalogue_of(settings, database).listed()
    return Wholes(links(listed))


def _targets(
    connection: sqlite3.Connection,
    profile_no: int,
    here: Here,
    wanted: Wanted,
    unindexed: _Target | None,
    wholes: Wholes,
) -> list[_Target]:
    """What is meant, with all of its parts: the indexed ones first."""
    if wanted.conversation is not None:
        row = reads.conversation(connection, profile_no, wanted.conversation, None)
        if row is None and unindexed is not None:
            return _whole(connection, profile_no, [], [unindexed], wholes)
        if row is None and (gone := tombstones.named(connection, profile_no, wanted.conversation)) is not None:
            names = (gone["host"], gone["host_conversation_id"], gone["conversation_id"])
            again = _Target(*names, number=None, title=None, last_active_at=None)
            return _whole(connection, profile_no, [], [again], wholes)
        if row is None:
            message = f"There is no conversation {wanted.conversation!r} in this profile"
            raise ArgumentError("not_found", message, "`history-recall conversations` lists them")
        numbers = [row["conversation_no"]]
    elif wanted.project is not None:
        project = scope.find(connection, profile_no, wanted.project, here)
        numbers = _numbers(connection, "project_no = ?", project.project_no)
    else:
        numbers = _numbers(connection, "profile_no = ? AND last_active_at < ?", profile_no, wanted.end())
    return _whole(connection, profile_no, numbers, [], wholes)


def _whole(
    connection: sqlite3.Connection, profile_no: int, numbers: Sequence[int], others: Sequence[_Target], wholes: Wholes
) -> list[_Target]:
    """Conversations by number, and those that are not indexed, with the parts of all of them, indexed or not."""
    beside = {(target.host, target.identity): target for target in others}
    known: dict[tuple[str, str], _Target] = {}
    chosen = list(numbers)
    while True:
        rows = _with_parts(connection, profile_no, chosen)
        known = {(target.host, target.identity): target for target in map(_target, rows)}
        missing = wholes.whole([*known, *beside]) - known.keys()
        more = [row for row in (reads.conversation(connection, profile_no, "current", one) for one in missing) if row]
        if not more:
            break
        chosen = [*chosen, *(row["conversation_no"] for row in more)]
    unindexed = [beside.get(one) or _Target(*one, None, None, None, None) for one in sorted(missing)]
    return [*known.values(), *unindexed]


def _copies(
    connection: sqlite3.Connection, profile_no: int, found: Sequence[_Target], wholes: Wholes
) -> list[dict[str, object]]:
    """The other conversations that hold copies of what is forgotten; `entries` is None for one that is not indexed."""
    numbers = [target.number for target in found if target.number is not None]
    held = [dict(row) for row in copies.of(connection, profile_no, numbers)]
    named = {(row["host"], row["host_conversation_id"]) for row in held}
    gone = tombstones.all_of(connection, profile_no)
    for identity in wholes.forks(frozenset((target.host, target.identity) for target in found)):
        indexed = reads.conversation(connection, profile_no, "current", identity) is not None
        if not indexed and identity not in named and identity not in gone:
            host, name = identity
            held.append({"conversation_id": None, "host": host, "host_conversation_id": name, "entries": None})
    return held


def _numbers(connection: sqlite3.Connection, condition: str, *values: object) -> list[int]:
    sql = f"SELECT conversation_no FROM conversations WHERE {condition} ORDER BY conversation_no"
    return [row[0] for row in connection.execute(sql, values)]


def _with_parts(connection: sqlite3.Connection, profile_no: int, numbers: Sequence[int]) -> list[sqlite3.Row]:
    """The conversations with what goes on from them and their subagents: they hold the same talk."""
    every: set[int] = set()
    for number in numbers:
        if number not in every:
            host = connection.execute("SELECT host FROM conversations WHERE conversation_no = ?", (number,)).fetchone()[
                0
            ]
            whole = lineage.whole(connection, profile_no, host, number)
            every |= {*whole, *lineage.delegates(connection, profile_no, host, whole)}
    return [
        connection.execute("SELECT * FROM conversations WHERE conversation_no = ?", (number,)).fetchone()
        for number in sorted(every)
    ]


def _target(row: sqlite3.Row) -> _Target:
    return _Target(
        row["host"],
        row["host_conversation_id"],
        row["conversation_id"],
        row["conversation_no"],
        row["title"],
        row["last_active_at"],
    )


def _layers(connection: sqlite3.Connection, numbers: Sequence[int]) -> dict[str, int]:
    marks = ", ".join("?" * len(numbers))
    counts = {"conversations": len(numbers)}
    for table in ("entries", "facets"):
        sql = f"SELECT count(*) FROM {table} WHERE conversation_no IN ({marks})"
        counts[table] = int(connection.execute(sql, list(numbers)).fetchone()[0])
    return counts


def _without_backups(database: Database) -> tuple[list[str], list[str]]:
    """Remove the backups: those that went, and those that could not be removed."""
    removed: list[str] = []
    left: list[str] = []
    for path in journal.backups(database.path):
        try:
            path.unlink(missing_ok=True)
            removed.append(str(path))
        except OSError:
            left.append(str(path))
    return removed, left


def _backups(database: Database) -> list[str]:
    return [str(path) for path in journal.backups(database.path)]


def _shown(target: _Target) -> dict[str, object]:
    return {
        "conversation_id": target.conversation_id,
        "host": target.host,
        "host_conversation_id": target.identity,
        "last_active_at": iso(target.last_active_at),
    }
