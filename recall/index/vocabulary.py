"""The words that a profile has of its own for what a query asks: titles and aliases of matching facets and topics.

Where only one project is looked into they are those of its conversations.
Plain functions on an open connection; they read only.
"""

from __future__ import annotations

import itertools
import json
import sqlite3
from collections.abc import Sequence

from recall.index import matches
from recall.index.filters import Filters
from recall.query import Term

BEST = 3  # facets and topics whose names are taken
NAMES = 12  # titles and aliases in all
# What the built-in analyser named is made of words that stand there anyway, and finds nothing more.
_FACET = """SELECT f.title, f.aliases FROM facets AS f JOIN conversations AS c USING (conversation_no)
            WHERE f.facet_no = ? AND NOT c.extractive"""
_NAMED = {
    "facet": _FACET,
    "aliases": _FACET,
    "topic": "SELECT title, aliases FROM topics WHERE topic_no = ? AND NOT extractive",
}


def names(connection: sqlite3.Connection, of: Filters, terms: Sequence[Term]) -> list[str]:
    """Titles and aliases of the facets and topics that match the terms best, each once."""
    rows = matches.written(connection, of, terms, matches.POOL)
    owners = dict.fromkeys((_NAMED[row["kind"]], row["owner_no"]) for row in rows if row["kind"] in _NAMED)
    named = (connection.execute(sql, (owner_no,)).fetchone() for sql, owner_no in owners)
    best = itertools.islice((row for row in named if row is not None), BEST)
    found = [name for title, aliases in best for name in (title, *json.loads(aliases))]
    return list(dict.fromkeys(found))[:NAMES]


def newest(connection: sqlite3.Connection, of: Filters, most: int) -> list[str]:
    """The beginnings of the newest entries."""
    rows = connection.execute(
        f"""SELECT substr(e.text, 1, 400) FROM entries AS e JOIN conversations AS c USING (conversation_no)
            WHERE {of.conversations()} AND e.chars > 0 AND e.role IN ('user', 'assistant')
            ORDER BY e.entry_no DESC LIMIT :most""",
        of.values() | {"most": most},
    )
    return [row[0] for row in rows]
