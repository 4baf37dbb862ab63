"""Reading a labelled set: conversations, recorded replies, topics and questions of one person's folder.

The reader of the sources is a minimal one, for sets in the version-3 JSONL form; a benchmark of the product's own
reading goes through `recall.hosts`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from recall.models.request import ShownEntry
from recall.types import Role

_ROLES: dict[str, Role] = {"user": "user", "assistant": "assistant", "toolResult": "tool"}


@dataclass(frozen=True, slots=True)
class Labelled:
    """One conversation of a labelled set."""

    conversation_id: str
    name: str
    started_at: str
    entries: tuple[ShownEntry, ...]

    def texts(self) -> dict[str, str]:
        return {entry.entry_id: entry.text for entry in self.entries}


def conversations(folder: Path) -> list[Labelled]:
    """The conversations of a set, oldest first."""
    found = [_conversation(path) for path in sorted((folder / "sources").glob("*.jsonl"))]
    return sorted(found, key=lambda one: (one.started_at, one.conversation_id))


def records(path: Path) -> list[dict[str, Any]]:
    """The objects of a JSONL file; none if there is no such file."""
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line.strip()]


def recorded(folder: Path) -> dict[str, dict[str, Any]]:
    """Recorded replies of an analysis, by conversation."""
    return {record["conversation"]: record for record in records(folder / "curation.jsonl")}


def gold_topics(folder: Path) -> dict[tuple[str, str], frozenset[str]]:
    """The topics of each (conversation, entry)."""
    path = folder / "topics.json"
    labels: dict[tuple[str, str], set[str]] = {}
    for topic in json.loads(path.read_text(encoding="utf-8")) if path.exists() else ():
        for member in topic["members"]:
            for entry in member["entries"]:
                labels.setdefault((member["conversation"], entry), set()).add(topic["topic"])
    return {key: frozenset(names) for key, names in labels.items()}


def cited(facet: Mapping[str, Any]) -> set[str]:
    """The entries that a facet cites, in evidence or findings."""
    return {item["entry_id"] for item in (*facet["evidence"], *facet["findings"])}


def _conversation(path: Path) -> Labelled:
    lines = records(path)
    header = next(line for line in lines if line.get("type") == "session")
    return Labelled(header["id"], path.stem, header["timestamp"], tuple(_entries(lines)))


def _entries(lines: list[dict[str, Any]]) -> Iterator[ShownEntry]:
    for number, line in enumerate(lines, start=1):
        message = line.get("message") or {}
        role = _ROLES.get(message.get("role", ""))
        if line.get("type") != "message" or role is None:
            continue
        yield ShownEntry(
            line.get("id") or f"L{number}",
            role,
            _text(message.get("content")),
            at=_time(line.get("timestamp")),
            tool=message.get("toolName"),
        )


def _text(content: object) -> str:
    if isinstance(content, str):
        return content
    blocks = content if isinstance(content, list) else []
    return "\n".join(block.get("text", "") for block in blocks if block.get("type") == "text")


def _time(value: object) -> int | None:
    return int(datetime.fromisoformat(value).timestamp() * 1000) if isinstance(value, str) else None
