"""Browsing: the topics of a profile, the conversations of one topic, or the life of one.

Owns the `browse` answer of contract.md. A topic's description reads on its own: its definition, its timeline and its
three latest conversations are put together when it is shown. Ids of topics that were merged or retired still lead
somewhere. Nothing here calls a model.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from recall import cursor as cursors
from recall import scope as scopes
from recall import topic_life
from recall.errors import ArgumentError
from recall.index import catalogue, reads, successions
from recall.index.catalogue import Words
from recall.index.database import Database, profile_number
from recall.index.successions import Replaced
from recall.scope import ANYWHERE, Here, Scope
from recall.shown import Resume, SourceState, introduce, no_resume, safe, state_by_stat
from recall.timewindow import ALWAYS, LEFT_OUT, Window, iso

MOST, LIMIT, LATEST = 50, 10, 3
_NOTHING = "Nothing is indexed in this profile yet: run index-all, or index FILE"
_NO_EVENT = "Nothing happened to this topic since its history is kept"


@dataclass(frozen=True, slots=True)
class BrowseRequest:
    """What to browse: all topics, or one by its id; `history` shows the life of that one."""

    topic_id: str | None = None
    history: bool = False
    window: Window = ALWAYS
    limit: int = LIMIT
    cursor: str | None = None
    scope: str | None = None
    project: str | None = None

    def checked(self) -> BrowseRequest:
        """Itself. Raises ArgumentError `invalid_limit`, `usage`."""
        if not 1 <= self.limit <= MOST:
            raise ArgumentError("invalid_limit", f"limit is {self.limit}", f"use a number from 1 to {MOST}")
        if self.history and self.topic_id is None:
            raise ArgumentError("usage", "history needs a topic", "`history-recall browse` lists the topics")
        return self


def browse(
    database: Database,
    profile: str,
    request: BrowseRequest,
    current: tuple[str, str] | None = None,
    source_state: SourceState = state_by_stat,
    resume: Resume = no_resume,
    here: Here = ANYWHERE,
) -> dict[str, object]:
    """The `browse` answer. Raises ArgumentError `not_found`, `invalid_limit`, `invalid_cursor`, `stale_cursor`."""
    request.checked()
    with database.read() as connection:
        number = profile_number(connection, profile)
        scope = scopes.resolve(connection, -1 if number is None else number, here, request.scope, request.project)
        if number is None:
            if request.topic_id is not None:
                raise _no_topic(request.topic_id)
            return _answer("topics", 0, request, [], None, _NOTHING) | scope.as_json() | {"in_scope": 0}
        view = _View(connection, number, request, current, source_state, resume, scope)
        if here.widest == "project" and request.topic_id is not None and not view.holds(request.topic_id):
            raise _no_topic(request.topic_id)
        if scope.reason is not None:
            answer = view.nothing(scope.said)
        else:
            answer = view.topics() if request.topic_id is None else view.topic(request.topic_id)
        return answer | scope.as_json() | {"in_scope": view.in_scope}


class _View:
    """One request on one snapshot."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        number: int,
        request: BrowseRequest,
        current: tuple[str, str] | None,
        source_state: SourceState,
        resume: Resume,
        scope: Scope,
    ) -> None:
        self._connection = connection
        self._number = number
        self._request = request
        self._source_state = source_state
        self._resume = resume
        self._without = reads.current_number(connection, number, current)
        self._revision = reads.generation(connection, number)
        self._scope = scope
        self._within = scope.within
        self._belongs = scopes.belongs_of(connection, number, scope)

    @property
    def in_scope(self) -> int:
        """How many conversations are covered."""
        if self._scope.reason is not None:
            return 0
        return catalogue.in_scope(self._connection, self._number, self._without, self._within)

    def holds(self, topic_id: str) -> bool:
        """Whether a conversation in scope is in the topic, or in what it became."""
        topic = catalogue.topic(self._connection, self._number, topic_id)
        if topic is None or self._scope.reason is not None:
            return False
        near = [topic_id, *catalogue.heirs(self._connection, topic["topic_no"])]
        found = (catalogue.topic(self._connection, self._number, name) for name in near)
        return any(self._of(one["topic_no"], ALWAYS, None, 0, 1) for one in found if one is not None)

    def nothing(self, message: str) -> dict[str, object]:
        """The answer where nothing can be in scope."""
        level = "topics" if self._request.topic_id is None else "conversations"
        return _answer(level, self._revision, self._request, [], None, message)

    def topics(self) -> dict[str, object]:
        """Level topics."""
        window = self._request.window
        return self._page(
            "topics",
            lambda first, limit: catalogue.topics(
                self._connection, self._number, window, self._without, self._within, first, limit
            ),
            self._topic,
            "No topic has a conversation" if catalogue.any_conversation(self._connection, self._number) else _NOTHING,
        )

    def topic(self, topic_id: str) -> dict[str, object]:
        """Level conversations, or the life of the topic."""
        topic = catalogue.topic(self._connection, self._number, topic_id)
        if topic is None:
            raise _no_topic(topic_id)
        heirs = catalogue.heirs(self._connection, topic["topic_no"]) if topic["state"] == "retired" else []
        if len(heirs) == 1 and not self._request.history:  # all of it went to one place, so that is what it became
            topic, heirs = catalogue.topic(self._connection, self._number, heirs[0]) or topic, []
        words = self._words(topic)
        about: dict[str, object] = {"topic_id": topic["topic_id"], "title": words.title, "state": topic["state"]}
        if topic["topic_id"] != topic_id:
            about["asked_for"] = topic_id
        if heirs:
            about["became"] = heirs
        head: dict[str, object] = {"topic": about}
        number = int(topic["topic_no"])
        if self._request.history:
            own = catalogue.words_within(self._connection, number, self._within)
            return head | self._page(
                "history",
                lambda first, limit: catalogue.events(
                    self._connection, self._number, number, self._within, first, limit
                ),
                partial(topic_life.event, named=own is None),
                _NO_EVENT,
            )
        return head | self._page(
            "conversations",
            lambda first, limit: self._conversations(number, first, limit),
            lambda row: self._conversation(row, number),
            f"This topic was retired; its facets went to {', '.join(heirs)}"
            if heirs
            else "No conversation is in this topic",
            number,
        )

    def _page(
        self,
        level: str,
        fetch: Callable[[int, int], list[sqlite3.Row]],
        shape: Callable[[sqlite3.Row], dict[str, object]],
        nothing: str,
        topic_no: int | None = None,
    ) -> dict[str, object]:
        request, first = self._request, 0
        question = ["browse", level, request.topic_id, request.window.start, request.window.end]
        question += [self._scope.used, self._scope.project]
        if request.cursor is not None:
            place = cursors.decode(request.cursor, question, self._revision)
            first = cursors.whole_number(place[0] if len(place) == 1 else None)
        rows = fetch(first, request.limit + 1)
        shown = rows[: request.limit]
        more = len(rows) > len(shown)
        next_cursor = cursors.encode([first + len(shown)], question, self._revision) if more else None
        message = "" if shown else self._empty(level, nothing)
        if request.window and level != "history" and (left_out := self._left_out(topic_no)):
            message = f"{message}. {left_out}" if message else left_out
        return _answer(level, self._revision, request, [shape(row) for row in shown], next_cursor, message)

    def _empty(self, level: str, nothing: str) -> str:
        """Why there is nothing on a page."""
        if nothing is _NOTHING or level == "history":
            return f"{nothing} in this project" if level == "history" and self._within.only else nothing
        if self._within.only and not self.in_scope:
            other = "other " if self._without is not None else ""
            return f"There are no {other}conversations in this project"
        window = self._request.window.words()
        if window:
            nothing += f" with an entry in the time that was asked for ({window})"
        return f"{nothing}; the running conversation is left out" if self._without is not None else nothing

    def _left_out(self, topic_no: int | None) -> str:
        """What a window leaves out for having no time, in words."""
        untimed = catalogue.untimed(self._connection, self._number, topic_no, self._without, self._within, LEFT_OUT)
        return self._request.window.left_out(untimed)

    def _conversations(self, topic_no: int, first: int, limit: int) -> list[sqlite3.Row]:
        return self._of(topic_no, self._request.window, self._without, first, limit)

    def _of(self, topic_no: int, window: Window, without: int | None, first: int, limit: int) -> list[sqlite3.Row]:
        return catalogue.conversations(
            self._connection, self._number, topic_no, window, without, self._within, first, limit
        )

    def _topic(self, row: sqlite3.Row) -> dict[str, object]:
        latest = self._conversations(row["topic_no"], 0, LATEST)
        words = self._words(row)
        return {
            "topic_id": row["topic_id"],
            "title": words.title,
            "description": _described(row, words.description, latest),
            "definition": words.description,
            "aliases": list(words.aliases),
            "conversations": row["conversations"],
            "first_at": iso(row["first_at"]),
            "last_at": iso(row["last_at"]),
        }

    def _words(self, topic: sqlite3.Row) -> Words:
        """Those of a topic; within one project none that another one brought."""
        own = catalogue.words_within(self._connection, topic["topic_no"], self._within)
        return own or Words(topic["title"], topic["description"], tuple(json.loads(topic["aliases"])))

    def _conversation(self, row: sqlite3.Row, topic_no: int) -> dict[str, object]:
        members = catalogue.memberships(self._connection, row["conversation_no"], topic_no)
        facets = [member["facet_no"] for member in members]
        evidence = _by_facet(catalogue.evidence(self._connection, facets))
        findings = _by_facet(catalogue.findings(self._connection, facets))
        mixed = catalogue.words_within(self._connection, topic_no, self._within) is not None
        replaced = successions.of_findings(self._connection, facets)
        rules = row["rules_version"]
        return introduce(row, self._source_state, self._resume, self._belongs) | {
            "summary": safe(row["summary"], rules),
            "facts": json.loads(row["facts"]),
            "memberships": [
                {
                    "topic_id": member["topic_id"],
                    "facet": safe(member["title"], rules),
                    "facet_id": member["facet_id"],
                    "description": safe(member["description"], rules),
                    "reason": "" if mixed else member["reason"],  # it may name what else is in the topic
                    "abandoned": _given_up(evidence.get(member["facet_no"], [])),
                    "evidence": [_cited(cited) for cited in evidence.get(member["facet_no"], [])],
                    "findings": _latest_first(findings.get(member["facet_no"], []), rules, replaced),
                }
                for member in members
            ],
        }


def _described(topic: sqlite3.Row, definition: str, latest: Sequence[sqlite3.Row]) -> str:
    """A topic's description as it reads on its own."""
    lines = [definition.strip()]
    count = topic["conversations"]
    if topic["first_at"] is not None and topic["last_at"] is not None:
        span = f"{_day(topic['first_at'])} to {_day(topic['last_at'])}"
        lines.append(f"Timeline: {span} across {count} conversation{'' if count == 1 else 's'}.")
    names = [
        f"{safe(row['title'] or '', row['rules_version']) or row['conversation_id']} ({_day(row['last_at'])})"
        for row in latest
    ]
    if names:
        lines.append(f"Latest: {'; '.join(names)}.")
    return "\n".join(line for line in lines if line)


def _day(at: int | None) -> str:
    return (iso(at) or "unknown")[:10]


def _given_up(cited: Sequence[sqlite3.Row]) -> bool:
    """Whether a facet speaks only of a branch that was given up."""
    return bool(cited) and all("abandoned_branch" in (row["marks"] or "").split() for row in cited)


def _by_facet(rows: Sequence[sqlite3.Row]) -> dict[int, list[sqlite3.Row]]:
    found: dict[int, list[sqlite3.Row]] = {}
    for row in rows:
        found.setdefault(row["facet_no"], []).append(row)
    return found


def _cited(row: sqlite3.Row) -> dict[str, object]:
    """Evidence; where its entry is off the active branch, or no longer there, the answer says so."""
    return {
        "entry_id": row["entry_id"],
        "sha256": row["sha256"],
        "status": None if row["marks"] is None else row["marks"].split(),
    }


def _latest_first(
    rows: Sequence[sqlite3.Row], rules_version: int, replaced: Mapping[tuple[int, str, int], Replaced]
) -> list[dict[str, object]]:
    """The findings that hold, then those that a later one replaced."""
    by = [replaced.get((row["facet_no"], row["entry_id"], row["start"])) for row in rows]
    shown = [_finding(row, rules_version, one) for row, one in zip(rows, by, strict=True)]
    return sorted(shown, key=lambda finding: finding["superseded_by"] is not None)


def _finding(row: sqlite3.Row, rules_version: int, by: Replaced | None) -> dict[str, object]:
    return {
        "statement": safe(row["statement"], rules_version),
        "status": row["status"] if by is None else "superseded",
        "was": None if by is None else row["status"],
        "superseded_by": None if by is None else by.as_json(),
        "entry_id": row["entry_id"],
        "sha256": row["sha256"],
        "quote": safe(row["quote"], rules_version),
    }


def _answer(
    level: str,
    revision: int,
    request: BrowseRequest,
    entries: list[dict[str, object]],
    next_cursor: str | None,
    message: str,
) -> dict[str, object]:
    return {
        "level": level,
        "revision": revision,
        "range": request.window.as_json(),
        "entries": entries,
        "message": message,
        "next_cursor": next_cursor,
    }


def _no_topic(topic_id: str) -> ArgumentError:
    message = f"There is no topic {topic_id!r} in this profile"
    return ArgumentError("not_found", message, "`history-recall browse` lists the topics")
