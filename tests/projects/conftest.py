from __future__ import annotations

from pathlib import Path

import pytest

from tests.projects.person import Person


@pytest.fixture
def person(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Person:
    database = tmp_path / "data" / "index.db"
    monkeypatch.setenv("HISTORY_RECALL_DB", str(database))
    return Person(home, database, monkeypatch)
