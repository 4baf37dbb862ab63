"""Reading a conversation page by page, or one entry with its neighbours.

Pages are cut by characters: joined in order they give exactly the text, each at most `max_chars`, none empty. The
active branch is followed; what leaves it is named at the fork with entry ids. An entry off that branch is read with
its own branch. The stored redacted text is served; the state of the source and its raw records come from the caller,
who knows hosts.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from recall import cursor as cursors
from recall import scope as scopes
from recall.errors import ArgumentError
from recall.index import reads
from recall.index.database import Database, profile_number
from recall.scope import ANYWHERE, Here
from recall.shown import Resume, SourceState, no_resume, piece_end, resumed, safe, state_by_stat
from recall.timewindow import iso

SMALLEST_PAGE, LARGEST_PAGE, PAGE = 1000, 48_000, 12_000
MOST_AROUND, AROUND = 50, 3
_SCRAP = 100  # a page does not end with a piece of a text that is shorter than this (nor inside a long character)
Raw = Callable[[sqlite3.Row, str], str]  # (row of `conversations`, entry id) -> the redacted original JSON
# (row of `conversations`, entry ids) -> those whose record no longer stands in the source; None: it cannot be read
Prove = Callable[[sqlite3.Row, Sequence[str]], frozenset[str] | None]
_DAMAGE = ("broken_chain", "parent_cycle")  # codes of the warnings of a reading


@dataclass(frozen=True, slots=True)
class ReadRequest:
    """What to read. `before` and `after` count entries around `entry_id` (AROUND each) and mean nothing without it."""

    conversation_id: str
    entry_id: str | None = None
    before: int | None = None
    after: int | None = None
    cursor: str | None = None
    max_chars: int = PAGE
    raw: bool = False

    def checked(self) -> ReadRequest:
        """Itself. Raises ArgumentError `invalid_limit`, `usage`."""
        if not SMALLEST_PAGE <= self.max_chars <= LARGEST_PAGE:
            message = f"max_chars is {self.max_chars}"
            raise ArgumentError("invalid_limit", message, f"use a number from {SMALLEST_PAGE} to {LARGEST_PAGE}")
        for name, value in (("before", self.before), ("after", self.after)):
            if value is None:
                continue
            if not 0 <= value <= MOST_AROUND:
                raise ArgumentError("invalid_limit", f"{name} is {value}", f"use a number from 0 to {MOST_AROUND}")
            if self.entry_id is None:
                raise ArgumentError("usage", f"{name} counts entries around one, and none was named", "name the entry")
        return self


def read(
    database: Database,
    profile: str,
    request: ReadRequest,
    current: tuple[str, str] | None = None,
    source_state: SourceState = state_by_stat,
    raw: Raw | None = None,
    prove: Prove | None = None,
    here: Here = ANYWHERE,
    resume: Resume = no_resume,
) -> dict[str, object]:
    """The `read` answer of contract.md. What search may not find for the asker, they may not read.

    Raises ArgumentError `not_found`, `usage`, `invalid_limit`, `invalid_cursor`, `stale_cursor`, `scope_forbidden`.
    """
    request.checked()
    with database.read() as connection:
        conversation = _conversation(connection, profile, request, current)
        scope = scopes.resolve(connection, conversation["profile_no"], here)
        if scope.used == "project" and not scope.holds(conversation) and request.conversation_id != "current":
            message = "The conversation is not in the current project, and the user's settings keep agents to it"
            raise ArgumentError("scope_forbidden", message, "ask the user; the setting is projects.agent_scope")
        page = _Page(connection, conversation, request, raw)
        page.fill()
        seen = source_state(conversation)
        state = page.proved(seen, prove)
        return {
            "conversation_id": conversation["conversation_id"],
            **scope.as_json(),
            "in_scope": scopes.covered(connection, conversation["profile_no"], here, scope),
            **scopes.belongs_of(connection, conversation["profile_no"], scope)(conversation),
            "host": conversation["host"],
            "host_conversation_id": conversation["host_conversation_id"],
            "source_state": state,
            "resume": resumed(conversation, seen, resume),
            "graph_damaged": bool(json.loads(conversation["facts"]).get("graph_damaged")),
            "graph_problems": page.graph_problems,
            "title": safe(conversation["title"] or "", conversation["rules_version"]) or None,
            "fragments": page.fragments,
            "context": page.context(),
            "next_cursor": page.next_cursor,
        }


def _conversation(
    connection: sqlite3.Connection, profile: str, request: ReadRequest, current: tuple[str, str] | None
) -> sqlite3.Row:
    number = profile_number(connection, profile)
    name = request.conversation_id
    row = None if number is None else reads.conversation(connection, number, name, current)
    if row is not None:
        return row
    if name == "current":
        message = "Nothing of the running conversation is indexed" if current else "No running conversation was named"
        hint = "it can be indexed when it has ended" if current else "pass --current HOST:ID, or name the conversation"
        raise ArgumentError("not_found", message, hint)
    hint = '`history-recall conversations` lists what is indexed; the running conversation is read as "current"'
    raise ArgumentError("not_found", f"There is no conversation {name!r} in profile {profile!r}", hint)


class _Page:
    """One page in the making."""

    def __init__(
        self, connection: sqlite3.Connection, conversation: sqlite3.Row, request: ReadRequest, raw: Raw | None
    ) -> None:
        self._connection = connection
        self._conversation = conversation
        self._number = int(conversation["conversation_no"])
        self._request = request
        self._raw = raw
        self._middle = self._entry(request.entry_id) if request.entry_id is not None else None
        self._before = AROUND if request.before is None else request.before
        self._after = AROUND if request.after is None else request.after
        around = [request.entry_id, self._before, self._after, request.max_chars] if request.entry_id else []
        self._question = ["read", conversation["conversation_id"], request.raw, *around]
        self._stamp = [conversation["published_at"], conversation["content_sha256"]]
        warnings = json.loads(conversation["warnings"])
        self._breaks = {warning["line"]: warning["code"] for warning in warnings if warning["code"] in _DAMAGE}
        self.graph_problems = [code for code in _DAMAGE if code in self._breaks.values()]
        self.fragments: list[dict[str, object]] = []
        self.next_cursor: str | None = None

    def fill(self) -> None:
        """Take fragments until the page is full."""
        start, offset = self._place()
        room = self._request.max_chars
        for row in self._rows(start):
            if room == 0:
                self._stop(row["seq"], 0)
                return
            text = self._text(row)
            first = offset if row["seq"] == start else 0
            if first and first >= len(text):
                raise ArgumentError("invalid_cursor", "The cursor points behind the entry", "ask without the cursor")
            if self.fragments and room < _SCRAP and len(text) - first > room:
                self._stop(row["seq"], first)
                return
            end = piece_end(text, first, room)
            self.fragments.append(self._fragment(row, first, end, text))
            room = max(0, room - (end - first))
            if end < len(text):
                self._stop(row["seq"], end)
                return

    def proved(self, state: str, prove: Prove | None) -> str:
        """The state of the source, held against the records that are shown: each fragment says whether its stands."""
        gone = prove(self._conversation, [str(f["entry_id"]) for f in self.fragments]) if prove else None
        for fragment in self.fragments:
            fragment["stands"] = None if gone is None else fragment["entry_id"] not in gone
        return "changed" if gone else state

    def context(self) -> dict[str, object]:
        """The entry that was asked for, and the branches that leave the path at it or beside it."""
        shown = [str(fragment["entry_id"]) for fragment in self.fragments]
        forks = reads.alternates(self._connection, self._number, shown, shown)
        for fragment in self.fragments:
            if str(fragment["entry_id"]) in forks:
                fragment["alternate_children"] = forks[str(fragment["entry_id"])]
        if self._middle is None:
            return {"entry_id": None, "alternate_children": [child for found in forks.values() for child in found]}
        children = forks.get(self._middle["entry_id"], [])
        return {"entry_id": self._middle["entry_id"], "alternate_children": [*children, *self._siblings(self._middle)]}

    def _siblings(self, middle: sqlite3.Row) -> list[str]:
        rows = self._connection.execute(
            """SELECT entry_id FROM entries
               WHERE conversation_no = ? AND parent_id IS ? AND entry_id <> ? AND chars > 0 ORDER BY seq""",
            (self._number, middle["parent_id"], middle["entry_id"]),
        )
        return [row[0] for row in rows] if middle["parent_id"] is not None else []

    def _entry(self, entry_id: str) -> sqlite3.Row:
        row = reads.entry(self._connection, self._number, entry_id)
        if row is None:
            message = f"There is no entry {entry_id!r} in conversation {self._conversation['conversation_id']}"
            raise ArgumentError("not_found", message, "entry ids stand in search and read answers")
        return row

    def _rows(self, start: int) -> Iterable[sqlite3.Row]:
        if self._middle is None:
            return reads.active_entries(self._connection, self._number, start=start)
        rows = reads.around(self._connection, self._number, self._middle, self._before, self._after)
        return [row for row in self._fitting(rows, self._middle) if row["seq"] >= start]

    def _fitting(self, rows: list[sqlite3.Row], middle: sqlite3.Row) -> list[sqlite3.Row]:
        """Drop the farthest entries before the one asked for until that one begins on the first page."""
        before = [row for row in rows if row["seq"] < middle["seq"]]
        spare = self._request.max_chars - min(middle["chars"], self._request.max_chars // 2)
        while before and sum(row["chars"] for row in before) > spare:
            del before[0]
        return [*before, *(row for row in rows if row["seq"] >= middle["seq"])]

    def _place(self) -> tuple[int, int]:
        if self._request.cursor is None:
            return 0, 0
        place = cursors.decode(self._request.cursor, self._question, self._stamp)
        if len(place) != 2:
            raise ArgumentError("invalid_cursor", "The cursor is not one that was given out", "ask without the cursor")
        return cursors.whole_number(place[0]), cursors.whole_number(place[1])

    def _stop(self, seq: int, offset: int) -> None:
        self.next_cursor = cursors.encode([seq, offset], self._question, self._stamp)

    def _text(self, row: sqlite3.Row) -> str:
        if self._request.raw:
            if self._raw is None:
                raise ArgumentError("usage", "Raw records cannot be read here", "read without raw")
            return self._raw(self._conversation, row["entry_id"])
        return safe(reads.text(self._connection, row["entry_no"]), self._conversation["rules_version"])

    def _fragment(self, row: sqlite3.Row, start: int, end: int, text: str) -> dict[str, object]:
        return {
            "entry_id": row["entry_id"],
            "turn": row["turn"] or row["entry_id"],
            "role": row["role"],
            "timestamp": iso(row["at"]),
            "status": row["marks"].split(),
            "line": row["line"],
            "sha256": row["sha256"],
            "broken": row["line"] in self._breaks,
            "break": self._breaks.get(row["line"]),
            "offset": start,
            "total_chars": len(text),
            "text": text[start:end],
        }
