"""The schema that a server on this machine generates by names the entries that can be cited."""

from __future__ import annotations

import pytest

from recall import prompts
from recall.models.narrow import MOST_IDS, narrowed
from recall.models.schemas import fault_of


def _reply(entry_id: str, *, cited: bool = True) -> dict[str, object]:
    citation = {"entry_id": entry_id, "quote": "a few words"}
    finding = {"statement": "It is so.", "status": "found", **citation}
    facet = {"title": "t", "description": "d", "aliases": [], "findings": [finding]}
    return {"summary": "s", "facets": [facet | {"evidence": [citation] if cited else []}]}


@pytest.mark.parametrize("name", ["analysis", "reduce"])
def test_only_shown_ids_and_no_facet_without_evidence(name: str) -> None:
    schema = prompts.load(name).schema
    sent = narrowed(schema, ("L1", "L2"))
    assert fault_of(schema, _reply("L9")) is None  # the host judges it, and drops only what is wrong
    assert fault_of(sent, _reply("L1")) is None
    assert "one of L1, L2" in str(fault_of(sent, _reply("L9")))
    assert "minItems" in str(fault_of(sent, _reply("L1", cited=False)))
    assert schema == prompts.load(name).schema


def test_without_ids_or_with_too_many_it_is_the_prompts_own() -> None:
    schema = prompts.load("analysis").schema
    assert narrowed(schema, ()) is schema
    assert narrowed(schema, tuple(map(str, range(MOST_IDS + 1)))) is schema
