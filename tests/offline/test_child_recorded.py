"""The thresholds of the built-in repair child on topics that nobody generated: those of the coding sets, by recorded
facets. Each topic there is a subject of its own, so any merge is wrong, and any move too.
"""

from __future__ import annotations

import json
from collections import Counter
from itertools import combinations
from typing import Any

import pytest

from recall.models.extractive import child
from recall.models.extractive.child_seen import Seen
from tests.shared import ROOT

Facets = list[tuple[str, dict[str, Any]]]


def recorded(name: str) -> Facets:
    """(topic, facet): the topic that most of the facet's cited entries have."""
    folder = ROOT / "fixtures" / "coding" / name
    topics = json.loads((folder / "topics.json").read_text(encoding="utf-8"))
    gold = {(m["conversation"], entry): t["topic"] for t in topics for m in t["members"] for entry in m["entries"]}
    found: Facets = []
    for line in (folder / "curation.jsonl").read_text(encoding="utf-8").splitlines():
        reply = json.loads(line)
        for facet in reply["facets"]:
            cited = [(reply["conversation"], one["entry_id"]) for one in (*facet["evidence"], *facet["findings"])]
            names = Counter(gold[key] for key in cited if key in gold)
            found += [(names.most_common(1)[0][0], facet)] if names else []
    return found


def in_sight(facets: Facets, topics: set[str]) -> Seen:
    """What the child has seen once it was shown all members of these topics."""
    seen = Seen()
    for number, (topic, facet) in enumerate(facets):
        if topic in topics:
            seen.words[topic] = {"title": topic, "description": "", "aliases": []}
            seen.sizes[topic] = seen.sizes.get(topic, 0) + 1
            seen.add(f"f{number}", topic, facet, incoming=False)
    seen.movable = list(seen.facets)
    return seen


@pytest.mark.parametrize(("name", "pairs", "moved"), [("a", 66, 1), ("b", 15, 0)])
def test_no_two_subjects_are_merged_and_hardly_a_facet_is_moved(name: str, pairs: int, moved: int) -> None:
    facets = recorded(name)
    topics = sorted({topic for topic, _ in facets})
    views = [set(pair) for pair in combinations(topics, 2)]
    assert len(views) == pairs
    for view in [*views, set(topics)]:
        seen = in_sight(facets, view)
        assert child._merge(seen, child._rarity(seen)) is None
    seen = in_sight(facets, set(topics))
    assert len(child._moves(seen, child._rarity(seen), set())) == moved


def cut(facets: Facets, topic: str) -> Facets:
    """The facets with one topic cut in two: every other facet is in another one."""
    turns = {id(facet): f"{topic} {number % 2}" for number, (_, facet) in enumerate(f for f in facets if f[0] == topic)}
    return [(turns.get(id(facet), name), facet) for name, facet in facets]


def merged(facets: Facets) -> set[str]:
    seen = in_sight(facets, {topic for topic, _ in facets})
    found = child._merge(seen, child._rarity(seen))
    return set(found["topic_ids"]) if found is not None else set()


def test_halves_of_a_topic_are_joined_and_nothing_else() -> None:
    facets = recorded("a")
    topics = sorted({topic for topic, _ in facets})
    joined = 0
    for topic in topics:
        found = merged(cut(facets, topic))
        assert found in (set(), {f"{topic} 0", f"{topic} 1"}), found
        joined += bool(found)
    assert joined == 5


def test_what_was_mixed_into_another_topic_is_no_reason_to_merge_the_two() -> None:
    facets = recorded("a")
    topics = sorted({topic for topic, _ in facets})
    for topic in topics:
        halves = cut(facets, topic)
        for host in topics:
            if host != topic:
                assert merged([(host if name == f"{topic} 0" else name, facet) for name, facet in halves]) == set()
