"""Questions to an invented history by how frequent their words are, and how long each takes, the plain way beside.

The words are drawn from the entries themselves and sorted into classes by the share of entries that hold them, which
the text index knows. Each question is asked some times and its fastest answer counts (other programs share the
machine); the percentiles are over the questions of a class.
"""

from __future__ import annotations

import random
import sqlite3
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass

from recall import query as querying
from recall.index import frequencies, fulltext_fts5, layers
from recall.index.filters import Filters

QUESTIONS = 40  # of a class
REPEATS = 3
SEED = 7
_SAMPLE = 4000  # entries that words are drawn from
_SHARES = {"rare": (0.0, 0.0001), "medium": (0.001, 0.005), "frequent": (0.01, 0.05), "common": (0.1, 1.0)}


@dataclass(frozen=True, slots=True)
class Times:
    """Milliseconds over the questions of a class; `cpu_…` of processor time."""

    p50: float
    p95: float
    p99: float
    cpu_p50: float
    cpu_p99: float

    def as_json(self) -> dict[str, float]:
        return asdict(self)


def questions(connection: sqlite3.Connection, filters: Filters, seed: int) -> dict[str, list[str]]:
    """The questions of each class."""
    chance = random.Random(seed)
    last = connection.execute("SELECT max(entry_no) FROM entries").fetchone()[0]
    drawn = [chance.randint(1, last) for _ in range(min(_SAMPLE, last))]
    texts = [
        connection.execute("SELECT text FROM entries WHERE entry_no = ?", (entry_no,)).fetchone()[0]
        for entry_no in drawn
    ]
    english = [text for text in texts if text.isascii()]
    by_share = _by_share(connection, filters, chance, english, last)
    runs = [part for text in texts if not text.isascii() for part in text.strip("。").split("，") if len(part) > 2]
    names = [word for text in english for word in text.split() if not word.strip(".").isalpha()]
    made = {name: _some(chance, words) for name, words in by_share.items()}
    made["three-term mix"] = [
        " ".join(words) for words in zip(made["rare"], made["medium"], made["common"], strict=False)
    ]
    made["all-common"] = [" ".join(chance.sample(by_share["common"], 3)) for _ in range(QUESTIONS)]
    made["CJK"] = [_pair(chance, run) for run in _some(chance, runs)]
    made["identifier"] = _some(chance, names)
    return made


def _by_share(
    connection: sqlite3.Connection, filters: Filters, chance: random.Random, texts: Sequence[str], total: int
) -> dict[str, list[str]]:
    words = sorted({word.strip(".").lower() for text in texts for word in text.split() if word.strip(".").isalpha()})
    chance.shuffle(words)
    index = layers.layer(connection, filters.profile_no, "text")
    found: dict[str, list[str]] = {name: [] for name in _SHARES}
    for word in words:
        term = querying.cut(word).terms[0]
        share = frequencies.of_terms(connection, index, [term])[term] / total
        for name, (least, most) in _SHARES.items():
            if least <= share <= most or (name == "rare" and share * total <= 5):
                found[name].append(word)
    return found


def _some(chance: random.Random, words: Sequence[str]) -> list[str]:
    return chance.sample(words, min(QUESTIONS, len(words)))


def _pair(chance: random.Random, run: str) -> str:
    start = chance.randrange(0, len(run) - 1)
    return run[start : start + 2]


def timed(asked: Sequence[str], answer: Callable[[str], object]) -> Times:
    """How long the answers take. Each question is asked once before it counts."""
    walls: list[float] = []
    processor: list[float] = []
    for question in asked:
        answer(question)
        runs = [_once(question, answer) for _ in range(REPEATS)]
        walls.append(min(wall for wall, _ in runs))
        processor.append(min(cpu for _, cpu in runs))
    shares = (0.5, 0.95, 0.99)
    return Times(*(_percentile(walls, share) for share in shares), *(_percentile(processor, s) for s in (0.5, 0.99)))


def _once(question: str, answer: Callable[[str], object]) -> tuple[float, float]:
    """(wall, processor) milliseconds of one answer."""
    wall, processor = time.perf_counter(), time.process_time()
    answer(question)
    return (time.perf_counter() - wall) * 1000, (time.process_time() - processor) * 1000


def _percentile(values: Sequence[float], share: float) -> float:
    return round(sorted(values)[min(len(values) - 1, int(len(values) * share))], 2)


def bare(connection: sqlite3.Connection, profile_no: int) -> Callable[[str], object]:
    """The plain way: every word of the question OR-ed and ranked by FTS5, twenty rows."""
    table = f"text_{profile_no}"
    sql = f"SELECT rowid FROM {table} WHERE {table} MATCH ? ORDER BY rank LIMIT 20"

    def answer(question: str) -> object:
        terms = querying.cut(question).terms
        return connection.execute(sql, (fulltext_fts5.any_of(terms),)).fetchall()

    return answer
