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
        made = World(home, tmp_path, monkeypatch, server)
        yield made
        # Whatever a test did: what the server saw was charged, and nothing else.
        if made.database.exists():
            assert made.rows("SELECT count(*) FROM ledger") == [(len(server.requests),)]


@pytest.fixture
def near(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    """The product and a model in this process."""
    return World(home, tmp_path, monkeypatch)
