"""A home folder with logs, an index, and product processes on it; and what is to be seen of the index from outside."""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import time
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from recall import doctor, settings, status
from recall.index.database import Database
from recall.settings import Settings
from tests.process import forks
from tests.process.forks import Child
from tests.shared import ROOT

FOLDER = ".pi/agent/sessions/--srv-demo--"
PATIENCE = 120.0  # for a machine under load; nothing waits so long where all is well
T0 = 1_772_442_000_000  # 2026-03-02T09:00:00Z


@dataclass(frozen=True)
class Ran:
    """What one process came to."""

    code: int
    out: str
    err: str

    @property
    def answer(self) -> dict[str, Any]:
        return dict(json.loads(self.out))

    @property
    def error(self) -> dict[str, Any]:
        return dict(self.answer["error"])


@dataclass
class World:
    """One home folder. `model`: `offline`, or anything else for the scripted provider of the driver."""

    home: Path
    model: str = "openai/scripted"
    variables: dict[str, str] = field(default_factory=dict)

    @property
    def folder(self) -> Path:
        return self.home / FOLDER

    @property
    def database(self) -> Path:
        return Path(self.variables.get("HISTORY_RECALL_DB", self.home / ".local/share/history-recall/index.db"))

    @property
    def environment(self) -> dict[str, str]:
        own = {
            "HOME": str(self.home),
            "PATH": os.environ.get("PATH", ""),
            "PYTHONPATH": str(ROOT),
            "HISTORY_RECALL_MODEL": self.model,
            "HISTORY_RECALL_API_BASE": "http://127.0.0.1:9/v1",
            "HISTORY_RECALL_BATCH_SESSIONS": "1000",
            "HISTORY_RECALL_BATCH_CALLS": "100000",
            "HISTORY_RECALL_DAILY_CALLS": "100000",
        }
        return own | self.variables

    @property
    def settings(self) -> Settings:
        return settings.load(self.environment)

    def start(self, *words: str | Path, **spec: Any) -> Child:
        """A product process, with what is to happen in it (see the driver)."""
        return forks.start(self.environment, [*map(str, words), "--json"], spec)

    def run(self, *words: str | Path, **spec: Any) -> Ran:
        return ended(self.start(*words, **spec))

    def done(self, *words: str | Path, **spec: Any) -> dict[str, Any]:
        """The answer of a command that has to succeed."""
        ran = self.run(*words, **spec)
        assert ran.code == 0, (ran.code, ran.out[-2000:], ran.err[-2000:])
        return ran.answer

    def rows(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        return rows(self.database, sql, *values)

    def look(self) -> dict[str, Any]:
        """The `status` answer, in this process."""
        found: dict[str, Any] = with_index(self, lambda database: status.status(self.settings, database))
        return found

    def found(self, word: str) -> set[str]:
        """The host's ids of the conversations in which a word is found."""
        answer = self.done("search", word)
        return {one["host_conversation_id"] for one in answer["conversations"]}

    def log(self, name: str, turns: list[str], *, identity: str | None = None) -> Path:
        """A Pi log of alternating turns, the user's first."""
        path = self.folder / f"{name}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(lines(identity or f"5e551011-{name}", turns)), encoding="utf-8")
        return path


def lines(identity: str, turns: list[str]) -> list[str]:
    """The records of a log."""
    head = {
        "type": "session",
        "version": 3,
        "id": identity,
        "timestamp": "2026-03-02T09:00:00.000Z",
        "cwd": "/srv/demo",
    }
    mine = hashlib.sha256(identity.encode()).hexdigest()[:4]
    return [json.dumps(head) + "\n", *(turn(number, text, mine) for number, text in enumerate(turns, start=1))]


def turn(number: int, text: str, mine: str = "ca00") -> str:
    """One record; odd ones are the user's. `mine`: how the ids of a log begin."""
    message = {"role": "user" if number % 2 else "assistant", "content": [{"type": "text", "text": text}]}
    parent = f"{mine}{number - 1:04x}" if number > 1 else None
    record = {
        "type": "message",
        "id": f"{mine}{number:04x}",
        "parentId": parent,
        "timestamp": f"2026-03-02T{9 + number // 3600:02d}:{number // 60 % 60:02d}:{number % 60:02d}.000Z",
        "message": message,
    }
    return json.dumps(record) + "\n"


def ended(process: Child) -> Ran:
    """The process at its end."""
    until(lambda: process.code is not None)
    return Ran(process.code or 0, process.out, process.err)


def until(condition: Callable[[], bool], process: Child | None = None) -> None:
    """Wait for something that has to come; a process that ends first is a failure."""
    give_up = time.monotonic() + PATIENCE
    while not condition():
        assert process is None or process.code is None, ended(process)
        assert time.monotonic() < give_up
        time.sleep(0.01)


def rows(database: Path, sql: str, *values: object) -> list[tuple[Any, ...]]:
    """What stands in the index, read beside the product."""
    with closing(sqlite3.connect(database, timeout=30)) as connection:
        return [tuple(row) for row in connection.execute(sql, values)]


def with_index(world: World, work: Callable[[Database], Any]) -> Any:
    database = Database.open_for_reading(world.database)
    try:
        return work(database)
    finally:
        database.close()


_CONVERSATIONS = """
SELECT conversation_id, host, host_conversation_id, source, parent, sidechain, title, cwd, started_at, last_active_at,
       content_sha256, content_bytes, size, rules_version, reader_version, model, extractive, summary, facts, cuts,
       warnings, redactions
FROM conversations WHERE conversation_no = ?
"""
_PARTS = {
    "entries": """SELECT seq, entry_id, parent_id, line, offset, length, sha256, kind, role, tool, at, turn, marks,
                         chars, text
                  FROM entries WHERE conversation_no = ? ORDER BY seq""",
    "placeholders": "SELECT location, number FROM placeholders WHERE conversation_no = ? ORDER BY location",
    "facets": """SELECT f.ordinal, f.facet_id, f.title, f.description, f.aliases, t.title, m.reason
                 FROM facets f LEFT JOIN memberships m USING (facet_no) LEFT JOIN topics t USING (topic_no)
                 WHERE f.conversation_no = ? ORDER BY f.ordinal""",
    "evidence": """SELECT f.ordinal, e.ordinal, e.entry_id, e.sha256, e.quote, e.start, e.length
                   FROM evidence e JOIN facets f USING (facet_no)
                   WHERE f.conversation_no = ? ORDER BY f.ordinal, e.ordinal""",
    "findings": """SELECT f.ordinal, n.ordinal, n.statement, n.status, n.entry_id, n.sha256, n.quote, n.start, n.length
                   FROM findings n JOIN facets f USING (facet_no)
                   WHERE f.conversation_no = ? ORDER BY f.ordinal, n.ordinal""",
    "curated": """SELECT kind, text FROM curated_texts WHERE conversation_no = ? ORDER BY kind, text""",
}
_TOPICS = """
SELECT t.title, t.description, t.aliases, t.extractive, t.state, t.version,
       (SELECT count(*) FROM memberships m WHERE m.topic_no = t.topic_no),
       (SELECT group_concat(kind, ' ') FROM
           (SELECT kind FROM topic_events v WHERE v.topic_no = t.topic_no ORDER BY event_no)),
       (SELECT text FROM curated_texts c WHERE c.kind = 'topic' AND c.owner_no = t.topic_no)
FROM topics t ORDER BY t.title, t.state, t.description
"""

Visible = Mapping[str, Any]


def visible(world: World) -> dict[str, Visible]:
    """Everything that an answer could show, by conversation and under `topics`; no random ids and no times of runs."""
    if not world.database.exists():
        return {"topics": {}}
    seen: dict[str, Visible] = {"topics": {"topics": world.rows(_TOPICS)}}
    for number, identity in world.rows("SELECT conversation_no, host_conversation_id FROM conversations"):
        parts = {name: world.rows(sql, number) for name, sql in _PARTS.items()}
        seen[identity] = {"conversation": world.rows(_CONVERSATIONS, number)} | parts
    return seen


_DANGLING = {
    "a conversation without entries": """SELECT conversation_id FROM conversations c WHERE NOT EXISTS
        (SELECT 1 FROM entries e WHERE e.conversation_no = c.conversation_no)""",
    "a facet without evidence": """SELECT title FROM facets f WHERE NOT EXISTS
        (SELECT 1 FROM evidence e WHERE e.facet_no = f.facet_no)""",
    "a facet without a topic": """SELECT title FROM facets f WHERE NOT EXISTS
        (SELECT 1 FROM memberships m JOIN topics t USING (topic_no)
         WHERE m.facet_no = f.facet_no AND t.state = 'live')""",
    "a live topic without a member": """SELECT title FROM topics t WHERE state = 'live' AND NOT EXISTS
        (SELECT 1 FROM memberships m WHERE m.topic_no = t.topic_no)""",
    "evidence without its entry": """SELECT v.entry_id FROM evidence v JOIN facets f USING (facet_no) WHERE NOT EXISTS
        (SELECT 1 FROM entries e WHERE e.conversation_no = f.conversation_no AND e.entry_id = v.entry_id
         AND e.sha256 = v.sha256)""",
}


def assert_sound(world: World) -> None:
    """Nothing is half visible and every check of the product's own holds."""
    if not world.database.exists():
        return
    report = with_index(world, lambda database: doctor.doctor(world.settings, database, deep=True))
    assert report["ok"], report
    assert world.look()["text_index"]["healthy"]
    for what, sql in _DANGLING.items():
        assert world.rows(sql) == [], what


def bytes_of(path: Path) -> tuple[bytes, int] | None:
    """Contents and time of a file, or None."""
    return (path.read_bytes(), path.stat().st_mtime_ns) if path.exists() else None
