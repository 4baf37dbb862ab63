from __future__ import annotations

import pytest

from recall.models.tokens import LOOPBACK_BYTES, OFFLINE_BYTES, Meter, meter_for
from recall.settings import load


@pytest.mark.parametrize(
    ("model", "base", "most"),
    [("offline", "", OFFLINE_BYTES), ("openai/any", "http://127.0.0.1:8080/v1", LOOPBACK_BYTES)],
)
def test_where_litellm_knows_nothing_bytes_are_counted(model: str, base: str, most: int) -> None:
    settings = load({"HOME": "/", "HISTORY_RECALL_MODEL": model} | ({"HISTORY_RECALL_API_BASE": base} if base else {}))
    meter = meter_for(settings)
    assert meter.name == "bytes"
    assert 12_000 <= meter.limit <= most
    assert meter.measure("aé一😀") == 1 + 2 + 3 + 4


def test_a_lone_surrogate_can_be_measured() -> None:
    assert Meter(10).measure("\ud83d") == 3
