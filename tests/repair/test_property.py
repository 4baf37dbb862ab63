"""Whatever a child does, what is published keeps the rules: told by reading the index and what the child was handed.

The child here draws its steps: it reads some of what it should, proposes at random, covers some pages, checks some
members, lies at times, and tries to finish. Nothing of `repair` is asked whether the result is right.
"""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recall.models.turns import ToolCall, TurnRequest
from tests.repair.child import WHERE, Child, Made, answers, standing
from tests.repair.world import World, calls

SUBJECTS = ("kilns", "bread", "tides")
PLACED = (
    """SELECT f.facet_id, t.topic_id FROM facets f JOIN memberships USING (facet_no) JOIN topics t USING (topic_no)"""
)
EVENTS = """SELECT t.topic_id, v.kind, v.before, v.after FROM topic_events v JOIN topics t USING (topic_no)
            WHERE v.proof IS NOT NULL"""
EMPTY = """SELECT 1 FROM topics t WHERE state = 'live'
           AND NOT EXISTS (SELECT 1 FROM memberships m WHERE m.topic_no = t.topic_no)"""


@dataclass
class Drawn:
    """A child that draws what it does; what it was handed is kept, as it saw it."""

    data: st.DataObject
    facets: Mapping[str, str]  # facet id -> topic id
    careful: Child = field(default_factory=Child)
    turns: int = 0
    handed: list[tuple[str, Mapping[str, Any], Mapping[str, Any]]] = field(default_factory=list)

    def turn(self, request: TurnRequest) -> Sequence[ToolCall]:
        self.turns += 1
        self._note(request)
        where = standing(request)
        if self.turns > 12:
            return calls(("finish", {"proposal_id": where["proposal_id"], "reason": "long enough"}))
        planned = self.careful._next(request)
        kinds = ["as planned"] * 4 + ["some of it", "propose", "finish"]
        kind = self.data.draw(st.sampled_from(kinds if self.turns > 1 else kinds[:-1]))
        if kind == "propose" or (kind == "as planned" and planned[0][0] == "finish" and not where["proposal_id"]):
            return calls(("repair_propose", self._proposal()))
        if kind == "finish":
            return calls(("finish", {"proposal_id": where["proposal_id"], "reason": "now"}))
        made = [self._bent(one) for one in planned]
        if kind == "some of it":
            made = self.data.draw(st.lists(st.sampled_from(made), min_size=1, max_size=len(made)))
        return calls(*made)

    def _bent(self, made: Made) -> Made:
        name, arguments = made
        if name == "repair_check":
            arguments = {**arguments, "fits": self.data.draw(st.sampled_from([True, True, True, True, False]))}
        return name, arguments

    def _proposal(self) -> Mapping[str, Any]:
        draw, ids = self.data.draw, sorted(self.facets)
        topics = sorted(set(self.facets.values()))
        words = {"title": "new words", "description": "What it is about now.", "aliases": [], "reason": "drawn"}
        made: dict[str, Any] = {}
        if draw(st.booleans()):
            made["drafts"] = [{"draft": 1} | words]
        if draw(st.booleans()):
            made["redefinitions"] = [{"topic_id": draw(st.sampled_from(topics))} | words]
        if draw(st.booleans()):
            made["merge"] = {"topic_ids": draw(st.permutations(topics))[:2]} | words
        targets = [*topics, "draft:1"]
        chosen = draw(st.lists(st.sampled_from(ids), max_size=10, unique=True))
        made["moves"] = [{"facet_id": one, "to": draw(st.sampled_from(targets)), "reason": "drawn"} for one in chosen]
        return made

    def _note(self, request: TurnRequest) -> None:
        """Keep what the last turn's answers handed out, with the texts in their fences."""
        texts = [str(m["content"]) for m in request.messages if m["role"] == "tool"]
        for (name, arguments, head), text in zip(answers(request), texts, strict=True):
            self.handed.append((name, arguments, {**head, "text": text.split(f"\n\n{WHERE}")[0]}))


@pytest.fixture
def built(near: World) -> World:
    """Three topics of four facets each, in conversations of two."""
    for subject in SUBJECTS:
        near.index(f"{subject}0", subject, f"{subject} one")
        near.index(f"{subject}1", f"{subject} two", f"{subject} three", into=subject)
    for subject in SUBJECTS:
        near.change(
            "UPDATE memberships SET topic_no = (SELECT topic_no FROM topics WHERE title = ?) "
            "WHERE facet_no = (SELECT facet_no FROM facets WHERE title = ?)",
            subject,
            f"{subject} one",
        )
    near.change("UPDATE topics SET state = 'retired' WHERE title LIKE '% one'")
    return near


def test_what_is_published_keeps_the_rules(built: World) -> None:
    kept = built.database.with_suffix(".kept")
    shutil.copyfile(built.database, kept)
    ended: Counter[str] = Counter()

    @settings(max_examples=25)
    @given(data=st.data())
    def drawn(data: st.DataObject) -> None:
        for suffix in ("-wal", "-shm"):
            Path(str(built.database) + suffix).unlink(missing_ok=True)
        shutil.copyfile(kept, built.database)
        before = dict(built.rows(PLACED))
        child = Drawn(data, before)
        built.child(child.turn)

        ran = built.run("repair", built.topic_id("kilns"))

        after = dict(built.rows(PLACED))
        state = ran.answer["runs"][0]["repair"]["state"] if ran.code == 0 else ran.error["code"]
        ended[state] += 1
        if state == "done":
            _keeps_the_rules(built, child, before, after)
        else:
            assert after == before
            assert built.rows(EVENTS) == []

    drawn()
    assert ended["done"] >= 3, ended
    assert len(ended) >= 2, ended


def _keeps_the_rules(world: World, child: Drawn, before: Mapping[str, str], after: Mapping[str, str]) -> None:
    events = world.rows(EVENTS)
    moved = {json.loads(b)["facet_id"] for _, kind, b, _ in events if kind == "moved"}
    merged = [
        (topic, json.loads(a)["topic_id"])
        for topic, kind, _, a in events
        if kind == "merged" and "topic_id" in json.loads(a)
    ]
    # Exactly what the events tell has changed, within the limits.
    assert len(moved) <= 8
    assert len(merged) <= 1
    gone = dict(merged)
    assert {one for one in after if after[one] != gone.get(before[one], before[one])} <= moved
    assert world.rows("SELECT count(*) FROM memberships") == [(len(before),)]
    # Of each moved facet an entry was handed out whole; of reworded topics one of each member, with a page and a check.
    reworded = {topic for topic, kind, _, a in events if kind in ("redefined", "created") or "title" in json.loads(a)}
    members = {one for one, topic in after.items() if topic in reworded}
    for facet_id in moved | members:
        assert _was_read(world, child, facet_id), facet_id
    last = {
        call[1]["page_id"]: call[1]["fits"]
        for call in child.handed
        if call[0] == "repair_check" and "checked" in call[2]
    }
    for topic in reworded:
        for facet_id in (one for one, where in after.items() if where == topic):
            pages = [h["page_id"] for n, _, h in child.handed if "page_id" in h and f'"{facet_id}"' in h["text"]]
            assert any(last.get(page) for page in pages), (facet_id, pages)
    if reworded:
        assert any(head.get("end") for name, _, head in child.handed if name == "repair_coverage")
    # No live topic is empty, and every facet is in a live one.
    assert world.rows("SELECT 1 FROM memberships JOIN topics USING (topic_no) WHERE state <> 'live'") == []
    assert world.rows(EMPTY) == []
    assert world.done("doctor", "--deep")["ok"]


def _was_read(world: World, child: Drawn, facet_id: str) -> bool:
    """Whether the text of an entry that the facet cites stands whole in what the child was handed."""
    cited = world.rows(
        """SELECT v.entry_id, e.text FROM facets f JOIN evidence v USING (facet_no)
           JOIN entries e ON e.conversation_no = f.conversation_no AND e.entry_id = v.entry_id WHERE f.facet_id = ?""",
        facet_id,
    )
    return any(
        name == "repair_read" and arguments["entry_id"] == entry_id and f"\n{text}\n" in head["text"]
        for entry_id, text in cited
        for name, arguments, head in child.handed
    )
