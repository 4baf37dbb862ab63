"""How good the built-in analyser is: placement, citations, and what its words add to search.

    python -m benchmarks.topics --data FOLDER [--out FILE]

FOLDER holds one person of a labelled set (sources, curation.jsonl, topics.json, queries.jsonl). Conversations go by
time into a growing catalogue, through the same tasks that the product gives a model.

- placement: B-cubed over facets, each against the gold topic that most of its cited entries have; for the recorded
  facets, and for those of the analyser itself.
- analysis: the share of the recorded findings' entries that the analyser cites too; quotes that verify; speed.
- search: hits over a plain full-text OR, without and with the curated words added to the entries they cite.
"""

from __future__ import annotations

import argparse
import json
import sqlite3
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from benchmarks import labelled
from benchmarks.labelled import Labelled
from recall.models.extractive.terms import keys_of
from recall.models.offline import OfflineModel
from recall.models.request import AnalysisTask, FacetCard, ModelRequest, PlacementTask, RequestKind, Task
from recall.prompts import Prompt
from recall.types import TopicCard

_PROMPT = Prompt("benchmark", "", {}, "")
Facets = Mapping[str, Sequence[Mapping[str, Any]]]


@dataclass(frozen=True, slots=True)
class BCubed:
    """Precision, recall and their harmonic mean, over the facets that have a gold topic."""

    precision: float
    recall: float
    f1: float
    facets: int
    topics: int


def ask(task: Task) -> dict[str, Any]:
    """The analyser's reply to one task."""
    kind: RequestKind = "placement" if isinstance(task, PlacementTask) else "analysis"
    reply: dict[str, Any] = json.loads(OfflineModel().answer(ModelRequest(kind, _PROMPT, "", task)))
    return reply


def analyses(conversations: Iterable[Labelled]) -> dict[str, dict[str, Any]]:
    """The analyser's own replies, by conversation."""
    return {one.conversation_id: ask(AnalysisTask(one.entries, top=True)) for one in conversations}


def place_all(order: Sequence[str], facets: Facets, page: int = 40) -> dict[tuple[str, int], str]:
    """The topic of each (conversation, number of the facet), with the catalogue growing from nothing."""
    catalogue: dict[str, TopicCard] = {}
    placed: dict[tuple[str, int], str] = {}
    for when, conversation in enumerate(order):
        shown = facets.get(conversation, ())
        cards = tuple(_card(facet) for facet in shown)
        if not cards:
            continue
        drafts: dict[int, str] = {}
        for answer in _paged(cards, sorted(catalogue.values(), key=lambda card: card.topic_id), page):
            number = answer["facet"] - 1
            topic = answer["topic_id"] or drafts.get(answer["draft"])
            if topic is None:
                topic = f"t_{len(catalogue):05d}"
                drafts[answer["draft"]] = topic
            placed[conversation, number] = topic
            catalogue[topic] = _grown(catalogue.get(topic), topic, cards[number], when)
    return placed


def _paged(cards: tuple[FacetCard, ...], topics: list[TopicCard], page: int) -> list[dict[str, Any]]:
    """One conversation against the whole catalogue, page by page, carrying candidates."""
    by_id = {card.topic_id: card for card in topics}
    carried: tuple[tuple[TopicCard, ...], ...] = tuple(() for _ in cards)
    pages = [tuple(topics[at : at + page]) for at in range(0, len(topics), page)] or [()]
    for number, shown in enumerate(pages):
        last = number == len(pages) - 1
        answers = ask(PlacementTask(cards, shown, carried, last))["facets"]
        if last:
            return list(answers)
        carried = tuple(tuple(by_id[name] for name in answer["candidates"]) for answer in answers)
    return []


def _card(facet: Mapping[str, Any]) -> FacetCard:
    return FacetCard(
        facet["title"],
        facet["description"],
        tuple(facet["aliases"]),
        tuple(finding["statement"] for finding in facet["findings"]),
    )


def _grown(card: TopicCard | None, topic: str, facet: FacetCard, when: int) -> TopicCard:
    terms = "\n".join((facet.title, *facet.aliases))
    if card is None:
        return TopicCard(topic, 1, facet.title, facet.description, facet.aliases, 1, when, terms)
    return replace(card, members=card.members + 1, last_at=when, terms=f"{card.terms}\n{terms}")


def gold_of(conversation: str, facet: Mapping[str, Any], gold: Mapping[tuple[str, str], frozenset[str]]) -> str | None:
    """The gold topic that most of a facet's cited entries have; of equals the first by name."""
    votes = Counter(name for entry in labelled.cited(facet) for name in gold.get((conversation, entry), ()))
    return min(votes, key=lambda name: (-votes[name], name), default=None)


def b_cubed(
    placed: Mapping[tuple[str, int], str], facets: Facets, gold: Mapping[tuple[str, str], frozenset[str]]
) -> BCubed:
    """The figures over all facets with a gold topic."""
    pairs: list[tuple[str, str]] = []
    for (conversation, number), topic in placed.items():
        label = gold_of(conversation, facets[conversation][number], gold)
        if label is not None:
            pairs.append((topic, label))
    both, by_topic, by_label = Counter(pairs), Counter(t for t, _ in pairs), Counter(g for _, g in pairs)
    total = max(1, len(pairs))
    precision = sum(both[pair] / by_topic[pair[0]] for pair in pairs) / total
    recall = sum(both[pair] / by_label[pair[1]] for pair in pairs) / total
    f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
    return BCubed(precision, recall, f1, len(pairs), len(by_topic))


def citations(
    conversations: Iterable[Labelled], made: Mapping[str, Mapping[str, Any]], known: Mapping[str, Mapping[str, Any]]
) -> dict[str, float]:
    """How many of the recorded findings' entries the analyser cites, and whether all its quotes stand where it says."""
    wanted = hit = as_finding = quotes = verified = shown = cited = 0
    for one in conversations:
        texts = one.texts()
        facets = made[one.conversation_id]["facets"]
        entries = {entry for facet in facets for entry in labelled.cited(facet)}
        claims = {item["entry_id"] for facet in facets for item in facet["findings"]}
        for facet in known.get(one.conversation_id, {"facets": ()})["facets"]:
            for finding in facet["findings"]:
                wanted += 1
                hit += finding["entry_id"] in entries
                as_finding += finding["entry_id"] in claims
        for facet in facets:
            for item in (*facet["evidence"], *facet["findings"]):
                quotes += 1
                verified += item["quote"] in texts[item["entry_id"]]
        shown += len(texts)
        cited += len(entries)
    return {
        "recorded_findings": wanted,
        "cited": hit / max(1, wanted),
        "cited_as_finding": as_finding / max(1, wanted),
        "entries_cited": cited / max(1, shown),
        "quotes": quotes,
        "verified": verified / max(1, quotes),
    }


def search(
    conversations: Sequence[Labelled], questions: Iterable[Mapping[str, Any]], made: Mapping[str, Mapping[str, Any]]
) -> dict[str, float]:
    """Entry hits of a plain OR over entry text, with what was curated added to the entries that it cites."""
    database = sqlite3.connect(":memory:")
    database.execute("CREATE VIRTUAL TABLE texts USING fts5(conversation UNINDEXED, entry UNINDEXED, body, curated)")
    for one in conversations:
        extra: dict[str, list[str]] = {}
        for facet in made.get(one.conversation_id, {"facets": ()})["facets"]:
            common = [facet["title"], facet["description"], *facet["aliases"]]
            for entry in labelled.cited(facet):
                extra.setdefault(entry, []).extend(common)
            for finding in facet["findings"]:
                extra.setdefault(finding["entry_id"], []).append(finding["statement"])
        database.executemany(
            "INSERT INTO texts VALUES (?, ?, ?, ?)",
            [
                (
                    one.conversation_id,
                    entry.entry_id,
                    _words(entry.text),
                    _words("\n".join(extra.get(entry.entry_id, ()))),
                )
                for entry in one.entries
            ],
        )
    ranks = [_rank(database, question) for question in questions if question["gold"]]
    database.close()
    total = max(1, len(ranks))
    return {
        "questions": len(ranks),
        **{f"hit@{k}": sum(rank <= k for rank in ranks) / total for k in (1, 5, 10)},
        "mrr": sum(1 / rank for rank in ranks) / total,
    }


def _rank(database: sqlite3.Connection, question: Mapping[str, Any]) -> float:
    query = " OR ".join(f'"{key}"' for key in dict.fromkeys(_words(question["query"]).split()))
    gold = {(item["conversation"], item["entry"]) for item in question["gold"]}
    if not query:
        return float("inf")
    rows = database.execute(
        "SELECT conversation, entry FROM texts WHERE texts MATCH ?"
        " ORDER BY bm25(texts, 0, 0, 1.0, 0.5), rowid LIMIT 50",
        (query,),
    )
    return next((float(at) for at, row in enumerate(rows, start=1) if (row[0], row[1]) in gold), float("inf"))


def _words(text: str) -> str:
    return " ".join("".join(c if c.isalnum() else "_" for c in key) for key, _ in keys_of(text))


def measure(folder: Path) -> dict[str, Any]:
    """All figures of one person's folder."""
    conversations = labelled.conversations(folder)
    order = [one.conversation_id for one in conversations]
    size = sum(len(entry.text.encode()) for one in conversations for entry in one.entries)
    began = time.perf_counter()
    made = analyses(conversations)
    seconds = time.perf_counter() - began
    known, gold = labelled.recorded(folder), labelled.gold_topics(folder)
    questions = labelled.records(folder / "queries.jsonl")
    placement = {}
    for name, replies in (("recorded", known), ("offline", made)):
        facets: Facets = {conversation: reply["facets"] for conversation, reply in replies.items()}
        result = b_cubed(place_all(order, facets), facets, gold)
        placement[name] = {field: getattr(result, field) for field in BCubed.__dataclass_fields__}
    return {
        "placement": placement,
        "analysis": {**citations(conversations, made, known), "mb_per_second": size / 1e6 / seconds},
        "search": {
            "plain": search(conversations, questions, {}),
            "offline": search(conversations, questions, made),
            "recorded": search(conversations, questions, known),
        },
    }


def table(figures: Mapping[str, Any]) -> str:
    """The figures for a reader."""
    lines = []
    for part, rows in figures.items():
        lines.append(part)
        for name, row in rows.items():
            cells = row.items() if isinstance(row, Mapping) else [("", row)]
            shown = "  ".join(
                f"{key} {value:.3f}" if isinstance(value, float) else f"{key} {value}" for key, value in cells
            )
            lines.append(f"  {name:18} {shown}")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description="Figures of the built-in analyser on a labelled set.")
    parser.add_argument("--data", type=Path, required=True, help="the folder of one person of a labelled set")
    parser.add_argument("--out", type=Path, help="write the figures as JSON here")
    options = parser.parse_args()
    figures = measure(options.data.resolve())
    print(table(figures))
    if options.out:
        options.out.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
