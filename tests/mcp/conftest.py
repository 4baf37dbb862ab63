"""The SDK's own client on a real `history-recall mcp` process, driven from ordinary tests."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio.from_thread
import pytest
from anyio.from_thread import BlockingPortal
from mcp import Client, StdioServerParameters

from tests.shared import ROOT
from tests.surfaces.served import environment


@dataclass(frozen=True)
class Session:
    """One client. `portal` runs the client's coroutines."""

    client: Client
    portal: BlockingPortal

    def call(self, name: str, /, **arguments: Any) -> Any:
        """The result of a tool, whatever it is."""
        return self.portal.call(self.client.call_tool, f"history_recall_{name}", arguments)

    def document(self, name: str, /, **arguments: Any) -> dict[str, Any]:
        """The structured answer of a tool that has to succeed; the client holds it against the tool's own schema."""
        result = self.call(name, **arguments)
        assert not result.is_error, result.structured_content
        return dict(result.structured_content)

    def indexed(self, file: Path) -> str:
        """Index a log, however long that takes here; its conversation."""
        while (answered := self.document("index", file=str(file))).get("state") == "running":
            words = {"words": f"jobs follow {answered['job_id']}"}
            self.portal.call(self.client.get_prompt, "history-recall", words)
        return str(answered["completed"][0]["conversation_id"])


Connect = Callable[..., AbstractContextManager[Session]]


@pytest.fixture(scope="session")
def portal() -> Iterator[BlockingPortal]:
    with anyio.from_thread.start_blocking_portal() as portal:
        yield portal


@pytest.fixture(scope="session")
def connect(portal: BlockingPortal) -> Connect:
    """Start a server and connect to it."""

    @contextmanager
    def connected(env: Mapping[str, str], *words: str) -> Iterator[Session]:
        command = ["-m", "recall", "mcp", *words]
        parameters = StdioServerParameters(command=sys.executable, args=command, env=dict(env))
        with portal.wrap_async_context_manager(Client(parameters)) as client:
            yield Session(client, portal)

    return connected


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home folder with the demo's conversations."""
    home = tmp_path_factory.mktemp("mcp")
    shutil.copytree(ROOT / "fixtures" / "demo" / "home", home, dirs_exist_ok=True)
    return home


@pytest.fixture(scope="module")
def session(connect: Connect, store: Path) -> Iterator[Session]:
    """A client of the demo's conversations, all indexed."""
    command = [sys.executable, "-m", "recall", "index-all", "--json"]
    subprocess.run(command, env=environment(store), check=True, capture_output=True)
    with connect(environment(store)) as made:
        yield made
