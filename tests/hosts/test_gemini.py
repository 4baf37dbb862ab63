"""Gemini: lines that replace lines, lines that are taken back, and the directory that stands in no chat."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path

import pytest

from recall.errors import SourceError
from recall.hosts.catalogue import Catalogue
from recall.hosts.reading import Resumable, resume
from recall.settings import load
from tests.hosts.logs import Log, read
from tests.hosts.stores import CWD, DAY, gemini, gemini_head, gemini_line, lines, uuid
from tests.shared import SHARED, needs_shared


def log(folder: Path, *records: object) -> Log:
    return read(lines(folder / "session-x.jsonl", gemini_head(), *records), host="gemini")


def said(found: Log, without: str = "meta") -> list[tuple[str, str]]:
    return [(e.role, e.text) for e in found.entries if e.text and without not in found.outline.marks[e.seq]]


def test_the_last_line_of_a_message_is_what_it_says(tmp_path: Path) -> None:
    found = log(
        tmp_path,
        gemini_line("g1", 1, "user", "dark mode"),
        gemini_line("g2", 2, "gemini", "Wor"),
        gemini_line("g2", 2, "gemini", "Working on it"),
        gemini_line("g3", 3, "gemini", "Done."),
    )
    assert said(found) == [("user", "dark mode"), ("assistant", "Working on it"), ("assistant", "Done.")]
    assert found.ids == ["g1", "L3", "g2", "g3"]
    assert found.marks("L3") == {"active", "meta"}


def test_what_was_taken_back_is_rewound(tmp_path: Path) -> None:
    found = log(
        tmp_path,
        gemini_line("g1", 1, "user", "one"),
        gemini_line("g2", 2, "user", "two"),
        gemini_line("g3", 3, "gemini", "to two"),
        {"$rewindTo": "g2"},
        gemini_line("g4", 4, "user", "three"),
        {"$rewindTo": "nobody"},
        gemini_line("g5", 5, "gemini", "to three"),
        {"$rewindTo": "g5"},
    )
    assert [entry for entry in found.ids if "rewound" in found.marks(entry)] == ["g2", "g3", "g5"]
    assert found.marks("g1") == found.marks("g4") == {"active"}


def test_a_compression_leaves_a_summary_and_copies(tmp_path: Path) -> None:
    """As version 0.61 writes it: first the chat is taken up again, then `/compress` is typed."""

    def message(identity: str, kind: str, words: str) -> dict[str, object]:
        return {"id": identity, "timestamp": DAY % 9, "type": kind, "content": [{"text": words}]}

    context = message("c0", "user", "<session_context>\nThis is the Gemini CLI.\n</session_context>")
    turns = [message("g1", "user", "one"), message("g2", "gemini", "to one")]
    latest = [message("g3", "user", "two"), message("g4", "gemini", "to two")]
    summary = [
        message("n1", "user", "What was done"),
        message("n2", "gemini", "Got it. Thanks for the additional context!"),
    ]
    copies = [message("n3", "user", "two"), message("n4", "gemini", "to two")]
    taken_up = [{"$set": {"messages": [context]}}, {"$set": {"messages": [context, *turns, *latest]}}]
    records = [{"$set": {"messages": [context]}}, *turns, *latest, *taken_up]
    found = log(tmp_path, *records)
    assert all("compacted" not in marks for marks in found.outline.marks), "it was taken up as it was"
    found = log(
        tmp_path, *records, {"$set": {"messages": [context, *summary, *copies]}}, message("g5", "user", "three")
    )
    assert said(found) == [
        ("user", "one"),
        ("assistant", "to one"),
        ("user", "two"),
        ("assistant", "to two"),
        ("summary", "What was done"),
        ("user", "three"),
    ]
    assert [entry for entry in found.ids if "compacted" in found.marks(entry)] == ["g1", "g2"]


def test_what_a_function_answered_stands_in_its_call(tmp_path: Path) -> None:
    """Version 0.61 writes it a second time, as if the person had said it; and what it says of itself at the start."""
    part = {"functionResponse": {"id": "k", "name": "look", "response": {"output": "seen"}}}
    call = {"id": "k", "name": "look", "args": {}, "status": "success", "result": [part]}
    found = log(
        tmp_path,
        gemini_line("g0", 0, "user", [{"text": "<session_context>\nToday is\n</session_context>"}]),
        gemini_line("g1", 1, "gemini", "", toolCalls=[call]),
        gemini_line("g2", 2, "user", [part]),
    )
    assert said(found, "synthetic") == [
        ("assistant", "[look call, attempted] {}"),
        ("tool", "[look result, attempted]\nseen"),
    ]
    assert found.marks("g2") == {"active", "meta"}
    assert found.marks("g0") == {"active", "synthetic"}


def test_a_call_and_its_answer_are_two_entries_of_one_line(tmp_path: Path) -> None:
    def call(name: str, status: str, *results: object) -> dict[str, object]:
        answers = [{"functionResponse": {"name": name, "response": one}} for one in results]
        return {"id": "k", "name": name, "args": {"q": 1}, "status": status, "result": answers}

    calls = [call("look", "success", {"output": "seen"}), call("run", "error", {"error": "no"})]
    calls += [
        call("count", "success", {"lines": 3}),
        call("mcp_history-recall_history_recall_search", "success", {"output": "linnet"}),
    ]
    found = log(tmp_path, gemini_line("g1", 1, "gemini", "Let me", toolCalls=calls, thoughts=[{"subject": "hidden"}]))
    assert found.ids == ["g1", "g1.1", "g1.2", "g1.3", "g1.4"]
    asked = [f'[{name} call, attempted] {{"q": 1}}' for name in ("look", "run", "count")]
    assert found["g1"].text == "\n".join(["Let me", *asked])
    assert [found[f"g1.{number}"].text for number in (1, 2, 3, 4)] == [
        "[look result, attempted]\nseen",
        "[run result, attempted, error]\nno",
        '[count result, attempted]\n{"lines": 3}',
        "",
    ]
    assert len({entry.sha256 for entry in found.entries}) == 1
    assert "hidden" not in "".join(found.texts)


def test_words_and_images_of_the_person(tmp_path: Path) -> None:
    image = {"inlineData": {"mimeType": "image/png", "data": "aGVsbG8="}}
    found = log(
        tmp_path,
        gemini_line("g1", 1, "user", [{"text": "see"}, image]),
        gemini_line("g2", 2, "user", [{"text": "all of a.py"}], displayContent=[{"text": "@a.py why?"}]),
        gemini_line("g3", 3, "info", "the program says"),
    )
    assert said(found) == [("user", "see\n[image/png omitted, 5 bytes]"), ("user", "@a.py why?")]


def test_the_newest_summary_is_the_title(tmp_path: Path) -> None:
    found = log(
        tmp_path, {"$set": {"summary": "first"}}, gemini_line("g1", 1, "user", "x"), {"$set": {"summary": "newest"}}
    )
    assert found.outline.header.title == "newest"
    assert [entry.entry_id for entry in found.entries if entry.role == "user"] == ["g1"]


def test_the_directory_stands_beside_the_chats(home: Path) -> None:
    path = gemini(home)
    registry = home / ".gemini/projects.json"

    def cwd() -> str | None:
        (item,), _ = Catalogue(load({"HOME": str(home)}), []).listed()
        assert item.header is not None
        assert read(path, host="gemini").outline.header == item.header
        return item.header.cwd

    assert cwd() == CWD
    registry.unlink()
    assert cwd() is None
    lines(path, gemini_head(projectHash=sha256(b"/srv/old").hexdigest()), gemini_line("g1", 1, "user", "x"))
    registry.write_text(json.dumps({"projects": {"/srv/new": "other", "/srv/old": "older"}}))
    assert cwd() == "/srv/old"
    root = path.parent.parent / ".project_root"
    root.write_text("/srv/told\n")
    assert cwd() == "/srv/told"
    root.unlink()
    root.symlink_to(registry)
    assert cwd() == "/srv/old"


def test_subagents_and_where_it_looks(home: Path) -> None:
    path = gemini(home)
    head = gemini_head(sessionId=uuid(2), kind="subagent")
    lines(path.parent / uuid(1) / f"{uuid(2)}.jsonl", head, gemini_line("g1", 1, "user", "scan"))
    lines(path.parent / "other.jsonl", head, gemini_line("g1", 1, "user", "no chat"))
    found = Catalogue(load({"HOME": str(home)}), []).listed()[0]
    assert sorted(
        (item.header.parent, item.header.sidechain) for item in found if item.header and item.header.sidechain
    ) == [(uuid(1), True)]
    assert len(found) == 2
    moved = Catalogue(load({"HOME": "/nobody", "GEMINI_CLI_HOME": str(home)}), []).listed()[0]
    assert len(moved) == 2


def test_a_chat_without_a_first_line_is_none(tmp_path: Path) -> None:
    with pytest.raises(SourceError) as error:
        read(lines(tmp_path / "session-x.jsonl", gemini_line("g1", 1, "user", "x")), host="gemini")
    assert error.value.code == "invalid_source"


def test_resume() -> None:
    told = Resumable(uuid(1), "/x", "/srv", None, False)
    assert resume("gemini", told) == f"cd /srv && gemini --resume {uuid(1)}"


@needs_shared
def test_given_shapes() -> None:
    found = read(next((SHARED / "sessions/shapes/gemini/tmp/shop/chats").glob("*.jsonl")), host="gemini")
    assert said(found) == [("user", "add dark mode"), ("assistant", "Dark mode added."), ("user", "oops undo")]
    assert [entry for entry in found.ids if "rewound" in found.marks(entry)] == ["g3"]
    assert found.outline.header.title == "Added dark mode"
