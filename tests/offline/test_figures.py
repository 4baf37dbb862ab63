"""What the analyser reaches on the labelled set, with a margin for honest changes."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks import topics
from tests.shared import SHARED

_SET = SHARED / "bench" / "coding" / "a"
pytestmark = pytest.mark.skipif(not _SET.is_dir(), reason="needs the labelled set beside the checkout")


@pytest.fixture(scope="module")
def figures() -> dict[str, Any]:
    return topics.measure(_SET)


def test_recorded_facets_are_placed_as_a_person_would(figures: dict[str, Any]) -> None:
    assert figures["placement"]["recorded"]["f1"] >= 0.70


def test_its_own_facets_are_placed_as_a_person_would(figures: dict[str, Any]) -> None:
    assert figures["placement"]["offline"]["f1"] >= 0.66


def test_it_cites_what_a_strong_model_found_worth_a_finding(figures: dict[str, Any]) -> None:
    assert figures["analysis"]["cited"] >= 0.9
    # Many of these findings are told without a word that says their status; a wrong label would be worse than none.
    assert figures["analysis"]["cited_as_finding"] >= 0.40
    assert figures["analysis"]["verified"] == 1.0


def test_its_words_help_to_find_entries(figures: dict[str, Any]) -> None:
    for figure in ("hit@5", "mrr"):
        assert figures["search"]["offline"][figure] >= figures["search"]["plain"][figure]
