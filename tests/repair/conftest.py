from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.servers.chat_server import ChatServer
from tests.repair.world import World


@pytest.fixture
def world(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    """The product and a model on a server on this machine."""
    with ChatServer() as server:
        yield World(home, tmp_path, monkeypatch, server)


@pytest.fixture
def near(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    """The product and a model in this process."""
    return World(home, tmp_path, monkeypatch)
