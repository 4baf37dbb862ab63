"""The product with a model in this process that analyses and places as the logs say, and a child by script.

A user entry of a log is one facet: its first line is the title, a line `into: TITLE` names the topic that placement
chooses (by title; where there is none, a new one), a line `near: TITLE` a candidate that it does not choose. So wrong
memberships, duplicates and mixtures are planted by writing logs, and everything runs through the commands.
"""

from __future__ import annotations

import io
import json
import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import pytest

from recall.models.request import AnalysisTask, ModelReply, ModelRequest, PlacementTask
from recall.models.scripted import Answer, ScriptedChild, ScriptedModel, SentRequest
from recall.models.turns import ToolCall, TurnRequest
from recall.surfaces.cli import main
from tests.indexing import shapes
from tests.indexing.product import CWD, PI_FOLDER, Log, Ran
from tests.repair.child import Child

Policy = Callable[[TurnRequest], Answer]


class Planned:
    """Analysis and placement by what the logs say."""

    name = "offline"

    def answer(self, request: ModelRequest) -> str:
        task = request.task
        if isinstance(task, AnalysisTask):
            return json.dumps({"summary": "planned", "facets": [_facet(e.entry_id, e.text) for e in task.entries][:5]})
        assert isinstance(task, PlacementTask)
        topics = {card.title: card.topic_id for card in task.page}
        return json.dumps({"facets": [_place(n, f.description, topics) for n, f in enumerate(task.facets, start=1)]})

    def turn(self, request: TurnRequest) -> ModelReply:
        raise AssertionError("no child was expected to run")


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
    """A home folder, an index, and the commands."""

    def __init__(self, home: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.home = home
        self.database = folder / "data" / "index.db"
        self.monkeypatch = monkeypatch
        self.logs: dict[str, Path] = {}
        self.set(db=str(self.database), repair="never")
        self.child(None)

    def set(self, **settings: str) -> None:
        for name, value in settings.items():
            self.monkeypatch.setenv(f"HISTORY_RECALL_{name.upper()}", value)

    def child(self, turns: Iterable[Answer] | Policy | Child | None) -> ScriptedChild | None:
        """From now on this is the child; None: none is expected."""
        base = Planned()
        script = turns.turn if isinstance(turns, Child) else turns
        model = ScriptedChild(script, base) if script is not None else base
        self.monkeypatch.setattr("recall.indexer.choose_model", lambda settings, database=None: model)
        return model if isinstance(model, ScriptedChild) else None

    def remote(self, child: Child) -> ScriptedModel:
        """From now on the model stands behind an endpoint on this machine, and `child` makes its turns."""

        def turn(sent: SentRequest) -> Answer:
            return child.turn(TurnRequest("", sent.messages[1:], sent.tools, ""))

        model = ScriptedModel(turn)
        self.set(model="openai/scripted", api_base="http://127.0.0.1:1/v1", batch_calls="99")
        self.monkeypatch.setattr("recall.indexer.choose_model", lambda settings, database=None: model)
        return model

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
        out, err = io.StringIO(), io.StringIO()
        with redirect_stdout(out), redirect_stderr(err):
            code = main([*map(str, words), "--json"])
        answer = json.loads(out.getvalue())
        progress = [json.loads(line) for line in err.getvalue().splitlines()]
        shapes.check([str(word) for word in words], code, answer, progress)
        return Ran(code, answer, progress, out.getvalue(), err.getvalue())

    def done(self, *words: str | Path) -> dict[str, Any]:
        ran = self.run(*words)
        assert ran.code == 0, ran.answer
        return ran.answer

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
