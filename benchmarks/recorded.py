"""Recorded replies of a strong model, played through the product's own steps as a model in this process.

A reply is found by what was asked: an analysis by the entries that are shown, a joining by what its parts cite, a
rewrite by its queries. It goes through the same parsing, schema and checks as any model's. Where a conversation was
cut into chunks, each chunk is answered with what the recorded reply cites from it, and the joining with the whole.
Placement is not recorded: the built-in analyser answers it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks import labelled
from recall.models.offline import OfflineModel
from recall.models.request import AnalysisTask, ModelRequest, ReduceTask, RewriteTask

Reply = dict[str, Any]
Holds = Callable[[Mapping[str, Any]], bool]
"""Whether what was shown holds a citation."""


class RecordedModel:
    """Answers from the `curation.jsonl` and `rewrites.jsonl` of one profile's folder."""

    name = "recorded"

    def __init__(self, folder: Path) -> None:
        self._replies = list(labelled.recorded(folder).values())
        rewrites = {record["id"]: record["queries"] for record in labelled.records(folder / "rewrites.jsonl")}
        questions = labelled.records(folder / "queries.jsonl")
        self._rewrites = {_folded(one["query"]): rewrites[one["id"]] for one in questions if one["id"] in rewrites}
        self._placing = OfflineModel()

    def answer(self, request: ModelRequest) -> str:
        """The reply as JSON text. What nothing was recorded for is answered without facets, and so refused."""
        match request.task:
            case AnalysisTask() as task:
                texts = {entry.entry_id: _folded(entry.text) for entry in task.entries}
                reply = self._analysis(lambda cited: _folded(cited["quote"]) in texts.get(cited["entry_id"], ""))
            case ReduceTask() as task:
                known = {(one["entry_id"], _folded(one["quote"])) for one in _citations(task.parts)}
                reply = self._analysis(lambda cited: (cited["entry_id"], _folded(cited["quote"])) in known)
            case RewriteTask() as task:
                reply = {"rewrites": list(map(self._rewritten, *zip(*enumerate(task.queries, 1), strict=True)))}
            case _:
                return self._placing.answer(request)
        return json.dumps(reply, ensure_ascii=False)

    def _rewritten(self, number: int, query: str) -> Reply:
        return {"query": number, "queries": self._rewrites.get(_folded(query), [query])}

    def _analysis(self, holds: Holds) -> Reply:
        """The reply that cites most of what was shown, without what it cites from elsewhere."""
        found: Reply = {"summary": "Nothing was recorded for this.", "facets": []}
        most = 0
        for reply in self._replies:
            cited = sum(map(holds, _citations([reply])))
            if cited > most:
                found, most = reply, cited
        facets = [facet for facet in (_narrowed(facet, holds) for facet in found["facets"]) if facet["evidence"]]
        return {"summary": found["summary"], "facets": facets}


def _narrowed(facet: Mapping[str, Any], holds: Holds) -> Reply:
    """The facet with what is shown; where only findings are, they are its evidence as well."""
    findings = [one for one in facet["findings"] if holds(one)]
    evidence = [one for one in facet["evidence"] if holds(one)] or [
        {"entry_id": one["entry_id"], "quote": one["quote"]} for one in findings[:1]
    ]
    return {**facet, "evidence": evidence, "findings": findings}


def _citations(replies: Sequence[Mapping[str, Any]]) -> Iterable[Mapping[str, Any]]:
    for reply in replies:
        for facet in reply["facets"]:
            yield from facet["evidence"]
            yield from facet["findings"]


def _folded(text: str) -> str:
    return " ".join(text.split())
