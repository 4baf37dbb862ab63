"""A proof is believed whole or not at all: each element that is taken out or altered makes the publication refuse."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

import pytest

from recall.errors import RecallError
from recall.hashing import sha256_text
from recall.index import audits
from recall.index.database import Database
from recall.models.calls import CallLimits, Road
from recall.models.scripted import ScriptedChild
from recall.models.tokens import Meter
from recall.originals import Originals
from recall.plans import Receipt
from recall.settings import load
from repair import proof as proofs
from repair import run as repair_run
from repair.limits import LIMITS
from repair.proof import Missing, Proof
from repair.run import Outcome, Work
from repair.state import Stored, freeze
from tests.repair.child import Child
from tests.repair.world import Planned, World

PROFILE = 1


@dataclass
class Proved:
    """A run that may be published, and what it takes to publish it."""

    database: Database
    originals: Originals
    outcome: Outcome

    def publish(self, outcome: Outcome) -> None:
        """Publish, and take it back."""
        with self.database.rehearsal() as connection:
            repair_run.publish(connection, PROFILE, outcome, self.originals, extractive=True, now=1)


def run(world: World, child: Child, topics: tuple[str, ...]) -> Proved:
    """The child's run on these topics, not published."""
    settings = load()
    database = Database.open(world.database)
    road = Road(database, PROFILE, "r", ScriptedChild(child.turn, Planned()), CallLimits(99, 99, 3))
    originals = Originals(settings, database)

    def rings(topic_ids: Any) -> Any:
        with database.read() as connection:
            return audits.standings(connection, PROFILE, topic_ids)

    view = freeze(database, PROFILE)
    work = Work(topics, (), frozenset())
    outcome = asyncio.run(repair_run.mend(view, work, road, originals, originals.health(), Meter(64_000), rings))
    return Proved(database, originals, outcome)


def mutants(value: Any, name: str = "proof") -> Iterator[tuple[str, Any]]:
    """The value with one element taken out, doubled or altered, at every depth."""
    if is_dataclass(value) and not isinstance(value, type):
        for one in fields(value):
            for where, other in mutants(getattr(value, one.name), f"{name}.{one.name}"):
                yield where, replace(value, **{one.name: other})
    elif isinstance(value, tuple):
        for place, item in enumerate(value):
            before, after = value[:place], value[place + 1 :]
            yield f"{name}[{place}] taken out", (*before, *after)
            yield f"{name}[{place}] doubled", (*before, item, item, *after)
            for where, other in mutants(item, f"{name}[{place}]"):
                yield where, (*before, other, *after)
        if len(value) > 1 and value[0] != value[-1]:
            yield f"{name} turned round", tuple(reversed(value))
    elif isinstance(value, bool):
        yield f"{name} turned", not value
    elif isinstance(value, str):
        yield f"{name} altered", value[:-1] + ("a" if value[-1:] != "a" else "b")
        yield f"{name} emptied", ""
    elif isinstance(value, int):
        yield f"{name} + 1", value + 1
    elif value is not None:
        raise AssertionError(f"{name} is of a type that the test does not know: {type(value)}")


@pytest.fixture
def planted(near: World) -> World:
    """Two topics of two facets, a third with a stray one."""
    for name, facets in (
        ("a", ["kilns crack", "kilns cool"]),
        ("b", ["ovens crack", "ovens cool"]),
        ("c", ["bread rises", "a stray kiln"]),
        ("d", ["tides turn"]),
    ):
        near.index(name, facets[0])
        if facets[1:]:
            near.index(f"{name}2", facets[1], into=facets[0])
    return near


def everything(world: World) -> dict[str, Any]:
    """A proposal with each kind of change."""
    words = {"aliases": ["stoves"], "reason": "one subject"}
    return {
        "merge": {
            "topic_ids": [world.topic_id("kilns crack"), world.topic_id("ovens crack")],
            "title": "kilns and ovens",
            "description": "What cracks and cools.",
        }
        | words,
        "drafts": [{"draft": 1, "title": "tides", "description": "Tides and when they turn."} | words],
        "redefinitions": [
            {"topic_id": world.topic_id("bread rises"), "title": "bread", "description": "How bread rises."} | words
        ],
        "moves": [
            {"facet_id": world.facet_id("a stray kiln"), "to": world.topic_id("kilns crack"), "reason": "a kiln"},
            {"facet_id": world.facet_id("tides turn"), "to": "draft:1", "reason": "not of this"},
        ],
    }


def test_any_element_taken_out_or_altered_is_refused(planted: World) -> None:
    topics = tuple(planted.topic_id(title) for title in planted.topics())
    proved = run(planted, Child(everything(planted)), topics)
    proof = proved.outcome.proof
    assert proof is not None
    assert proof.plan is not None
    proved.publish(proved.outcome)
    tried = 0

    for where, mutant in mutants(proof):
        tried += 1
        with pytest.raises(RecallError) as refused:
            proved.publish(replace(proved.outcome, proof=mutant))
        assert refused.value.code in ("repair_incomplete", "topic_state_changed"), where
    assert tried > 200


def test_any_element_of_an_audit_that_changes_nothing_too(planted: World) -> None:
    topics = tuple(planted.topic_id(title) for title in planted.topics())
    proved = run(planted, Child(), topics)
    proof = proved.outcome.proof
    assert proof is not None
    assert proof.plan is None
    assert len(proof.audited) == 7
    proved.publish(proved.outcome)

    for where, mutant in mutants(proof):
        with pytest.raises(RecallError) as refused:
            proved.publish(replace(proved.outcome, proof=mutant))
        assert refused.value.code in ("repair_incomplete", "topic_state_changed"), where


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ("UPDATE entries SET text = text || '!', chars = chars + 1 WHERE text LIKE 'kilns cool%'", "repair_incomplete"),
        ("UPDATE entries SET text = replace(text, 'cool', 'cold') WHERE text LIKE 'kilns cool%'", "repair_incomplete"),
        ("UPDATE entries SET sha256 = 'x' WHERE text LIKE 'kilns cool%'", "repair_incomplete"),
        ("UPDATE facets SET description = 'else' WHERE title = 'kilns cool'", "repair_incomplete"),
        ("UPDATE evidence SET entry_id = 'else' WHERE quote = 'kilns cool'", "repair_incomplete"),
        ("UPDATE topics SET version = version + 1 WHERE title = 'ovens crack'", "topic_state_changed"),
        ("UPDATE topics SET state = 'retired' WHERE title = 'ovens crack'", "topic_state_changed"),
        ("UPDATE topics SET title = 'else' WHERE title = 'ovens crack'", "repair_incomplete"),
        (
            (
                "UPDATE memberships SET topic_no = (SELECT topic_no FROM topics WHERE title = 'ovens crack') "
                "WHERE facet_no = (SELECT facet_no FROM facets WHERE title = 'a stray kiln')"
            ),
            "repair_incomplete",
        ),
        (
            (
                "UPDATE memberships SET topic_no = (SELECT topic_no FROM topics WHERE title = 'tides turn') "
                "WHERE facet_no = (SELECT facet_no FROM facets WHERE title = 'kilns cool')"
            ),
            "repair_incomplete",
        ),
    ],
)
def test_what_changed_in_the_database_since_is_refused(planted: World, change: str, code: str) -> None:
    topics = tuple(planted.topic_id(title) for title in planted.topics())
    proved = run(planted, Child(everything(planted)), topics)
    planted.change(change)

    with pytest.raises(RecallError) as refused:
        proved.publish(proved.outcome)
    assert refused.value.code == code, refused.value


def audited_before(planted: World, child: Child) -> Proved:
    """A run that rests on what an earlier published one was given."""
    topics = tuple(planted.topic_id(title) for title in planted.topics())
    first = run(planted, Child(), topics)
    with first.database.write() as connection:
        repair_run.publish(connection, PROFILE, first.outcome, first.originals, extractive=True, now=1)
    return run(planted, child, topics)


def test_any_element_of_a_proof_that_rests_on_earlier_receipts_too(planted: World) -> None:
    move = {"facet_id": planted.facet_id("a stray kiln"), "to": planted.topic_id("kilns crack"), "reason": "a kiln"}
    for child in (Child(), Child({"moves": [move]})):
        proved = audited_before(planted, child)
        proof = proved.outcome.proof
        assert proof is not None
        assert proof.earlier
        assert proof.deliveries == ()
        proved.publish(proved.outcome)
        for where, mutant in mutants(proof):
            with pytest.raises(RecallError) as refused:
                proved.publish(replace(proved.outcome, proof=mutant))
            assert refused.value.code in ("repair_incomplete", "topic_state_changed"), where


@pytest.mark.parametrize(
    "change",
    [
        "DELETE FROM receipts",
        "UPDATE receipts SET sha256 = 'x'",
        "UPDATE receipts SET facet_sha256 = 'x'",
        "UPDATE receipts SET chars = chars - 1",
        "UPDATE entries SET sha256 = 'x' WHERE text LIKE 'kilns cool%'",
    ],
)
def test_an_earlier_receipt_that_is_gone_or_another_proves_nothing(planted: World, change: str) -> None:
    proved = audited_before(planted, Child())
    planted.change(change)
    with pytest.raises(RecallError) as refused:
        proved.publish(proved.outcome)
    assert refused.value.code == "repair_incomplete"
    assert "receipt" in str(refused.value.data["piece"])


def made_again(proved: Proved, proof: Proof) -> str:
    """The piece that is missing where a chain is made anew over what is claimed, by the host's own code."""
    with proved.database.read() as connection, pytest.raises(Missing) as missing:
        proofs.make(Stored(connection, PROFILE), replace(proof, links=()), LIMITS, frozenset())
    return missing.value.piece


def test_a_part_of_an_entry_is_no_receipt_whatever_chain_is_made_over_it(planted: World) -> None:
    proved = run(planted, Child(), (planted.topic_id("kilns crack"),))
    proof = proved.outcome.proof
    assert proof is not None
    first, *rest = proof.deliveries
    text = planted.rows("SELECT text FROM entries WHERE entry_id = ?", first.entry_id)[0][0]
    for start, end in ((0, first.end - 1), (1, first.end)):
        part = replace(first, start=start, end=end, text_sha256=sha256_text(text[start:end]))
        assert made_again(proved, replace(proof, deliveries=(part, *rest))).startswith("the receipt of")


def test_earlier_receipts_do_for_no_changed_words_whatever_chain_is_made_over_them(planted: World) -> None:
    words = {"title": "bread", "description": "How bread rises.", "aliases": [], "reason": "clearer"}
    new = {"redefinitions": [{"topic_id": planted.topic_id("bread rises")} | words]}
    proved = audited_before(planted, Child(new))
    proof = proved.outcome.proof
    assert proof is not None
    assert proof.deliveries
    kept = planted.rows(
        "SELECT f.facet_id, r.facet_sha256, r.entry_id, r.sha256, r.chars FROM receipts r JOIN facets f "
        "USING (facet_no)"
    )
    claimed = replace(proof, deliveries=(), earlier=tuple(Receipt(*row) for row in kept))
    assert made_again(proved, claimed).startswith("the receipt of")


def test_the_first_missing_piece_is_named(planted: World) -> None:
    topics = tuple(planted.topic_id(title) for title in planted.topics())
    proved = run(planted, Child(everything(planted)), topics)
    proof = proved.outcome.proof
    assert proof is not None
    named = [
        (replace(proof, pages=proof.pages[1:]), "page 1 of"),
        (replace(proof, verdicts=proof.verdicts[1:]), "the check of"),
        (replace(proof, deliveries=()), "the receipt of"),
        (replace(proof, links=(*proof.links[:-1], "0" * 64)), "delivery"),
    ]
    for wrong, name in named:
        with pytest.raises(RecallError) as refused:
            proved.publish(replace(proved.outcome, proof=wrong))
        assert str(refused.value.data["piece"]).startswith(name), refused.value
