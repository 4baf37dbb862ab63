"""The whole product in one process against a real local server: commands in, JSON out, requests and ledger beside.

Every command goes through `cli.main`, as a user's does, with `--json`; so each answer is also held to the contract's
shape. litellm is imported once for all tests of this folder.
"""

from __future__ import annotations

import io
import json
import shutil
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from benchmarks.servers.chat_server import ChatServer, Responder, Seen
from benchmarks.servers.replies import answer
from recall.surfaces.cli import main
from tests.indexing import shapes
from tests.shared import ROOT

DEMO = ROOT / "fixtures" / "demo" / "home"
PI_FOLDER = ".pi/agent/sessions/--srv-lantern--"
CWD = "/srv/lantern-keepers"
T0 = 1_788_354_000_000


@dataclass(frozen=True)
class Ran:
    """What one command came to."""

    code: int
    answer: dict[str, Any]
    progress: list[dict[str, Any]]
    stdout: str
    stderr: str

    @property
    def error(self) -> dict[str, Any]:
        """The error, of a command that ended with one."""
        return dict(self.answer["error"])

    @property
    def failed(self) -> list[dict[str, Any]]:
        return list(self.answer["failed"])


def ran(*words: str | Path) -> Ran:
    """One command with --json; its answer satisfies the contract."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = main([*map(str, words), "--json"])
    assert "Traceback" not in err.getvalue(), err.getvalue()
    document = json.loads(out.getvalue())
    progress = [json.loads(line) for line in err.getvalue().splitlines()]
    shapes.check([str(word) for word in words], code, document, progress)
    return Ran(code, document, progress, out.getvalue(), err.getvalue())


@contextmanager
def at_server(home: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Product]:
    """The product set up for a server on this machine that answers validly, with room enough in every cap."""
    with ChatServer(responder=answer) as server:
        made = Product(home, folder / "data" / "index.db", server, monkeypatch)
        made.set(
            db=str(made.database), model="openai/local", api_base=server.url, batch_calls="500", daily_calls="2000"
        )
        made.set(repair="never")  # tests of repair ask for it
        monkeypatch.setenv("OPENAI_API_KEY", "local-key")
        yield made


def without_litellm_warnings(items: Iterable[pytest.Item], folder: Path) -> None:
    """What litellm's import and its models warn of is not ours; everything else stays an error."""
    for item in items:
        if folder in item.path.parents:
            item.add_marker(
                pytest.mark.filterwarnings("ignore:Accessing the .* attribute on the instance is deprecated")
            )


@dataclass
class Product:
    """A home folder, an index, a server, and the commands."""

    home: Path
    database: Path
    server: ChatServer
    monkeypatch: pytest.MonkeyPatch
    printed: list[str] = field(default_factory=list)

    def set(self, **settings: str) -> None:
        """Settings by their short names: `batch_calls="3"`."""
        for name, value in settings.items():
            self.monkeypatch.setenv(f"HISTORY_RECALL_{name.upper()}", value)

    def unset(self, name: str) -> None:
        self.monkeypatch.delenv(f"HISTORY_RECALL_{name.upper()}", raising=False)

    def run(self, *words: str | Path) -> Ran:
        """One command with --json; its answer satisfies the contract."""
        done = ran(*words)
        self.printed += [done.stdout, done.stderr]
        return done

    def done(self, *words: str | Path) -> dict[str, Any]:
        """The answer of a command that has to succeed."""
        ran = self.run(*words)
        assert ran.code == 0, ran.answer
        return ran.answer

    def rows(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        """What stands in the index, read beside the product; nothing where there is none yet."""
        if not self.database.exists():
            return []
        with closing(sqlite3.connect(f"file:{self.database}?mode=ro", uri=True)) as connection:
            return [tuple(row) for row in connection.execute(sql, values)]

    def ledger(self) -> list[tuple[str, str, str | None]]:
        """(kind, state, code) of each request."""
        return [(r[0], r[1], r[2]) for r in self.rows("SELECT kind, state, code FROM ledger ORDER BY call_no")]

    def seen(self, since: int = 0) -> tuple[Seen, ...]:
        return self.server.requests[since:]

    def sent_since(self, since: int = 0) -> str:
        """All text of the requests since then."""
        return "\n".join(text_of(request) for request in self.seen(since))

    def body(self, number: int) -> str:
        """One request's body, in a form that can be compared."""
        return json.dumps(self.seen()[number].body, sort_keys=True)

    def answers(self, responder: Responder) -> None:
        """From now on the server answers like this."""
        self.server.responder = responder

    def refuses(self, *forms: str) -> None:
        """From now on the server does not know these forms of `response_format`."""
        self.server.refuses = frozenset(forms)

    def add(self, log: Log, name: str) -> Path:
        """A log in Pi's own folder."""
        path = self.home / PI_FOLDER / f"2026-09-02T13-05-00-000Z_{name}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(log.bytes())
        return path

    def demo(self) -> list[Path]:
        """The demo's conversations in the home folder, in the order of their names."""
        shutil.copytree(DEMO, self.home, dirs_exist_ok=True)
        return sorted(self.home.rglob("*.jsonl"))

    def everything_written(self) -> bytes:
        """Every byte of the index's folder, and all that was printed."""
        files = [path.read_bytes() for path in self.database.parent.iterdir() if path.is_file()]
        return b"\n".join([*files, "\n".join(self.printed).encode()])


def text_of(request: Seen) -> str:
    """What a model reads of a request."""
    messages: Sequence[Mapping[str, str]] = request.body["messages"]  # type: ignore[assignment]
    return "\n".join(message["content"] for message in messages)


@dataclass
class Log:
    """A Pi log under construction."""

    identity: str
    cwd: str = CWD
    records: list[dict[str, Any]] = field(default_factory=list)
    last: str | None = None

    def bytes(self) -> bytes:
        head = {"type": "session", "version": 3, "id": self.identity, "timestamp": _iso(0), "cwd": self.cwd}
        lines = [head, *self.records]
        return b"".join(json.dumps(line, ensure_ascii=False).encode() + b"\n" for line in lines)

    def user(self, text: str, *, after: str | None = "") -> str:
        return self._message({"role": "user", "content": [{"type": "text", "text": text}]}, after)

    def assistant(self, text: str, *, after: str | None = "") -> str:
        return self._message(_assistant([{"type": "text", "text": text}]), after)

    def calls(self, name: str, arguments: object) -> str:
        """The assistant calls a tool."""
        call = {"type": "toolCall", "id": f"call_{len(self.records)}", "name": name, "arguments": arguments}
        return self._message(_assistant([call]), "")

    def result(self, name: str, text: str, *, error: bool = False) -> str:
        content = [{"type": "text", "text": text}]
        message = {"role": "toolResult", "toolCallId": "call", "toolName": name, "content": content, "isError": error}
        return self._message(message, "")

    def titled(self, title: str) -> str:
        return self._record({"type": "session_info", "name": title}, "")

    def talk(self, turns: Iterable[tuple[str, str]]) -> Log:
        for asked, answered in turns:
            self.user(asked)
            self.assistant(answered)
        return self

    def _message(self, message: dict[str, Any], after: str | None) -> str:
        return self._record({"type": "message", "message": message | {"timestamp": T0}}, after)

    def _record(self, record: dict[str, Any], after: str | None) -> str:
        identity = f"{self.identity[:4]}{len(self.records):04x}"
        parent = self.last if after == "" else after
        head = {"type": record.pop("type"), "id": identity, "parentId": parent, "timestamp": _iso(len(self.records))}
        self.records.append(head | record)
        self.last = identity
        return identity


def short(identity: str, subject: str) -> Log:
    """A conversation of a few lines."""
    return Log(identity).talk(
        [
            (f"Why does the {subject} stall at dawn?", f"The {subject} stalls because its queue is never drained."),
            (f"Drain the {subject} queue then.", f"Done: the {subject} queue is drained and the checks passed."),
        ]
    )


def long(identity: str, turns: int, size: int = 2500, first: int = 0) -> Log:
    """A conversation of many chunks. Each turn has a word of its own."""
    return Log(identity).talk(turn(number, size) for number in range(first, first + turns))


def turn(number: int, size: int = 2500) -> tuple[str, str]:
    """A question and an answer of about `size` characters with words that no other turn has."""
    word = marker(number)
    filler = " ".join(f"{word} line {place} of the report;" for place in range(size // 30))
    return f"Question {number} about {word}?", f"Answer {number} on {word}: {filler} end of {word}."


def marker(number: int) -> str:
    """The word of a turn."""
    syllables = ("ba", "ke", "di", "lo", "mu", "na", "pe", "ri", "so", "tu")
    return "zq" + "".join(syllables[int(digit)] for digit in f"{number:03}")


def append(path: Path, log: Log, turns: Iterable[tuple[str, str]]) -> None:
    """Add turns to a log on disk, as a host does: at its end."""
    before = len(log.bytes())
    log.talk(turns)
    with path.open("ab") as file:
        file.write(log.bytes()[before:])


def _assistant(content: list[dict[str, Any]]) -> dict[str, Any]:
    return {"role": "assistant", "content": content, "provider": "stub", "model": "stub-1", "stopReason": "stop"}


def _iso(minutes: int) -> str:
    return f"2026-09-02T{13 + minutes // 60 % 10:02}:{minutes % 60:02}:00.000Z"
