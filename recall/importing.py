"""Import: a profile's bundle from another machine, in one transaction: the same ids, nothing twice, conflicts named.

A bundle is data that anybody may have written. Its tables and columns have to be exactly ours; numbers are its own and
are given anew. A conversation that is here already stays as it is here; so does one that was forgotten here.
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from recall.bundle import FORMAT, TABLES, VERSION, Table
from recall.errors import ArgumentError
from recall.index import catalogue, fulltext, tombstones, topics
from recall.index.database import SCHEMA_VERSION, ensure_profile
from recall.index.publish import bump_generation
from recall.redact import redact_text
from recall.run import Run

_JSON = frozenset({"facts", "cuts", "warnings", "redactions", "aliases", "candidates", "seen", "before", "after"})
_HINT = "export it again with the program of this version: `history-recall export --output FILE`"


def import_bundle(run: Run, argument: str) -> dict[str, object]:
    """The `import` answer. Raises ArgumentError `invalid_bundle`; nothing was taken in then."""
    tables, generation = _read(argument)
    with run.database.write() as connection:
        profile_no = ensure_profile(connection, run.settings.profile, run.clock())
        taking = _Import(connection, profile_no, tables, run.clock())
        try:
            taking.run()
        except sqlite3.IntegrityError as error:
            raise _invalid(f"its rows do not fit together: {error}") from error
        if taking.into_nothing:  # nothing was here: its cursors go on, and its answers are the same byte for byte
            sql = "UPDATE profiles SET generation = ? WHERE profile_no = ?"
            connection.execute(sql, (generation, profile_no))
        else:
            bump_generation(connection, profile_no)
    return {"imported": len(taking.new), "unchanged": taking.unchanged, "conflicts": taking.conflicts}


class _Import:
    """One bundle on its way in. Numbers of the bundle lead to numbers here; None: the row stays out."""

    def __init__(
        self, connection: sqlite3.Connection, profile_no: int, tables: Mapping[str, list[dict[str, Any]]], now: int
    ) -> None:
        self._connection = connection
        self._profile_no = profile_no
        self._now = now
        self._tables = tables
        self._numbers: dict[str, dict[int, int | None]] = {table.name: {} for table in TABLES}
        self.new: list[int] = []
        self._new_topics: set[int] = set()
        self.unchanged = 0
        self.conflicts: list[dict[str, str]] = []
        row = connection.execute("SELECT 1 FROM conversations WHERE profile_no = ? LIMIT 1", (profile_no,)).fetchone()
        self.into_nothing = row is None

    def run(self) -> None:
        """Take it in."""
        for table in TABLES:
            ours = {row["name"] for row in self._connection.execute(f"PRAGMA table_info({table.name})")} - {
                "profile_no"
            }
            for row in self._tables[table.name]:
                if set(row) != ours:
                    raise _invalid(f"the columns of its table {table.name} are not ours")
                self._take(table, _cleaned(table, row))
        for row in self._tables["topics"]:  # a topic may have gone into one that comes later
            merged, own = row["merged_into"], self._numbers["topics"].get(row["topic_no"])
            if merged is not None and own in self._new_topics:
                into = self._numbers["topics"].get(merged)
                self._connection.execute("UPDATE topics SET merged_into = ? WHERE topic_no = ?", (into, own))
        self._revive()
        entries = [number for number in self._numbers["entries"].values() if number is not None]
        fulltext.add_entries(self._connection, self._profile_no, entries)
        for number in self.new:
            fulltext.add_curated(self._connection, self._profile_no, number)
        fulltext.refresh_topics(self._connection, self._profile_no)

    def _revive(self) -> None:
        """A topic that was here without a facet, and has one of what came, lives again."""
        rows = self._connection.execute(
            """SELECT topic_no FROM topics AS t WHERE profile_no = ? AND state = 'retired'
               AND EXISTS (SELECT 1 FROM memberships AS m WHERE m.topic_no = t.topic_no)""",
            (self._profile_no,),
        )
        for row in rows.fetchall():
            topics.came_back(self._connection, row["topic_no"], self._now)

    def _take(self, table: Table, row: dict[str, Any]) -> None:
        held = dict(row)
        number = held.pop(table.key) if table.key and table.key not in table.refers else None
        for column, other in table.refers.items():
            if held[column] is not None and not (table.name == "topics" and column == "merged_into"):
                held[column] = self._numbers[other].get(held[column])
                if held[column] is None and not (table.name == "conversations" and column == "project_no"):
                    return self._leave(table, number)
        if table.name == "topics":
            held["merged_into"] = None
        known = self._known(table, held)
        if known is not None:
            if number is not None:
                self._numbers[table.name][number] = known if known > 0 else None
            return None
        if table.name == "topic_events" and held["topic_no"] not in self._new_topics:
            return None  # the life of a topic that is here is told here
        made = self._insert(table, held)
        if number is not None:
            self._numbers[table.name][number] = made
        elif table.name == "memberships":
            self._numbers["memberships"][row["facet_no"]] = made
        if table.name == "conversations":
            self.new.append(made)
        elif table.name == "topics":
            self._new_topics.add(made)
        return None

    def _leave(self, table: Table, number: int | None) -> None:
        if number is not None:
            self._numbers[table.name][number] = None

    def _known(self, table: Table, row: Mapping[str, Any]) -> int | None:
        """The number of what is here already; -1 for what stays out; None for what is new."""
        match table.name:
            case "projects":
                return self._number("projects", "project_no", "profile_no = ? AND marker = ?", row["marker"])
            case "topics":
                here = catalogue.topic(self._connection, self._profile_no, row["topic_id"])
                if here is None and self._taken("topics", "topic_id", row["topic_id"]):
                    return self._conflict(row["topic_id"], "another profile of this index has the id")
                return None if here is None else int(here["topic_no"])
            case "conversations":
                return self._known_conversation(row)
            case "bindings":
                sql = "SELECT 1 FROM bindings WHERE profile_no = ? AND kind = ? AND key = ?"
                here = self._connection.execute(sql, (self._profile_no, row["kind"], row["key"])).fetchone()
                return None if here is None else -1
            case "decisions":
                sql = "SELECT 1 FROM decisions WHERE profile_no = ? AND host = ? AND host_conversation_id = ?"
                values = (self._profile_no, row["host"], row["host_conversation_id"])
                return None if self._connection.execute(sql, values).fetchone() is None else -1
        return None

    def _known_conversation(self, row: Mapping[str, Any]) -> int | None:
        name = row["conversation_id"]
        if (row["host"], row["host_conversation_id"]) in tombstones.all_of(self._connection, self._profile_no):
            return self._conflict(name, "you had it forgotten here")
        here = self._connection.execute(
            """SELECT content_sha256 FROM conversations
               WHERE profile_no = ? AND host = ? AND host_conversation_id = ?""",
            (self._profile_no, row["host"], row["host_conversation_id"]),
        ).fetchone()
        if here is None:
            if self._taken("conversations", "conversation_id", name):
                return self._conflict(name, "another conversation of this index has the id")
            return None
        if here["content_sha256"] == row["content_sha256"]:
            self.unchanged += 1
            return -1
        return self._conflict(name, "it is indexed here in another state")

    def _conflict(self, name: str, reason: str) -> int:
        self.conflicts.append({"name": name, "reason": reason})
        return -1

    def _number(self, table: str, key: str, condition: str, value: object) -> int | None:
        sql = f"SELECT {key} FROM {table} WHERE {condition}"
        row = self._connection.execute(sql, (self._profile_no, value)).fetchone()
        return None if row is None else int(row[0])

    def _taken(self, table: str, column: str, value: object) -> bool:
        sql = f"SELECT 1 FROM {table} WHERE {column} = ?"
        return self._connection.execute(sql, (value,)).fetchone() is not None

    def _insert(self, table: Table, row: dict[str, Any]) -> int:
        if "profile_no" in table.where and not table.where.startswith("x.profile_no"):
            values = row
        else:
            values = {**row, "profile_no": self._profile_no}
        names = ", ".join(values)
        marks = ", ".join(f":{name}" for name in values)
        done = self._connection.execute(f"INSERT INTO {table.name} ({names}) VALUES ({marks})", values)
        return int(done.lastrowid or 0)


_SURROGATE = re.compile("[\ud800-\udfff]")


def _cleaned(table: Table, row: dict[str, Any]) -> dict[str, Any]:
    """A row with its text redacted by our rules: nobody vouches for a bundle. What has to be JSON is JSON."""
    cleaned = {n: redact_text(v) if n in table.texts and isinstance(v, str) else v for n, v in row.items()}
    for name in _JSON & set(row):
        try:
            json.loads(row[name])
        except (TypeError, ValueError, RecursionError) as error:
            raise _invalid(f"{name} in its table {table.name} is no JSON") from error
    return cleaned


def _read(argument: str) -> tuple[dict[str, list[dict[str, Any]]], int]:
    """The tables of a bundle as rows by name, and its generation."""
    try:
        document = json.loads(Path(argument).expanduser().read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise _invalid(f"there is no file {argument}", "give the path of the bundle that `export` wrote") from error
    except OSError as error:
        raise _invalid(f"{argument} cannot be read: {error.strerror}", "check the path and its permissions") from error
    except (ValueError, RecursionError) as error:
        raise _invalid("it is no JSON") from error
    if not isinstance(document, dict) or document.get("format") != FORMAT or document.get("version") != VERSION:
        raise _invalid("it is no bundle of a profile")
    if document.get("schema") != SCHEMA_VERSION:
        raise _invalid(f"it has schema {document.get('schema')!r}, this program reads {SCHEMA_VERSION}")
    tables, generation = document.get("tables"), document.get("generation")
    if not isinstance(tables, dict) or not isinstance(generation, int) or set(tables) != {t.name for t in TABLES}:
        raise _invalid("its tables are not ours")
    return {table.name: _table(table, tables[table.name]) for table in TABLES}, generation


def _table(table: Table, given: Any) -> list[dict[str, Any]]:
    if not isinstance(given, dict) or not isinstance(given.get("rows"), list):
        raise _invalid(f"its table {table.name} cannot be read")
    columns = given.get("columns")
    if not isinstance(columns, list) or not all(isinstance(c, str) and c.isidentifier() for c in columns):
        raise _invalid(f"the columns of its table {table.name} are not ours")
    needed = {table.key, *table.refers, *table.texts} - {None}
    if not needed <= set(columns) or any(not isinstance(r, list) or len(r) != len(columns) for r in given["rows"]):
        raise _invalid(f"its table {table.name} cannot be read")
    if not all(_is_cell(cell) for row in given["rows"] for cell in row):
        raise _invalid(f"a value in its table {table.name} is none that an index holds")
    return [dict(zip(columns, row, strict=True)) for row in given["rows"]]


def _is_cell(value: object) -> bool:
    """Whether SQLite can hold it as we write it: a number, nothing, or text that can be encoded and has no NUL."""
    if isinstance(value, str):
        return "\0" not in value and not _SURROGATE.search(value)
    return value is None or isinstance(value, int | float)


def _invalid(reason: str, hint: str = _HINT) -> ArgumentError:
    return ArgumentError("invalid_bundle", f"The bundle was not taken in: {reason}", hint)
