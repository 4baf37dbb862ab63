"""The words that a profile has of its own for what a query asks: titles and aliases of matching facets and topics.

Plain functions on an open connection; they read only.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence

from recall.index import fulltext
from recall.index.matches import ENGINES, MOST_TERMS
from recall.query import Term

BEST = 3  # facets and topics whose names are taken
NAMES = 12  # titles and aliases in all


def names(connection: sqlite3.Connection, profile_no: int, terms: Sequence[Term]) -> list[str]:
    """Titles and aliases of the facets and topics that match the terms best, each once."""
    if not terms:
        return []
    engine = ENGINES[fulltext.engine_of(connection, profile_no)]
    table = f"curated_{profile_no}"
    rows = connection.execute(
        f"""
        SELECT coalesce(f.title, p.title) AS title, coalesce(f.aliases, p.aliases) AS aliases FROM {table}
        JOIN curated_texts AS t ON t.curated_no = {table}.rowid
        LEFT JOIN facets AS f ON t.kind = 'facet' AND f.facet_no = t.owner_no
        LEFT JOIN topics AS p ON t.kind = 'topic' AND p.topic_no = t.owner_no
        WHERE {table} MATCH :match AND t.kind IN ('facet', 'topic')
        ORDER BY {engine.score(table, scoped=False)} DESC, t.curated_no LIMIT :best
        """,
        {"match": engine.expression(list(terms)[:MOST_TERMS], [], [], []), "best": BEST},
    )
    found = [name for row in rows for name in (row["title"], *json.loads(row["aliases"]))]
    return list(dict.fromkeys(found))[:NAMES]


def newest(connection: sqlite3.Connection, profile_no: int, most: int) -> list[str]:
    """The beginnings of the newest entries of a profile."""
    rows = connection.execute(
        """SELECT substr(e.text, 1, 400) FROM entries AS e JOIN conversations AS c USING (conversation_no)
           WHERE c.profile_no = ? AND e.chars > 0 AND e.role IN ('user', 'assistant') ORDER BY e.entry_no DESC LIMIT ?""",
        (profile_no, most),
    )
    return [row[0] for row in rows]
