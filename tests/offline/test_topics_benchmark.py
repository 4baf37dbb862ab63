"""`python -m benchmarks.topics` judges topics for the built-in analyser and for recorded replies, from any folder."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from benchmarks import topics

ROOT = Path(__file__).parents[2]


def test_a_relative_folder_is_measured(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(sys, "argv", ["topics", "--data", "fixtures/coding/b"])
    topics.main()
    placement = capsys.readouterr().out.partition("analysis")[0]
    for way in ("recorded", "offline"):
        assert any(line.split()[:1] == [way] and "f1 " in line for line in placement.splitlines()), placement
