"""The whole main job with FTS4 and sqlite-fts4, as where SQLite was built without FTS5: the same answers as with it."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from recall.index import fulltext
from tests.shared import ROOT

QUESTIONS = ("retry storm", "潮位", "Retry-After", "date_trunc", '"full jitter"', "当地", "nothing-of-this-kind")
Answer = Callable[..., Any]


def _hits(answer: Answer, question: str) -> set[tuple[str, str]]:
    found = answer("search", question, "--mode", "keyword", "--limit", "50")["conversations"]
    return {
        (one["host_conversation_id"], entry["entry_id"])
        for one in found
        for entry in one["entries"]
        if "keyword" in entry["found_by"]
    }


def _job(home: Path, database: Path, answer: Answer, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Index, ask, append, forget, rebuild; what was found on the way."""
    monkeypatch.setenv("HISTORY_RECALL_DB", str(database))
    made = answer("index-all")
    assert made["failed"] == []
    seen: dict[str, Any] = {question: _hits(answer, question) for question in QUESTIONS}
    log = next(home.rglob("*5f0c2c8e-2222*.jsonl"))
    line = {"type": "message", "id": "aa00aa00", "parentId": None, "timestamp": "2026-08-12T00:00:00.000Z",
            "message": {"role": "user", "content": "a wryneck sat on the gauge"}}  # fmt: skip
    log.write_text(log.read_text(encoding="utf-8") + json.dumps(line) + "\n", encoding="utf-8")
    answer("index", str(log))
    seen["appended"] = _hits(answer, "wryneck")
    hit = answer("search", "wryneck")["conversations"][0]["conversation_id"]
    assert answer("forget", hit)["proof"]["ok"]
    seen["forgotten"] = _hits(answer, "wryneck") | _hits(answer, "潮位")
    assert answer("doctor", "--deep")["ok"]
    answer("doctor", "--rebuild-text-index")
    seen["rebuilt"] = {question: _hits(answer, question) for question in QUESTIONS}
    seen["engine"] = answer("status")["text_index"]["engine"]
    return seen


def test_the_whole_job_gives_the_same_answers_with_fts4(
    home: Path, tmp_path: Path, answer: Answer, monkeypatch: pytest.MonkeyPatch
) -> None:
    demo = ROOT / "fixtures" / "demo" / "home"
    shutil.copytree(demo, home, dirs_exist_ok=True)
    best = _job(home, tmp_path / "five.db", answer, monkeypatch)
    if best["engine"] != "fts5":
        pytest.skip("this SQLite has no FTS5 to compare with")
    shutil.copytree(demo, home, dirs_exist_ok=True)
    monkeypatch.setattr(fulltext, "available", lambda: "fts4")
    other = _job(home, tmp_path / "four.db", answer, monkeypatch)
    assert other.pop("engine") == "fts4"
    best.pop("engine")
    assert other == best
    assert all(best[question] for question in QUESTIONS[:-1])
    assert best["appended"]
    assert not best["forgotten"]
    with closing(sqlite3.connect(tmp_path / "four.db")) as connection:
        made = " ".join(row[0] or "" for row in connection.execute("SELECT sql FROM sqlite_master"))
    assert "using fts4" in made.lower()
    assert "using fts5" not in made.lower()
