"""Searching: filters, pages, copies, honesty, and that no query breaks anything."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from recall import labels
from recall import query as querying
from recall.errors import ArgumentError
from recall.index import literal, matches, plan
from recall.reader import ReadRequest, read
from recall.searcher import INCLUDES, SearchRequest, default_filters, search
from recall.timewindow import parse
from tests.search.builder import DAY, PROFILE, START, Index, Turn, millis
from tests.shared import SHARED, needs_shared


def ask(index: Index, *queries: str, current: tuple[str, str] | None = None, **options: Any) -> Any:
    return search(index.database, PROFILE, SearchRequest(queries, **{"mode": "keyword"} | options), current)


def ids(answer: Any) -> list[str]:
    return [entry["entry_id"] for conversation in answer["conversations"] for entry in conversation["entries"]]


def names(answer: Any) -> list[str]:
    return [conversation["host_conversation_id"] for conversation in answer["conversations"]]


def test_the_shape(index: Index) -> None:
    number = index.conversation(["how do herons stand", Turn("herons stand on one leg", "assistant")])
    index.facet(number, "Standing birds", ["e1"], topic_no=index.topic("Birds"))
    answer = ask(index, "heron leg")
    assert {key: answer[key] for key in answer if key != "conversations"} == {
        "requested_mode": "keyword",
        "used_mode": "keyword",
        "semantic_status": "disabled",
        "rewrite_status": "not_asked",
        "scope": "all",
        "project": None,
        "in_scope": 1,
        "coverage": "complete",
        "range": None,
        "message": "",
        "left_out": 0,
        "next_cursor": None,
    }
    head = answer["conversations"][0]
    assert head["host"] == "pi"
    assert head["title"] == "About one"
    assert (head["tier"], head["why_project"], head["project"]) == ("none", "none", None)
    assert head["started_at"] == "2026-03-02T09:00:00.000Z"
    assert head["source_state"] == "gone"
    entry = head["entries"][0]
    assert entry["entry_id"] == "e1"
    assert entry["snippet"] == "herons stand on one leg"
    assert (entry["offset"], entry["length"]) == (0, 23)
    assert (entry["facet"], entry["topic_id"]) == ("Standing birds", "t_birds")
    assert set(entry["found_by"]) <= {"keyword", "curated", "neighbours"}
    assert "explain" not in entry
    json.dumps(answer)


def test_modes_that_need_a_model_say_so(index: Index) -> None:
    index.conversation(["heron"])
    hybrid = ask(index, "heron", mode="hybrid")
    assert (hybrid["used_mode"], hybrid["semantic_status"]) == ("keyword", "unavailable")
    assert ids(hybrid) == ["e0"]
    assert hybrid["message"]
    semantic = ask(index, "heron", mode="semantic")
    assert semantic["semantic_status"] == "unavailable"
    assert semantic["conversations"] == []
    assert semantic["message"]


def test_nothing_found_is_said(index: Index) -> None:
    index.conversation(["heron"])
    answer = ask(index, "zeppelin")
    assert answer["conversations"] == []
    assert "zeppelin" in answer["message"]
    assert answer["in_scope"] == 1


def test_an_empty_profile_and_a_query_without_a_word(index: Index) -> None:
    assert ask(index, "x")["conversations"] == []
    assert search(index.database, "nobody", SearchRequest(("x",)))["message"]
    index.conversation(["heron"])
    for empty in ('""', "*", "?!"):
        answer = ask(index, empty)
        assert answer["conversations"] == []
        assert answer["message"]


def test_the_question_is_found_though_not_every_word_stands_there(index: Index) -> None:
    index.conversation(["lunch", "the lease is 120 seconds because eight at a time take 70", "the release notes"])
    assert ids(ask(index, "how did we arrive at the number of seconds for the lease?"))[0] == "e1"
    assert ids(ask(index, "how is that for the"))  # stop words only: they are all there is


def test_roles_and_marks(index: Index) -> None:
    index.conversation(
        [
            Turn("heron user"),
            Turn("heron assistant", "assistant"),
            Turn("heron tool", "tool"),
            Turn("heron summary", "summary"),
            Turn("heron abandoned", marks="abandoned_branch"),
            Turn("heron rewound", marks="rewound"),
            Turn("heron rolled", marks="active rolled_back"),
            Turn("heron compacted", marks="active compacted"),
            Turn("heron meta", marks="active meta"),
            Turn("heron side", marks="active sidechain"),
        ]
    )
    assert sorted(ids(ask(index, "heron"))) == ["e0", "e1", "e2", "e7"]
    assert ids(ask(index, "heron", roles=("tool",))) == ["e2"]
    assert ids(ask(index, "heron", roles=("summary",))) == ["e3"]
    assert "e3" in ids(ask(index, "heron", include=("summaries",)))
    assert "e4" in ids(ask(index, "heron", include=("abandoned",)))
    assert {"e5", "e6"} <= set(ids(ask(index, "heron", include=("undone",))))
    assert "e9" in ids(ask(index, "heron", include=("delegates",)))


@pytest.mark.parametrize("mark", ["synthetic", "meta"])
def test_what_a_program_put_in_is_found_where_system_is_asked_and_can_be_read(index: Index, mark: str) -> None:
    """As docs/hosts.md says."""
    index.conversation(
        [
            Turn("heron"),
            Turn("heron system", "system", marks=f"active {mark}"),
            Turn("heron user", marks=f"active {mark}"),
        ]
    )
    assert ids(ask(index, "heron", include=INCLUDES)) == ["e0"]
    assert ids(ask(index, "heron", roles=("user",))) == ["e0"]
    assert ids(ask(index, "heron", roles=("system",))) == ["e1"]
    assert sorted(ids(ask(index, "heron", roles=("system", "user")))) == ["e0", "e1", "e2"]
    with pytest.raises(ArgumentError) as refused:
        ask(index, "heron", include=(mark,))
    assert refused.value.code == "usage"
    shown: Any = read(index.database, PROFILE, ReadRequest("one"))["fragments"]
    assert [one["entry_id"] for one in shown] == ["e0", "e1", "e2"]


def test_filters_come_before_the_limit(index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    """The one match that passes is found though hundreds that do not pass rank before it."""
    monkeypatch.setattr(matches, "POOL", 5)
    index.conversation([Turn("heron heron heron", "tool") for _ in range(30)], "many")
    index.conversation([Turn("a heron among many other words of a long text", at=START - 40 * DAY)], "old")
    window = parse(None, "2026-01-01", "2026-02-01", 0)
    assert names(ask(index, "heron", window=window)) == ["old"]
    assert names(ask(index, "heron", roles=("user",))) == ["old"]
    assert names(ask(index, "heron", conversation_id="old")) == ["old"]
    assert names(ask(index, "heron", exclude=("many",))) == ["old"]


@needs_shared
@pytest.mark.parametrize("zone", ["UTC", "Asia/Seoul", "America/Los_Angeles"])
def test_bare_dates(index: Index, zone: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """B028: a bare date is UTC midnight wherever the machine is."""
    monkeypatch.setenv("TZ", zone)
    given = json.loads((SHARED / "cases" / "inputs" / "028-bare-date-boundary.json").read_text(encoding="utf-8"))
    for session in given["sessions"]:
        index.conversation([Turn("heron", at=millis(session["at"]))], session["id"])
    for query in given["queries"]:
        if "expect_error" in query:
            with pytest.raises(ArgumentError) as refused:
                parse(None, query["from"], query["to"], 0)
            assert refused.value.code == "invalid_time"
            continue
        answer = ask(index, "heron", window=parse(None, query["from"], query["to"], 0))
        assert sorted(names(answer)) == query["expect"]
        assert answer["range"]["from"].endswith("Z")


def test_topic_and_conversation(index: Index) -> None:
    one = index.conversation(["heron one"], "one")
    index.conversation(["heron two"], "two")
    topic = index.topic("Birds")
    merged = index.topic("Fowl", state="merged", merged_into=topic)
    assert merged
    index.facet(one, "Herons", ["e0"], topic_no=topic)
    assert names(ask(index, "heron", topic_id="t_birds")) == ["one"]
    assert names(ask(index, "heron", topic_id="t_fowl")) == ["one"]
    assert names(ask(index, "heron", conversation_id="pi:two")) == ["two"]
    wrongs: list[dict[str, Any]] = [{"topic_id": "t_none"}, {"conversation_id": "nope"}]
    for wrong in wrongs:
        with pytest.raises(ArgumentError) as refused:
            ask(index, "heron", **wrong)
        assert refused.value.code == "not_found"


def test_delegates_and_the_running_conversation(index: Index) -> None:
    index.conversation(["heron"], "main")
    index.conversation([Turn("heron", marks="active sidechain")], "agent", sidechain=1)
    assert names(ask(index, "heron")) == ["main"]
    assert sorted(names(ask(index, "heron", include=("delegates",)))) == ["agent", "main"]
    assert names(ask(index, "heron", conversation_id="agent")) == ["agent"]
    running = ask(index, "heron", current=("pi", "main"))
    assert running["conversations"] == []
    assert running["in_scope"] == 0
    assert names(ask(index, "heron", current=("pi", "main"), conversation_id="current")) == ["main"]


def test_what_was_seen_can_be_left_out(index: Index) -> None:
    index.conversation(["heron a", "heron b"], "one")
    index.conversation(["heron c"], "two")
    first = ask(index, "heron")["conversations"][0]["conversation_id"]
    assert first not in json.dumps(ask(index, "heron", exclude=(first,)))
    assert sorted(ids(ask(index, "heron", exclude=("one/e0",)))) == ["e0", "e1"]
    assert sorted(ids(ask(index, "heron", exclude=("one/e0", "two/e0")))) == ["e1"]


def test_a_fork_shows_what_it_copied_once(index: Index) -> None:
    """B022: the copied turn is shown in the conversation that began first, the new turn of the fork stays."""
    shared = [Turn("how do we cache tern tiles", sha256="a" * 64), Turn("use a disk cache", sha256="b" * 64)]
    index.conversation([*shared, "try a memory cache for tern"], "fork", started=START + DAY)
    index.conversation([*shared, "ship it"], "parent")
    answer = ask(index, "tern cache")
    assert sorted(ids(answer)) == ["e0", "e1", "e2"]
    by_name = {c["host_conversation_id"]: [e["entry_id"] for e in c["entries"]] for c in answer["conversations"]}
    assert by_name["fork"] == ["e2"]
    assert sorted(by_name["parent"]) == ["e0", "e1"]
    assert "e0" in ids(ask(index, "tern cache", conversation_id="fork"))


@pytest.mark.parametrize("mode", ["index", "signs"])
def test_what_was_seen_is_out_with_its_copies(index: Index, mode: str) -> None:
    query, sign = ("tern cache", "") if mode == "index" else ("=>", " =>")
    shared = [Turn(f"how do we cache tern tiles{sign}", sha256="a" * 64), Turn(f"a disk cache{sign}", sha256="b" * 64)]
    index.conversation([*shared, f"try a memory cache for tern{sign}"], "fork", started=START + DAY)
    index.conversation([*shared, f"ship the tern cache{sign}"], "parent")
    found = {c["host_conversation_id"]: {e["entry_id"] for e in c["entries"]} for c in ask_all(index, query)}
    assert found == {"parent": {"e0", "e1", "e2"}, "fork": {"e2"}}
    for seen, expected in (
        (("fork",), {"parent": {"e2"}}),
        (("parent",), {"fork": {"e2"}}),
        (("fork/e0",), {"parent": {"e1", "e2"}, "fork": {"e2"}}),
        (("parent/e1", "fork/e0"), {"parent": {"e2"}, "fork": {"e2"}}),
        (("parent/e2",), {"parent": {"e0", "e1"}, "fork": {"e2"}}),
    ):
        found = {c["host_conversation_id"]: {e["entry_id"] for e in c["entries"]} for c in ask_all(index, query, seen)}
        assert found == expected, seen
    # The running one is out as it is: what a compaction took from it may stand in the one it came from.
    answer = ask(index, query, current=("pi", "fork"))
    assert sorted(ids(answer)) == ["e0", "e1", "e2"]


def ask_all(index: Index, query: str, exclude: tuple[str, ...] = ()) -> list[dict[str, Any]]:
    """The conversations that a search finds."""
    conversations: list[dict[str, Any]] = ask(index, query, exclude=exclude)["conversations"]
    return conversations


def test_signs_are_looked_for_newest_first_in_one_walk_that_stops(
    index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    for c in range(6):
        index.conversation([f"a {c} => b" if i % 2 else f"no sign {i}" for i in range(100)], f"c{c}")
    read: list[str] = []
    real = labels.blank

    def noted(text: str, role: str) -> str:
        read.append(text)
        return real(text, role)

    monkeypatch.setattr(labels, "blank", noted)
    with index.database.read() as connection:
        filters = default_filters(index.number)
        last = connection.execute("SELECT max(entry_no) FROM entries").fetchone()[0]
        newest = [last - 2 * n for n in range(matches.POOL)]
        for needles, expected, walked, bounded in (
            (["=>"], newest, 200, True),  # two conversations have 100
            (["=>", "A"], newest, 200, True),
            (["a 0 =>"], [99 + 1 - 2 * n for n in range(50)], 600, False),
            (["a 5 =>", "<="], newest[:50], 600, False),  # none holds both
            (["=>", "<="], newest, 600, False),
            (["<="], [], 600, False),
        ):
            read.clear()
            found = literal.entries(connection, filters, needles)
            assert list(found.scores) == expected, needles
            assert found.bounded == bounded, needles
            assert len(read) <= walked, needles
            assert len(set(found.scores.values())) == len(expected)
    assert ask(index, "=>")["coverage"] == "bounded"
    assert ask(index, "<=")["coverage"] == "complete"


def test_a_long_conversation_does_not_fill_the_page(index: Index) -> None:
    index.conversation([f"heron heron {i}" for i in range(60)], "long")
    for i in range(9):
        index.conversation([f"one heron among words {i}"], f"short{i}")
    answer = ask(index, "heron")
    assert len(answer["conversations"]) == 10
    long = next(c for c in answer["conversations"] if c["host_conversation_id"] == "long")
    assert long["truncated"]
    assert len(long["entries"]) <= 4


@pytest.mark.parametrize("sort", ["relevance", "newest", "oldest"])
def test_pages_join_to_the_whole(index: Index, sort: str) -> None:
    for i in range(7):
        index.conversation([f"heron {i}", "egret"], f"c{i}", started=START + i * DAY)
    whole = names(ask(index, "heron", sort=sort, limit=50))
    assert len(whole) == 7
    pages: list[str] = []
    cursor = None
    while True:
        answer = ask(index, "heron", sort=sort, limit=2, cursor=cursor)
        pages += names(answer)
        cursor = answer["next_cursor"]
        if cursor is None:
            break
    assert pages == whole
    if sort != "relevance":
        assert whole == [f"c{i}" for i in (range(7) if sort == "oldest" else reversed(range(7)))]


def test_pages_inside_one_conversation(index: Index) -> None:
    index.conversation([f"heron {i}" for i in range(5)], "one")
    seen: list[str] = []
    cursor = None
    for _ in range(3):
        answer = ask(index, "heron", conversation_id="one", limit=2, cursor=cursor)
        seen += ids(answer)
        cursor = answer["next_cursor"]
    assert sorted(seen) == [f"e{i}" for i in range(5)]
    assert cursor is None


def test_cursors_belong_to_one_question_and_one_state(index: Index) -> None:
    for i in range(3):
        index.conversation(["heron"], f"c{i}")
    cursor = ask(index, "heron", limit=1)["next_cursor"]
    for junk, code in (("junk!", "invalid_cursor"), ("", "invalid_cursor"), ("W10", "invalid_cursor")):
        with pytest.raises(ArgumentError) as refused:
            ask(index, "heron", limit=1, cursor=junk)
        assert refused.value.code == code
    with pytest.raises(ArgumentError) as refused:
        ask(index, "egret", limit=1, cursor=cursor)
    assert refused.value.code == "invalid_cursor"
    index.conversation(["heron"], "news")
    with pytest.raises(ArgumentError) as refused:
        ask(index, "heron", limit=1, cursor=cursor)
    assert refused.value.code == "stale_cursor"


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"queries": ()}, "invalid_query"),
        ({"queries": ("x",) * 9}, "invalid_query"),
        ({"queries": ("",)}, "usage"),
        ({"queries": (" \u3000\t", "")}, "usage"),
        ({"queries": ("x" * 2001,)}, "invalid_query"),
        ({"queries": ("x",), "limit": 0}, "invalid_limit"),
        ({"queries": ("x",), "limit": 51}, "invalid_limit"),
        ({"queries": ("x",), "mode": "magic"}, "usage"),
        ({"queries": ("x",), "roles": ("king",)}, "usage"),
        ({"queries": ("x",), "include": ("all",)}, "usage"),
        ({"queries": ("x",), "sort": "best"}, "usage"),
    ],
)
def test_what_is_asked_wrongly_is_refused_by_name(one: Index, options: dict[str, Any], code: str) -> None:
    with pytest.raises(ArgumentError) as refused:
        search(one.database, PROFILE, SearchRequest(**options))
    assert refused.value.code == code


def test_several_queries_are_fused(index: Index) -> None:
    index.conversation(["heron", "egret", "heron and egret", "stork"])
    answer = ask(index, "heron", "egret", explain=True)
    assert ids(answer)[0] == "e2"
    assert answer["conversations"][0]["entries"][0]["explain"]["queries"] == [0, 1]
    assert "e3" not in ids(answer)


def test_what_was_written_about_an_entry_finds_it(index: Index) -> None:
    number = index.conversation(["we should try the other one", "fine"])
    index.facet(
        number,
        "Choice of message broker",
        ["e0"],
        findings=[("RabbitMQ was decided over Kafka", "decided", "e1")],
    )
    broker = ask(index, "message broker")
    assert ids(broker)[0] == "e0"
    assert broker["conversations"][0]["entries"][0]["found_by"] == ["curated"]
    assert ids(ask(index, "kafka")) == ["e1"]


def test_profiles_do_not_see_each_other(one: Index) -> None:
    one.conversation(["heron"])
    other = Index(one.path, profile="other")
    other.conversation(["egret"], "two")
    assert search(one.database, "other", SearchRequest(("heron",)))["conversations"] == []
    assert ask(one, "egret")["conversations"] == []
    with pytest.raises(ArgumentError):
        ask(one, "egret", conversation_id="two")
    other.database.close()


def test_waiting_sources_make_coverage_partial(one: Index) -> None:
    one.conversation(["heron"])
    with one.database.write() as connection:
        connection.execute("INSERT INTO queue (profile_no, source, host, queued_at) VALUES (1, '/x', 'pi', 0)")
    assert ask(one, "heron")["coverage"] == "partial"


def test_a_common_word_is_bounded_and_says_so(index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plan, "ROWS", 10)
    monkeypatch.setattr(matches, "NEWEST", 20)
    index.conversation([f"heron {i}" for i in range(50)] + ["heron egret"])
    common = ask(index, "heron")
    assert common["coverage"] == "bounded"
    assert ids(common)
    both = ask(index, "heron egret")
    assert (both["coverage"], ids(both)[0]) == ("complete", "e50")


def test_text_of_older_rules_is_redacted_again(index: Index) -> None:
    secret = "ghp_" + "Zx9Kq2Lm8Rt4Vb7Nc1Ws6Yd3Hf5Jg0Pa9Q4e"
    index.conversation([f"the heron token is {secret} here"], rules_version=0)
    assert secret not in json.dumps(ask(index, "heron token"))


def test_a_snippet_quotes_exactly_and_cuts_no_character(index: Index) -> None:
    text = "前言 " + "👩‍👩‍👧‍👦" * 120 + " the heron 在这里 " + "e\u0301" * 300
    index.conversation([text])
    entry = ask(index, "heron")["conversations"][0]["entries"][0]
    assert text[entry["offset"] : entry["offset"] + entry["length"]] == entry["snippet"]
    assert "heron" in entry["snippet"]
    assert not entry["snippet"].startswith(("\u200d", "\u0301"))
    assert not entry["snippet"].endswith("\u200d")
    assert len(entry["snippet"]) <= 240


WILD = st.text(alphabet=st.one_of(st.sampled_from("\"'()*^:-+{}[]%_\\/ANDORNOTNEAR 补目é🚀\n"), st.characters()))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=150)
@given(st.lists(WILD.map(lambda text: text[:2000]), min_size=1, max_size=3).filter(lambda q: bool("".join(q).strip())))
def test_no_query_breaks_the_grammar(index: Index, queries: list[str]) -> None:
    if index.database.staging().execute("SELECT count(*) FROM conversations").fetchone()[0] == 0:
        index.conversation(["NOT NULL AND a NEAR miss OR 补 é 🚀", "body: x whole: y"])
    answer = ask(index, *queries)
    assert "damaged" not in answer["message"]
    for query in queries:
        querying.cut(query)


def test_two_thousand_characters_of_one_letter_words(index: Index) -> None:
    index.conversation(["a b c d e f g", "heron"])
    assert ids(ask(index, "a b c d e f g h i j k l m n o p q r s t u v w x y z " * 38)) == ["e0"]


def test_equal_scores_have_one_order(index: Index) -> None:
    for i in range(6):
        index.conversation([Turn("heron", at=START)], f"c{i}", last_active_at=START)
    first = ask(index, "heron")
    assert [ask(index, "heron") for _ in range(3)] == [first] * 3
