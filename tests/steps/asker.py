"""A road for these tests: the schema, the validator, one re-ask, and a cache, without a database or a model."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar, cast

from recall.chunk import Chunk
from recall.errors import ModelError
from recall.hashing import canonical_json, sha256_text
from recall.models.replies import InvalidReply, read_object
from recall.models.request import AnalysisTask, ModelRequest, PlacementTask, ReduceTask
from recall.types import Entry, Mark, Position, Role

T = TypeVar("T")
Answer = Mapping[str, object] | Exception
Script = Callable[[ModelRequest, str | None], Answer]


class Asker:
    """Answers by a function of the request and the complaint about the last reply, if there was one."""

    width = 32

    def __init__(self, script: Script) -> None:
        self.script = script
        self.sent: list[ModelRequest] = []
        self.complaints: list[str] = []
        self.kept: dict[tuple[str, str, str], str] = {}
        self.started = self.ended = 0

    async def ask(self, request: ModelRequest, validate: Callable[[object], T], *, source: str | None = None) -> T:
        key = (request.kind, request.prompt.fingerprint, request.content)
        if key in self.kept:
            try:
                return validate(json.loads(self.kept[key]))
            except InvalidReply:
                del self.kept[key]
        complaint: str | None = None
        for _ in range(2):
            self.started += 1
            await asyncio.sleep(0)
            self.sent.append(request)
            answer = self.script(request, complaint)
            self.ended += 1
            if isinstance(answer, Exception):
                raise answer
            text = json.dumps(answer)
            try:
                value = validate(read_object(text, request.prompt.schema))
            except InvalidReply as error:
                complaint = error.message
                self.complaints.append(complaint)
                continue
            self.kept[key] = text
            return value
        raise ModelError("invalid_model_output", complaint or "")

    @property
    def kinds(self) -> list[str]:
        return [request.kind for request in self.sent]


@dataclass(frozen=True)
class Bytes:
    """A model without a token counter."""

    limit: int

    def measure(self, text: str) -> int:
        return len(text.encode())


class Log:
    """A conversation in memory, as `steps.material` wants it."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        self.entries = {entry.seq: entry for entry in entries}

    @classmethod
    def of(cls, *said: str | tuple[str, str]) -> Log:
        """Entries e0, e1, ... in a row; a pair is (role, text)."""
        pairs = [one if isinstance(one, tuple) else ("user", one) for one in said]
        return cls(
            [
                entry(seq, role=cast("Role", role), text=text, parent=f"e{seq - 1}" if seq else None)
                for seq, (role, text) in enumerate(pairs)
            ]
        )

    def skeleton(self) -> list[tuple[int, str, str | None, str, str, int]]:
        return [
            (e.seq, e.entry_id, e.parent_id, e.role, " ".join(sorted(e.marks)), len(e.text))
            for e in self.entries.values()
        ]

    def entry(self, seq: int) -> Entry:
        return self.entries[seq]

    def text_of(self, entry_id: str) -> tuple[str, str] | None:
        for one in self.entries.values():
            if one.entry_id == entry_id:
                return one.text, one.sha256
        return None


def entry(
    seq: int,
    *,
    role: Role = "user",
    text: str = "",
    parent: str | None = None,
    entry_id: str | None = None,
    marks: frozenset[Mark] = frozenset({"active"}),
    tool: str | None = None,
    turn: str | None = None,
) -> Entry:
    return Entry(
        seq=seq,
        entry_id=entry_id or f"e{seq}",
        parent_id=parent,
        position=Position(seq + 1, 0, 0),
        sha256=sha256_text(text),
        kind="message",
        role=role,
        at=1_700_000_000_000 + seq * 60_000,
        text=text,
        tool=tool,
        marks=marks,
        turn=turn,
    )


def facet(title: str, *cited: tuple[str, str], findings: Sequence[tuple[str, str, str, str]] = ()) -> dict[str, object]:
    """A facet in a reply; a finding is (statement, status, entry id, quote)."""
    return {
        "title": title,
        "description": f"About {title}.",
        "aliases": [f"{title} alias"],
        "evidence": [{"entry_id": entry_id, "quote": quote} for entry_id, quote in cited],
        "findings": [
            {"statement": statement, "status": status, "entry_id": entry_id, "quote": quote}
            for statement, status, entry_id, quote in findings
        ],
    }


def reply(*facets: Mapping[str, object], summary: str = "What happened.") -> dict[str, object]:
    return {"summary": summary, "facets": list(facets)}


def size(request: ModelRequest) -> int:
    """The bytes of a request: instructions, content and schema."""
    return len((request.prompt.instructions + request.content + canonical_json(request.prompt.schema)).encode())


def chunk_of(request: ModelRequest) -> Chunk:
    assert isinstance(request.task, AnalysisTask)
    return request.task.entries


def parts_of(request: ModelRequest) -> tuple[Mapping[str, object], ...]:
    assert isinstance(request.task, ReduceTask)
    return request.task.parts


def page_of(request: ModelRequest) -> PlacementTask:
    assert isinstance(request.task, PlacementTask)
    return request.task
