"""The schema that a server on this machine generates by names the entries and passages that can be cited."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall import prompts
from recall.models.narrow import FULL_CHARS, MOST_BYTES, citable_of, narrowed, passages, shortened
from recall.models.request import AnalysisTask, ReduceTask, ShownEntry
from recall.models.schemas import fault_of
from recall.steps.evidence import locate, shown_in, verified
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
