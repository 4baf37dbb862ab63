from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from recall.latest import first


def test_what_replaced_it_moves_up_to_where_it_stood() -> None:
    assert first(["a", "b", "c", "d"], str, {"b": ["d"]}) == ["a", "d", "b", "c"]


def test_chains_and_circles() -> None:
    assert first(["a", "b", "c"], str, {"a": ["b"], "b": ["c"]}) == ["c", "b", "a"]
    assert sorted(first(["a", "b"], str, {"a": ["b"], "b": ["a"]})) == ["a", "b"]


@given(
    st.lists(st.integers(0, 9), unique=True),
    st.dictionaries(st.integers(0, 9), st.lists(st.integers(0, 9), max_size=2)),
)
def test_nothing_is_lost_or_doubled(items: list[int], newer: dict[int, list[int]]) -> None:
    assert sorted(first(items, int, newer)) == sorted(items)
