"""Ranked matches of one query in a profile's text index, filtered in SQL before every limit.

Two layers: `of_entries` asks the entries themselves, `of_curated` asks what was written about them and counts a hit
there for the entries that it cites. Each match comes with its score; what the scores are worth beside each other is
decided above. `literal` is the way without the index: bounded, and it says when it stopped.
"""

from __future__ import annotations

import json
import math
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType

from recall import labels, segment
from recall.index import fulltext, fulltext_fts4, fulltext_fts5
from recall.index.filters import Filters
from recall.query import Query, Term

ENGINES: Mapping[str, ModuleType] = {"fts5": fulltext_fts5, "fts4": fulltext_fts4}
POOL = 300  # matches kept of one query and layer
MOST_TERMS = 32  # rarest first
COMMON_SHARE, COMMON_LEAST = 0.05, 5000  # a term in more entries than both only scores candidates
NEWEST = 2000  # candidates where every term is common
LITERAL_ENTRIES = 20_000  # entries that the way without the index looks at, newest first


@dataclass(frozen=True, slots=True)
class Matches:
    """Entry numbers with their scores, best first. `bounded`: more matched than could be ranked."""

    scores: Mapping[int, float]
    bounded: bool = False


def frequencies(connection: sqlite3.Connection, filters: Filters, terms: Iterable[Term]) -> dict[Term, int]:
    """In how many entries each term stands: exact for a word, at most for a phrase, unknown (1) for a beginning."""
    engine = ENGINES[fulltext.engine_of(connection, filters.profile_no)]
    sql = engine.documents(f"text_{filters.profile_no}")
    known: dict[str, int] = {}
    result: dict[Term, int] = {}
    for term in terms:
        for word in term.words[:-1] if term.prefix else term.words:
            if word not in known:
                row = connection.execute(sql, (word,)).fetchone()
                known[word] = row[0] if row is not None else 0
        counts = [known[word] for word in (term.words[:-1] if term.prefix else term.words)]
        result[term] = min(counts, default=1)
    return result


def of_entries(connection: sqlite3.Connection, filters: Filters, query: Query, weights: Mapping[str, float]) -> Matches:
    """The best entries by their own words. `weights` are by role."""
    found = frequencies(connection, filters, [*query.terms, *query.required])
    if any(found[term] == 0 for term in query.required):
        return Matches({})
    terms = sorted((t for t in query.terms if found[t]), key=lambda t: (found[t], query.terms.index(t)))[:MOST_TERMS]
    if not terms and not query.required:
        return Matches({})
    total = connection.execute("SELECT max(entry_no) FROM entries").fetchone()[0] or 0
    common = [t for t in terms if found[t] > max(COMMON_LEAST, COMMON_SHARE * total)]
    rare = [t for t in terms if t not in common]
    engine = ENGINES[fulltext.engine_of(connection, filters.profile_no)]
    match = engine.expression(rare, common, query.required, filters.scope())
    values = filters.values() | {"match": match, "pool": POOL, "first": 0}
    bounded = False
    if not rare and not query.required:
        values["first"] = _newest(connection, filters, values)
        bounded = bool(values["first"])
    return Matches(_ranked(connection, engine, filters, values, weights), bounded)


def _ranked(
    connection: sqlite3.Connection,
    engine: ModuleType,
    filters: Filters,
    values: Mapping[str, object],
    weights: Mapping[str, float],
) -> dict[int, float]:
    table = f"text_{filters.profile_no}"
    by_role = " ".join(f"WHEN '{role}' THEN {weight}" for role, weight in weights.items())
    rows = connection.execute(
        f"""
        SELECT e.entry_no, {engine.score(table, scoped=True)} * CASE e.role {by_role} ELSE 1.0 END AS score
        FROM {table}
        JOIN entries AS e ON e.entry_no = {table}.rowid
        JOIN conversations AS c USING (conversation_no)
        WHERE {table} MATCH :match AND {table}.rowid >= :first AND {filters.entries()}
        ORDER BY score DESC, e.at DESC, e.conversation_no, e.seq
        LIMIT :pool
        """,
        values,
    )
    return {row["entry_no"]: row["score"] for row in rows}


def _newest(connection: sqlite3.Connection, filters: Filters, values: Mapping[str, object]) -> int:
    """The row from which on the newest NEWEST matches lie; 0 where there are not so many."""
    table = f"text_{filters.profile_no}"
    row = connection.execute(
        f"SELECT rowid FROM {table} WHERE {table} MATCH :match ORDER BY rowid DESC LIMIT 1 OFFSET {NEWEST}", values
    ).fetchone()
    return 0 if row is None else int(row[0])


_CITED = """
WITH hits AS (SELECT value ->> 0 AS kind, value ->> 1 AS owner_no, value ->> 2 AS score FROM json_each(:hits)),
cited AS (
    SELECT h.kind, h.score, f.conversation_no, n.entry_id, n.sha256
    FROM hits AS h JOIN findings AS n ON n.finding_no = h.owner_no JOIN facets AS f ON f.facet_no = n.facet_no
    WHERE h.kind = 'finding'
    UNION ALL
    SELECT h.kind, h.score, f.conversation_no, v.entry_id, v.sha256
    FROM hits AS h JOIN facets AS f ON f.facet_no = h.owner_no JOIN evidence AS v ON v.facet_no = f.facet_no
    WHERE h.kind = 'facet'
    UNION ALL
    SELECT h.kind, h.score, f.conversation_no, v.entry_id, v.sha256
    FROM hits AS h JOIN facets AS f ON f.conversation_no = h.owner_no JOIN evidence AS v ON v.facet_no = f.facet_no
    WHERE h.kind = 'summary'
    UNION ALL
    SELECT h.kind, h.score, f.conversation_no, v.entry_id, v.sha256
    FROM hits AS h JOIN memberships AS m ON m.topic_no = h.owner_no
    JOIN facets AS f ON f.facet_no = m.facet_no JOIN evidence AS v ON v.facet_no = f.facet_no
    WHERE h.kind = 'topic'
)
SELECT e.entry_no, cited.kind, max(cited.score) AS score
FROM cited
JOIN entries AS e ON e.conversation_no = cited.conversation_no AND e.entry_id = cited.entry_id
                 AND e.sha256 = cited.sha256
JOIN conversations AS c ON c.conversation_no = e.conversation_no
WHERE {conditions}
GROUP BY e.entry_no, cited.kind
"""


def of_curated(connection: sqlite3.Connection, filters: Filters, query: Query, weights: Mapping[str, float]) -> Matches:
    """Entries cited by what was written about them. `weights` are by kind of text; kinds add up, hits of one do not."""
    if query.empty or query.required:
        return Matches({})
    found = frequencies(connection, filters, query.terms)
    terms = sorted(query.terms, key=lambda t: (found[t], query.terms.index(t)))[:MOST_TERMS]
    engine = ENGINES[fulltext.engine_of(connection, filters.profile_no)]
    table = f"curated_{filters.profile_no}"
    hits = connection.execute(
        f"""
        SELECT t.kind, t.owner_no, {engine.score(table, scoped=False)} AS score
        FROM {table} JOIN curated_texts AS t ON t.curated_no = {table}.rowid
        WHERE {table} MATCH :match
        ORDER BY score DESC, t.curated_no LIMIT :pool
        """,
        {"match": engine.expression(terms, [], [], []), "pool": POOL},
    )
    values = filters.values() | {"hits": json.dumps([tuple(row) for row in hits])}
    scores: dict[int, float] = {}
    for row in connection.execute(_CITED.format(conditions=filters.entries()), values):
        scores[row["entry_no"]] = scores.get(row["entry_no"], 0.0) + weights[row["kind"]] * row["score"]
    return Matches(scores)


def weighty(connection: sqlite3.Connection, filters: Filters, query: Query, share: float) -> list[Term]:
    """The terms that tell something: those with at least `share` of the weight of the rarest."""
    total = 1 + (connection.execute("SELECT max(entry_no) FROM entries").fetchone()[0] or 0)
    found = frequencies(connection, filters, query.terms)
    weights = {term: math.log(1 + total / count) for term, count in found.items() if count}
    least = share * max(weights.values(), default=0.0)
    return [term for term, weight in weights.items() if weight >= least]


def holding(
    connection: sqlite3.Connection, filters: Filters, terms: Sequence[Term], numbers: Iterable[int]
) -> set[int]:
    """Which of the entries hold one of the terms."""
    engine = ENGINES[fulltext.engine_of(connection, filters.profile_no)]
    table = f"text_{filters.profile_no}"
    rows = connection.execute(  # CROSS JOIN: each entry is looked up, the matches are not walked
        f"""SELECT {table}.rowid FROM json_each(:chosen) AS chosen CROSS JOIN {table}
            WHERE {table}.rowid = chosen.value AND {table} MATCH :match""",
        {"chosen": json.dumps(list(numbers)), "match": engine.expression(terms, [], [], [])},
    )
    return {row[0] for row in rows}


def _plainly(text: str, role: str) -> str:
    return segment.plain(labels.blank(text, role))


def literal(connection: sqlite3.Connection, filters: Filters, needles: Sequence[str]) -> Matches:
    """Entries, newest first, that hold every needle as it stands (case aside); a bounded walk without the index."""
    connection.create_function("plainly", 2, _plainly, deterministic=True)
    folded = [segment.plain(needle) for needle in needles]
    holds = " AND ".join(f"instr(plainly(text, role), :needle{i}) > 0" for i in range(len(folded)))
    values: dict[str, object] = filters.values() | {"most": LITERAL_ENTRIES, "pool": POOL}
    values |= {f"needle{i}": needle for i, needle in enumerate(folded)}
    looked_at = f"""
        SELECT e.entry_no, e.text, e.role FROM entries AS e JOIN conversations AS c USING (conversation_no)
        WHERE e.text <> '' AND {filters.entries()} ORDER BY e.entry_no DESC LIMIT :most
    """
    rows = connection.execute(f"SELECT entry_no FROM ({looked_at}) WHERE {holds} LIMIT :pool", values).fetchall()
    reached = connection.execute(f"SELECT count(*) FROM ({looked_at})", values).fetchone()[0]
    return Matches({row[0]: 1.0 / (place + 1) for place, row in enumerate(rows)}, reached >= LITERAL_ENTRIES)
