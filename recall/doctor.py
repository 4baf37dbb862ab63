"""Checks that say what is wrong and how to mend it: schema, integrity, permissions, hosts, quotes."""

from __future__ import annotations

import os
from dataclasses import dataclass

from recall import conversations, journal
from recall.index import fulltext, tombstones
from recall.index.database import SCHEMA_VERSION, Database, profile_number
from recall.settings import Settings


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
    checks = [_exists(database), _hosts(settings, database)]
    if database.exists:
        checks += [_journal(database), _permissions(database), _integrity(database, deep=deep)]
        checks += [_text_index(settings, database), _foreign_keys(database), _forgotten(database)]
        if deep:
            checks.append(_quotes(settings, database))
    return {"ok": all(check.ok is not False for check in checks), "checks": [check.as_json() for check in checks]}


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
    hint = "the file system gives no shared memory; put the index on a local disk with HISTORY_RECALL_DB"
    return Check("journal", True, f"{database.journal_mode} instead of WAL: readers wait for writers", hint)


def _permissions(database: Database) -> Check:
    loose = [
        name
        for suffix in ("", "-wal", "-shm", "-journal")
        if (name := str(database.path) + suffix) and os.path.exists(name) and os.stat(name).st_mode & 0o077
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
    hint = "restore the file from a backup, or move it away and index again"
    return Check("database", False, "; ".join(found), hint)


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
    with database.write() as connection:  # SQLite counts its check of an index as a write
        number = profile_number(connection, settings.profile)
        problems = [] if number is None else fulltext.check(connection, number)
    if not problems:
        return Check("text index", None if number is None else True, "healthy")
    return Check("text index", False, "; ".join(problems), "run `history-recall doctor --rebuild-text-index`")


def _hosts(settings: Settings, database: Database) -> Check:
    found, warnings = conversations.rows(settings, database)
    hosts = {row.host for row in found}
    notes = "; ".join(w.message for w in warnings)
    detail = f"{len(found)} sources of {', '.join(sorted(hosts))}" if hosts else "no conversations found"
    return Check("hosts", None if not hosts else True, detail + (f" ({notes})" if notes else ""))


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
        return Check("quotes", True, f"{total} quotes stand in their entries")
    return Check("quotes", False, f"{wrong} of {total} quotes do not stand in their entries", "index them again")
