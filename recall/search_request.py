"""What a search asks for: the request with its limits, and the filters that it comes to in an index.

A name that nothing bears (a conversation, a topic, something to leave out) is refused and never passed over.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, replace

from recall.errors import ArgumentError
from recall.index import catalogue, reads
from recall.index.filters import Filters
from recall.timewindow import ALWAYS, Window

MODES = ("hybrid", "keyword", "semantic")
SORTS = ("relevance", "newest", "oldest")
INCLUDES = ("abandoned", "undone", "summaries", "delegates", "automation", "archived")
ROLES = ("user", "assistant", "tool", "summary", "system")
MOST_QUERIES, LONGEST_QUERY, MOST, LIMIT = 8, 2000, 50, 10
_HIDDEN = {"abandoned": ("abandoned_branch",), "undone": ("rewound", "rolled_back"), "delegates": ("sidechain",)}


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """What to search for. `exclude` names conversations, or conversation/entry, that were seen already."""

    queries: tuple[str, ...]
    mode: str = "hybrid"
    topic_id: str | None = None
    conversation_id: str | None = None
    roles: tuple[str, ...] = ()
    include: tuple[str, ...] = ()
    window: Window = ALWAYS
    exclude: tuple[str, ...] = ()
    sort: str = "relevance"
    limit: int = LIMIT
    cursor: str | None = None
    explain: bool = False
    scope: str | None = None
    project: str | None = None

    def checked(self) -> SearchRequest:
        """Itself. Raises ArgumentError `invalid_query`, `invalid_limit`, `usage`."""
        if not 1 <= len(self.queries) <= MOST_QUERIES:
            message = f"{len(self.queries)} queries were given"
            raise ArgumentError("invalid_query", message, f"give 1 to {MOST_QUERIES}")
        if not any(text.strip() for text in self.queries):
            raise ArgumentError("usage", "The query is empty", "say what to look for")
        for text in self.queries:
            if len(text) > LONGEST_QUERY:
                message = f"A query has {len(text)} characters"
                raise ArgumentError("invalid_query", message, f"at most {LONGEST_QUERY}")
        if not 1 <= self.limit <= MOST:
            raise ArgumentError("invalid_limit", f"limit is {self.limit}", f"use a number from 1 to {MOST}")
        for name, given, known in (
            ("mode", (self.mode,), MODES),
            ("sort", (self.sort,), SORTS),
            ("roles", self.roles, ROLES),
            ("include", self.include, INCLUDES),
        ):
            for value in given:
                if value not in known:
                    raise ArgumentError("usage", f"{name} is {value!r}", f"use {', '.join(known)}")
        return self

    def question(self) -> list[object]:
        """What a cursor is bound to: all but the place and the size of the page."""
        return [
            "search",
            *(list(self.queries), self.mode, self.topic_id, self.conversation_id, sorted(self.roles)),
            *(sorted(self.include), self.window.start, self.window.end, sorted(self.exclude), self.sort),
        ]


def default_filters(profile_no: int) -> Filters:
    """What a search covers where nothing else was asked for."""
    hidden = (*(mark for marks in _HIDDEN.values() for mark in marks), "meta", "synthetic")
    return Filters(profile_no, ("user", "assistant", "tool"), hidden)


def filters_of(
    connection: sqlite3.Connection, number: int, request: SearchRequest, current: tuple[str, str] | None
) -> Filters:
    """What the request comes to in the index. Raises ArgumentError `not_found`."""
    hidden = [mark for name, marks in _HIDDEN.items() if name not in request.include for mark in marks]
    roles = request.roles or ("user", "assistant", "tool", *(("summary",) if "summaries" in request.include else ()))
    if "system" not in roles:
        hidden += ["meta", "synthetic"]
    filters = Filters(
        number,
        tuple(dict.fromkeys(roles)),
        tuple(hidden),
        delegates="delegates" in request.include,
        automation="automation" in request.include,
        archived="archived" in request.include,
        window=request.window,
        narrow_roles=bool(request.roles),
    )
    without, entries = _excluded(connection, number, request.exclude)
    seen = tuple(without)
    running = reads.current_number(connection, number, current)
    if running is not None and request.conversation_id != "current":
        without.append(running)
    filters = replace(filters, without=tuple(without), seen=seen, without_entries=tuple(entries))
    if request.conversation_id is not None:
        row = reads.conversation(connection, number, request.conversation_id, current)
        if row is None:
            message = f"There is no conversation {request.conversation_id!r} in this profile"
            raise ArgumentError("not_found", message, "`history-recall conversations` lists what is indexed")
        # A delegate that is asked for by name is not hidden for being one.
        shown = tuple(mark for mark in filters.hidden if mark != "sidechain")
        filters = replace(filters, conversation_no=row["conversation_no"], hidden=shown)
    if request.topic_id is not None:
        topic = catalogue.topic(connection, number, request.topic_id)
        if topic is None:
            message = f"There is no topic {request.topic_id!r} in this profile"
            raise ArgumentError("not_found", message, "`history-recall browse` lists the topics")
        filters = replace(filters, topic_nos=(topic["topic_no"],))
    return filters


def _excluded(
    connection: sqlite3.Connection, number: int, names: Sequence[str]
) -> tuple[list[int], list[tuple[int, str]]]:
    """Conversations and entries that were seen already. Raises ArgumentError `not_found`."""
    whole: list[int] = []
    seen: list[tuple[int, str]] = []
    for name in names:
        row = reads.conversation(connection, number, name, None)
        if row is not None:
            whole.append(row["conversation_no"])
            continue
        head, _, entry_id = name.partition("/")
        if name == "current" or (head == "current" and entry_id):
            continue  # the running conversation is left out as it is
        row = reads.conversation(connection, number, head, None) if entry_id else None
        if row is None or reads.entry(connection, row["conversation_no"], entry_id) is None:
            message = f"There is nothing called {name!r} in this profile that could be left out"
            raise ArgumentError("not_found", message, "exclude takes CONVERSATION or CONVERSATION/ENTRY from an answer")
        seen.append((row["conversation_no"], entry_id))
    return whole, seen


def in_force(request: SearchRequest) -> str:
    """What narrows a search, in words; empty where nothing does."""
    left_out = len(request.exclude)
    said = (
        ("entries ", request.window.words()),
        ("role ", " or ".join(request.roles)),
        ("topic ", request.topic_id or ""),
        ("conversation ", request.conversation_id or ""),
        ("project ", request.project or ""),
        ("", f"{left_out} excluded" if left_out else ""),
    )
    return ", ".join(name + value for name, value in said if value)
