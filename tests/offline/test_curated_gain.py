"""The built-in analyser's curated layer makes search better than it is without (labelled set `coding`, profile `a`)."""

from __future__ import annotations

from benchmarks.curated import measure
from tests.shared import SHARED, needs_shared


@needs_shared
def test_search_over_the_curated_layer_finds_more_in_five() -> None:
    search = measure(SHARED / "bench" / "coding" / "a")["search"]
    assert search["curated"]["hit@5"] > search["without"]["hit@5"]
    assert search["curated"]["mrr"] > search["without"]["mrr"]
