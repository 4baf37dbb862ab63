"""The groups of a page of search as the answer gives them: conversations with their entries, each with a quote."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence

from recall import snippet
from recall.candidates import Group
from recall.index import hits
from recall.index.successions import Replaced
from recall.query import Query
from recall.ranking import Hit
from recall.search_request import SearchRequest
from recall.shown import Belongs, Resume, SourceState, introduce, safe
from recall.timewindow import iso


class Found:
    """Makes the groups of a page into JSON."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        request: SearchRequest,
        queries: Sequence[Query],
        source_state: SourceState,
        resume: Resume,
        belongs: Belongs,
        replaced: Mapping[int, Replaced],
    ) -> None:
        self._connection = connection
        self._request = request
        self._queries = queries
        self._source_state = source_state
        self._resume = resume
        self._belongs = belongs
        self._replaced = replaced

    def conversation(self, group: Group) -> dict[str, object]:
        chosen = group.hits[: group.shown]
        numbers = [hit.entry_no for hit in chosen]
        head = hits.conversations(self._connection, [group.conversation_no])[group.conversation_no]
        rows = hits.rows(self._connection, numbers)
        texts = hits.texts(self._connection, numbers)
        facets = hits.facets(self._connection, numbers)
        entries = [
            self._entry(hit, rows[hit.entry_no], texts[hit.entry_no], facets.get(hit.entry_no)) for hit in chosen
        ]
        return introduce(head, self._source_state, self._resume, self._belongs) | {
            "entries": entries,
            "truncated": len(group.hits) > len(chosen),
        }

    def _entry(self, hit: Hit, row: sqlite3.Row, text: str, facet: sqlite3.Row | None) -> dict[str, object]:
        quote = snippet.of(safe(text, row["rules_version"]), self._queries, row["role"])
        entry: dict[str, object] = {
            "entry_id": row["entry_id"],
            "role": row["role"],
            "timestamp": iso(row["at"]),
            "status": row["marks"].split(),
            "snippet": quote.text,
            "offset": quote.offset,
            "length": len(quote.text),
            "cut_before": quote.cut_before,
            "cut_after": quote.cut_after,
            "sha256": row["sha256"],
            "found_by": sorted(hit.found_by),
            "facet": None if facet is None else safe(facet["title"], row["rules_version"]),
            "topic_id": None if facet is None else facet["topic_id"],
        }
        if (by := self._replaced.get(hit.entry_no)) is not None:
            entry["superseded_by"] = by.as_json()
        if self._request.explain:
            parts = {name: round(score, 4) for name, score in sorted(hit.parts.items())}
            entry["explain"] = {"score": round(hit.score, 6), "parts": parts, "queries": sorted(hit.queries)}
        return entry
