"""The command that finds entries by their words."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from recall import search_request
from recall.index.database import Database
from recall.shown import Lost
from recall.surfaces.commands.hint import hinted
from recall.surfaces.commands.parameters import SCOPE, TIME, number, text, texts, window
from recall.surfaces.operations import Answer, Arguments, Operation, Parameter
from recall.surfaces.session import Session


def _search(session: Session, arguments: Arguments) -> Answer:
    from recall import origins, rewriting, searcher

    request = searcher.SearchRequest(
        queries=texts(arguments, "queries") or (" ".join(texts(arguments, "query")),),
        mode=text(arguments, "mode") or "hybrid",
        topic_id=text(arguments, "topic"),
        conversation_id=text(arguments, "conversation"),
        roles=texts(arguments, "role"),
        include=texts(arguments, "include"),
        window=window(arguments),
        exclude=texts(arguments, "exclude"),
        sort=text(arguments, "sort") or "relevance",
        limit=number(arguments, "limit", searcher.LIMIT),
        cursor=text(arguments, "cursor"),
        explain=bool(arguments.get("explain")),
        scope=text(arguments, "scope"),
        project=text(arguments, "project"),
    )
    database = session.for_reading()
    answer = searcher.search(
        database,
        session.settings.profile,
        request,
        session.settings.current,
        origins.source_state_of(session.settings, database),
        origins.resume,
        session.here(),
        rewriting.rewriter(session.reading_run()),
        _standing(session, database),
    )
    return hinted(session, answer)


def _standing(session: Session, database: Database) -> Lost:
    """Asks the sources that have changed. Their readers are a third of a start, and mostly none has."""
    standing: Lost | None = None

    def lost(conversation: sqlite3.Row, entry_ids: Sequence[str], hidden: frozenset[str]) -> frozenset[str] | None:
        from recall import originals

        nonlocal standing
        standing = standing or originals.standing_of(session.settings, database)
        return standing(conversation, entry_ids, hidden)

    return lost


OPERATIONS: tuple[Operation, ...] = (
    Operation(
        "search",
        "Find entries by their words.",
        _search,
        (
            Parameter("query", "What to look for.", positional=True, required=True, many=True),
            Parameter(
                "mode",
                "hybrid: your words and rewrites of them (default); keyword: your words; semantic: the rewrites.",
                choices=search_request.MODES,
            ),
            *SCOPE,
            Parameter("topic", "Only conversations of this topic."),
            Parameter("conversation", "Only in this conversation."),
            Parameter("role", "Only entries of this role; may be repeated.", many=True, choices=search_request.ROLES),
            Parameter(
                "include",
                "Also find what is left out by default; may be repeated.",
                many=True,
                choices=search_request.INCLUDES,
            ),
            *TIME,
            Parameter("exclude", "CONVERSATION or CONVERSATION/ENTRY already seen; may be repeated.", many=True),
            Parameter("sort", "The order of what was found.", choices=search_request.SORTS),
            Parameter(
                "limit", "How many conversations on a page (10).", "number", minimum=1, maximum=search_request.MOST
            ),
            Parameter("cursor", "The next page, as the page before named it."),
            Parameter("explain", "Show what each score is made of.", "flag"),
        ),
    ),
)
