"""The product with a model that analyses and places as the logs say, and a child by script.

The model stands behind a server on this machine, so that every request goes through litellm and a streamed reply over
a real socket. Where a test makes hundreds of turns it may be a model in this process (`near`) instead.

A user entry of a log is one facet: its first line is the title, a line `into: TITLE` names the topic that placement
chooses (by title; where there is none, a new one), a line `near: TITLE` a candidate that it does not choose. So wrong
memberships, duplicates and mixtures are planted by writing logs, and everything runs through the commands.
"""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, cast

import pytest

from benchmarks.servers import replies
from benchmarks.servers.chat_server import ChatServer, Turn
from benchmarks.servers.chat_server import ToolCall as Called
from recall.models.request import AnalysisTask, ModelReply, ModelRequest, PlacementTask
from recall.models.scripted import Answer, ScriptedChild
from recall.models.turns import ToolCall, ToolSpec, TurnRequest
from tests.indexing.product import CWD, PI_FOLDER, Log, Ran, ran
from tests.repair.child import Child
from tests.shared import ROOT

Policy = Callable[[TurnRequest], str | Turn | Sequence[ToolCall]]


class Planned:
    """Analysis and placement by what the logs say, in this process."""

    name = "offline"

    def answer(self, request: ModelRequest) -> str:
        task = request.task
        if isinstance(task, AnalysisTask):
            return _analysed([(entry.entry_id, entry.text) for entry in task.entries])
        assert isinstance(task, PlacementTask)
        topics = {card.title: card.topic_id for card in task.page}
        return _placed({n: facet.description for n, facet in enumerate(task.facets, start=1)}, topics)

    def turn(self, request: TurnRequest) -> ModelReply:
        raise AssertionError("no child was expected to run")


def planned(body: Mapping[str, Any]) -> str:
    """The same, of a request as a server gets it."""
    if replies.step(body) not in ("analysis", "shortlist", "placement"):
        return replies.answer(body)
    blocks = replies.shown(body)
    if replies.step(body) == "analysis":
        return _analysed([(block.name, block.text) for block in blocks])
    cards = [(block.head.startswith("topic_id "), block.name, json.loads(block.text)) for block in blocks]
    topics = {card["title"]: name for is_topic, name, card in cards if is_topic}
    facets = {int(name): card["description"] for is_topic, name, card in cards if not is_topic}
    if replies.step(body) == "placement":
        return _placed(facets, topics)
    close = {n: [_named(text, "into:"), _named(text, "near:")] for n, text in facets.items()}
    listed = {n: [topics[name] for name in names if name in topics] for n, names in close.items()}
    return json.dumps({"facets": [{"facet": n, "candidates": ids} for n, ids in listed.items()]})


def _analysed(entries: Sequence[tuple[str, str]]) -> str:
    return json.dumps({"summary": "planned", "facets": [_facet(*entry) for entry in entries][:5]})


def _placed(facets: Mapping[int, str], topics: Mapping[str, str]) -> str:
    return json.dumps({"facets": [_place(number, text, topics) for number, text in facets.items()]})


def _facet(entry_id: str, text: str) -> dict[str, Any]:
    title = text.split("\n", 1)[0]
    return {
        "title": title[:100],
        "description": " ".join(text.split())[:500],
        "aliases": [],
        "evidence": [{"entry_id": entry_id, "quote": title}],
        "findings": [],
    }


def _place(number: int, description: str, topics: Mapping[str, str]) -> dict[str, Any]:
    into = _named(description, "into:")
    near = [topics[name] for name in (_named(description, "near:"),) if name in topics]
    topic = topics.get(into)
    return {
        "facet": number,
        "topic_id": topic,
        "draft": None if topic else number,
        "candidates": [one for one in near if one != topic],
        "reason": "as the log says",
    }


def _named(description: str, mark: str) -> str:
    return description.split(mark, 1)[1].split(";", 1)[0].strip() if mark in description else ""


class World:
    """A home folder, an index, and the commands. `server`: where the model is; without one it is in this process."""

    def __init__(
        self, home: Path, folder: Path, monkeypatch: pytest.MonkeyPatch, server: ChatServer | None = None
    ) -> None:
        self.home = home
        self.database = folder / "data" / "index.db"
        self.monkeypatch = monkeypatch
        self.server = server
        self.logs: dict[str, Path] = {}
        self._children: dict[str, Policy | None] = {}
        self.set(db=str(self.database), repair="never")
        self.set(batch_sessions="99", batch_calls="9999", daily_calls="9999")
        if server is not None:
            server.responder = self._respond
            self.set(api_base=server.url)
            monkeypatch.setenv("OPENAI_API_KEY", "local-key")
        self.child(None)

    def set(self, **settings: str) -> None:
        for name, value in settings.items():
            self.monkeypatch.setenv(f"HISTORY_RECALL_{name.upper()}", value)

    def child(self, child: Policy | Child | None, model: str = "scripted") -> None:
        """From now on this is the child; None: none is expected. Two models are two names."""
        policy = child.turn if isinstance(child, Child) else child
        if self.server is not None:
            self._children[model] = policy
            self.set(model=f"openai/{model}")
            return
        base = Planned()
        near = ScriptedChild(cast("Callable[[TurnRequest], Answer]", policy), base) if policy is not None else base
        self.monkeypatch.setattr("recall.roads.choose_model", lambda settings, database=None: near)

    def turns(self) -> int:
        """How many turns of a child the server was asked for."""
        assert self.server is not None
        return sum(bool(request.body.get("tools")) for request in self.server.requests)

    def _respond(self, body: Mapping[str, Any]) -> Turn | str:
        if not body.get("tools"):
            return planned(body)
        policy = self._children[body["model"]]
        assert policy is not None, "no child was expected to run"
        tools = [tool["function"] for tool in body["tools"]]
        specs = tuple(ToolSpec(one["name"], one["description"], one["parameters"]) for one in tools)
        instructions = str(body["messages"][0]["content"])
        made = policy(TurnRequest(instructions, tuple(body["messages"][1:]), specs, ""))
        if isinstance(made, Turn):
            return made
        if isinstance(made, str):
            return Turn(text=made)
        return Turn("tools", finish="tool_calls", calls=tuple(Called(c.name, c.arguments, c.call_id) for c in made))

    def log(self, name: str, *facets: str, into: str | None = None) -> Path:
        """A conversation with one entry for each facet."""
        log = Log(f"{len(self.logs):04x}{name}", CWD)
        for facet in facets:
            title, _, rest = facet.partition("\n")
            log.user(facet if into is None else f"{title}\ninto: {into};\n{rest}".strip())
        path = self.home / PI_FOLDER / f"2026-09-02T13-05-00-000Z_{name}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(log.bytes())
        self.logs[name] = path
        return path

    def run(self, *words: str | Path) -> Ran:
        return ran(*words)

    def done(self, *words: str | Path) -> dict[str, Any]:
        ran = self.run(*words)
        assert ran.code == 0, ran.answer
        return ran.answer

    def beside(self, *words: str | Path) -> dict[str, Any]:
        """The same in another process, which has to succeed, while a command of this one is under way."""
        made = subprocess.run(
            [sys.executable, "-m", "recall", *map(str, words), "--json"],
            cwd=ROOT,
            env=os.environ,
            capture_output=True,
            text=True,
            timeout=80,
        )
        assert made.returncode == 0, (made.stdout, made.stderr)
        return dict(json.loads(made.stdout))

    def index(self, name: str, *facets: str, into: str | None = None) -> dict[str, Any]:
        """Index a new conversation, which has to succeed; its entry of the answer."""
        answer = self.done("index", self.log(name, *facets, into=into))
        return dict(answer["completed"][0])

    def rows(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        with closing(sqlite3.connect(f"file:{self.database}?mode=ro", uri=True)) as connection:
            return [tuple(row) for row in connection.execute(sql, values)]

    def change(self, sql: str, *values: object) -> None:
        """Change the index behind the product's back."""
        with closing(sqlite3.connect(self.database)) as connection:
            connection.execute(sql, values)
            connection.commit()

    def topics(self) -> dict[str, list[str]]:
        """Live topics by title: the titles of their facets."""
        found: dict[str, list[str]] = {}
        for topic, facet in self.rows(
            """SELECT t.title, f.title FROM topics t LEFT JOIN memberships m USING (topic_no)
               LEFT JOIN facets f USING (facet_no) WHERE t.state = 'live' ORDER BY t.topic_no, f.facet_no"""
        ):
            found.setdefault(topic, []).append(facet)
        return found

    def topic_id(self, title: str) -> str:
        return str(self.rows("SELECT topic_id FROM topics WHERE title = ? ORDER BY topic_no LIMIT 1", title)[0][0])

    def facet_id(self, title: str) -> str:
        return str(self.rows("SELECT facet_id FROM facets WHERE title = ?", title)[0][0])

    def state(self) -> list[list[tuple[Any, ...]]]:
        """All that a reader could see of topics, to tell whether anything was published."""
        tables = ("conversations", "facets", "memberships", "topics", "topic_events", "receipts")
        return [self.rows(f"SELECT * FROM {table} ORDER BY 1") for table in tables]


def calls(*made: tuple[str, Mapping[str, Any]]) -> Sequence[ToolCall]:
    """Tool calls of one turn."""
    return [ToolCall(f"call_{n}", name, json.dumps(arguments)) for n, (name, arguments) in enumerate(made)]
