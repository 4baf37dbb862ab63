"""B053 as a whole kind: where the text index was overwritten or emptied, no search acts as if nothing were there."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from recall.errors import StateError
from recall.index import fulltext, soundness
from recall.searcher import SearchRequest, search
from tests.search.builder import PROFILE, Index

ROWS = 60
ZEROED = "SET block = zeroblob(length(block))"
_CUT = "CAST({} AS BLOB) WHERE id > 10"
DAMAGE = {
    "fts5": [
        f"UPDATE text_1_data {ZEROED} WHERE id > 10",
        f"UPDATE text_1_data {ZEROED} WHERE id = 10",  # the record of the segments
        f"UPDATE text_1_data {ZEROED} WHERE id = 1",  # the totals
        "DELETE FROM text_1_idx",
        "DELETE FROM text_1_docsize",
        f"UPDATE text_1_data SET block = {_CUT.format('substr(block, 1, 60) || zeroblob(length(block) - 60)')}",
        f"UPDATE text_1_data SET block = {_CUT.format('zeroblob(60) || substr(block, 61)')}",
        f"UPDATE curated_1_data {ZEROED} WHERE id > 10",
        f"UPDATE curated_1_data {ZEROED} WHERE id = 10",
    ],
    "fts4": [
        "DELETE FROM text_1_segdir",
        "DELETE FROM text_1_segdir WHERE idx = 0",
        "UPDATE text_1_segdir SET root = zeroblob(length(root))",
        f"UPDATE text_1_segments {ZEROED}",
        "DELETE FROM text_1_segments",
        "DELETE FROM text_1_docsize",
        "DELETE FROM curated_1_segdir",
        "UPDATE curated_1_segdir SET root = zeroblob(length(root))",
    ],
}
EVERY = [(engine, statement) for engine, statements in DAMAGE.items() for statement in statements]


def _filled(index: Index) -> None:
    """Several segments of several pages each."""
    for c in range(4):
        tails = [" ".join(f"w{i * 7 + j * 13 + c * 1000}q" for j in range(30)) for i in range(ROWS)]
        texts = [f"heron own{c}x{i} 目录漂移 {tail}" for i, tail in enumerate(tails)]
        number = index.conversation(texts, name=f"c{c}")
        index.facet(number, f"marsh{c} birds", ["e1"], description=f"what zebra{c} told of the heron")


def _damage(index: Index, statement: str, *values: object) -> None:
    with index.database.write() as connection:
        assert connection.execute(statement, values).rowcount, "the damage has to be one"
    index.database.close()
    index.database = type(index.database).open(index.path)


def _asked(index: Index, *queries: str) -> tuple[set[str], str]:
    answer: Any = search(index.database, PROFILE, SearchRequest(queries, mode="keyword"))
    found = {entry["entry_id"] for one in answer["conversations"] for entry in one["entries"]}
    return found, answer["message"]


QUESTIONS: tuple[tuple[str, set[str]], ...] = (
    ("own2x7", {"e7"}),
    ("what of own1x9?", {"e9"}),
    ('"heron own3x5"', {"e5"}),
    ("漂移", set()),
)


@pytest.fixture
def filled(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Index]:
    made = Index(tmp_path / "index.db", request.param)
    _filled(made)
    yield made
    made.database.close()


@pytest.mark.parametrize(("filled", "statement"), EVERY, indirect=["filled"])
def test_damage_is_told_and_the_words_are_found_in_the_stored_text(filled: Index, statement: str) -> None:
    _damage(filled, statement)
    for query, expected in QUESTIONS:
        found, message = _asked(filled, query)
        assert found, (query, message)
        assert expected <= found
        assert "damaged" in message, query
        assert "doctor --rebuild-text-index" in message
    with filled.database.write() as connection:
        fulltext.rebuild(connection, filled.number)
    assert _asked(filled, "own2x7") == ({"e7"}, "")


@pytest.mark.parametrize("filled", ["fts5"], indirect=True)
def test_every_single_page_overwritten_with_zeros_is_told_or_not_needed(filled: Index) -> None:
    words = [f"own{c}x{i}" for c in range(4) for i in range(0, ROWS, 9)]
    pages = [row[0] for row in filled.database.staging().execute("SELECT id FROM text_1_data WHERE id > 10")]
    assert len(pages) > 12
    kept = {row[0]: row[1] for row in filled.database.staging().execute("SELECT id, block FROM text_1_data")}
    told = 0
    for page in pages:
        _damage(filled, f"UPDATE text_1_data {ZEROED} WHERE id = ?", page)
        for word in words:
            found, message = _asked(filled, word)
            assert f"e{word.split('x')[1]}" in found, (page, word, message)
            told += "damaged" in message
        _damage(filled, "UPDATE text_1_data SET block = ? WHERE id = ?", kept[page], page)
    assert told


@pytest.mark.parametrize("filled", ["fts5"], indirect=True)
def test_a_list_of_pages_that_is_gone_shows_in_the_status(filled: Index) -> None:
    with filled.database.read() as connection:
        assert fulltext.look(connection, filled.number) == []
    _damage(filled, "DELETE FROM text_1_idx")
    with filled.database.read() as connection:
        assert any("damaged" in said for said in fulltext.look(connection, filled.number))
    with filled.database.write() as connection:
        assert any("damaged" in said for said in fulltext.check(connection, filled.number))


def test_what_is_healthy_is_not_called_damaged(index: Index) -> None:
    """Neither while a merge of segments has not ended, nor emptied, nor where the label of a call is cut."""
    for c in range(40):
        label = f"[{'x' * 140} call, attempted] " * (c % 3)
        index.conversation([f"{label}heron own{c}x{i} 目录 {c * i}" for i in range(25)] + ["%", " "], name=f"c{c}")
        if c % 5 == 0:
            for query in (f"own{c}x7", "heron", "目录", "nothing-of-this-kind", '"own1x1 目录"'):
                assert "damaged" not in _asked(index, query)[1], (c, query)
    with index.database.write() as connection:
        numbers = [row[0] for row in connection.execute("SELECT entry_no FROM entries WHERE text <> ''")]
        fulltext.remove_entries(connection, index.number, numbers)
        connection.execute("DELETE FROM entries")
    assert "damaged" not in _asked(index, "own1x1")[1]


def test_the_look_costs_a_search_next_to_nothing(one: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    for c in range(20):
        one.conversation([f"heron own{c}x{i} pond reed {c} {i} weir {c * i}" for i in range(100)], name=f"c{c}")
    spent = 0.0
    real = soundness.problem

    def timed(*given: Any, **named: Any) -> str | None:
        nonlocal spent
        begun = time.perf_counter()
        said = real(*given, **named)
        spent += time.perf_counter() - begun
        return said

    monkeypatch.setattr(soundness, "problem", timed)
    queries = [f"heron at the pond and the weir {n}" for n in range(20)]
    assert all(_asked(one, query)[0] for query in queries[:2])
    spent, begun = 0.0, time.perf_counter()
    for query in queries:
        _asked(one, query)
    assert 0 < spent < 0.15 * (time.perf_counter() - begun)


def _leaves(index: Index, table: str) -> list[int]:
    """The pages that hold the rows of a table, in the order of the rows, read from the file itself."""
    index.database.close()
    with sqlite3.connect(index.path) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        size = connection.execute("PRAGMA page_size").fetchone()[0]
        root = connection.execute("SELECT rootpage FROM sqlite_schema WHERE name = ?", (table,)).fetchone()[0]
    connection.close()
    raw = index.path.read_bytes()
    leaves: list[int] = []

    def walk(number: int) -> None:
        page = raw[(number - 1) * size : number * size]
        if page[0] == 13:
            leaves.append(number)
            return
        assert page[0] == 5, "a page of a table's tree"
        cells = int.from_bytes(page[3:5], "big")
        for n in range(cells):
            at = int.from_bytes(page[12 + 2 * n : 14 + 2 * n], "big")
            walk(int.from_bytes(page[at : at + 4], "big"))
        walk(int.from_bytes(page[8:12], "big"))

    walk(root)
    return leaves


def _misdirect(index: Index, table: str, onto: int, other: int) -> None:
    """Overwrite one page of a table with another sound one of it, as a misdirected write does."""
    leaves = _leaves(index, table)
    size = 4096
    raw = bytearray(index.path.read_bytes())
    at, source = (leaves[n] - 1 for n in (onto, other))
    raw[at * size : (at + 1) * size] = raw[source * size : (source + 1) * size]
    index.path.write_bytes(raw)
    index.database = type(index.database).open(index.path)


def _said(index: Index, query: str) -> str:
    """The message of the answer, or of the error where SQLite finds the damage on the way through the stored text."""
    try:
        return _asked(index, query)[1]
    except StateError as error:
        return str(error)  # its code is index_damaged, which the caller looks for


@pytest.mark.parametrize("filled", ["fts5", "fts4"], indirect=True)
@pytest.mark.parametrize("query", ["{}", '"{}"', "heron {}", '"heron {}"'])
def test_an_entry_whose_page_was_overwritten_is_missed_and_not_called_nothing(filled: Index, query: str) -> None:
    _misdirect(filled, "entries", 5, 20)
    words = [f"own{c}x{i}" for c in range(4) for i in range(ROWS)]
    with filled.database.read() as connection:
        there = {
            word
            for (n, word) in enumerate(words, 1)
            if connection.execute("SELECT 1 FROM entries WHERE entry_no = ?", (n,)).fetchone()
        }
    lost = [word for word in words if word not in there]
    assert 0 < len(lost) < 20
    for word in (lost[0], lost[-1]):
        said = _said(filled, query.format(word))
        assert "damaged" in said
        assert "index-all" in said
    # What drew no lost row is answered as ever; nor is a row lost that a filter keeps out.
    assert _asked(filled, words[-1]) == ({f"e{ROWS - 1}"}, "")
    answer: Any = search(filled.database, PROFILE, SearchRequest((words[-1],), mode="keyword", roles=("assistant",)))
    assert "damaged" not in answer["message"]


def test_a_conversation_whose_page_was_overwritten_is_told(one: Index) -> None:
    for c in range(60):
        one.conversation([f"heron own{c}x0"], name=f"c{c}", summary="a long summary " * 30)
    _misdirect(one, "conversations", 2, 6)
    told = [c for c in range(60) if "damaged" in _said(one, f"own{c}x0")]
    assert 0 < len(told) < 20
