"""What the tests of the road stand on: an index in a folder, a question, a clock that is set, waits that are noted."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.servers.chat_server import ChatServer
from recall.errors import RecallError
from recall.index import ledger
from recall.index.database import Database, ensure_profile
from recall.models.calls import CallLimits, Road
from recall.models.gate import ConsentGate
from recall.models.request import LocalModel, ModelRequest, RemoteModel
from recall.prompts import Prompt

NOON = 1_790_000_000_000 - 1_790_000_000_000 % ledger.DAY_MS + ledger.DAY_MS // 2
SCHEMA = {
    "type": "object",
    "properties": {"word": {"type": "string", "minLength": 1, "maxLength": 60}, "score": {"type": "number"}},
    "required": ["word"],
    "additionalProperties": False,
}
PROMPT = Prompt("word", "Say one word.", SCHEMA, "fingerprint-1")
GOOD = '{"word": "lantern"}'


def question(content: str = "which word?", **changes: Any) -> ModelRequest:
    """A request of the test's own prompt."""
    fields: dict[str, Any] = {"kind": "analysis", "prompt": PROMPT, "content": content, "task": None}
    return ModelRequest(**fields | changes)


def word(found: object) -> str:
    """The validator that takes everything the schema lets through."""
    assert isinstance(found, dict)
    return str(found["word"])


@dataclass
class Setting:
    """One index, one profile, and how the road is to behave."""

    database: Database
    profile_no: int
    limits: CallLimits = field(default_factory=lambda: CallLimits(100, 1000, 3, grace_seconds=2.0))
    now: int = NOON
    waits: list[float] = field(default_factory=list)

    def road(self, model: RemoteModel | LocalModel, run: str = "r_1", **changes: Any) -> Road:
        async def noted(seconds: float) -> None:
            self.waits.append(seconds)
            await asyncio.sleep(0)

        settings: dict[str, Any] = {
            "consent": ConsentGate(self.database, self.profile_no),
            "clock": lambda: self.now,
            "sleep": noted,
        }
        return Road(self.database, self.profile_no, run, model, self.limits, **settings | changes)

    def rows(self) -> list[tuple[str, str | None]]:
        """(state, code) of every row in the ledger, in order."""
        return [(row["state"], row["code"]) for row in self.all_rows()]

    def all_rows(self) -> list[Any]:
        with self.database.read() as connection:
            return list(connection.execute("SELECT * FROM ledger ORDER BY call_no"))

    def kept(self) -> list[str]:
        """The replies in the cache."""
        with self.database.read() as connection:
            return [row["reply"] for row in connection.execute("SELECT reply FROM model_cache ORDER BY created_at")]


def open_setting(folder: Path) -> Setting:
    """A new index in the folder, with one profile."""
    database = Database.open(folder / "index.db")
    with database.write() as connection:
        profile_no = ensure_profile(connection, "default", NOON)
    return Setting(database, profile_no)


def settled(
    setting: Setting, server: ChatServer, road: Callable[[], Road], work: Callable[[Road], Awaitable[Any]]
) -> Any:
    """What the work came to; afterwards the server has seen exactly what the ledger holds, all of it settled."""

    async def run() -> Any:
        open_road = road()
        try:
            return await work(open_road)
        finally:
            await open_road.close()

    try:
        result = asyncio.run(run())
    except RecallError as error:
        result = error
    server.wait_until_idle()
    assert len(server.requests) == len(setting.rows())
    assert all(state != "charged" for state, _ in setting.rows())
    return result


async def all_of(asked: Iterable[Any]) -> list[Any]:
    """What each came to, values and exceptions alike."""
    return await asyncio.gather(*asked, return_exceptions=True)


async def until(condition: Callable[[], bool]) -> None:
    """Let the loop run until the condition holds; a test that waits for what never comes fails after 20 s."""
    async with asyncio.timeout(20):
        while not condition():  # noqa: ASYNC110 - what is waited for has no event
            await asyncio.sleep(0.005)
