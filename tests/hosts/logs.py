"""Small logs for the tests of the readers, written line by line, and one way to read them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from recall.hosts.reading import open_log
from recall.types import Entry, Mark, Outline, SourceRef
from tests.shared import ROOT, SHARED

FIXTURES = ROOT / "fixtures" / "logs"
CASES = SHARED / "cases" / "inputs"
T0 = 1_772_442_000_000  # 2026-03-02T09:00:00Z
HEADER: dict[str, object] = {
    "type": "session",
    "version": 3,
    "id": "5e551011-0000-4000-8000-000000000001",
    "timestamp": "2026-03-02T09:00:00.000Z",
    "cwd": "/srv/demo",
}


class Plain:
    """A redactor that finds nothing and copies nothing."""

    def text(self, text: str, *, at: str) -> str:
        return text

    def tree(self, value: object, *, at: str) -> object:
        return value


@dataclass(frozen=True)
class Log:
    """A log that was read to its end."""

    entries: list[Entry]
    outline: Outline

    def __getitem__(self, entry_id: str) -> Entry:
        return next(entry for entry in self.entries if entry.entry_id == entry_id)

    def marks(self, entry_id: str) -> frozenset[Mark]:
        return self.outline.marks[self[entry_id].seq]

    @property
    def ids(self) -> list[str]:
        return [entry.entry_id for entry in self.entries]

    @property
    def texts(self) -> list[str]:
        return [entry.text for entry in self.entries]

    def warnings(self) -> list[tuple[str, int]]:
        return [(warning.code, warning.line) for warning in self.outline.warnings]


def read(
    path: Path, *, prefix_bytes: int | None = None, host: str = "pi", sidechain: bool = False, name: str | None = None
) -> Log:
    """Read a log to its end."""
    with open_log(SourceRef(host, str(path), sidechain, conversation=name), Plain(), prefix_bytes=prefix_bytes) as log:
        entries = list(log.entries())
        return Log(entries, log.outline())


def line(record: object) -> bytes:
    """A record as JavaScript writes it."""
    return json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass") + b"\n"


def said(
    entry_id: str | None, parent: str | None, text: str = "hello", role: str = "user", **more: object
) -> dict[str, object]:
    """A message entry. Without an id it is one of version 1."""
    record: dict[str, object] = {"type": "message"}
    if entry_id is not None:
        record |= {"id": entry_id, "parentId": parent}
    content: object = text if role == "user" else [{"type": "text", "text": text}]
    return record | {"timestamp": "2026-03-02T09:01:00.000Z", "message": {"role": role, "content": content}} | more


def message(**fields: object) -> dict[str, object]:
    """The one message entry `m1` with this body."""
    return {"type": "message", "id": "m1", "parentId": None, "timestamp": "2026-03-02T09:01:00.000Z", "message": fields}


def entry(kind: str, **fields: object) -> dict[str, object]:
    """The one entry `m1` of another type."""
    return {"type": kind, "id": "m1", "parentId": None, "timestamp": "2026-03-02T09:01:00.000Z", **fields}


def slot(title: str) -> bytes:
    """OMP's title slot: 256 bytes with its LF."""
    record = {"type": "title", "v": 1, "title": title, "updatedAt": "2026-03-02T09:00:05.000Z", "pad": ""}
    record["pad"] = " " * (256 - len(line(record)))
    return line(record)


def write(path: Path, *records: object, header: dict[str, object] | None = HEADER) -> Path:
    """A log of a header and records; bytes are written as they are."""
    parts = [] if header is None else [line(header)]
    parts += [record if isinstance(record, bytes) else line(record) for record in records]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(parts))
    return path
