"""Searching: requests checked, each query ranked by layers, fused, folded into conversations, and said honestly.

Owns the `search` answer of contract.md. `hybrid` adds rewrites to each query (`recall.rewriting`) and goes on without
them where there are none; `semantic` ranks by them and by what was written about entries, or has no answer. Without a
text index that can be read, the words are looked for in the stored text (bounded), and the answer says so. Every answer
is of one snapshot of the index.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from functools import cache

from recall import cursor as cursors
from recall import nothing
from recall import scope as scopes
from recall.candidates import Candidates
from recall.counting import count
from recall.found import Found
from recall.index import hits, reads, spellings
from recall.index.database import Database, profile_number
from recall.index.filters import Filters
from recall.query import Query, telling
from recall.ranking import Hit
from recall.redact import redact_text
from recall.rewriting import NO_REWRITER, NOT_ASKED, Rewriter, Rewriting
from recall.scope import ANYWHERE, Here, Scope
from recall.search_request import (
    INCLUDES,
    LIMIT,
    MODES,
    MOST,
    ROLES,
    SORTS,
    SearchRequest,
    default_filters,
    filters_of,
    in_force,
)
from recall.shown import Lost, Resume, SourceState, no_resume, state_by_stat
from recall.timewindow import LEFT_OUT
from recall.weights import WEIGHTS, Weights

__all__ = [
    "INCLUDES",
    "LIMIT",
    "MODES",
    "MOST",
    "ROLES",
    "SORTS",
    "SearchRequest",
    "default_filters",
    "rank",
    "search",
]

_NOTHING = "Nothing is indexed in this profile yet: run index-all, or index FILE"


def search(
    database: Database,
    profile: str,
    request: SearchRequest,
    current: tuple[str, str] | None = None,
    source_state: SourceState = state_by_stat,
    resume: Resume = no_resume,
    here: Here = ANYWHERE,
    rewriter: Rewriter | None = None,
    lost: Lost | None = None,
) -> dict[str, object]:
    """The `search` answer. Raises ArgumentError for what was asked wrongly; finding nothing is an answer.

    `lost` is asked about hits of sources that have changed.
    `rewriter` is asked where the mode wants rewriting, before the snapshot is taken: it may take as long as a model.
    """
    request.checked()
    rewriting = NOT_ASKED
    if request.mode != "keyword":
        rewriting = _rewritten(database, profile, request, current, here, rewriter)
    with database.read() as connection:
        number = profile_number(connection, profile)
        scope = scopes.resolve(connection, -1 if number is None else number, here, request.scope, request.project)
        if number is None:
            return _answer(request, rewriting, **scope.as_json(), message=_NOTHING)
        if scope.reason is not None:
            return _answer(request, rewriting, **scope.as_json(), message=scope.said)
        filters = scope.narrow(filters_of(connection, number, request, current))
        source_state = cache(source_state)
        changed = None if lost is None else _in_changed(source_state, lost)
        found = Candidates(connection, filters, request, scope, rewriting=rewriting, lost=changed)
        stamp, question = reads.generation(connection, number), [*request.question(), scope.used, scope.project]
        first = _first(request.cursor, question, stamp)
        if request.mode != "semantic" or rewriting.lets_semantic:
            found.run()
        page, last = found.page(first)
        belongs = scopes.belongs_of(connection, number, scope)
        shown = Found(connection, request, found.queries, source_state, resume, belongs, found.replaced)
        in_scope = hits.in_scope(connection, filters)
        newest = None if request.window else hits.newest(connection, number)  # who gave a window knows how
        told = _message(request, rewriting, found, scope, filters, in_scope, newest)
        said = [_meant(connection, filters, found, told)]
        if request.window:
            said.append(request.window.left_out(hits.untimed(connection, filters, LEFT_OUT)))
        next_cursor = None if last is None else cursors.encode([last], question, stamp)
        return _answer(
            request,
            rewriting,
            **scope.as_json(),
            conversations=[shown.conversation(group) for group in page],
            in_scope=in_scope,
            coverage=_coverage(found.bounded, hits.waiting(connection, number)),
            message=" ".join(filter(None, said)),
            left_out=found.left_out,
            next_cursor=next_cursor,
        )


def _first(cursor: str | None, question: Sequence[object], stamp: int) -> int:
    """Which conversation the page begins with."""
    if cursor is None:
        return 0
    place = cursors.decode(cursor, question, stamp)
    return cursors.whole_number(place[0] if len(place) == 1 else None)


def _rewritten(
    database: Database,
    profile: str,
    request: SearchRequest,
    current: tuple[str, str] | None,
    here: Here,
    rewriter: Rewriter | None,
) -> Rewriting:
    """The rewrites for where is searched; nobody is asked where nothing can be found. Raises as the search does."""
    with database.read() as connection:
        number = profile_number(connection, profile)
        scope = scopes.resolve(connection, -1 if number is None else number, here, request.scope, request.project)
        if number is None or scope.reason is not None:
            return NOT_ASKED
        filters = scope.narrow(filters_of(connection, number, request, current))
    return NO_REWRITER if rewriter is None else rewriter(request.queries, filters)


def _in_changed(source_state: SourceState, lost: Lost) -> Lost:
    """Asks only about sources that are there and not as they were indexed."""

    def asked(conversation: sqlite3.Row, entry_ids: Sequence[str], hidden: frozenset[str]) -> frozenset[str] | None:
        changed = source_state(conversation) in ("grown", "changed")
        return lost(conversation, entry_ids, hidden) if changed else frozenset()

    return asked


def rank(
    connection: sqlite3.Connection,
    filters: Filters,
    queries: Sequence[str],
    weights: Weights = WEIGHTS,
    rewriting: Rewriting = NOT_ASKED,
) -> list[Hit]:
    """All hits of the queries, best first, before they are folded into conversations: what benchmarks measure."""
    found = Candidates(connection, filters, SearchRequest(tuple(queries)), weights=weights, rewriting=rewriting)
    found.run()
    return found.hits


def _coverage(bounded: bool, waiting: int) -> str:
    if bounded:
        return "bounded"
    return "partial" if waiting else "complete"


def _message(
    request: SearchRequest,
    rewriting: Rewriting,
    found: Candidates,
    scope: Scope,
    filters: Filters,
    in_scope: int,
    newest: int | None,
) -> str:
    said: list[str] = [scope.said] if scope.said else []
    if scope.used == "project" and not in_scope:
        other = "other " if filters.without else ""  # the running one, or what was excluded
        said.append(f"There are no {other}conversations in this project.")
        return " ".join(said)
    if request.mode == "semantic" and not rewriting.lets_semantic:
        return f"{rewriting.said} Semantic mode has no other road: use mode keyword or hybrid.".strip()
    if request.mode == "hybrid" and rewriting.said:
        said.append(f"{rewriting.said} These are keyword results.")
    if found.damaged:
        said.append(
            f"The text index is damaged ({found.damaged}): the stored text was searched for the words as they stand, "
            "those that hold most of them, newest first. Run `history-recall doctor --rebuild-text-index`: it is made "
            "again from the stored text, nothing is lost."
        )
    if found.lost is not None:
        said.append(
            f"The index is damaged ({found.lost.message}): what is left of the stored text was searched for the words "
            f"as they stand, newest first, and an answer can be missing here. To mend it: {found.lost.hint}."
        )
    if not any(query.literal for query in found.queries):
        asked = redact_text(", ".join(query.text.strip() for query in found.queries))[:100] or "it"
        said.append(
            f"There is nothing to look for in {asked}: no word, only punctuation that stands in nearly every text. "
            "Add a word, or write signs that belong together side by side, like != or ()."
        )
    elif not found.hits:
        words = ", ".join(dict.fromkeys(word for query in found.queries for word in _words(query)))
        said.append(
            f"Nothing here answers that. Looked for: {redact_text(words)[:300]}, in {count(in_scope, 'conversation')}"
        )
        if narrowed := in_force(request):
            said.append(f"(only in: {narrowed})")
        if more := list(nothing.advice(found.queries, newest)):
            said[-1] += "."
            said += more
    else:
        apart = (redact_text(", ".join(parts))[:300] for parts in found.apart)
        said.extend(f"No entry has all of: {parts}. These have a part of it." for parts in apart)
    if found.left_out:
        were = "was" if found.left_out == 1 else "were"
        said.append(
            f"{count(found.left_out, 'entry')} {were} left out: edited or undone in the source since. Index it again."
        )
    return " ".join(said)


def _meant(connection: sqlite3.Connection, filters: Filters, found: Candidates, said: str) -> str:
    """What was said, with words that may have been meant where nothing was found by what was typed. They are never
    looked for unasked.
    """
    if found.damaged or found.lost is not None or any(hit.has_words for hit in found.hits):
        return said
    typed = [word for query in found.queries for word in telling(query.text.split())]
    pairs = ", ".join(f"{meant} (for {word})" for word, meant in spellings.meant(connection, filters, typed).items())
    if not pairs:
        return said
    if not said or said.endswith("."):
        return f"{said} Did you mean {pairs}?".strip()
    return f"{said} — did you mean {pairs}?"


def _words(query: Query) -> list[str]:
    return [f'"{spelled}"' for spelled in query.required_spellings] or query.text.split()


def _answer(request: SearchRequest, rewriting: Rewriting, **fields: object) -> dict[str, object]:
    answer: dict[str, object] = {
        "requested_mode": request.mode,
        "used_mode": request.mode if rewriting.done or request.mode == "semantic" else "keyword",
        "semantic_status": rewriting.semantic_status,
        "rewrite_status": rewriting.rewrite_status,
        "scope": "all",
        "project": None,
        "in_scope": 0,
        "coverage": "complete",
        "range": request.window.as_json(),
        "conversations": [],
        "message": "",
        "left_out": 0,
        "next_cursor": None,
    }
    return answer | fields
