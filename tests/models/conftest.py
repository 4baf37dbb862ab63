from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.servers.chat_server import ChatServer
from tests.models.setting import Setting, open_setting


@pytest.fixture
def setting(tmp_path: Path) -> Iterator[Setting]:
    made = open_setting(tmp_path)
    yield made
    made.database.close()


@pytest.fixture
def server() -> Iterator[ChatServer]:
    """A provider on this machine, by litellm's own road."""
    with ChatServer() as running:
        yield running
