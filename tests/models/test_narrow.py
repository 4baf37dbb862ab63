"""The schema that a server on this machine generates by names the entries and passages that can be cited."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall import prompts
from recall.models.narrow import FULL_CHARS, MOST_BYTES, citable_of, narrowed, passages, placing, shortened
from recall.models.request import AnalysisTask, FacetCard, PlacementTask, ReduceTask, ShownEntry
from recall.models.schemas import fault_of
from recall.steps.evidence import locate, shown_in, verified
from recall.types import TopicCard
from tests.steps.asker import Log

SHOWN = (("L1", ("the cursor held a lock",)), ("L2", ("COPY took 4 s", "and then it worked")))


def _reply(entry_id: str, quote: str, *, cited: bool = True) -> dict[str, object]:
    citation = {"entry_id": entry_id, "quote": quote}
    finding = {"statement": "It is so.", "status": "found", **citation}
    facet = {"title": "t", "description": "d", "aliases": [], "findings": [finding]}
    return {"summary": "s", "facets": [facet | {"evidence": [citation] if cited else []}]}


@pytest.mark.parametrize("name", ["analysis", "reduce"])
def test_only_what_was_shown_and_no_facet_without_evidence(name: str) -> None:
    schema = prompts.load(name).schema
    sent = narrowed(schema, SHOWN)
    assert fault_of(sent, _reply("L2", "and then it worked")) is None
    for entry_id, quote in [("L9", "COPY took 4 s"), ("L1", "COPY took 4 s"), ("L2", "COPY took 5 s")]:
        assert fault_of(schema, _reply(entry_id, quote)) is None  # the host judges it, and drops only what is wrong
        assert fault_of(sent, _reply(entry_id, quote)) is not None
    assert "minItems" in str(fault_of(sent, _reply("L1", "the cursor held a lock", cited=False)))
    assert schema == prompts.load(name).schema


def test_where_there_is_too_much_to_quote_only_the_ids_are_held() -> None:
    schema = prompts.load("analysis").schema
    sent = narrowed(schema, (("L1", ("x" * MOST_BYTES,)),))
    assert fault_of(sent, _reply("L1", "anything")) is None
    assert "one of L1" in str(fault_of(sent, _reply("L9", "anything")))


def test_without_ids_or_with_too_many_it_is_the_prompts_own() -> None:
    schema = prompts.load("analysis").schema
    assert narrowed(schema, ()) is schema
    assert narrowed(schema, tuple((str(n), ()) for n in range(MOST_BYTES))) is schema


def _card(topic_id: str) -> TopicCard:
    return TopicCard(topic_id=topic_id, version=1, title="t", description="d", aliases=(), members=1, last_at=None)


def _task(count: int, ids: tuple[str, ...], carried: tuple[str, ...] = ()) -> PlacementTask:
    facets = tuple(FacetCard("t", "d", ()) for _ in range(count))
    held = (tuple(_card(topic_id) for topic_id in carried), *((),) * (count - 1))
    return PlacementTask(facets, tuple(_card(topic_id) for topic_id in ids), held, last=True)


def _placed(*items: tuple[int, str | None, tuple[str, ...]]) -> dict[str, object]:
    return {
        "facets": [
            {"facet": number, "topic_id": topic_id, "draft": None, "candidates": list(near), "reason": "r"}
            for number, topic_id, near in items
        ]
    }


@pytest.mark.parametrize("name", ["placement", "placement_findings"])
def test_each_facet_is_placed_once_and_into_what_was_shown(name: str) -> None:
    schema = prompts.load(name).schema
    sent = placing(schema, _task(2, ("t_a", "t_b"), carried=("t_c",)))
    more: dict[str, object] = {"supersedes": []} if name == "placement_findings" else {}
    assert fault_of(sent, _placed((1, "t_c", ("t_a",)), (2, None, ())) | more) is None
    wrong = [
        _placed((1, "t_a", ())),
        _placed((1, "t_a", ()), (1, "t_b", ())),
        _placed((1, "t_a", ()), (2, None, ()), (3, None, ())),
        _placed((1, "t_x", ()), (2, None, ())),
        _placed((1, None, ("t_x",)), (2, None, ())),
    ]
    assert all(fault_of(sent, reply | more) is not None for reply in wrong)
    assert schema == prompts.load(name).schema


def test_a_page_before_the_last_and_an_empty_catalogue_are_held_too() -> None:
    sent = placing(prompts.load("shortlist").schema, _task(1, ("t_a",)))
    assert fault_of(sent, {"facets": [{"facet": 1, "candidates": ["t_a"]}]}) is None
    assert fault_of(sent, {"facets": [{"facet": 1, "candidates": ["t_x"]}]}) is not None
    sent = placing(prompts.load("placement").schema, _task(1, ()))
    assert fault_of(sent, _placed((1, None, ()))) is None
    assert fault_of(sent, _placed((1, "t_x", ()))) is not None
    assert fault_of(sent, _placed((1, None, ("t_x",)))) is not None


def test_where_the_ids_are_too_many_only_the_facets_are_held() -> None:
    sent = placing(prompts.load("placement").schema, _task(1, tuple(f"t_{number:028}" for number in range(2000))))
    assert fault_of(sent, _placed((1, "t_x", ()))) is None
    assert fault_of(sent, _placed((2, "t_x", ()))) is not None


@pytest.mark.parametrize(
    ("chars", "facets", "evidence", "findings"),
    [(0, 1, 3, 2), (2400, 1, 3, 2), (4800, 2, 5, 3), (FULL_CHARS, 5, 12, 6), (9 * FULL_CHARS, 5, 12, 6)],
)
def test_a_short_request_gets_a_short_reply(chars: int, facets: int, evidence: int, findings: int) -> None:
    schema = prompts.load("analysis").schema
    sent = shortened(schema, chars)
    citation = {"entry_id": "L1", "quote": "q"}
    finding = {"statement": "It is so.", "status": "found", **citation}

    def reply(*, more: int = 0, cited: int = 0, found: int = 0) -> dict[str, object]:
        facet: dict[str, object] = {"title": "t", "description": "d", "aliases": []}
        facet |= {"evidence": [citation] * (evidence + cited), "findings": [finding] * (findings + found)}
        return {"summary": "s", "facets": [facet] * (facets + more)}

    assert fault_of(sent, reply()) is None
    for longer in (reply(more=1), reply(cited=1), reply(found=1)):
        assert "maxItems" in str(fault_of(sent, longer))
    assert schema == prompts.load("analysis").schema


@given(st.text(st.sampled_from("ab. 。\n\t\"'é记;") | st.characters(exclude_categories=["Cs"]), max_size=700))
def test_every_passage_is_a_quote_that_the_host_lets_stand(text: str) -> None:
    found = passages(text)
    assert bool(found) == bool(text.split())
    for quote in found:
        assert len(quote) <= 240
        assert locate(text, quote) is not None
    shown = ShownEntry("e0", "user", text)
    citable = shown_in((shown,), Log.of(text).text_of)
    for entry_id, quotes in citable_of(AnalysisTask((shown,), top=True)):
        for quote in quotes:
            assert verified(_reply(entry_id, quote), citable, frozenset(), at_least=1).facets


def test_joining_can_cite_what_the_parts_cite() -> None:
    parts = (_reply("L1", "the cursor held\n a lock"), _reply("L2", "COPY took 4 s"))
    held = (("L1", ("the cursor held a lock",)), ("L2", ("COPY took 4 s",)))
    assert citable_of(ReduceTask(parts, top=True)) == held
    assert citable_of(None) == ()
