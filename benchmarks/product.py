"""The product and its provider as a benchmark uses them: the operations in this process, the server in its own."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from recall import settings
from recall.surfaces.commands import OPERATIONS
from recall.surfaces.session import Session

_ROOT = Path(__file__).resolve().parent.parent
_BY_NAME = {operation.name: operation for operation in OPERATIONS}


@dataclass(frozen=True, slots=True)
class Request:
    """One model request as the provider saw it. `open`: how many were under way when it arrived, itself included."""

    body: Mapping[str, Any]
    open: int

    @property
    def tools(self) -> tuple[str, ...]:
        """The names of the tools that it carries."""
        return tuple(tool["function"]["name"] for tool in self.body.get("tools") or ())

    @property
    def text(self) -> str:
        """All that a model reads of it."""
        return json.dumps([self.body["messages"], self.body.get("tools")], ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class Provider:
    """A server that runs."""

    url: str
    log: Path

    def requests(self) -> list[Request]:
        """What it has seen so far, in order of arrival."""
        if not self.log.exists():
            return []
        lines = self.log.read_text(encoding="utf-8").splitlines()
        return [Request(record["body"], record["open"]) for record in map(json.loads, lines)]


@contextmanager
def serving(log: Path, *options: str) -> Iterator[Provider]:
    """`benchmarks.servers.planted` with these options, in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.servers.planted", "--log", str(log), *options]
    with subprocess.Popen(command, cwd=_ROOT, stdout=subprocess.PIPE, text=True) as process:
        try:
            port = int(next(iter(process.stdout or ()), "0"))
            yield Provider(f"http://127.0.0.1:{port}/v1", log)
        finally:
            process.terminate()


class Product:
    """An index in a folder, and the operations on it. `settings`: by their short names, `batch_calls="3"`."""

    def __init__(self, home: Path, database: Path, provider: Provider | None = None, **changes: str) -> None:
        self.home = home
        self.database = database
        named = {"MODEL": "offline"} if provider is None else {"MODEL": "openai/planted", "API_BASE": provider.url}
        named |= {"DB": str(database)} | {name.upper(): value for name, value in changes.items()}
        environment = {"HOME": str(home)} | {f"HISTORY_RECALL_{name}": value for name, value in named.items()}
        self._session = Session(settings.load(environment))

    def __enter__(self) -> Product:
        return self

    def __exit__(self, *_: object) -> None:
        self._session.close()

    def do(self, operation: str, **arguments: object) -> dict[str, Any]:
        """The answer of one operation of the table. Raises RecallError."""
        return _BY_NAME[operation].run(self._session, arguments)

    def rows(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        """What stands in the index, read beside the product."""
        with closing(sqlite3.connect(f"file:{self.database}?mode=ro", uri=True)) as connection:
            return connection.execute(sql, values).fetchall()


def percentiles(seconds: Sequence[float]) -> dict[str, float]:
    """The middle and the slow end, in milliseconds."""
    ordered = sorted(seconds)
    at = {name: ordered[min(len(ordered) - 1, int(len(ordered) * share))] for name, share in _SHARES}
    return {name: round(1000 * value, 2) for name, value in at.items()}


_SHARES = (("p50_ms", 0.5), ("p95_ms", 0.95))
