"""The profiles of labelled sets: found in a folder, indexed through the product, and asked.

A folder with `queries.jsonl` and `sources/` is one profile; the folder around it names its set. Each profile is indexed
into an index of its own, in a temporary folder.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from benchmarks import labelled
from benchmarks.recorded import RecordedModel
from recall import settings, sources
from recall.index.database import Database
from recall.indexer import index_all
from recall.run import Run
from recall.surfaces.session import Session

NAME = "default"
RECORDED = "recorded/replies"  # the model's name in the settings; nothing is sent anywhere
Entry = tuple[str, str]
"""(the host's id of a conversation, entry id)"""


@dataclass(frozen=True, slots=True)
class Question:
    """One question with the entries that answer it; `stale`: answers that were overtaken. No gold: nothing answers."""

    number: str
    text: str
    category: str
    gold: frozenset[Entry]
    stale: frozenset[Entry]


@dataclass(frozen=True, slots=True)
class Profile:
    """One folder of a set."""

    set_name: str
    folder: Path

    @property
    def name(self) -> str:
        return f"{self.set_name}/{self.folder.name}"

    @property
    def curated(self) -> bool:
        """Whether a strong model's analysis was recorded."""
        return (self.folder / "curation.jsonl").exists()

    @property
    def rewritten(self) -> bool:
        """Whether a strong model's rewrites were recorded."""
        return (self.folder / "rewrites.jsonl").exists()

    def questions(self) -> list[Question]:
        records = labelled.records(self.folder / "queries.jsonl")
        return [
            Question(
                str(one["id"]), one["query"], one["category"], _entries(one["gold"]), _entries(one.get("stale") or ())
            )
            for one in records
        ]


def _entries(items: Any) -> frozenset[Entry]:
    return frozenset((item["conversation"], item["entry"]) for item in items)


def found_in(folder: Path) -> list[Profile]:
    """Every profile in a folder, or the folder itself, by set and name."""
    folder = folder.resolve()
    homes = sorted(path.parent for path in folder.rglob("queries.jsonl"))
    return [Profile(home.parent.name, home) for home in homes if (home / "sources").is_dir()]


@contextlib.contextmanager
def indexed(profile: Profile, *, recorded: bool) -> Iterator[Run]:
    """A run over the profile's index, made by the built-in analyser or with the recorded replies."""
    with tempfile.TemporaryDirectory() as home:
        environment = {"HOME": home, "HISTORY_RECALL_DB": str(Path(home) / "index.db")}
        if recorded:
            environment["HISTORY_RECALL_MODEL"] = RECORDED
        session = Session(settings.load(environment))
        try:
            run = session.run()
            if recorded:
                model = RecordedModel(profile.folder)
                run = replace(run, choose=lambda _settings, _database: model)
            sources.add(run, str(_as_left(profile.folder / "sources", Path(home) / "sources")))
            report = index_all(run, sessions=100_000, calls=1_000_000)
            if report["failed"] or report["aborted"]:
                raise RuntimeError(f"{profile.name} could not be indexed: {report['failed'] or report['aborted']}")
            yield run
        finally:
            session.close()


def _as_left(folder: Path, copies: Path) -> Path:
    """The sources as a program left them, each file of the time of its last record: this is the order of indexing."""
    copies.mkdir()
    for path in folder.glob("*.jsonl"):
        copy = copies / path.name
        copy.write_bytes(path.read_bytes())
        times = [record.get("timestamp") for record in labelled.records(path)]
        ended = max(datetime.fromisoformat(time) for time in times if isinstance(time, str)).timestamp()
        os.utime(copy, (ended, ended))
    return copies


def entry_names(database: Database) -> dict[int, Entry]:
    """Every entry by its number in the index."""
    with database.read() as connection:
        rows = connection.execute(
            "SELECT e.entry_no, c.host_conversation_id, e.entry_id"
            " FROM entries AS e JOIN conversations AS c USING (conversation_no)"
        )
        return {row[0]: (row[1], row[2]) for row in rows}
