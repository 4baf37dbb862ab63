"""Reading a labelled set: conversations, recorded replies, topics and questions of one person's folder.

Sources are read by the product's own reader of version-3 logs, so that ids, marks and redaction are those of the index.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from recall.hosts.reading import open_log
from recall.models.request import ShownEntry
from recall.redact import Redactor
from recall.types import Mark, SourceRef

ABANDONED: Mark = "abandoned_branch"
_NOT_SHOWN: frozenset[Mark] = frozenset({"meta", "synthetic"})


@dataclass(frozen=True, slots=True)
class Labelled:
    """One conversation of a labelled set."""

    conversation_id: str
    name: str
    started_at: int
    entries: tuple[ShownEntry, ...]

    def texts(self) -> dict[str, str]:
        return {entry.entry_id: entry.text for entry in self.entries}


def conversations(folder: Path) -> list[Labelled]:
    """The conversations of a set, oldest first."""
    found = [read(path) for path in sorted((folder / "sources").glob("*.jsonl"))]
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


def read(path: Path, host: str = "pi") -> Labelled:
    """One log as the product reads it: redacted, marks known, entries without text left out."""
    with open_log(SourceRef(host, str(path)), Redactor()) as log:
        entries = list(log.entries())
        outline = log.outline()
    shown = tuple(
        ShownEntry(entry.entry_id, entry.role, entry.text, abandoned=ABANDONED in marks, at=entry.at, tool=entry.tool)
        for entry, marks in zip(entries, outline.marks, strict=True)
        if entry.text.strip() and not marks & _NOT_SHOWN
    )
    header = outline.header
    return Labelled(header.host_conversation_id, path.stem, header.started_at or 0, shown)
