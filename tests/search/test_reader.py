"""Reading: pages that join to the text, entries in their context, forks named, every name of a conversation."""

from __future__ import annotations

import json
import unicodedata
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from recall.errors import ArgumentError
from recall.reader import ReadRequest, read
from recall.shown import piece_end
from tests.search.builder import PROFILE, Index, Turn
from tests.shared import SHARED, needs_shared


def look(index: Index, name: str = "one", *, current: tuple[str, str] | None = None, **options: Any) -> Any:
    return read(index.database, PROFILE, ReadRequest(name, **options), current)


def pages(index: Index, name: str = "one", **options: Any) -> list[Any]:
    found = [look(index, name, **options)]
    while found[-1]["next_cursor"] is not None:
        found.append(look(index, name, cursor=found[-1]["next_cursor"], **options))
    return found


def joined(found: list[Any]) -> dict[str, str]:
    texts: dict[str, str] = {}
    for page in found:
        for fragment in page["fragments"]:
            assert fragment["offset"] == len(texts.get(fragment["entry_id"], ""))
            texts[fragment["entry_id"]] = texts.get(fragment["entry_id"], "") + fragment["text"]
    return texts


def test_the_shape(one: Index) -> None:
    one.conversation([Turn("hello"), Turn("", kind="model_change"), Turn("world", "assistant")])
    answer = look(one)
    assert answer["source_state"] == "gone"
    assert (answer["title"], answer["host"], answer["host_conversation_id"]) == ("About one", "pi", "one")
    assert answer["next_cursor"] is None
    assert answer["context"] == {"entry_id": None, "alternate_children": []}
    assert [fragment["entry_id"] for fragment in answer["fragments"]] == ["e0", "e2"]
    first = answer["fragments"][0]
    assert first["text"] == "hello"
    assert (first["role"], first["line"], first["offset"], first["total_chars"]) == ("user", 2, 0, 5)
    assert first["timestamp"] == "2026-03-02T09:00:00.000Z"
    assert first["status"] == ["active"]
    assert len(first["sha256"]) == 64


@needs_shared
def test_pages_cut_between_characters(one: Index) -> None:
    """B116: every page within its bound, none empty, joined exactly."""
    lines = (SHARED / "cases" / "inputs" / "116-page-cut-in-character.jsonl").read_text(encoding="utf-8").splitlines()
    texts = [json.loads(line)["message"]["content"][0]["text"] for line in lines[1:]]
    one.conversation([*texts, "e\u0301" * 3000, "👩‍👩‍👧‍👦" * 600, "🇩🇪" * 900])
    found = pages(one, max_chars=1000)
    assert list(joined(found).values()) == [*texts, "e\u0301" * 3000, "👩‍👩‍👧‍👦" * 600, "🇩🇪" * 900]
    for page in found:
        assert 0 < sum(len(fragment["text"]) for fragment in page["fragments"]) <= 1000
        for fragment in page["fragments"]:
            assert fragment["text"]
            assert not unicodedata.combining(fragment["text"][0])
            assert fragment["text"][0] != "\u200d"
            assert fragment["text"][-1] != "\u200d"


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=25)
@given(
    texts=st.lists(st.text(alphabet="ab \n界🙂👩\u200d\u0301🇩🇪", max_size=3000), max_size=5),
    most=st.integers(1000, 1500),
)
def test_joined_pages_are_the_text(one: Index, texts: list[str], most: int) -> None:
    count = one.database.staging().execute("SELECT count(*) FROM conversations").fetchone()[0]
    one.conversation(texts, f"made-{count}")
    found = pages(one, f"made-{count}", max_chars=most)
    assert list(joined(found).values()) == [text for text in texts if text]


def test_a_pile_of_marks_still_makes_progress() -> None:
    text = "e" + "\u0301" * 5000
    place = 0
    while place < len(text):
        end = piece_end(text, place, 1000)
        assert place < end <= place + 1000
        place = end


def test_an_entry_with_its_neighbours(one: Index) -> None:
    one.conversation([f"turn {i}" for i in range(20)])

    def around(**options: Any) -> list[str]:
        return [fragment["text"] for fragment in look(one, entry_id="e10", **options)["fragments"]]

    assert around() == [f"turn {i}" for i in range(7, 14)]
    assert around(before=0, after=0) == ["turn 10"]
    assert around(before=50, after=1) == [f"turn {i}" for i in range(12)]


def test_the_entry_asked_for_is_on_the_first_page(one: Index) -> None:
    one.conversation(["x" * 5000, "y" * 600, "wanted " * 100, "z" * 5000])
    first = look(one, entry_id="e2", max_chars=1000)
    assert "e2" in [fragment["entry_id"] for fragment in first["fragments"]]
    texts = joined(pages(one, entry_id="e2", max_chars=1000))
    assert texts["e2"] == "wanted " * 100
    assert texts["e3"] == "z" * 5000


def fork(one: Index) -> None:
    """B019: one user turn, two answers, the second is the active one."""
    off = "abandoned_branch"
    one.conversation(
        [
            Turn("Choose a queue", entry_id="a1"),
            Turn("Use RabbitMQ", "assistant", entry_id="a2", parent="a1", marks=off),
            Turn("Good, wire it", entry_id="a3", parent="a2", marks=off),
            Turn("Use Redis streams", "assistant", entry_id="a4", parent="a1"),
            Turn("Yes, keep Redis", entry_id="a5", parent="a4"),
        ]
    )


def test_the_active_branch_is_read_and_the_other_named_at_the_fork(one: Index) -> None:
    fork(one)
    answer = look(one)
    assert [fragment["entry_id"] for fragment in answer["fragments"]] == ["a1", "a4", "a5"]
    assert answer["fragments"][0]["alternate_children"] == ["a2"]
    assert answer["context"] == {"entry_id": None, "alternate_children": ["a2"]}
    assert look(one, entry_id="a1")["context"] == {"entry_id": "a1", "alternate_children": ["a2"]}
    assert look(one, entry_id="a4")["context"] == {"entry_id": "a4", "alternate_children": ["a2"]}


def test_an_abandoned_entry_is_read_on_its_own_branch(one: Index) -> None:
    fork(one)
    answer = look(one, entry_id="a2")
    assert [fragment["entry_id"] for fragment in answer["fragments"]] == ["a1", "a2", "a3"]
    assert answer["context"]["alternate_children"] == ["a4"]
    assert answer["fragments"][1]["status"] == ["abandoned_branch"]


def test_a_cycle_of_parents_ends(one: Index) -> None:
    one.conversation(
        [
            Turn("a", entry_id="a", parent="b", marks="abandoned_branch"),
            Turn("b", entry_id="b", parent="a", marks="abandoned_branch"),
        ]
    )
    assert len(look(one, entry_id="a")["fragments"]) == 2


def test_the_order_is_that_of_the_source(one: Index) -> None:
    """B030: equal times and a clock that runs backwards change nothing, and two runs are equal."""
    one.conversation([Turn(f"Step {i}", at=1_772_442_000_000 - (i == 3) * 60_000) for i in range(6)])
    first = look(one)
    assert [fragment["text"] for fragment in first["fragments"]] == [f"Step {i}" for i in range(6)]
    assert json.dumps(look(one)) == json.dumps(first)


def test_a_conversation_by_each_of_its_names(one: Index) -> None:
    """B023: our id, the host's id, the file's name, the id in the file's name."""
    one.conversation(["Identity check"], "5e551011-cc", source="/logs/2026-03-02T09-00_77aa88bb-dd.jsonl")
    ours = look(one, "5e551011-cc")["conversation_id"]
    for name in (ours, "pi:5e551011-cc", "77aa88bb-dd", "2026-03-02T09-00_77aa88bb-dd.jsonl"):
        assert look(one, name)["conversation_id"] == ours


@pytest.mark.parametrize("name", ["c_nothing", "", "%", "pi:", "jsonl", "current"])
def test_unknown_names(one: Index, name: str) -> None:
    one.conversation(["hello"])
    with pytest.raises(ArgumentError) as refused:
        look(one, name)
    assert refused.value.code == "not_found"


def test_unknown_entries(one: Index) -> None:
    one.conversation(["hello"])
    with pytest.raises(ArgumentError) as refused:
        look(one, entry_id="nope")
    assert refused.value.code == "not_found"


def test_the_running_conversation_only_as_current(one: Index) -> None:
    one.conversation(["hello"])
    assert look(one, "current", current=("pi", "one"))["fragments"]
    with pytest.raises(ArgumentError):
        look(one, "one", current=("pi", "one"))


@pytest.mark.parametrize("options", [{"before": 0}, {"after": 3}, {"before": 3, "after": 3}])
def test_neighbours_need_an_entry(one: Index, options: dict[str, Any]) -> None:
    one.conversation(["hello"])
    with pytest.raises(ArgumentError) as refused:
        look(one, current=None, **options)
    assert refused.value.code == "usage"
    assert look(one, entry_id="e0", **options)["fragments"]


@pytest.mark.parametrize("options", [{"max_chars": 999}, {"max_chars": 48_001}, {"before": 51}, {"after": -1}])
def test_limits(one: Index, options: dict[str, Any]) -> None:
    one.conversation(["hello"])
    with pytest.raises(ArgumentError) as refused:
        look(one, current=None, **options)
    assert refused.value.code == "invalid_limit"


def test_cursors(one: Index) -> None:
    number = one.conversation(["x" * 5000])
    one.conversation(["y" * 5000], "two")
    cursor = look(one, max_chars=1000)["next_cursor"]
    with pytest.raises(ArgumentError) as refused:
        look(one, "two", cursor=cursor)
    assert refused.value.code == "invalid_cursor"
    with one.database.write() as connection:
        connection.execute("UPDATE conversations SET published_at = 9 WHERE conversation_no = ?", (number,))
    with pytest.raises(ArgumentError) as refused:
        look(one, max_chars=1000, cursor=cursor)
    assert refused.value.code == "stale_cursor"


def test_raw_comes_from_the_caller(one: Index) -> None:
    one.conversation(["hello"])
    request = ReadRequest("one", raw=True)
    answer: Any = read(one.database, PROFILE, request, raw=lambda conversation, entry_id: f'{{"id": "{entry_id}"}}')
    assert answer["fragments"][0]["text"] == '{"id": "e0"}'
    with pytest.raises(ArgumentError):
        read(one.database, PROFILE, request)


def test_text_of_older_rules_is_redacted_again(one: Index) -> None:
    secret = "ghp_" + "Zx9Kq2Lm8Rt4Vb7Nc1Ws6Yd3Hf5Jg0Pa9Q4e"
    one.conversation([f"token {secret}"], title=f"about {secret}", rules_version=0)
    assert secret not in json.dumps(look(one))


def test_escapes_stay_data(one: Index) -> None:
    """B114: JSON keeps control characters escaped; the surface that prints maps them."""
    one.conversation(["probe \x1b[2J\x1b]52;c;QUJD\x07 end\u202e"])
    assert "\x1b" not in json.dumps(look(one))
    assert look(one)["fragments"][0]["text"] == "probe \x1b[2J\x1b]52;c;QUJD\x07 end\u202e"
