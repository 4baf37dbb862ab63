from __future__ import annotations

from pathlib import Path

import pytest

from tests.repair.world import World


@pytest.fixture
def world(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    return World(home, tmp_path, monkeypatch)
