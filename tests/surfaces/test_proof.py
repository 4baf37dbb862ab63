"""`read` holds what it shows against the log: rewritten records, broken chains and damaged graphs are named."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from recall.surfaces.cli import main
from tests.shared import SHARED, needs_shared

Answer = Callable[..., Any]
CASES = SHARED / "cases" / "inputs"


def _indexed(answer: Answer, tmp_path: Path, name: str) -> tuple[Path, str]:
    log = tmp_path / name
    shutil.copy(CASES / name, log)
    answer("sources", "add", str(log))
    return log, answer("index", str(log))["completed"][0]["conversation_id"]


@needs_shared
def test_a_record_that_was_rewritten_in_place_is_named_whatever_its_time(tmp_path: Path, answer: Answer) -> None:
    log, identity = _indexed(answer, tmp_path, "031-appended-tail.jsonl")
    assert {f["stands"] for f in answer("read", identity)["fragments"]} == {True}
    times = os.stat(log)
    log.write_bytes(log.read_bytes().replace(b"oriole", b"magpie"))
    os.utime(log, ns=(times.st_atime_ns, times.st_mtime_ns))
    read = answer("read", identity)
    assert read["source_state"] == "changed"
    assert [f["stands"] for f in read["fragments"]] == [False, True]


@needs_shared
def test_a_log_that_only_grew_is_told_from_one_that_was_rewound_and_grew(tmp_path: Path, answer: Answer) -> None:
    log, identity = _indexed(answer, tmp_path, "031-appended-tail.jsonl")
    shutil.copy(CASES / "031-appended-tail-v2.jsonl", log)
    assert answer("read", identity)["source_state"] == "grown"
    shutil.copy(CASES / "032-rewound-v2.jsonl", log)
    assert answer("read", identity)["source_state"] == "changed"


@needs_shared
def test_where_the_chain_is_broken_is_said_at_that_entry(
    tmp_path: Path, answer: Answer, capsys: pytest.CaptureFixture[str]
) -> None:
    _, identity = _indexed(answer, tmp_path, "018-missing-parent.jsonl")
    read = answer("read", identity)
    assert read["graph_damaged"] is True
    assert [f["entry_id"] for f in read["fragments"] if f["broken"]] == ["e0000005"]
    assert read["graph_problems"] == ["broken_chain"]
    main(["read", identity])
    shown = capsys.readouterr().out
    assert "the chain is broken here" in shown
    assert "a parent that is not there" in shown


@needs_shared
def test_a_cycle_of_parents_is_a_damaged_graph(
    tmp_path: Path, answer: Answer, capsys: pytest.CaptureFixture[str]
) -> None:
    _, identity = _indexed(answer, tmp_path, "016-parent-cycle.jsonl")
    read = answer("read", identity)
    assert (read["graph_damaged"], read["graph_problems"]) == (True, ["parent_cycle"])
    main(["read", identity])
    shown = capsys.readouterr().out
    assert "their parents form a circle" in shown
    assert "not there" not in shown
