"""Placing through the whole product against a catalogue of many pages."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from benchmarks.servers import replies
from benchmarks.servers.replies import Shown, shown, step
from tests.indexing.product import Log, Product, marker

CONVERSATIONS = 14
FACETS = 5


def test_a_catalogue_of_many_pages_is_gone_through_whole(product: Product) -> None:
    product.answers(_verbose)
    for number in range(CONVERSATIONS):
        product.add(_subjects(f"{0xB100 + number:x}", range(number * FACETS, (number + 1) * FACETS)), f"c{number}")
    product.done("index-all", "--sessions", "100")
    topics = {row[0]: row[1] for row in product.rows("SELECT topic_id, title FROM topics ORDER BY topic_no")}
    assert len(topics) == CONVERSATIONS * FACETS
    seen = len(product.seen())

    # One subject that is known since the oldest conversation, one that is new.
    known, title = next(iter(topics.items()))
    oldest = next(number for number in range(CONVERSATIONS * FACETS) if marker(number) in title)
    source = product.add(_subjects("c001", [oldest, 900]), "again")
    told = product.done("index", source, "--dry-run")["would_send"]
    answer = product.done("index", source)

    asked = product.seen()[seen:]
    steps = [step(request.body) for request in asked]
    pages = [shown(request.body) for request in asked[1:]]
    assert steps == ["analysis", *["shortlist"] * (len(pages) - 1), "placement"]
    assert len(pages) >= 4
    assert answer["calls"] == len(asked) <= told["calls"]
    own = [block.name for page in pages for block in page if _is_topic(block) and "carried" not in block.head]
    assert sorted(own) == sorted(topics)
    assert known in [block.name for block in pages[0]]
    for page in pages[1:]:
        assert [b.head for b in page if b.name == known] == [f'topic_id "{known}", carried for 1']
    for page in pages:
        assert [block.name for block in page if block.head.startswith("facet ")] == ["1", "2"]

    changed = answer["completed"][0]["topics"]
    assert changed["updated"] == [known]
    assert len(changed["created"]) == 1
    members = product.done("browse", known)["entries"]
    assert {one["conversation_id"] for one in members} >= {answer["completed"][0]["conversation_id"]}
    assert len(members) == 2
    assert product.done("doctor", "--deep")["ok"]


def test_a_topic_that_was_not_shown_is_refused(product: Product) -> None:
    product.done("index", product.add(_subjects("c101", [1]), "one"))
    source = product.add(_subjects("c102", [2]), "two")
    invented = {"facet": 1, "topic_id": "t_aaaaaaaaaaaa", "draft": None, "candidates": [], "reason": "I know it"}
    product.answers(
        lambda body: json.dumps({"facets": [invented]}) if step(body) == "placement" else replies.answer(body)
    )

    ran = product.run("index", source)

    assert (ran.code, ran.error["code"]) == (1, "invalid_model_output")
    assert "topic_id is not one of those shown" in product.sent_since()
    assert product.done("status")["conversations"] == 1


def _subjects(identity: str, numbers: Any) -> Log:
    log = Log(identity)
    for number in numbers:
        log.user(f"{marker(number)} {marker(number)}x {marker(number)}y")
    return log


def _verbose(body: Mapping[str, Any]) -> str:
    """A facet with a long card for each entry."""
    if step(body) != "analysis":
        return replies.answer(body)
    facets = [
        {
            "title": entry.text,
            "description": (f"{entry.text} " * 30)[:480].strip(),
            "aliases": [f"{entry.text} alias {number}" for number in range(6)],
            "evidence": [{"entry_id": entry.name, "quote": entry.text}],
            "findings": [],
        }
        for entry in shown(body)
    ]
    return json.dumps({"summary": "many subjects", "facets": facets})


def _is_topic(block: Shown) -> bool:
    return block.head.startswith("topic_id ")
