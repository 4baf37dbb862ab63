"""What was written about entries: the curated texts that match a query best, and the entries that each cites.

Plain functions on an open connection; they read only.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from recall.index import matches
from recall.index.filters import Filters
from recall.index.frequencies import Counts
from recall.query import Term

POOL = 100  # curated texts that are looked at


@dataclass(frozen=True, slots=True)
class Written:
    """One curated text: a summary, facet, its aliases, a finding or a topic, with the entries that it cites."""

    curated_no: int
    kind: str
    chars: int
    entries: tuple[int, ...]
    status: str | None = None  # of a finding
    extractive: bool = False  # the built-in analyser's, which quotes where a model would tell


_CITED = """
WITH written AS MATERIALIZED (
    SELECT t.curated_no, t.kind, t.owner_no FROM json_each(:chosen) AS chosen
    CROSS JOIN curated_texts AS t ON t.curated_no = chosen.value),
cited AS (
    SELECT w.curated_no, n.status, f.conversation_no, n.entry_id, n.sha256
    FROM written AS w JOIN findings AS n ON n.finding_no = w.owner_no JOIN facets AS f ON f.facet_no = n.facet_no
    WHERE w.kind = 'finding'
    UNION ALL
    SELECT w.curated_no, NULL, f.conversation_no, v.entry_id, v.sha256
    FROM written AS w JOIN facets AS f ON f.facet_no = w.owner_no JOIN evidence AS v ON v.facet_no = f.facet_no
    WHERE w.kind IN ('facet', 'aliases')
    UNION ALL
    SELECT w.curated_no, NULL, f.conversation_no, v.entry_id, v.sha256
    FROM written AS w JOIN facets AS f ON f.conversation_no = w.owner_no JOIN evidence AS v ON v.facet_no = f.facet_no
    WHERE w.kind = 'summary'
    UNION ALL
    SELECT w.curated_no, NULL, f.conversation_no, v.entry_id, v.sha256
    FROM written AS w JOIN memberships AS m ON m.topic_no = w.owner_no
    JOIN facets AS f ON f.facet_no = m.facet_no JOIN evidence AS v ON v.facet_no = f.facet_no
    WHERE w.kind = 'topic'
)
SELECT DISTINCT cited.curated_no, cited.status, e.entry_no, c.extractive
FROM cited
JOIN entries AS e ON e.conversation_no = cited.conversation_no AND e.entry_id = cited.entry_id
                 AND e.sha256 = cited.sha256
JOIN conversations AS c ON c.conversation_no = e.conversation_no
WHERE {conditions}
ORDER BY cited.curated_no, e.entry_no
"""


def best(counts: Counts, filters: Filters, terms: Sequence[Term], kinds: Collection[str]) -> list[Written]:
    """The texts of these kinds that hold the terms best, with what they cite of what the filters let in."""
    connection = counts.connection
    rows = [row for row in matches.written_once(counts, filters, terms) if row["kind"] in kinds][:POOL]
    cited: dict[int, list[sqlite3.Row]] = {}
    chosen = json.dumps([row["curated_no"] for row in rows])
    for row in connection.execute(_CITED.format(conditions=filters.entries()), filters.values() | {"chosen": chosen}):
        cited.setdefault(row["curated_no"], []).append(row)
    return [_written(row, cited[row["curated_no"]]) for row in rows if row["curated_no"] in cited]


def _written(text: sqlite3.Row, cited: Sequence[sqlite3.Row]) -> Written:
    entries = tuple(row["entry_no"] for row in cited)
    extractive = all(row["extractive"] for row in cited)
    return Written(text["curated_no"], text["kind"], text["chars"], entries, cited[0]["status"], extractive)
