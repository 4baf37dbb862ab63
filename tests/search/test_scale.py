"""The benchmark of speed, at a size that says nothing of speed: that it builds, asks and reports what it should."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import pytest

from benchmarks import scale, scale_queries
from benchmarks.scale_corpus import talks

CLASSES = {"rare", "medium", "frequent", "common", "three-term mix", "all-common", "CJK", "identifier"}


def test_the_invented_history_is_the_same_each_time() -> None:
    one, other = (list(itertools.islice(talks(250), 3)) for _ in range(2))
    assert one == other
    assert [len(talk.turns) for talk in one] == [100, 100, 50]
    texts = "".join(turn.text for talk in one for turn in talk.turns)
    assert not texts.isascii()
    assert "_" in texts


def test_the_benchmark_reports_every_class(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scale_queries, "QUESTIONS", 2)
    monkeypatch.setattr(scale_queries, "REPEATS", 1)
    result = scale.measure(400, tmp_path, cold=False, loss=3)
    assert set(result["queries"]) == CLASSES
    for row in result["queries"].values():
        assert {"p50", "p95", "p99", "bare_fts5_p50", "tantivy_p50"} <= set(row)
        assert row["p50"] > 0
        assert row["bare_fts5_p50"] > 0
    assert result["build"]["MB_per_s"] > 0
    assert 0.5 < result["build"]["index_ratio"] < 4, "so small an index is mostly vocabulary"
    assert set(result["loss"]) == CLASSES
    for row in result["loss"].values():
        assert row["loss"] == 0, "so few entries are all looked at"
        assert row["same_first_ten"] > 0.5 or not row["questions"]
    assert result["loss"]["identifier"]["R@10"] == 1.0
    assert result["loss"]["identifier"]["questions"] == 3
    json.dumps(result)
    assert "three-term mix" in scale.table(result)
