"""An index of an invented history, written by the product's own staging and publication.

What is left out is what comes before staging: reading a log, redacting and analysing it. None of that reaches the
index but through the values made here. A conversation gets two facets with findings, as an analysis would give it,
and its facets join one of some topics. Conversations are committed some at a time: a commit each would measure
the disk's flushes.
"""

from __future__ import annotations

import itertools
import sqlite3
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from benchmarks.scale_corpus import Talk, talks
from recall.hashing import derived_id, sha256_text
from recall.hosts.reading import reader_version
from recall.index import frequencies, publish
from recall.index.database import Database, ensure_profile
from recall.index.staging import Staging
from recall.redact import RULES_VERSION
from recall.types import (
    Analysis,
    Draft,
    Entry,
    Evidence,
    Facet,
    Facts,
    Finding,
    Fingerprint,
    Header,
    Outline,
    Placed,
    Placement,
    Position,
    SourceRef,
)

PROFILE = "default"
_TOPICS = 150
_COMMIT = 50  # conversations


@dataclass(frozen=True, slots=True)
class Built:
    """What was built: the entries' text in bytes of UTF-8, the text index's tables in bytes, the time it took."""

    entries: int
    text_bytes: int
    index_bytes: int
    seconds: float

    def as_json(self) -> dict[str, float]:
        return {
            "MB_per_s": round(self.text_bytes / 1e6 / self.seconds, 2),
            "index_ratio": round(self.index_bytes / self.text_bytes, 3),
            "text_MB": round(self.text_bytes / 1e6, 1),
            "seconds": round(self.seconds, 1),
        }


def build(path: Path, entries: int) -> Built:
    """Make the index file. The time is that of staging, publishing and merging, without inventing the text."""
    database = Database.open(path)
    seconds = 0.0
    try:
        with database.write() as connection:
            number = ensure_profile(connection, PROFILE, 0)
        topics: list[str] = []
        history = talks(entries)
        while batch := list(itertools.islice(history, _COMMIT)):
            begun = time.perf_counter()
            _publish(database, number, batch, topics)
            seconds += time.perf_counter() - begun
        begun = time.perf_counter()
        frequencies.renew(database, number)  # as at the end of a run that indexed
        seconds += time.perf_counter() - begun
        with database.read() as connection:
            text_bytes = connection.execute("SELECT sum(length(CAST(text AS BLOB))) FROM entries").fetchone()[0]
            return Built(entries, text_bytes, index_bytes(connection, number), seconds)
    finally:
        database.close()


def index_bytes(connection: sqlite3.Connection, profile_no: int) -> int:
    """The bytes of both layers of the text index: what FTS5 keeps, and the curated texts, which stand nowhere else."""
    total = 0
    for table in (f"text_{profile_no}", f"curated_{profile_no}"):
        total += connection.execute(f"SELECT sum(length(block)) FROM {table}_data").fetchone()[0]
        total += connection.execute(f"SELECT sum(length(sz)) FROM {table}_docsize").fetchone()[0]
        total += connection.execute(f"SELECT sum(length(term)) FROM {table}_idx").fetchone()[0] or 0
    curated = connection.execute("SELECT sum(length(CAST(text AS BLOB))) FROM curated_texts").fetchone()[0]
    return int(total) + int(curated)


def _publish(database: Database, profile_no: int, batch: list[Talk], topics: list[str]) -> None:
    """Stage and publish conversations: staging is a TEMP table of one source, so each is published before the next."""
    for talk in batch:
        entries = list(_entries(talk))
        staging = Staging(database.staging())
        for _ in staging.fill(iter(entries)):
            pass
        staging.mark([frozenset({"active"}) for _ in entries])
        with database.write() as connection:
            published = publish.publish(connection, _publication(profile_no, talk, entries, topics))
        topics += published.topics["created"]


def _entries(talk: Talk) -> Iterator[Entry]:
    offset = 0
    for seq, turn in enumerate(talk.turns):
        size = len(turn.text.encode())
        yield Entry(
            seq=seq,
            entry_id=f"{seq:08x}",
            parent_id=f"{seq - 1:08x}" if seq else None,
            position=Position(seq + 2, offset, size),
            sha256=sha256_text(f"{talk.name}/{seq}/{turn.text}"),
            kind="message",
            role=turn.role,
            at=turn.at,
            text=turn.text,
        )
        offset += size + 1


def _publication(profile_no: int, talk: Talk, entries: list[Entry], topics: list[str]) -> publish.Publication:
    facets = _facets(talk, entries)
    fresh = len(topics) < _TOPICS
    draft = (Draft(talk.title, facets[0].description, ()),) if fresh else ()
    topic = None if fresh else topics[int(talk.name.rpartition("-")[2]) % len(topics)]
    placed = tuple(Placed(at, topic, 0 if fresh else None, "the same words") for at in range(len(facets)))
    return publish.Publication(
        profile_no=profile_no,
        conversation_id=derived_id("c", PROFILE, talk.name),
        source=SourceRef("pi", f"/nowhere/{talk.name}.jsonl"),
        outline=_outline(talk, entries),
        analysis=Analysis(facets[0].description, facets, extractive=False, model="offline"),
        placed_facets=tuple(range(len(facets))),
        placement=Placement(placed, draft, {}),
        placeholders={},
        redactions={},
        rules_version=RULES_VERSION,
        reader_version=reader_version("pi"),
        now=talk.turns[-1].at,
    )


def _facets(talk: Talk, entries: list[Entry]) -> tuple[Facet, ...]:
    """Two scopes of a conversation, in words of the entries that they cite."""
    half = max(1, len(entries) // 2)
    made: list[Facet] = []
    for part in (entries[:half], entries[half:] or entries):
        cited = [part[0], part[len(part) // 2], part[-1]]
        title, about, *said = (" ".join(entry.text.split()[:8])[:80] for entry in (*cited, cited[0]))
        evidence = tuple(Evidence(e.entry_id, e.sha256, e.text[:40], 0, len(e.text[:40])) for e in cited)
        findings = tuple(Finding(f"{word}.", "found", proof) for word, proof in zip(said, evidence, strict=False))
        made.append(Facet(f"{title} ({len(made)})", f"{talk.title}: {about}", (said[0][:30],), evidence, findings))
    return tuple(made)


def _outline(talk: Talk, entries: list[Entry]) -> Outline:
    roles: Mapping[str, int] = {}
    first, last = talk.turns[0].at, talk.turns[-1].at
    facts = Facts(len(entries), roles, {"active": len(entries)}, 1, (), first, last, {}, graph_damaged=False)
    size = sum(entry.position.length + 1 for entry in entries)
    print_ = Fingerprint(sha256_text(talk.name), size, size, 0, 0, 0)
    header = Header("pi", talk.name, 3, first, "/home/dev/work", talk.title)
    return Outline(header, tuple(frozenset({"active"}) for _ in entries), facts, print_, ())
