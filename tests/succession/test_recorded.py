"""Findings over time, with recorded replies: analysis and judgement of the coding set, through the whole product."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import pytest

from benchmarks.servers.replies import answer, shown, step
from tests.indexing.product import Product
from tests.shared import SHARED, needs_shared

SET = SHARED / "bench" / "coding" / "a"
QUESTIONS = ("A007", "A010", "A011")


@dataclass
class Recorded:
    """Replies as they were recorded. `false_quotes`: claims of supersession with words that stand nowhere."""

    curation: dict[str, dict[str, Any]]
    gold: dict[tuple[str, str], str]
    pairs: set[tuple[str, str]]
    false_quotes: bool = False
    claims: int = 0
    topic_of: dict[str, str] = field(default_factory=dict)
    quotes: dict[str, set[str]] = field(default_factory=dict)  # facet title -> those of its findings
    held: Callable[[], list[tuple[Any, ...]]] = list  # (facet title, topic id) of what is indexed

    def __call__(self, body: Mapping[str, Any]) -> str:
        if step(body) == "analysis":
            return json.dumps(self._analysis([block.name for block in shown(body)]), ensure_ascii=False)
        if step(body) == "placement":
            return json.dumps(self._placement(body), ensure_ascii=False)
        if step(body) == "shortlist":
            return json.dumps({"facets": self._shortlist(body)})
        return answer(body)

    def _shortlist(self, body: Mapping[str, Any]) -> list[dict[str, Any]]:
        """For each facet the topics that speak of what it decides anew, or is decided anew in."""
        blocks = [(block.head, json.loads(block.text)) for block in shown(body)]
        return [
            {"facet": int(head.split()[1]), "candidates": self._close(card["title"], blocks)}
            for head, card in blocks
            if head.startswith("facet ")
        ]

    def _analysis(self, entry_ids: list[str]) -> dict[str, Any]:
        reply = next(r for r in self.curation.values() if r["facets"][0]["evidence"][0]["entry_id"] in entry_ids)
        for facet in reply["facets"]:
            cited = [(reply["conversation"], c["entry_id"]) for c in (*facet["evidence"], *facet["findings"])]
            names = Counter(self.gold[key] for key in cited if key in self.gold)
            self.topic_of[facet["title"]] = names.most_common(1)[0][0] if names else facet["title"]
            self.quotes[facet["title"]] = {finding["quote"][:200] for finding in facet["findings"]}
        return {"summary": reply["summary"], "facets": reply["facets"]}

    def _placement(self, body: Mapping[str, Any]) -> dict[str, Any]:
        blocks = [(block.head, json.loads(block.text)) for block in shown(body)]
        topics = {
            self.topic_of.get(card["title"], card["title"]): json.loads(head.split(" ", 1)[1].split(",")[0])
            for head, card in blocks
            if head.startswith("topic_id ")
        }
        numbers: dict[str, int] = {}
        placed: list[dict[str, Any]] = []
        for head, card in blocks:
            if head.startswith("facet "):
                gold = self.topic_of[card["title"]]
                topic = topics.get(gold)
                draft = None if topic else numbers.setdefault(gold, len(numbers) + 1)
                number = int(head.split()[1])
                placed.append(
                    {"facet": number, "topic_id": topic, "draft": draft, "candidates": [], "reason": "as recorded"}
                )
        if not any(head.startswith("own ") for head, _ in blocks):
            return {"facets": placed}
        claims = self._claims(blocks)
        heads = {" ".join(head.replace(",", "").split()[:2]): head for head, _ in blocks}
        for claim in claims:  # the first conversation's facets have a topic each, whatever the gold topics are
            facet = placed[int(heads[f"own {claim['own']}"].split("facet ")[1].split(",")[0]) - 1]
            topic = heads[f"stored {claim['stored']}"].split("topic_id ")[1].split(",")[0]
            facet |= {"topic_id": json.loads(topic), "draft": None}
        return {"facets": placed, "supersedes": claims}

    def _close(self, title: str, blocks: list[tuple[str, dict[str, Any]]]) -> list[str]:
        """Those of the topics that a pair of the facet's findings leads to. Which facets are in a topic is looked up:
        it is shown by a title and a few aliases.
        """
        there = {json.loads(head.split(" ", 1)[1].split(",")[0]) for head, _ in blocks if head.startswith("topic_id ")}
        mine = self.quotes[title]
        close = {
            topic_id
            for facet, topic_id in self.held()
            if any({new, old} & mine and {new, old} & self.quotes.get(facet, set()) for new, old in self.pairs)
        }
        return sorted(close & there)

    def _claims(self, blocks: list[tuple[str, dict[str, Any]]]) -> list[dict[str, Any]]:
        sides: dict[str, dict[int, str]] = {"own": {}, "stored": {}}
        for head, card in blocks:
            kind, _, rest = head.partition(" ")
            if kind in sides:
                sides[kind][int(rest.split(",")[0])] = card["quote"]
        found = [
            {
                "own": own,
                "stored": stored,
                "own_quote": mine,
                "stored_quote": "words that stand nowhere" if self.false_quotes else theirs,
            }
            for own, mine in sides["own"].items()
            for stored, theirs in sides["stored"].items()
            if {(mine, theirs), (theirs, mine)} & self.pairs
        ]
        self.claims += len(found)
        return found[:8]


def _lines(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (SET / name).read_text(encoding="utf-8").split("\n") if line]


def recorded() -> tuple[Recorded, list[dict[str, Any]], list[str]]:
    """The replies, the questions, and the conversations that they are about."""
    curation = {r["conversation"]: r for r in _lines("curation.jsonl")}
    questions = [q for q in _lines("queries.jsonl") if q["id"] in QUESTIONS]
    gold = {
        (member["conversation"], entry): topic["topic"]
        for topic in json.loads((SET / "topics.json").read_text(encoding="utf-8"))
        for member in topic["members"]
        for entry in member["entries"]
    }

    def quotes(cited: list[dict[str, str]]) -> list[str]:
        places = {(c["conversation"], c["entry"]) for c in cited}
        return [
            finding["quote"][:200]
            for conversation, reply in curation.items()
            for facet in reply["facets"]
            for finding in facet["findings"]
            if (conversation, finding["entry_id"]) in places and finding["status"] == "decided"
        ]

    pairs = {(new, old) for q in questions for new in quotes(q["gold"]) for old in quotes(q["stale"])}
    names = sorted({c["conversation"] for q in questions for c in (*q["gold"], *q["stale"])})
    return Recorded(curation, gold, pairs), questions, names


def indexed(product: Product, replies: Recorded, names: list[str]) -> None:
    folder = product.home / "logs"
    folder.mkdir()
    for path in (SET / "sources").iterdir():
        if any(name in path.read_text(encoding="utf-8").split("\n", 1)[0] for name in names):
            copy = folder / path.name
            copy.write_bytes(path.read_bytes())
            # As the program left it: `index-all` takes the newest first.
            ended = [json.loads(line).get("timestamp") for line in path.read_text(encoding="utf-8").split("\n") if line]
            at = max(datetime.fromisoformat(time) for time in ended if isinstance(time, str)).timestamp()
            os.utime(copy, (at, at))
    product.done("sources", "add", folder)
    replies.held = lambda: product.rows(
        "SELECT title, topic_id FROM (SELECT title, facet_no FROM facets) JOIN memberships USING (facet_no) "
        "JOIN (SELECT topic_id, topic_no FROM topics) USING (topic_no)"
    )
    product.answers(replies)
    product.set(repair="never")
    answered = product.done("index-all", "--sessions", "50")
    assert not answered["failed"]


@needs_shared
@pytest.mark.parametrize("false_quotes", [False, True])
def test_the_current_answer_stands_above_the_stale_one(product: Product, false_quotes: bool) -> None:
    replies, questions, names = recorded()
    replies.false_quotes = false_quotes
    indexed(product, replies, names)
    calls = [kind for kind, _, _ in product.ledger()]
    # Asked beside placement. The topics fill each page here, so that hardly any pair has room there: one request more.
    assert calls.count("placement") == 2 * (len(names) - 1)
    assert replies.claims
    if false_quotes:
        assert product.rows("SELECT count(*) FROM supersessions") == [(0,)]
        return
    assert product.rows("SELECT count(*) FROM supersessions")[0][0]
    compared: Counter[str] = Counter()
    for question in questions:
        found = product.done("search", question["query"], "--limit", "20")["conversations"]
        order = [(c["host_conversation_id"], e["entry_id"]) for c in found for e in c["entries"]]
        entries = {(c["host_conversation_id"], e["entry_id"]): e for c in found for e in c["entries"]}
        gold = {g["entry"]: (g["conversation"], g["entry"]) for g in question["gold"]}
        stale = [(s["conversation"], s["entry"]) for s in question["stale"]]
        for one in (place for place in stale if "superseded_by" in entries.get(place, {})):
            by = entries[one]["superseded_by"]
            current = gold[by["entry_id"]]
            assert order.index(current) < order.index(one), question["id"]
            compared[question["id"]] += 1
            assert by["quote"]
            assert by["replaced_quote"]
    assert set(compared) == set(QUESTIONS)  # of each a stale answer was shown, as one, below what holds now
    statuses = product.rows("SELECT count(*) FROM findings WHERE status = 'decided'")[0][0]
    assert statuses  # nothing was deleted, and what was decided is still stored so
    shown_as = [
        finding
        for topic in product.done("browse", "--limit", "50")["entries"]
        for conversation in product.done("browse", topic["topic_id"])["entries"]
        for membership in conversation["memberships"]
        for finding in membership["findings"]
        if finding["superseded_by"]
    ]
    assert shown_as
    assert {(finding["status"], finding["was"]) for finding in shown_as} == {("superseded", "decided")}
