from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from recall.tiers import EVERY, TIERS, ordered

ITEMS = st.lists(st.sampled_from(TIERS)).map(lambda tiers: list(enumerate(tiers)))


@given(ITEMS)
def test_all_are_there_once_and_each_tier_keeps_the_order_of_relevance(items: list[tuple[int, str]]) -> None:
    result = ordered(items, lambda item: item[1])  # type: ignore[arg-type, return-value]
    assert sorted(result) == items
    own = [item for item in result if item[1] == "project"]
    assert own == sorted(own)


@given(ITEMS)
def test_the_first_is_of_this_project_and_the_fifth_the_best_from_elsewhere(items: list[tuple[int, str]]) -> None:
    result = ordered(items, lambda item: item[1])  # type: ignore[arg-type, return-value]
    own = [item for item in items if item[1] == "project"]
    elsewhere = [item for item in items if item[1] != "project"]
    if own:
        assert result[0] == own[0]
    if len(own) >= EVERY and elsewhere:
        assert result[EVERY - 1] == elsewhere[0]


def test_one_tier_alone_stays_as_it_is() -> None:
    items = [(i, "none") for i in range(7)]
    assert ordered(items, lambda item: "none") == items
