"""Searching: requests checked, each query ranked by layers, fused, folded into conversations, and said honestly.

Owns the `search` answer of contract.md. `mode` keyword is what this does; hybrid and semantic need a rewriting model
and say that there is none. Without a text index that can be read, the words are looked for in the stored text
(bounded), and the answer says so. Every answer is of one snapshot of the index.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from recall import cursor as cursors
from recall import query as querying
from recall import ranking, snippet
from recall.errors import ArgumentError, StateError
from recall.index import catalogue, hits, matches, reads
from recall.index.database import Database, profile_number
from recall.index.matches import Filters, Matches
from recall.query import Query
from recall.ranking import Hit
from recall.shown import Resume, SourceState, introduce, no_resume, safe, state_by_stat
from recall.timewindow import ALWAYS, Window, iso

MODES = ("hybrid", "keyword", "semantic")
SORTS = ("relevance", "newest", "oldest")
INCLUDES = ("abandoned", "undone", "summaries", "delegates", "automation", "archived")
ROLES = ("user", "assistant", "tool", "summary", "system")
MOST_QUERIES, LONGEST_QUERY, MOST, LIMIT = 8, 2000, 50, 10
MORE_ENTRIES = 3  # a page shows one entry of each conversation and this many more, the best first in turn
_HIDDEN = {"abandoned": ("abandoned_branch",), "undone": ("rewound", "rolled_back"), "delegates": ("sidechain",)}
_CHECKED_CHARS = 200_000  # of a text that is compared letter for letter
_NO_MODEL = "Rewriting by a model is not part of this version"


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """What to search for. `exclude` names conversations, or conversation/entry, that were seen already."""

    queries: tuple[str, ...]
    mode: str = "keyword"
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

    def checked(self) -> SearchRequest:
        """Itself. Raises ArgumentError `invalid_query`, `invalid_limit`, `usage`."""
        if not 1 <= len(self.queries) <= MOST_QUERIES:
            message = f"{len(self.queries)} queries were given"
            raise ArgumentError("invalid_query", message, f"give 1 to {MOST_QUERIES}")
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


def search(
    database: Database,
    profile: str,
    request: SearchRequest,
    current: tuple[str, str] | None = None,
    source_state: SourceState = state_by_stat,
    resume: Resume = no_resume,
) -> dict[str, object]:
    """The `search` answer. Raises ArgumentError for what was asked wrongly; finding nothing is an answer."""
    request.checked()
    with database.read() as connection:
        number = profile_number(connection, profile)
        if number is None:
            return _answer(request, message="Nothing is indexed in this profile yet: run index-all, or index FILE")
        filters = _filters(connection, number, request, current)
        found = _Search(connection, filters, request)
        stamp = reads.generation(connection, number)
        first = 0
        if request.cursor is not None:
            place = cursors.decode(request.cursor, request.question(), stamp)
            first = cursors.whole_number(place[0] if len(place) == 1 else None)
        if request.mode != "semantic":
            found.run()
        page, last = found.page(first)
        shown = _Shown(connection, request, found.queries, source_state, resume)
        next_cursor = None if last is None else cursors.encode([last], request.question(), stamp)
        return _answer(
            request,
            conversations=[shown.conversation(group) for group in page],
            in_scope=hits.in_scope(connection, filters),
            coverage=_coverage(found.bounded, hits.waiting(connection, number)),
            message=_message(request, found),
            next_cursor=next_cursor,
        )


def rank(connection: sqlite3.Connection, filters: Filters, queries: Sequence[str]) -> list[Hit]:
    """All hits of the queries, best first, before they are folded into conversations: what benchmarks measure."""
    found = _Search(connection, filters, SearchRequest(tuple(queries)))
    found.run()
    return found.hits


def default_filters(profile_no: int) -> Filters:
    """What a search covers where nothing else was asked for."""
    hidden = (*(mark for marks in _HIDDEN.values() for mark in marks), "meta", "synthetic")
    return Filters(profile_no, ("user", "assistant", "tool"), hidden)


def _filters(
    connection: sqlite3.Connection, number: int, request: SearchRequest, current: tuple[str, str] | None
) -> Filters:
    hidden = [mark for name, marks in _HIDDEN.items() if name not in request.include for mark in marks]
    roles = request.roles or ("user", "assistant", "tool", *(("summary",) if "summaries" in request.include else ()))
    if "system" not in roles:
        hidden += ["meta", "synthetic"]
    filters = Filters(
        number,
        tuple(dict.fromkeys(roles)),
        tuple(hidden),
        delegates="delegates" in request.include,
        window=request.window,
        narrow_roles=bool(request.roles),
    )
    without, seen = _excluded(connection, number, request.exclude, current)
    running = reads.current_number(connection, number, current)
    if running is not None and request.conversation_id != "current":
        without.append(running)
    filters = replace(filters, without=tuple(without), without_entries=tuple(seen))
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
    connection: sqlite3.Connection, number: int, names: Sequence[str], current: tuple[str, str] | None
) -> tuple[list[int], list[tuple[int, str]]]:
    """Conversations and entries that were seen already. A name that nothing bears excludes nothing."""
    whole: list[int] = []
    seen: list[tuple[int, str]] = []
    for name in names:
        row = reads.conversation(connection, number, name, current)
        if row is not None:
            whole.append(row["conversation_no"])
            continue
        head, _, entry_id = name.partition("/")
        row = reads.conversation(connection, number, head, current) if entry_id else None
        if row is not None:
            seen.append((row["conversation_no"], entry_id))
    return whole, seen


@dataclass
class _Group:
    """The hits of one conversation, best first."""

    conversation_no: int
    hits: list[Hit]
    shown: int = 1


def _share_out(groups: Sequence[_Group], room: int) -> None:
    """Decide how many entries of each conversation are shown: in turn, so that a long one does not fill the page."""
    spare = room - len(groups)
    while spare > 0:
        hungry = [group for group in groups if group.shown < len(group.hits)][:spare]
        if not hungry:
            return
        for group in hungry:
            group.shown += 1
        spare -= len(hungry)


class _Search:
    """The search of all queries of one request."""

    def __init__(self, connection: sqlite3.Connection, filters: Filters, request: SearchRequest) -> None:
        self._connection = connection
        self._filters = filters
        self._request = request
        self.queries = [querying.cut(text) for text in request.queries]
        self.hits: list[Hit] = []
        self.bounded = False
        self.damaged = ""
        self._rows: Mapping[int, sqlite3.Row] = {}

    def run(self) -> None:
        """Rank every query, fuse, and show copies once."""
        ranked = [self._ranked(query) for query in self.queries if query.literal]
        fused = ranking.fuse(ranked)
        self._rows = hits.rows(self._connection, fused)
        order = sorted(fused.values(), key=lambda hit: (-round(hit.score, 9), *self._tie(hit)))
        self.hits = self._once(order)

    def page(self, first: int) -> tuple[list[_Group], int | None]:
        """The conversations from `first` on, at most `limit`, and where the next page begins.

        Within one conversation its entries are the pages.
        """
        limit = self._request.limit
        if self._request.conversation_id is not None:
            chosen = self._sorted(self.hits)[first : first + limit]
            groups = [_Group(self._filters.conversation_no or 0, chosen, len(chosen))] if chosen else []
            return groups, first + limit if len(self.hits) > first + limit else None
        by_conversation: dict[int, list[Hit]] = {}
        for hit in self._sorted(self.hits):
            by_conversation.setdefault(self._rows[hit.entry_no]["conversation_no"], []).append(hit)
        groups = [_Group(number, found) for number, found in by_conversation.items()]
        chosen_groups = groups[first : first + limit]
        _share_out(chosen_groups, limit + MORE_ENTRIES)
        return chosen_groups, first + limit if len(groups) > first + limit else None

    def _sorted(self, found: list[Hit]) -> list[Hit]:
        if self._request.sort == "relevance":
            return found
        sign = -1 if self._request.sort == "newest" else 1
        # What has no time comes last either way.
        return sorted(found, key=lambda hit: (self._at(hit) is None, sign * (self._at(hit) or 0), *self._tie(hit)))

    def _at(self, hit: Hit) -> int | None:
        at: int | None = self._rows[hit.entry_no]["at"]
        return at

    def _tie(self, hit: Hit) -> tuple[int, int, int, int]:
        row = self._rows[hit.entry_no]
        return (-(row["at"] or 0), row["started_at"] or 0, row["conversation_no"], row["seq"])

    def _once(self, order: Sequence[Hit]) -> list[Hit]:
        """Of entries that a fork copied, the one in the conversation that began first."""
        first: dict[tuple[str, str], Hit] = {}
        for hit in order:
            row = self._rows[hit.entry_no]
            key = (row["entry_id"], row["sha256"])
            known = first.get(key)
            if known is None or self._began(hit) < self._began(known):
                first[key] = hit
        kept = {hit.entry_no for hit in first.values()}
        return [hit for hit in order if hit.entry_no in kept]

    def _began(self, hit: Hit) -> tuple[int, int]:
        row = self._rows[hit.entry_no]
        return (row["started_at"] or 0, row["conversation_no"])

    def _ranked(self, query: Query) -> dict[int, dict[str, float]]:
        """Entry -> score by layer."""
        if query.empty:
            return self._literally([query.literal])
        try:
            return self._by_index(query)
        except (sqlite3.DatabaseError, StateError) as error:
            if isinstance(error, sqlite3.OperationalError) and "interrupted" in str(error):
                raise
            self.damaged = str(error)
            return self._literally(query.text.replace('"', " ").split())

    def _literally(self, needles: Sequence[str]) -> dict[int, dict[str, float]]:
        found = self._taken(matches.literal(self._connection, self._filters, needles))
        return ranking.combine({"literal": found})

    def _taken(self, found: Matches) -> Mapping[int, float]:
        self.bounded = self.bounded or found.bounded
        return found.scores

    def _by_index(self, query: Query) -> dict[int, dict[str, float]]:
        own = self._taken(matches.of_entries(self._connection, self._filters, query, ranking.ROLE_WEIGHTS))
        curated = matches.of_curated(self._connection, self._filters, query, ranking.CURATED_WEIGHTS)
        combined = ranking.combine({"keyword": own, "curated": curated.scores})
        if query.required:
            held = self._holding(query.required_spellings, combined, every=True)
            combined = {entry_no: parts for entry_no, parts in combined.items() if entry_no in held}
        else:
            self._add_neighbours(combined)
        ranking.add_exact(combined, self._holding(query.exact, combined, every=False))
        return combined

    def _add_neighbours(self, combined: dict[int, dict[str, float]]) -> None:
        sums = {entry_no: sum(parts.values()) for entry_no, parts in combined.items()}
        beside = hits.neighbours(self._connection, self._filters, list(sums))
        for entry_no, score in ranking.with_neighbours(sums, beside).items():
            if entry_no in combined:
                combined[entry_no]["neighbours"] = score

    def _holding(self, spellings: Sequence[str], among: Mapping[int, object], *, every: bool) -> list[int]:
        """Which entries hold a spelling (or each of them) letter for letter."""
        if not spellings:
            return []
        test = all if every else any
        texts = hits.texts(self._connection, among, _CHECKED_CHARS)
        folded = {entry_no: querying.spelling(text) for entry_no, text in texts.items()}
        return [entry_no for entry_no, text in folded.items() if test(each in text for each in spellings)]


class _Shown:
    """Makes the groups of a page into JSON."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        request: SearchRequest,
        queries: Sequence[Query],
        source_state: SourceState,
        resume: Resume,
    ) -> None:
        self._connection = connection
        self._request = request
        self._queries = queries
        self._source_state = source_state
        self._resume = resume

    def conversation(self, group: _Group) -> dict[str, object]:
        chosen = group.hits[: group.shown]
        numbers = [hit.entry_no for hit in chosen]
        head = hits.conversations(self._connection, [group.conversation_no])[group.conversation_no]
        rows = hits.rows(self._connection, numbers)
        texts = hits.texts(self._connection, numbers)
        facets = hits.facets(self._connection, numbers)
        entries = [
            self._entry(hit, rows[hit.entry_no], texts[hit.entry_no], facets.get(hit.entry_no)) for hit in chosen
        ]
        return introduce(head, self._source_state, self._resume) | {
            "entries": entries,
            "truncated": len(group.hits) > len(chosen),
        }

    def _entry(self, hit: Hit, row: sqlite3.Row, text: str, facet: sqlite3.Row | None) -> dict[str, object]:
        quote = snippet.of(safe(text, row["rules_version"]), self._queries)
        entry: dict[str, object] = {
            "entry_id": row["entry_id"],
            "role": row["role"],
            "timestamp": iso(row["at"]),
            "status": row["marks"].split(),
            "snippet": quote.text,
            "offset": quote.offset,
            "length": len(quote.text),
            "sha256": row["sha256"],
            "found_by": sorted(hit.found_by),
            "facet": None if facet is None else safe(facet["title"], row["rules_version"]),
            "topic_id": None if facet is None else facet["topic_id"],
        }
        if self._request.explain:
            parts = {name: round(score, 4) for name, score in sorted(hit.parts.items())}
            entry["explain"] = {"score": round(hit.score, 6), "parts": parts, "queries": sorted(hit.queries)}
        return entry


def _coverage(bounded: bool, waiting: int) -> str:
    if bounded:
        return "bounded"
    return "partial" if waiting else "complete"


def _message(request: SearchRequest, found: _Search) -> str:
    said: list[str] = []
    if request.mode == "semantic":
        return f"{_NO_MODEL}, and semantic mode has no other road: use mode keyword"
    if request.mode == "hybrid":
        said.append(f"{_NO_MODEL}; these are keyword results.")
    if found.damaged:
        said.append(
            "The text index cannot be read: the stored text was searched for the words as they stand, newest first. "
            "Run `history-recall doctor`."
        )
    if not any(query.literal for query in found.queries):
        said.append("The query is empty: there is nothing to look for.")
    elif not found.hits:
        words = ", ".join(dict.fromkeys(word for query in found.queries for word in _words(query)))
        said.append(f"Nothing matches. Looked for: {words[:300]}")
    return " ".join(said)


def _words(query: Query) -> list[str]:
    return [f'"{spelled}"' for spelled in query.required_spellings] or query.text.split()


def _answer(request: SearchRequest, **fields: object) -> dict[str, object]:
    answer: dict[str, object] = {
        "requested_mode": request.mode,
        "used_mode": "semantic" if request.mode == "semantic" else "keyword",
        "semantic_status": "disabled" if request.mode == "keyword" else "unavailable",
        "rewrite_status": "not_asked",
        "scope": "all",
        "project": None,
        "in_scope": 0,
        "coverage": "complete",
        "range": request.window.as_json(),
        "conversations": [],
        "message": "",
        "next_cursor": None,
    }
    return answer | fields
