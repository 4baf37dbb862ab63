from __future__ import annotations

import pytest

from recall.mentions import mentioned

NAMES = {"ledger": 1, "Drift Log": 2, "账本": 3, "ab": 4, "2026": 5}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("In the ledger, please", {1}),
        ("LEDGER!", {1}),
        ("把ledger改一下", {1}),
        ("ledger/src is broken", {1}),
        ("ledgers and ledger-ui and my_ledger and ledger.py", set()),
        ("the drift\n  log of today", {2}),
        ("看看账本吧", {3}),
        ("ab in 2026", set()),
        ("ledger. And that is all", {1}),
    ],
)
def test_whole_names(text: str, found: set[int]) -> None:
    assert mentioned([text], NAMES) == found


def test_two_are_two() -> None:
    assert len(mentioned(["ledger", "and drift log"], NAMES)) == 2
