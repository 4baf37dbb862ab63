"""An empty index for each test, once with each engine of the text index."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.search.builder import Index


@pytest.fixture(params=["fts5", "fts4"])
def index(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Index]:
    made = Index(tmp_path / "index.db", request.param)
    yield made
    made.database.close()


@pytest.fixture
def one(tmp_path: Path) -> Iterator[Index]:
    """An index with the best engine, for what does not depend on it."""
    made = Index(tmp_path / "index.db")
    yield made
    made.database.close()
