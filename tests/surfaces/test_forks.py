"""A fork that copied its parent's records: both are indexed, the copied part counts and shows once."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from recall.surfaces.cli import main
from tests.shared import SHARED, needs_shared


@needs_shared
@pytest.mark.parametrize("first", ["022-fork-copies-history", "022-fork-child"])
def test_the_copied_part_is_analysed_and_shown_once(
    first: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def answer(*words: str) -> Any:
        assert main([*words, "--json"]) == 0
        return json.loads(capsys.readouterr().out)

    second = {"022-fork-copies-history": "022-fork-child"}.get(first, "022-fork-copies-history")
    for name in (first, second):
        shutil.copy(SHARED / "cases" / "inputs" / f"{name}.jsonl", tmp_path)
        answer("sources", "add", str(tmp_path / f"{name}.jsonl"))
        answer("index", str(tmp_path / f"{name}.jsonl"))
    shared_part = answer("search", "keyed disk cache")["conversations"]
    assert len([text for hit in shared_part for text in _texts(hit, "keyed disk cache")]) == 1
    assert answer("search", "in-memory")["conversations"]
    assert answer("search", "ship")["conversations"]
    cited = []
    for topic in answer("browse")["entries"]:
        for conversation in answer("browse", str(topic["topic_id"]))["entries"]:
            for membership in conversation["memberships"]:
                cited += [evidence["entry_id"] for evidence in membership["evidence"]]
    assert len(cited) == len(set(cited))
    before = answer("status")["facets"]
    answer("index", str(tmp_path / f"{first}.jsonl"), "--force")
    assert answer("status")["facets"] == before


def _texts(hit: Any, words: str) -> list[str]:
    return [entry["snippet"] for entry in hit["entries"] if words in entry["snippet"]]
