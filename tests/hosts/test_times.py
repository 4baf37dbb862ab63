"""One reading of times, in no zone but UTC."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from recall.hosts.facts import GAP_MS, windows
from recall.hosts.times import to_ms
from recall.types import Window
from tests.hosts.logs import CASES, T0, read, said, write
from tests.shared import needs_shared


@pytest.mark.parametrize(
    "given",
    [
        "2026-03-02T09:00:00.000Z",
        "2026-03-02T09:00:00Z",
        "2026-03-02t09:00:00z",
        "2026-03-02 09:00:00+00:00",
        "2026-03-02T18:00:00+09:00",
        "2026-03-02T18:00+0900",
        "2026-03-02T01:00:00-08",
        "2026-03-02T09:00:00.000123456Z",
        T0,
        T0 // 1000,
        T0 / 1000,
        str(T0),
        str(T0 // 1000),
    ],
)
def test_the_same_moment(given: object) -> None:
    assert to_ms(given) == T0


@pytest.mark.parametrize(
    "given",
    [
        None,
        True,
        "",
        "not a date",
        "2026-03-02",
        "2026-03-02T09:00:00",
        "2026-13-02T09:00:00Z",
        "2026-02-30T09:00:00Z",
        "2026-03-02T24:00:00Z",
        "2026-03-02T09:00:60Z",
        "0001-01-01T00:00:00Z",
        "9999-12-31T23:59:59Z",
        "2026-03-02T09:00:00+99:00",
        "٢٠٢٦-03-02T09:00:00Z",
        0,
        1,
        -T0,
        T0 * 1000,
        10**400,
        float(T0) * 1e9,
        [],
        {},
    ],
)
def test_no_usable_time(given: object) -> None:
    assert to_ms(given) is None


def test_milliseconds_are_kept() -> None:
    assert to_ms("2026-03-02T09:00:00.123Z") == T0 + 123
    assert to_ms("2026-03-02T09:00:00.1Z") == T0 + 100


@pytest.mark.parametrize("zone", ["UTC", "Asia/Seoul", "America/Los_Angeles"])
def test_the_zone_of_the_machine_changes_nothing(monkeypatch: pytest.MonkeyPatch, zone: str) -> None:
    monkeypatch.setenv("TZ", zone)
    time.tzset()
    try:
        assert to_ms("2026-03-02T09:00:00Z") == T0
        assert to_ms("2026-03-02T09:00:00") is None
    finally:
        monkeypatch.undo()
        time.tzset()


def test_an_unknown_time_is_counted_and_the_message_may_know_it(tmp_path: Path) -> None:
    body = {"role": "user", "content": "x", "timestamp": T0}
    log = read(
        write(
            tmp_path / "a.jsonl",
            said("a1", None, timestamp="junk"),
            said("a2", "a1", timestamp="junk", message=body),
            said("a3", "a2", timestamp=None, message=body),
        )
    )
    assert [entry.at for entry in log.entries] == [None, T0, T0]
    assert log.warnings() == [("unknown_time", 2), ("unknown_time", 3)]


def test_windows_end_at_a_gap_and_settings_are_no_activity(tmp_path: Path) -> None:
    later = {"type": "custom", "id": "a4", "parentId": "a3", "timestamp": "2026-03-05T09:00:00Z"}
    log = read(
        write(
            tmp_path / "a.jsonl",
            said("a1", None, timestamp=T0),
            said("a2", "a1", timestamp=T0 + GAP_MS),
            said("a3", "a2", timestamp=T0 + 2 * GAP_MS + 1),
            later,
        )
    )
    facts = log.outline.facts
    assert facts.windows == (Window(T0, T0 + GAP_MS, 2), Window(T0 + 2 * GAP_MS + 1, T0 + 2 * GAP_MS + 1, 1))
    assert (facts.first_at, facts.last_at) == (T0, T0 + 2 * GAP_MS + 1)
    assert facts.entries == 4
    assert facts.by_role == {"system": 1, "user": 3}


def test_a_clock_that_goes_back_makes_no_window() -> None:
    assert windows([T0 + 5, T0, T0 + 9]) == (Window(T0, T0 + 9, 3),)
    assert windows([]) == ()


@needs_shared
def test_given_log() -> None:
    log = read(CASES / "026-epoch-units.jsonl")
    assert [entry.at for entry in log.entries] == [T0 + 60_000, T0 + 120_000, None]
