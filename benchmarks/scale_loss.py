"""What the plan of a query costs in answers: the same questions, ranked by it and with every entry that matches scored.

A question is made from an entry, which is its answer: words of one class that it holds, and one more that stands in a
turn beside it, as people remember more than one sentence says. R@10 is the share of questions whose entry is among the
first ten. `everything` draws each entry that holds any word of the question, and scores it as the product does; what
was written about entries is looked at in the same way by both. `same_first_ten`: the share of its first ten that the
plan has among its own. At a million entries such a question takes some ten seconds, so a class has few of them.
"""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from recall import query as querying
from recall.index import frequencies, layers
from recall.index.filters import Filters
from recall.query import Query
from recall.ranked import Ranked
from recall.ranking import fuse
from recall.searcher import rank
from recall.weights import WEIGHTS

SEED = 11
FIRST = 10  # places that count
_TRIED = 4000  # entries that questions are sought among
# Class -> the least and the most share of all entries that its words stand in, and how many of them a question takes
# of its entry; of the first class of a pair so many, of the second the others.
_WORDS: Mapping[str, Sequence[tuple[float, float, int]]] = {
    "rare": ((0.0, 0.0001, 1),),
    "medium": ((0.001, 0.005, 2),),
    "frequent": ((0.01, 0.05, 2),),
    "common": ((0.1, 1.0, 5),),
    "three-term mix": ((0.001, 0.005, 1), (0.01, 0.05, 1), (0.1, 1.0, 1)),
    "all-common": ((0.1, 1.0, 8),),
}


@dataclass(frozen=True, slots=True)
class Asked:
    """A question with the entry that answers it."""

    text: str
    entry_no: int


class _Everything(Ranked):
    """A query whose candidates are all entries that match."""

    def _drawn(self, queries: Iterable[Query]) -> list[int]:
        terms = list(dict.fromkeys(term for query in queries for term in query.terms))
        index = self._counts.index
        sql = f"SELECT rowid FROM {index.table} WHERE {index.table} MATCH ?"
        return [row[0] for row in self._connection.execute(sql, (index.engine.any_of(terms),))] if terms else []


def measure(connection: sqlite3.Connection, filters: Filters, number: int) -> dict[str, dict[str, float]]:
    """R@10 of the plan and of scoring everything, and what the first loses, by class; `number` questions of each."""
    asked = questions(connection, filters, number) if number else {}
    return {name: _compared(connection, filters, some) for name, some in asked.items()}


def _compared(connection: sqlite3.Connection, filters: Filters, asked: Sequence[Asked]) -> dict[str, float]:
    planned = [_first(connection, filters, one.text) for one in asked]
    all_scored = [_first_of_all(connection, filters, one.text) for one in asked]
    number = max(1, len(asked))
    plan, everything = (
        sum(one.entry_no in first for one, first in zip(asked, firsts, strict=True)) for firsts in (planned, all_scored)
    )
    pairs = zip(planned, all_scored, strict=True)
    same = sum(len({*one} & {*other}) / len(other) if other else 1.0 for one, other in pairs)
    return {
        "questions": len(asked),
        "R@10": round(plan / number, 3),
        "everything_R@10": round(everything / number, 3),
        "loss": round((everything - plan) / number, 3),
        "same_first_ten": round(same / number, 3),
    }


def _first(connection: sqlite3.Connection, filters: Filters, text: str) -> list[int]:
    return [hit.entry_no for hit in rank(connection, filters, [text])[:FIRST]]


def _first_of_all(connection: sqlite3.Connection, filters: Filters, text: str) -> list[int]:
    ranked = _Everything(connection, filters, querying.cut(text), WEIGHTS, lambda _: None).scores()
    hits = fuse([ranked], WEIGHTS.reciprocal).values()
    return [hit.entry_no for hit in sorted(hits, key=lambda hit: -hit.score)[:FIRST]]


def questions(connection: sqlite3.Connection, filters: Filters, number: int) -> dict[str, list[Asked]]:
    """The questions of each class, made from entries drawn at random."""
    chance = random.Random(SEED)
    index = layers.layer(connection, filters.profile_no, "text")
    last = frequencies.total(connection)
    made: dict[str, list[Asked]] = {name: [] for name in (*_WORDS, "CJK", "identifier")}
    for entry_no in (chance.randint(2, last) for _ in range(_TRIED)):
        if all(len(asked) >= number for asked in made.values()):
            break
        text, beside = _text(connection, entry_no), _text(connection, entry_no - 1)
        for name, asked in _about(chance, connection, index, last, text, beside):
            if len(made[name]) < number:
                made[name].append(Asked(asked, entry_no))
    return made


def _text(connection: sqlite3.Connection, entry_no: int) -> str:
    return str(connection.execute("SELECT text FROM entries WHERE entry_no = ?", (entry_no,)).fetchone()[0])


def _about(
    chance: random.Random, connection: sqlite3.Connection, index: layers.Layer, total: int, text: str, beside: str
) -> list[tuple[str, str]]:
    """(class, question) of an entry and the turn before it."""
    if not text.isascii():
        other = _runs(beside)
        if not other:
            return []
        run, more = chance.choice(_runs(text)), chance.choice(other)
        start = chance.randrange(0, len(run) - 3)
        return [("CJK", f"{run[start : start + 4]} {more[:2]}")]
    own, near = _words(text), [word for word in _words(beside) if word not in _words(text)]
    names = [word.strip(".") for word in text.split() if not word.strip(".").isalpha()]
    found = [("identifier", chance.choice(names))] if names else []
    shares = _shares(connection, index, total, [*own, *near])
    for name, parts in _WORDS.items():
        taken: list[str] = []
        for least, most, number in parts:
            fitting = [word for word in own if least <= shares[word] <= most]
            taken += chance.sample(fitting, number) if len(fitting) >= number else []
        least, most, _ = parts[-1]
        more_words = [word for word in near if least <= shares[word] <= most]
        if len(taken) == sum(number for _, _, number in parts) and more_words:
            found.append((name, " ".join([*taken, chance.choice(more_words)])))
    return found


def _runs(text: str) -> list[str]:
    return [run for run in text.strip("。").split("，") if len(run) > 4 and not run.isascii()]


def _words(text: str) -> list[str]:
    return list(dict.fromkeys(word.strip(".").lower() for word in text.split() if word.strip(".").isalpha()))


def _shares(connection: sqlite3.Connection, index: layers.Layer, total: int, words: Sequence[str]) -> dict[str, float]:
    terms = {word: querying.cut(word).terms[0] for word in words}
    found = frequencies.of_terms(connection, index, terms.values())
    return {word: found[term] / total for word, term in terms.items()}
