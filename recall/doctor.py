"""Checks that say what is wrong and how to mend it: schema, integrity, permissions, hosts, quotes."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from recall import conversations, journal
from recall.counting import count
from recall.errors import SourceError, StateError
from recall.freshness import not_held
from recall.index import damage, fulltext, tombstones
from recall.index.database import Database, profile_number
from recall.index.file import SCHEMA_VERSION
from recall.settings import Settings

_RESTORE = "restore the file from a backup, or move it away and index again"
_MOVE_AWAY = "move the file away, then index again with index-all, or import an export: your logs are untouched"


@dataclass(frozen=True, slots=True)
class Check:
    """One check: `ok` is None where there was nothing to look at."""

    name: str
    ok: bool | None
    detail: str
    hint: str = ""

    def as_json(self) -> dict[str, object]:
        return {"name": self.name, "ok": self.ok, "detail": self.detail, "hint": self.hint}


def doctor(settings: Settings, database: Database, *, deep: bool = False) -> dict[str, object]:
    """Look at everything that can be looked at without a model; `deep` also reads every page and every quote."""
    checks = [_exists(database), _tried("hosts", partial(_hosts, settings, database))]
    if database.exists:
        checks += [_journal(database), _permissions(database.path)]
        checks += [
            _tried("database", partial(_integrity, database, deep=deep)),
            _tried("text index", partial(_text_index, settings, database)),
            _tried("references", partial(_foreign_keys, database)),
            _tried("forgotten", partial(_forgotten, database)),
            _tried("second files", partial(_second_files, settings, database)),
        ]
        if deep:
            checks.append(_tried("quotes", partial(_quotes, settings, database)))
        if any(check.name == "database" and check.ok is False for check in checks):
            checks.append(_left(damage.left_of(database.path)))
    return _answer(checks)


def of_damaged(settings: Settings, error: StateError) -> dict[str, object]:
    """The same of an index that cannot even be opened: what can be told without it, and what is left of it."""
    path = settings.database
    left = damage.left_of(path)
    said = "; ".join(left.problems) or error.message
    stand_in = Database.stand_in(path)
    try:
        hosts = _hosts(settings, stand_in)
    finally:
        stand_in.close()
    return _answer(
        [
            Check("index", False, f"{path} cannot be opened", _MOVE_AWAY),
            hosts,
            _permissions(path),
            Check("database", False, said, _RESTORE),
            _left(left),
        ]
    )


def _answer(checks: list[Check]) -> dict[str, object]:
    return {"ok": all(check.ok is not False for check in checks), "checks": [check.as_json() for check in checks]}


def _tried(name: str, look: Callable[[], Check]) -> Check:
    """One check; where the damage does not let it come to its end, that is what it found."""
    try:
        return look()
    except StateError as error:
        if error.code != "index_damaged":
            raise
        return Check(name, False, error.message, _RESTORE)


def _left(left: damage.Left) -> Check:
    """What can still be read of a damaged file: for an export, and to know what indexing again has to bring back."""
    told = [
        f"{table} {rows}" if whole else f"{table} broken off after {rows}"
        for table, (rows, whole) in left.rows.items()
        if whole or rows
    ]
    return Check("readable", None if told else False, ", ".join(told) or "nothing of it", _MOVE_AWAY)


def rebuild_text_index(settings: Settings, database: Database) -> dict[str, object]:
    """Build the profile's text index again from the stored text; nothing else is touched."""
    with database.write() as connection:
        number = profile_number(connection, settings.profile)
        if number is not None:
            fulltext.rebuild(connection, number)
    return doctor(settings, database)


def _exists(database: Database) -> Check:
    if not database.exists:
        return Check("index", None, f"no index yet at {database.path}", "run index-all")
    return Check("index", True, f"{database.path}, schema {SCHEMA_VERSION}")


def _journal(database: Database) -> Check:
    if database.journal_mode == "wal":
        return Check("journal", True, "WAL")
    if database.journal_mode == "read-only":
        return Check("journal", None, "the index can be read here, not written")
    hint = "the file system gives no shared memory; put the index on a local disk with HISTORY_RECALL_DB"
    return Check("journal", True, f"{database.journal_mode} instead of WAL: readers wait for writers", hint)


def _permissions(path: Path) -> Check:
    loose = [
        name
        for suffix in ("", "-wal", "-shm", "-journal")
        if (name := str(path) + suffix) and os.path.exists(name) and os.stat(name).st_mode & 0o077
    ]
    if not loose:
        return Check("permissions", True, "only you can read the index")
    return Check("permissions", False, f"others can read {', '.join(loose)}", "run chmod 600 on them")


def _integrity(database: Database, *, deep: bool) -> Check:
    check = "integrity_check" if deep else "quick_check"
    with database.read() as connection:
        found = [str(row[0]) for row in connection.execute(f"PRAGMA {check}(5)")]
    if found == ["ok"]:
        return Check("database", True, f"{check} ok")
    return Check("database", False, "; ".join(found), _RESTORE)


def _foreign_keys(database: Database) -> Check:
    with database.read() as connection:
        found = connection.execute("PRAGMA foreign_key_check").fetchmany(5)
    return Check("references", not found, "every row has what it refers to" if not found else f"{len(found)} dangling")


def _forgotten(database: Database) -> Check:
    """A backup from before something was forgotten holds it: a run that was killed did not come to take it away."""
    with database.read() as connection:
        last = tombstones.latest(connection)
    if last is None:
        return Check("forgotten", None, "nothing was forgotten")
    older = [path.name for path in journal.backups(database.path) if path.stat().st_mtime_ns < last * 1_000_000]
    if not older:
        return Check("forgotten", True, "no backup holds what was forgotten")
    hint = "forget it once more: `history-recall forget` takes the backups away"
    return Check("forgotten", False, f"{len(older)} backups are older than what was forgotten", hint)


def _text_index(settings: Settings, database: Database) -> Check:
    if database.journal_mode == "read-only":
        return _text_index_read(settings, database)
    with database.write() as connection:  # SQLite counts its check of an index as a write
        number = profile_number(connection, settings.profile)
        problems = [] if number is None else fulltext.check(connection, number)
    if not problems:
        return Check("text index", None if number is None else True, "healthy")
    return Check("text index", False, "; ".join(problems), "run `history-recall doctor --rebuild-text-index`")


def _text_index_read(settings: Settings, database: Database) -> Check:
    """The same where nothing can be written: what shows by reading it."""
    with database.read() as connection:
        number = profile_number(connection, settings.profile)
        problems = [] if number is None else fulltext.look(connection, number)
    if problems:
        return Check("text index", False, "; ".join(problems), "run `history-recall doctor --rebuild-text-index`")
    detail = (
        "all of it can be read; whether it says of each word where it stands cannot be checked in a read-only index"
    )
    return Check("text index", None, detail, "run doctor where the index can be written")


def _hosts(settings: Settings, database: Database) -> Check:
    found, warnings = conversations.rows(settings, database)
    here = [row for row in found if row.listed is not None]
    told = [f"{count(len(here), 'source')} of {', '.join(sorted({row.host for row in here}))}"] if here else []
    if len(found) > len(here):
        told.append(f"{count(len(found) - len(here), 'indexed conversation')} whose source cannot be read here")
    notes = "; ".join(w.message for w in warnings)
    detail = (", ".join(told) or "no conversations found") + (f" ({notes})" if notes else "")
    return Check("hosts", True if here else None, detail)


def _second_files(settings: Settings, database: Database) -> Check:
    """Files with the id of a conversation that is indexed from another one: what only they hold is in no answer."""
    found, _ = conversations.rows(settings, database)
    second = [row for row in found if row.copy_of is not None]
    if not second:
        return Check("second files", None, "each conversation has one file")
    with database.read() as connection:
        number = profile_number(connection, settings.profile)
    more: list[str] = []
    for row in second:
        if row.listed is None or row.stored is None or number is None:
            continue
        try:
            entries = not_held(database, number, row.listed.source, row.stored)
        except SourceError as error:
            more.append(f"{row.source}: {error.message}")
            continue
        if entries:
            more.append(f"{entries} entries of {row.source} are not in {row.copy_of}, from which the conversation is")
    if not more:
        return Check("second files", True, f"{len(second)} files are copies and hold no more than what is indexed")
    hint = "give a copy of such a file another id in its first record and add it with `sources add`"
    return Check("second files", False, "; ".join(more), hint)


def _quotes(settings: Settings, database: Database) -> Check:
    """Every stored quote must stand in its entry, at its place, under the hash it was taken from."""
    wrong = total = 0
    with database.read() as connection:
        for table in ("evidence", "findings"):
            rows = connection.execute(
                f"""SELECT q.quote, q.sha256, substr(e.text, q.start + 1, q.length) AS stands, e.sha256 AS now
                    FROM {table} q JOIN facets f ON f.facet_no = q.facet_no
                    JOIN conversations c ON c.conversation_no = f.conversation_no
                    JOIN profiles p ON p.profile_no = c.profile_no
                    LEFT JOIN entries e ON e.conversation_no = f.conversation_no AND e.entry_id = q.entry_id
                    WHERE p.name = ?""",
                (settings.profile,),
            )
            for row in rows:
                total += 1
                wrong += row["stands"] != row["quote"] or row["now"] != row["sha256"]
    if not wrong:
        return Check("quotes", True, f"{count(total, 'quote')} held against the entries: each stands there")
    return Check("quotes", False, f"{wrong} of {total} quotes do not stand in their entries", "index them again")
