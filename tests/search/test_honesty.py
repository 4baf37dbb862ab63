"""What search does not show, and what it says where it shows nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from recall import settings, sources
from recall.browser import BrowseRequest, browse
from recall.errors import ArgumentError
from recall.index import held, layers
from recall.index.frequencies import Counts
from recall.indexer import index_all
from recall.query import Term
from recall.searcher import SearchRequest, search
from recall.surfaces.session import Session
from recall.timewindow import parse
from tests.search.builder import DAY, PROFILE, START, Index, Turn


def ask(index: Index, *queries: str, current: tuple[str, str] | None = None, **options: Any) -> Any:
    return search(index.database, PROFILE, SearchRequest(queries, **{"mode": "keyword"} | options), current)


def ids(answer: Any) -> list[str]:
    return [entry["entry_id"] for conversation in answer["conversations"] for entry in conversation["entries"]]


def names(answer: Any) -> list[str]:
    return [conversation["host_conversation_id"] for conversation in answer["conversations"]]


@pytest.mark.parametrize("query", ['"', '""', '" "', "'", "`", "“", "(", "]", ". .", "?", '"."', "\x00"])
def test_punctuation_alone_is_a_clear_empty_answer(index: Index, query: str) -> None:
    index.conversation(['a "quoted" (heron). Yes? `x` [1] it\'s “so”'])
    answer = ask(index, query)
    assert answer["conversations"] == []
    asked = " ".join(query.replace("\x00", " ").split()) or "it"
    assert answer["message"].startswith(f"There is nothing to look for in {asked}: no word, only punctuation")
    assert "!= or ()" in answer["message"]  # signs that are looked for, as the test below has them


def test_signs_that_mean_something_are_looked_for(index: Index) -> None:
    index.conversation(["a % b", "c => d", "std::x :: y", "f() {}", 'say ""'])
    for query, place in (("%", "e0"), ("=>", "e1"), ('"=>"', "e1"), ("::", "e2"), ("()", "e3"), ("{}", "e3")):
        assert ids(ask(index, query)) == [place], query


def test_an_accent_alone_is_found_where_it_stands_and_nowhere_else(index: Index) -> None:
    index.conversation(["heron", "caf\u00e9", "cafe\u0301", "the sign \u00b4 alone"])
    assert ids(ask(index, "\u0301")) == ["e2"]
    assert ids(ask(index, "\u00b4")) == ["e3"]


def test_the_filters_in_force_are_named(index: Index) -> None:
    number = index.conversation(["heron"])
    index.facet(number, "Herons", ["e0"], topic_no=index.topic("Birds"))
    index.conversation(["egret"], "two")
    answer = ask(
        index,
        "zeppelin",
        window=parse(None, "2026-01-01", None, 0),
        roles=("user", "tool"),
        topic_id="t_birds",
        conversation_id="one",
        exclude=("two",),
    )
    for named in ("2026-01-01T00:00:00.000Z", "role user or tool", "topic t_birds", "conversation one", "1 excluded"):
        assert named in answer["message"], answer["message"]
    assert "only in" not in ask(index, "zeppelin")["message"]
    assert ask(index, "heron", roles=("user",))["message"] == ""


@pytest.mark.parametrize("name", ["bogus", "one/none", "none/e0", "", "/", "one/"])
def test_what_cannot_be_left_out_is_refused(index: Index, name: str) -> None:
    index.conversation(["heron"])
    with pytest.raises(ArgumentError) as refused:
        ask(index, "heron", exclude=(name,))
    assert refused.value.code == "not_found"


def test_the_running_conversation_may_be_left_out_by_any_name(index: Index) -> None:
    index.conversation(["heron"])
    index.conversation(["heron"], "two", started=START + DAY)
    for name in ("current", "current/e0", "one", "pi:one", "one/e0"):
        answer = ask(index, "heron", current=("pi", "one"), exclude=(name,))
        assert [found["host_conversation_id"] for found in answer["conversations"]] == ["two"], name


def test_quotes_that_nothing_stands_in_are_explained(index: Index) -> None:
    index.conversation(["the worker file x.py fails at line 30"])
    pasted = 'File "x.py is broken", line 3'
    said = ask(index, pasted)["message"]
    assert "side by side" in said
    assert "without the quotes" in said
    assert ids(ask(index, pasted.replace('"', ""))) == ["e0"]  # as it says
    for other in ("zeppelin", 'zep" pelin', '"x.py fails"'):
        assert "without the quotes" not in ask(index, other)["message"], other


@pytest.mark.parametrize(
    ("question", "window"),
    [
        ("zeppelin on 29 May", "--from 2025-05-29 --to 2025-05-30"),  # this year it is still to come
        ("zeppelin on 2 March", "--from 2026-03-02 --to 2026-03-03"),  # the day of the newest entry
        ("zeppelin on 3 March", "--from 2025-03-03 --to 2025-03-04"),
        ("zeppelin in February", "--from 2026-02-01 --to 2026-03-01"),
        ("zeppelin in December 2025", "--from 2025-12-01 --to 2026-01-01"),
        ("zeppelin on 29 February", "--from 2024-02-29 --to 2024-03-01"),
        ("zeppelin on 29 May 2027", "--from 2027-05-29 --to 2027-05-30"),
        ("飞艇 2月下旬", "--from 2026-02-21 --to 2026-03-01"),
    ],
)
def test_a_date_in_a_question_that_finds_nothing_is_told_as_a_window(one: Index, question: str, window: str) -> None:
    one.conversation(["heron"])
    answer = ask(one, question)
    assert (answer["conversations"], window in answer["message"]) == ([], True), answer["message"]


def test_no_window_is_told_where_none_helps(one: Index) -> None:
    one.conversation(["heron"])
    for question in ("zeppelin", "zeppelin on 31 February", "heron on 2 March", "zeppelin in February 0000"):
        assert "--from" not in ask(one, question)["message"], question
    assert "--from" not in ask(one, "zeppelin on 2 March", window=parse(None, "2026-01-01", None, 0))["message"]
    assert ask(one, 'zeppelin "herons" on 1 March')["message"].count("--from 2026-03-01 --to 2026-03-02") == 1


def test_a_weak_tail_is_left_out(index: Index) -> None:
    """Entries that hold only what nearly all hold do not follow one that holds the rare word."""
    index.conversation(["the zeppelin calls the harbour"], "right")
    for i in range(40):
        index.conversation([f"it calls number {i}"], f"other{i}")
    answer = ask(index, "zeppelin calls", limit=50)
    assert [found["host_conversation_id"] for found in answer["conversations"]] == ["right"]
    assert len(ask(index, "calls", limit=50)["conversations"]) == 41


def test_a_rare_word_in_a_long_text_is_no_tail(index: Index) -> None:
    index.conversation(["zeppelin", Turn("so many other words " * 3000 + "zeppelin", "tool")], "right")
    for i in range(40):
        index.conversation([f"it calls number {i}"], f"other{i}")
    assert set(ids(ask(index, "zeppelin calls"))) == {"e0", "e1"}


def test_what_entries_hold_is_told_by_term(index: Index) -> None:
    index.conversation(["heron", "egret", "stork and heron", "rain"])
    with index.database.read() as connection:
        text = layers.layer(connection, index.number, "text")
        found = {Term(("heron",)): 2, Term(("stork",)): 1, Term(("tern",)): 0}
        holding = held.of_terms(Counts(connection, text), found, [1, 2, 3, 9])
        assert {term.words[0]: (set(one.rows), one.total) for term, one in holding.items()} == {
            "heron": ({1, 3}, 2),
            "stork": ({3}, 1),
        }
        assert held.at_the_start(connection, text, ["heron", "stork"], [1, 2, 3]) == {"heron": {1}, "stork": {3}}


def test_a_hit_without_words_says_so(index: Index) -> None:
    number = index.conversation(["let us take the other one", "the broker is fine", "rain"])
    index.facet(number, "Message broker", ["e0"])
    found = ask(index, "message broker")["conversations"][0]["entries"]
    by = {entry["entry_id"]: set(entry["found_by"]) for entry in found}
    assert by["e0"] == {"curated", "neighbours"}
    assert "keyword" in by["e1"]


def test_by_time_only_what_is_found_itself_counts(index: Index) -> None:
    """What lies beside a hit is the newest there is in every conversation that was gone on with."""
    late: list[Turn | str] = ["the heron waits in the marsh", Turn("go on", at=START + 2 * DAY), "a heron in the marsh"]
    index.conversation(late, "late", started=START + DAY)
    index.conversation(["a heron and a marsh"], "early")
    assert "e1" in ids(ask(index, "heron marsh"))  # by relevance it is shown, behind
    assert ids(ask(index, "heron marsh", sort="newest")) == ["e2", "e0", "e0"]
    assert names(ask(index, "heron marsh", sort="newest", limit=1)) == ["late"]
    assert ids(ask(index, "heron marsh", sort="newest", limit=1)) == ["e2", "e0"]
    assert ids(ask(index, "heron marsh", sort="oldest")) == ["e0", "e0", "e2"]
    inside = ask(index, "heron marsh", sort="newest", limit=1, conversation_id="late")
    assert ids(inside) == ["e2"]
    after = ask(index, "heron marsh", sort="newest", limit=1, conversation_id="late", cursor=inside["next_cursor"])
    assert (ids(after), after["next_cursor"]) == (["e0"], None)


def test_by_time_what_lies_beside_does_not_bring_its_conversation_to_the_front(index: Index) -> None:
    """Without the neighbour the older conversation's own newest hit says where it stands."""
    turns: list[Turn | str] = [
        "the heron waits in the marsh",
        Turn("go on", at=START + 9 * DAY),
        "a heron in the marsh",
    ]
    index.conversation(turns, "resumed")
    index.conversation(["a heron and a marsh"], "newest", started=START + DAY)
    assert names(ask(index, "heron marsh", sort="newest")) == ["newest", "resumed"]


def test_by_time_what_speaks_for_no_entry_itself_counts_where_nothing_else_does(index: Index) -> None:
    index.conversation(["the deadlock came at noon", "rain"])
    assert ids(ask(index, "blocked payments"))[:1] == ["e0"]  # a word that is only close to what was asked
    assert "e0" in ids(ask(index, "blocked payments", sort="newest"))


def test_one_word_beside_an_entry_does_not_find_it(index: Index) -> None:
    index.conversation(["the heron", "yes", "rain in the marsh", "and mist"])
    assert ids(ask(index, "heron")) == ["e0"]
    assert ids(ask(index, "heron marsh"))[:2] == ["e0", "e2"] or ids(ask(index, "heron marsh"))[:2] == ["e2", "e0"]


@pytest.mark.parametrize("started", [START - DAY, START, START + DAY])
def test_a_copy_takes_nothing_from_what_was_found(index: Index, started: int) -> None:
    """The record shows once, in the conversation that began first, with the best of what is known of its copies."""
    shared = [Turn("terns dive", sha256="a" * 64), Turn("they do", sha256="b" * 64)]
    index.conversation(shared, "first")
    copy = index.conversation(shared, "copy", started=started)
    index.facet(copy, "Plunging birds", ["e0"])
    answer = ask(index, "terns plunging")
    assert len(answer["conversations"]) == 1
    assert answer["conversations"][0]["host_conversation_id"] == ("copy" if started < START else "first")
    assert answer["conversations"][0]["entries"][0]["found_by"] == ["curated", "keyword"]


def test_logs_copied_under_a_new_header_show_once(tmp_path: Path) -> None:
    folder = tmp_path / "logs"
    folder.mkdir()
    at = "2026-03-02T09:00:0{}.000Z"
    said = [
        {
            "type": "message",
            "id": f"m{i}",
            "parentId": f"m{i - 1}" if i else None,
            "timestamp": at.format(i),
            "message": {"role": ("user", "assistant")[i % 2], "content": [{"type": "text", "text": text}]},
        }
        for i, text in enumerate(["how do we cache tern tiles", "use a disk cache for tern tiles", "fine"])
    ]
    for name, records in (("one", said), ("copy", said), ("fork", said[:2])):
        header = {"type": "session", "version": 3, "id": f"id-{name}", "timestamp": at.format(0), "cwd": "/w"}
        lines = [json.dumps(record) for record in (header, *records)]
        (folder / f"{name}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    session = Session(settings.load({"HOME": str(tmp_path), "HISTORY_RECALL_DB": str(tmp_path / "index.db")}))
    try:
        sources.add(session.run(), str(folder))
        index_all(session.run())
        answer: Any = search(session.for_reading(), PROFILE, SearchRequest(("tern cache",), limit=50))
    finally:
        session.close()
    assert answer["in_scope"] == 3
    assert sorted(ids(answer)) == ["m0", "m1"]


def test_what_has_no_time_is_last_and_a_window_says_that_it_left_it_out(index: Index) -> None:
    number = index.conversation(["heron one", "heron two", "heron three"])
    with index.database.write() as connection:
        connection.execute("UPDATE entries SET at = NULL WHERE entry_id IN ('e0', 'e2')")
    for sort in ("newest", "oldest"):
        assert ids(ask(index, "heron", sort=sort, conversation_id="one"))[0] == "e1", sort
    window = parse(None, "2026-01-01", None, 0)
    answer = ask(index, "heron", window=window)
    assert ids(answer) == ["e1"]
    assert answer["message"] == "2 entries have no usable time and cannot be in this window."
    assert "usable time" in ask(index, "zeppelin", window=window)["message"]
    assert ask(index, "heron")["message"] == ""
    assert ask(index, "heron", window=window, exclude=("one/e0", "one/e2"))["message"] == ""

    index.facet(number, "Herons", ["e0"], topic_no=index.topic("Birds"))
    for topic in (None, "t_birds"):
        browsed = browse(index.database, PROFILE, BrowseRequest(topic, window=window))
        assert browsed["message"] == "2 entries have no usable time and cannot be in this window.", topic
        assert browse(index.database, PROFILE, BrowseRequest(topic))["message"] == "", topic


@pytest.mark.parametrize(("holders", "coverage"), [(60, "complete"), (160, "bounded")])
def test_more_entries_that_hold_all_that_was_asked_than_are_looked_at_are_told(
    index: Index, holders: int, coverage: str
) -> None:
    for number in range(holders):
        index.conversation([f"the heron of pond {number}", "nothing to do with it"], f"c{number}")
    assert ask(index, "heron")["coverage"] == coverage
    assert ask(index, "heron nothing")["coverage"] == "complete", "none of them has both"
