"""What candidates hold is told exactly, whichever way it is looked up; what is drawn unscored is what scoring draws."""

from __future__ import annotations

import random
from collections.abc import Iterable

import pytest

from recall import query as querying
from recall import segment
from recall.index import frequencies, held, layers, matches, plan
from recall.index.frequencies import Counts
from recall.query import Term
from recall.searcher import default_filters, rank
from tests.search.builder import Index

ROWS = 400
ROLES = {"user": 1.0}
TERMS = (
    *(Term((word,)) for word in ("k0", "k1", "l0", "m3", "t3", "nowhere")),
    Term(("k0", "l0")),
    Term(("l0", "k0", "m0")),
    Term(("目",), prefix=True),
    Term(("目录",)),
)


def _texts() -> list[str]:
    chance = random.Random(6)
    words = [f"{letter}{number}" for number in range(4) for letter in "klmnpqrst"] + ["目录", "目前"]
    weights = [1 / (place + 1) for place in range(len(words))]
    return [" ".join(chance.choices(words, weights, k=chance.randint(2, 20))) for _ in range(ROWS)]


def _holds(text: str, term: Term) -> bool:
    words = segment.body(text).split()
    if term.prefix:
        return any(word.startswith(term.words[0]) for word in words)
    size = len(term.words)
    return any(tuple(words[at : at + size]) == term.words for at in range(len(words)))


@pytest.mark.parametrize(("seek", "near", "counted"), [(0, 0, 5000), (0, 40, 5000), (10**9, 40, 5000), (0, 2, 3)])
def test_each_way_to_look_up_tells_what_the_text_holds(
    index: Index, monkeypatch: pytest.MonkeyPatch, seek: int, near: int, counted: int
) -> None:
    """By spans one row wide, by wider ones, by walking, and where a phrase is too common to be kept."""
    monkeypatch.setattr(held, "WALKED", 0)
    monkeypatch.setattr(held, "SEEK", seek)
    monkeypatch.setattr(held, "NEAR", near)
    monkeypatch.setattr(frequencies, "COUNTED", counted)
    texts = _texts()
    for first in range(0, ROWS, 50):
        index.conversation(texts[first : first + 50], f"c{first}")
    among = sorted(random.Random(2).sample(range(1, ROWS + 1), 90))
    with index.database.read() as connection:
        counts = Counts(connection, layers.layer(connection, index.number, "text"))
        found = counts.of_terms(TERMS)
        holding = held.of_terms(counts, found, among)
        exact = {term: counts.of_term(term) for term in TERMS}
    for term in TERMS:
        rows = {number for number, text in enumerate(texts, 1) if _holds(text, term)}
        assert found[term] >= (min(len(rows), counted) if frequencies.is_compound(term) else len(rows)), term
        if not found[term]:
            assert term not in holding
            continue
        assert holding[term].rows == rows.intersection(among), term
        assert term.prefix or holding[term].total == len(rows), term
        assert exact[term] == (min(len(rows), counted) if frequencies.is_compound(term) else len(rows)), term
    assert holding[Term(("k0", "l0"))].rows, "a phrase that stands there"
    assert not found[Term(("nowhere",))]


def test_the_commonest_words_of_a_long_query_count_beside_a_rarer_one(
    one: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(held, "TOGETHER", 3)
    one.conversation(["heron", "egret heron", "egret", "stork egret", "heron stork", "heron"])
    heron, egret, stork = (Term((word,)) for word in ("heron", "egret", "stork"))
    with one.database.read() as connection:
        counts = Counts(connection, layers.layer(connection, one.number, "text"))
        holding = held.of_terms(counts, counts.of_terms([heron, egret, stork]), range(1, 7))
    assert holding[stork].rows == frozenset({4, 5}), "the rarest counts anywhere"
    assert holding[egret].rows == frozenset({4})
    assert holding[heron].rows == frozenset({5})
    assert (holding[egret].total, holding[heron].total) == (3, 4)


def test_a_phrase_of_common_words_is_counted_as_what_it_is(index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    index.conversation(["grey heron"] * 2 + ["heron grey"] * 40)
    with index.database.read() as connection:
        counts = Counts(connection, layers.layer(connection, index.number, "text"))
        phrase = Term(("grey", "heron"))
        assert counts.of_terms([phrase]) == {phrase: 42}, "as its rarest word"
        assert not counts.is_long(phrase)
        monkeypatch.setattr(frequencies, "LONG", 40)
        counts = Counts(connection, layers.layer(connection, index.number, "text"))
        assert counts.of_terms([phrase]) == {phrase: 2}
        assert counts.is_long(phrase)
        assert counts.rows(phrase) == frozenset({1, 2})


QUERIES = ("k0 q1 t3", "s3 t3 r3 k0", "k0-l0 m3", "t3", "p2 q2 r2 m1 k0", "目录 t2")


def _drawn(index: Index, *, scored: bool) -> list[set[int]]:
    filters = default_filters(index.number)
    with index.database.read() as connection:
        return [
            set(matches.of_entries(connection, filters, querying.cut(text), ROLES, scored=scored).scores)
            for text in QUERIES
        ]


@pytest.mark.parametrize("rows", [20, 60, 4000])
def test_candidates_without_scores_are_those_with(one: Index, monkeypatch: pytest.MonkeyPatch, rows: int) -> None:
    monkeypatch.setattr(plan, "ROWS", rows)
    one.conversation(_texts())
    assert _drawn(one, scored=False) == _drawn(one, scored=True)


def test_a_rare_phrase_of_very_common_words_is_drawn_unscored(one: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is among the candidates, however long the entry is and however many others hold its words."""
    monkeypatch.setattr(frequencies, "LONG", 20)
    for name, value in {"TOP": 2, "POOL": 10}.items():
        monkeypatch.setattr(matches, name, value)
    one.conversation([*_texts(), " ".join(["s0"] * 60 + ["k0 l0 m0 n0"] + ["t0"] * 60)])
    ranked: list[str] = []
    original = matches._Entries.ranked

    def seen(self: matches._Entries, match: str, first: int = 0, score: str | None = None) -> dict[int, float]:
        ranked.append(match)
        return original(self, match, first, score)

    monkeypatch.setattr(matches._Entries, "ranked", seen)
    with one.database.read() as connection:
        query = querying.cut("k0-l0-m0-n0")
        found = matches.of_entries(connection, default_filters(one.number), query, ROLES, scored=False)
    assert ROWS + 1 in found.scores
    assert ranked
    assert not any('"k0 l0 m0 n0"' in match for match in ranked)


def _pieces(index: Index, table: str) -> int:
    with index.database.read() as connection:
        record = connection.execute(f"SELECT block FROM {table}_data WHERE id = 10").fetchone()[0]
    return int(record[5])  # levels, then segments; both one byte for so few


def _ranked(index: Index, texts: Iterable[str]) -> list[list[tuple[int, float]]]:
    with index.database.read() as connection:
        return [
            [(hit.entry_no, hit.score) for hit in rank(connection, default_filters(index.number), [text])]
            for text in texts
        ]


def test_what_publications_left_is_merged_where_words_are_counted(one: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frequencies, "LEAST_ROWS", 10)
    texts = _texts()
    for first in range(0, ROWS, 130):
        number = one.conversation(texts[first : first + 130], f"c{first}")
        one.facet(number, f"About {first}", ["e1"])
    before = _ranked(one, QUERIES)
    assert min(_pieces(one, f"text_{one.number}"), _pieces(one, f"curated_{one.number}")) > 1
    frequencies.renew(one.database, one.number)
    assert _pieces(one, f"text_{one.number}") == _pieces(one, f"curated_{one.number}") == 1
    assert _ranked(one, QUERIES) == before


def test_an_index_of_the_other_engine_is_merged_too(index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frequencies, "LEAST_ROWS", 10)
    for number in range(4):
        index.conversation(_texts()[:30], f"c{number}")
    before = _ranked(index, QUERIES)
    frequencies.renew(index.database, index.number)
    assert _ranked(index, QUERIES) == before
    assert any(before)
