"""Import: a profile's bundle from another machine, in one transaction: the same ids, nothing twice, conflicts named.

What a bundle holds was checked when its file was read (`bundle_file`). Its numbers are its own and are given anew. A
conversation that is here already stays as it is here; so does one that was forgotten here, and words that may be of it
are not taken in by another road. What quotes words that do not stand in their entries is left out, and named.
"""

from __future__ import annotations

import contextlib
import json
import sqlite3
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from recall import bundle_file, folders
from recall.bundle import TABLES, Table
from recall.bundle_file import Row, Tables, invalid
from recall.errors import StateError
from recall.hosts.walk import log_above
from recall.index import arriving, catalogue, frequencies, fulltext, projects, reads, tombstones
from recall.index.arriving import Joining
from recall.index.database import ensure_profile
from recall.run import Run
from recall.wholes import Link, Wholes

_UNTOLD = {"reason": "", "before": "{}", "after": "{}", "evidence": "[]", "proof": None}


def import_bundle(run: Run, argument: str) -> dict[str, object]:
    """The `import` answer. Raises ArgumentError `invalid_bundle`; nothing was taken in then."""
    tables, generation = bundle_file.read(argument)
    with run.database.write() as connection:
        profile_no = ensure_profile(connection, run.settings.profile, run.clock())
        taking = _Import(run, connection, profile_no, tables)
        try:
            taking.run()
        except sqlite3.IntegrityError as error:
            raise invalid(f"its rows do not fit together: {error}") from error
        # Where nothing was, it is the bundle's: its cursors go on, and its answers are the same byte for byte.
        after = max(generation, reads.generation(connection, profile_no) + 1)
        connection.execute("UPDATE profiles SET generation = ? WHERE profile_no = ?", (after, profile_no))
    with contextlib.suppress(StateError):  # it is in; without the counts searches are slower, not wrong
        frequencies.renew(run.database, profile_no)
    return {"imported": len(taking.new), "unchanged": len(taking.same), "conflicts": taking.conflicts}


class _Import:
    """One bundle on its way in. Numbers of the bundle lead to numbers here; None: the row stays out."""

    def __init__(self, run: Run, connection: sqlite3.Connection, profile_no: int, tables: Tables) -> None:
        self._connection = connection
        self._profile = run.settings.profile
        self._profile_no = profile_no
        self._now = run.clock()
        self._home = folders.parse(str(run.settings.home))
        self._tables = tables
        self._numbers: dict[str, dict[int, int | None]] = {table.name: {} for table in TABLES}
        self._forgotten = Wholes(map(_link, tables["conversations"])).whole(tombstones.all_of(connection, profile_no))
        self._topics: dict[int, int] = {}  # new ones: their number in the bundle -> here
        self._facets = {row["facet_no"]: row["conversation_no"] for row in tables["facets"]}
        self._joining: list[Joining] = []
        self._unsure: set[int] = set()  # topics of the bundle whose words may be of a conversation that stays out
        self.new: dict[int, int] = {}  # conversations: their number in the bundle -> here
        self.same: dict[int, int] = {}  # those that are here already
        self.conflicts: list[dict[str, str]] = []

    def run(self) -> None:
        """Take it in."""
        for table in TABLES:
            if table.name == "topics":
                self._unsure = self._unsure_topics()
            for row in self._tables[table.name]:
                self._take(table, row)
        self._lead_merged()
        self._verify()
        arriving.join(self._connection, self._profile_no, self._joining, self._now)
        unsure = {self._topics[number] for number in self._unsure if number in self._topics}
        arriving.settle_topics(self._connection, self._topics.values(), unsure)
        entries = [number for number in self._numbers["entries"].values() if number is not None]
        fulltext.add_entries(self._connection, self._profile_no, entries)
        for number in self.new.values():
            fulltext.add_curated(self._connection, self._profile_no, number)
        fulltext.refresh_topics(self._connection, self._profile_no)

    def _lead_merged(self) -> None:
        """A topic may have gone into one that comes later. Where that one stays out it went nowhere."""
        for row in self._tables["topics"]:
            own = self._topics.get(row["topic_no"])
            if row["merged_into"] is not None and own is not None:
                into = self._numbers["topics"].get(row["merged_into"])
                state = "retired" if into is None or into == own else "merged"
                self._connection.execute(
                    "UPDATE topics SET merged_into = ?, state = ? WHERE topic_no = ?",
                    (into if state == "merged" else None, state, own),
                )

    def _verify(self) -> None:
        new = list(self.new.values())
        for name, quotes in arriving.verify(self._connection, new).items():
            self._conflict(name, f"{quotes} quotes do not stand in their entries and were left out")
        for name, pairs in arriving.verify_successions(self._connection, new).items():
            self._conflict(name, f"{pairs} findings do not replace what they are said to replace; that was left out")

    def _unsure_topics(self) -> set[int]:
        """Those that a forgotten conversation had a part in, with those that were merged with them."""
        gone = {
            row["conversation_no"]
            for row in self._tables["conversations"]
            if (row["host"], row["host_conversation_id"]) in self._forgotten
        }
        facets = {row["facet_no"] for row in self._tables["facets"] if row["conversation_no"] in gone}
        found = {row["topic_no"] for row in self._tables["memberships"] if row["facet_no"] in facets}
        found |= {row["topic_no"] for row in self._tables["topic_events"] if row["conversation_no"] in gone}
        merged = [(row["topic_no"], row["merged_into"]) for row in self._tables["topics"]]
        while more := {b for a, b in merged if a in found and b is not None} | {a for a, b in merged if b in found}:
            if more <= found:
                break
            found |= more
        return found

    def _take(self, table: Table, row: Row) -> None:
        held = dict(row)
        number = held.pop(table.key) if table.key and table.key not in table.refers else None
        if not self._led(table, held, row):
            return self._leave(table, number)
        known = self._known(table, held, number)
        if known is not None:
            if number is not None:
                self._numbers[table.name][number] = known if known > 0 else None
            return None
        made = self._insert(table, self._adapted(table, held, row))
        if number is not None:
            self._numbers[table.name][number] = made
        if table.name == "conversations":
            self.new[row["conversation_no"]] = made
        elif table.name == "topics":
            self._topics[row["topic_no"]] = made
        elif table.name == "memberships":
            self._numbers["memberships"][row["facet_no"]] = made
            if row["topic_no"] not in self._topics:
                conversation = self.new[self._facets[row["facet_no"]]]
                self._joining.append(Joining(held["topic_no"], held["facet_no"], conversation, held["reason"]))
        return None

    def _led(self, table: Table, held: Row, row: Row) -> bool:
        """Put our numbers in the place of the bundle's. False: what the row is about stays out."""
        if table.name == "topics":
            held["merged_into"] = None
            return True
        if table.name == "topic_events" and row["topic_no"] not in self._topics:
            return False  # the life of a topic that is here is told here
        pair = (row.get("older_conversation_no"), row.get("newer_conversation_no"))
        if table.name == "supersessions" and not any(number in self.new for number in pair):
            return False  # of what is here, it is known here
        across = table.name in ("supersessions", "topic_events")  # these may be about what is here already
        for column, other in table.refers.items():
            if held[column] is None:
                continue
            led = self._numbers[other].get(held[column])
            if led is None and across and other == "conversations":
                led = self.same.get(held[column])
            if led is None and not (table.name == "conversations" and column == "project_no"):
                return False
            held[column] = led
        return True

    def _leave(self, table: Table, number: int | None) -> None:
        if number is not None:
            self._numbers[table.name][number] = None

    def _adapted(self, table: Table, held: Row, row: Row) -> Row:
        """A row as it is written here."""
        if table.name == "projects":
            name = projects.free_name(held["name"], projects.all_of(self._connection, self._profile_no))
            if name != held["name"] and not held["archived"]:
                self._conflict(held["project_id"], "another project here has its name; it has a number behind it now")
                return {**held, "name": name}
        if table.name == "bindings":
            seen = json.loads(held["seen"])  # numbers of another machine's file system say nothing here
            return {**held, "seen": json.dumps({**seen, "device": 0, "inode": 0})}
        if table.name == "entries":
            return {**held, "chars": len(held["text"])}
        if table.name == "topic_events" and row["topic_no"] in self._unsure:
            return {**held, **_UNTOLD}
        return held

    def _known(self, table: Table, row: Mapping[str, Any], number: int | None) -> int | None:
        """The number of what is here already; -1 for what stays out; None for what is new."""
        match table.name:
            case "projects":
                return self._number("projects", "project_no", "profile_no = ? AND marker = ?", row["marker"])
            case "topics":
                here = catalogue.topic(self._connection, self._profile_no, row["topic_id"])
                if here is None and (holder := self._holder("topics", "topic_id", row["topic_id"])) is not None:
                    return self._held_by(holder, "topic", row["topic_id"])
                return None if here is None else int(here["topic_no"])
            case "conversations":
                return self._known_conversation(row, number or 0)
            case "bindings":
                return self._known_binding(row)
            case "decisions":
                return self._known_decision(row)
        return None

    def _known_conversation(self, row: Mapping[str, Any], number: int) -> int | None:
        name = row["conversation_id"]
        if (row["host"], row["host_conversation_id"]) in self._forgotten:
            return self._conflict(name, "you had it forgotten here")
        here = self._connection.execute(
            """SELECT conversation_no, content_sha256 FROM conversations
               WHERE profile_no = ? AND host = ? AND host_conversation_id = ?""",
            (self._profile_no, row["host"], row["host_conversation_id"]),
        ).fetchone()
        if here is None:
            holder = self._holder("conversations", "conversation_id", name)
            if holder is None:
                return None
            if holder != self._profile:
                return self._held_by(holder, "conversation", name)
            return self._conflict(name, "another conversation of this profile has the id")
        if here["content_sha256"] == row["content_sha256"]:
            self.same[number] = int(here["conversation_no"])
            return -1
        return self._conflict(name, "it is indexed here in another state")

    def _known_binding(self, row: Mapping[str, Any]) -> int | None:
        here = self._connection.execute(
            "SELECT project_no FROM bindings WHERE profile_no = ? AND kind = ? AND key = ?",
            (self._profile_no, row["kind"], row["key"]),
        ).fetchone()
        if here is not None:
            same = here["project_no"] == row["project_no"]
            return -1 if same else self._conflict(row["shown"], "it leads to another project here")
        if row["kind"] == "folder" and self._home is not None:
            above = {*self._home.lineage(), *self._home.lineage(folds=True)}
            if row["key"] in above:
                return self._conflict(row["shown"], "it is the home folder here, or above it, and cannot be bound")
        return None

    def _known_decision(self, row: Mapping[str, Any]) -> int | None:
        here = self._connection.execute(
            "SELECT project_no FROM decisions WHERE profile_no = ? AND host = ? AND host_conversation_id = ?",
            (self._profile_no, row["host"], row["host_conversation_id"]),
        ).fetchone()
        if here is None:
            return None
        same = here["project_no"] == row["project_no"]
        identity = f"{row['host']}:{row['host_conversation_id']}"
        return -1 if same else self._conflict(identity, "you moved it to another place here")

    def _conflict(self, name: str, reason: str) -> int:
        self.conflicts.append({"name": name, "reason": reason})
        return -1

    def _held_by(self, holder: str, kind: str, name: str) -> int:
        """What another profile of this index holds: an index has each id once, and nothing crosses from there."""
        reason = f"profile {holder!r} of this index has the id"
        self.conflicts.append({"name": name, "reason": reason, "kind": kind, "profile": holder})
        return -1

    def _number(self, table: str, key: str, condition: str, value: object) -> int | None:
        sql = f"SELECT {key} FROM {table} WHERE {condition}"
        row = self._connection.execute(sql, (self._profile_no, value)).fetchone()
        return None if row is None else int(row[0])

    def _holder(self, table: str, column: str, value: object) -> str | None:
        """The profile of this index that holds what has this id."""
        sql = f"SELECT p.name FROM {table} AS x JOIN profiles AS p USING (profile_no) WHERE x.{column} = ?"
        row = self._connection.execute(sql, (value,)).fetchone()
        return None if row is None else str(row[0])

    def _insert(self, table: Table, row: Row) -> int:
        if "profile_no" in table.where and not table.where.startswith("x.profile_no"):
            values = row
        else:
            values = {**row, "profile_no": self._profile_no}
        names = ", ".join(values)
        marks = ", ".join(f":{name}" for name in values)
        done = self._connection.execute(f"INSERT INTO {table.name} ({names}) VALUES ({marks})", values)
        return int(done.lastrowid or 0)


def _link(row: Row) -> Link:
    """What a conversation of the bundle says of others; whose subagent it is, by the place of its log as well."""
    path = row["source"] if row["source"].startswith("/") else None
    higher = log_above(Path(path)) if path is not None and row["sidechain"] else None
    parents = tuple(filter(None, (row["parent"], higher and str(higher))))
    identity = (row["host"], row["host_conversation_id"])
    return Link(identity, path, row["continues"], parents, delegate=bool(row["sidechain"]))
