"""The text index: rows come and go cleanly, damage is seen, and a rebuild heals it."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from recall import segment
from recall.errors import StateError
from recall.index import fulltext
from recall.searcher import SearchRequest, search
from tests.search.builder import PROFILE, Index, Turn


def problems(index: Index) -> list[str]:
    with index.database.write() as connection:
        return fulltext.check(connection, index.number)


def ids(index: Index, query: str) -> list[str]:
    answer: Any = search(index.database, PROFILE, SearchRequest((query,)))
    return [entry["entry_id"] for conversation in answer["conversations"] for entry in conversation["entries"]]


def test_an_index_is_healthy_from_the_start(index: Index) -> None:
    assert problems(index) == []
    index.conversation(["heron", "", "苍鹭"])
    assert problems(index) == []


def test_the_engine_and_the_rules_are_recorded(index: Index) -> None:
    row = index.database.staging().execute("SELECT engine, segment_version FROM text_indexes").fetchone()
    assert tuple(row) == (index.engine, segment.SEGMENT_VERSION)


def test_removed_entries_leave_no_word_behind(index: Index) -> None:
    number = index.conversation([f"word{i} 苍鹭{i} heron" for i in range(40)])
    with index.database.write() as connection:
        numbers = [row[0] for row in connection.execute("SELECT entry_no FROM entries WHERE seq >= 10")]
        fulltext.remove_entries(connection, index.number, numbers)
        connection.execute("DELETE FROM entries WHERE seq >= 10 AND conversation_no = ?", (number,))
    assert problems(index) == []
    assert ids(index, "word3")
    assert ids(index, "word30") == []


def test_a_replaced_entry_is_found_by_its_new_words_only(index: Index) -> None:
    index.conversation(["the heron stands", "another"])
    with index.database.write() as connection:
        fulltext.remove_entries(connection, index.number, [1])
        connection.execute("UPDATE entries SET text = 'the egret stands', chars = 16 WHERE entry_no = 1")
        fulltext.add_entries(connection, index.number, [1])
    assert problems(index) == []
    assert ids(index, "heron") == []
    assert ids(index, "egret") == ["e0"]


def test_words_cut_before_the_transaction_are_taken(index: Index) -> None:
    number = index.conversation([])
    text = "update_session_cwd 目录"
    connection = index.database.staging()
    connection.execute("CREATE TEMP TABLE cut (seq INTEGER, body TEXT, whole TEXT)")
    connection.execute("INSERT INTO cut VALUES (0, ?, ?)", segment.both(text))
    with index.database.write() as connection:
        connection.execute(
            """INSERT INTO entries (conversation_no, seq, entry_id, line, offset, length, sha256, kind, role, marks,
                                    chars, text)
               VALUES (?, 0, 'e0', 1, 0, 0, '', 'message', 'user', 'active', 21, ?)""",
            (number, text),
        )
        fulltext.add_entries(connection, index.number, range(1, 2), staged="temp.cut")
    assert problems(index) == []
    assert ids(index, "session_cwd") == ["e0"]


def test_a_row_that_the_index_does_not_know_is_a_problem(index: Index) -> None:
    number = index.conversation(["heron"])
    with index.database.write() as connection:
        connection.execute(
            """INSERT INTO entries (conversation_no, seq, entry_id, line, offset, length, sha256, kind, role, marks,
                                    chars, text)
               VALUES (?, 9, 'x', 1, 0, 0, '', 'message', 'user', 'active', 5, 'egret')""",
            (number,),
        )
    assert problems(index)


def test_curated_text_follows_its_owner(index: Index) -> None:
    number = index.conversation(["alpha", "beta"])
    topic = index.topic("Quernstone", aliases=["quernwork"])
    facet = index.facet(number, "Counting wading birds", ["e1"], aliases=["curlew"], topic_no=topic)
    assert ids(index, "curlew") == ["e1"]
    assert ids(index, "quernstone") == ["e1"]
    with index.database.write() as connection:
        connection.execute("UPDATE topics SET title = 'Marsh notes'")
        connection.execute("UPDATE facets SET aliases = '[]' WHERE facet_no = ?", (facet,))
        fulltext.add_curated(connection, index.number, number)
    assert problems(index) == []
    assert ids(index, "curlew") == []
    assert ids(index, "quernstone") == []
    assert ids(index, "marsh") == ["e1"]
    with index.database.write() as connection:
        fulltext.remove_curated(connection, index.number, number)
        connection.execute("UPDATE topics SET state = 'retired'")
        fulltext.refresh_topics(connection, index.number)
        assert connection.execute("SELECT count(*) FROM curated_texts").fetchone()[0] == 0
    assert problems(index) == []


def test_an_index_of_other_rules_is_named(index: Index) -> None:
    index.conversation(["heron"])
    with index.database.write() as connection:
        connection.execute("UPDATE text_indexes SET segment_version = segment_version - 1")
    assert problems(index)
    with pytest.raises(StateError) as refused, index.database.write() as connection:
        fulltext.remove_entries(connection, index.number, [1])
    assert refused.value.code == "unsupported_index"
    with index.database.write() as connection:
        fulltext.rebuild(connection, index.number)
    assert problems(index) == []


DAMAGE = {
    "fts5": [
        "DELETE FROM text_1_data WHERE id > 10",
        "DELETE FROM text_1_data",
        "UPDATE text_1_data SET block = x'00112233445566778899' WHERE id > 10",
        "UPDATE text_1_data SET block = x'ff' WHERE id = 10",
        "DELETE FROM text_1_config",
    ],
    "fts4": [
        "DELETE FROM text_1_segdir",
        "UPDATE text_1_segdir SET root = x'00ff00ff00ff00ff'",
        "DELETE FROM text_1_stat",
    ],
}


@pytest.mark.parametrize("place", range(5))
def test_damage_is_seen_search_goes_on_and_a_rebuild_heals(index: Index, place: int) -> None:
    """B053: no traceback, a clear answer, and healthy again from the stored text."""
    if place >= len(DAMAGE[str(index.engine)]):
        pytest.skip("one more kind of damage is known for the other engine")
    index.conversation([f"heron number{i} 目录漂移" for i in range(50)])
    with index.database.write() as connection:
        connection.execute(DAMAGE[str(index.engine)][place])
    index.database.close()
    index.database = type(index.database).open(index.path)
    assert problems(index), "status has to say so"
    answer: Any = search(index.database, PROFILE, SearchRequest(("number7",)))
    assert isinstance(answer["message"], str)
    with index.database.write() as connection:
        fulltext.rebuild(connection, index.number)
    assert problems(index) == []
    assert ids(index, "number7")[0] == "e7"
    assert ids(index, "漂移")


def test_a_damaged_index_still_finds_words_in_the_stored_text(one: Index) -> None:
    one.conversation(["the heron stands", "the egret waits"])
    with one.database.write() as connection:
        connection.execute("UPDATE text_1_data SET block = x'00112233445566778899' WHERE id > 10")
    one.database.close()
    one.database = type(one.database).open(one.path)
    answer: Any = search(one.database, PROFILE, SearchRequest(("Heron stands",)))
    assert [e["entry_id"] for e in answer["conversations"][0]["entries"]] == ["e0"]
    assert answer["conversations"][0]["entries"][0]["found_by"] == ["literal"]
    assert "damaged" in answer["message"]
    assert "doctor --rebuild-text-index" in answer["message"]


NAMES = itertools.count()
MIXED = st.text(
    alphabet=st.one_of(
        st.sampled_from("abcXYZ019_-./:+#@ é目录漂移現かなカ한글ไทย🚀👍🏽→ \n'\"()*%^"), st.characters(codec="utf-8")
    ),
    max_size=60,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(texts=st.lists(MIXED, min_size=1, max_size=4), data=st.data())
def test_any_literal_token_is_found(index: Index, texts: list[str], data: st.DataObject) -> None:
    """Whatever stands between spaces, two characters or more, in any mixture of scripts."""
    texts = [text.replace("\x00", "") for text in texts]
    tokens = [(place, token) for place, text in enumerate(texts) for token in text.split() if len(token) >= 2]
    if not tokens:
        return
    name = f"made-{next(NAMES)}"
    index.conversation(texts, name)
    place, token = data.draw(st.sampled_from(tokens))
    if token.count('"') >= 2:
        token = token.replace('"', "")
    if not token:
        return
    answer: Any = search(index.database, PROFILE, SearchRequest((token,), conversation_id=name, limit=50))
    entries = [entry["entry_id"] for c in answer["conversations"] for entry in c["entries"]]
    assert f"e{place}" in entries, (token, texts)
    for conversation in answer["conversations"]:
        for entry in conversation["entries"]:
            text = texts[int(entry["entry_id"][1:])]
            assert text[entry["offset"] : entry["offset"] + entry["length"]] == entry["snippet"]


@given(at=st.integers(-(1 << 45), 1 << 45))
def test_months_rise_with_time(at: int) -> None:
    assert fulltext.month(at) <= fulltext.month(at + 86_400_000) <= fulltext.month(at) + 1


def test_marks_do_not_leak_into_searches(index: Index) -> None:
    index.conversation([Turn("plain words")])
    assert ids(index, "active") == []
    assert ids(index, "user") == []


def test_removing_after_the_fact_is_caught_by_the_check(one: Index) -> None:
    """The trap that the order of deleting avoids: a row that went first leaves its words behind."""
    one.conversation(["heron", "egret"])
    with one.database.write() as connection:
        connection.execute("DELETE FROM entries WHERE entry_no = 1")
        fulltext.remove_entries(connection, one.number, [1])
    assert problems(one)


def test_helpers_do_not_commit(index: Index) -> None:
    index.conversation(["heron"])
    connection = index.database.staging()
    connection.execute("BEGIN IMMEDIATE")
    fulltext.remove_entries(connection, index.number, [1])
    connection.execute("ROLLBACK")
    assert ids(index, "heron") == ["e0"]
