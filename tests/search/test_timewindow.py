"""Windows of time and cursors: small words with exact meanings."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall import cursor as cursors
from recall.errors import ArgumentError
from recall.timewindow import DAY, Window, iso, parse
from tests.search.builder import millis

NOW = 1_772_442_000_000


def test_days_roll_back_from_now() -> None:
    assert parse(2, None, None, NOW) == Window(NOW - 2 * DAY, None)
    assert not parse(None, None, None, NOW)


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("2026-03-02", "2026-03-02T00:00:00+00:00"),
        ("2026-03-02T08:30:00+09:00", "2026-03-01T23:30:00+00:00"),
        ("2026-03-02T08:30:00Z", "2026-03-02T08:30:00+00:00"),
        ("2026-03-02 08:30Z", "2026-03-02T08:30:00+00:00"),
    ],
)
def test_instants(typed: str, meant: str) -> None:
    assert parse(None, typed, None, NOW).start == millis(meant)


@pytest.mark.parametrize(
    ("days", "from_", "to"),
    [
        (None, "2026-03-02T08:30:00", None),
        (None, "yesterday", None),
        (None, "2026-13-01", None),
        (None, "2026-02-30", None),
        (None, "20260302", None),
        (None, "2026-W10", None),
        (None, "", None),
        (None, "2026-03-02", "2026-03-02"),
        (None, "2026-03-03", "2026-03-02"),
        (0, None, None),
        (-1, None, None),
        (10**9, None, None),
        (True, None, None),
        (1, "2026-03-02", None),
    ],
)
def test_what_is_refused(days: int | None, from_: str | None, to: str | None) -> None:
    with pytest.raises(ArgumentError) as refused:
        parse(days, from_, to, NOW)
    assert refused.value.code == "invalid_time"
    assert refused.value.hint


@pytest.mark.parametrize("edge", ["0001-01-01", "9999-12-31", "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-12:00"])
def test_the_ends_of_the_calendar_do_not_raise(edge: str) -> None:
    assert parse(None, edge, None, NOW).as_json() is not None


def test_times_are_written_with_milliseconds() -> None:
    assert iso(0) == "1970-01-01T00:00:00.000Z"
    assert iso(-1) == "1969-12-31T23:59:59.999Z"
    assert iso(None) is None
    assert iso(1 << 60) is None
    assert iso(millis("0033-01-01T00:00:00+00:00")) == "0033-01-01T00:00:00.000Z"


POSITIONS = st.lists(st.one_of(st.integers(), st.text(), st.none(), st.booleans()), max_size=4)


@given(POSITIONS, st.text(), st.integers())
def test_cursors_come_back(position: list[object], question: str, generation: int) -> None:
    cursor = cursors.encode(position, question, generation)
    assert cursors.decode(cursor, question, generation) == position
    with pytest.raises(ArgumentError) as refused:
        cursors.decode(cursor, question, generation + 1)
    assert refused.value.code == "stale_cursor"
    with pytest.raises(ArgumentError) as refused:
        cursors.decode(cursor, question + "x", generation)
    assert refused.value.code == "invalid_cursor"


@given(st.text())
def test_junk_is_refused_by_name(junk: str) -> None:
    with pytest.raises(ArgumentError) as refused:
        cursors.decode(junk, "question", 1)
    assert refused.value.code == "invalid_cursor"
