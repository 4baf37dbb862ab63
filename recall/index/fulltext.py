"""The text index of a profile: made, filled, emptied, checked and built again.

Owns two FTS tables a profile. `text_<n>` is external content over the profile's entries, cut by the registered
segmenting functions; `curated_<n>` is the same over `curated_texts` (summaries, facets, findings, topics).
Plain functions on an open connection; they never commit. Which engine holds the tables stands in `text_indexes`.
Rows leave the index before their content changes or goes: the old words are needed to take them out.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from recall import segment
from recall.index import fulltext_fts4, fulltext_fts5

_ENGINES = {"fts5": fulltext_fts5, "fts4": fulltext_fts4}


def register(connection: sqlite3.Connection) -> None:
    """Give the connection the segmenting functions that the views of the text index call."""
    connection.create_function("segment_body", 1, segment.body, deterministic=True)
    connection.create_function("segment_whole", 1, segment.whole, deterministic=True)
    connection.create_function("scope_words", 4, scope_words, deterministic=True)


def scope_words(role: str, marks: str, at: int | None, conversation_no: int) -> str:
    """The words of the scope column: what a search may filter by inside the index."""
    return ""


def available() -> str:
    """The best engine of this SQLite."""
    probe = sqlite3.connect(":memory:")
    try:
        options = {row[0] for row in probe.execute("PRAGMA compile_options")}
    finally:
        probe.close()
    return "fts5" if "ENABLE_FTS5" in options else "fts4"


def create(connection: sqlite3.Connection, profile_no: int, engine: str | None = None) -> None:
    """Make the text index of a profile and record its engine and the version of the segmenting rules."""
    chosen = engine or available()
    for statement in _ENGINES[chosen].tables(profile_no):
        connection.execute(statement)
    connection.execute(
        "INSERT INTO text_indexes (profile_no, engine, segment_version) VALUES (?, ?, ?)",
        (profile_no, chosen, segment.SEGMENT_VERSION),
    )


def add_entries(
    connection: sqlite3.Connection, profile_no: int, entry_nos: range | Sequence[int], staged: str | None = None
) -> None:
    """Index rows of `entries` that are already inserted.

    `staged` names a TEMP table (seq, body, whole) with the words of exactly these entries, cut before the
    transaction began with `segment.body` and `segment.whole`; without it they are cut here.
    """


def remove_entries(connection: sqlite3.Connection, profile_no: int, entry_nos: range | Sequence[int]) -> None:
    """Take entries out of the index. Before their rows are changed or deleted."""


def add_curated(connection: sqlite3.Connection, profile_no: int, conversation_no: int) -> None:
    """Index what analysis wrote of a conversation, and the topics its facets are in; replaces what was there."""


def remove_curated(connection: sqlite3.Connection, profile_no: int, conversation_no: int) -> None:
    """Take a conversation's curated text out of the index."""


def refresh_topics(connection: sqlite3.Connection, profile_no: int, topic_nos: Sequence[int]) -> None:
    """Index topics by the titles and aliases they have now; those that are no longer live leave."""


def check(connection: sqlite3.Connection, profile_no: int) -> list[str]:
    """What is wrong with the profile's text index, in words; [] where it is healthy."""
    return []


def rebuild(connection: sqlite3.Connection, profile_no: int) -> None:
    """Make the profile's text index again from stored text."""
