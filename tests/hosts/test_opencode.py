"""OpenCode: messages with parts, what was reverted, compactions, child sessions, its own records of projects."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest

from recall.errors import SourceError
from recall.hosts.catalogue import Catalogue
from recall.hosts.project_records import HostProject, project_records
from recall.hosts.reading import Resumable, fingerprint, resume
from recall.settings import load
from tests.hosts.logs import Log, read
from tests.hosts.stores import CWD, insert, opencode, opencode_database, opencode_said
from tests.shared import SHARED, needs_shared

AT = 1_775_556_000_000


def text(words: str, **more: object) -> dict[str, object]:
    return {"type": "text", "text": words, **more}


def session(connection: sqlite3.Connection, name: str = "ses_1", **more: object) -> None:
    row: dict[str, object] = {
        "id": name,
        "project_id": "global",
        "directory": CWD,
        "title": "t",
        "version": "1.18.0",
        "time_created": AT,
    }
    insert(connection, "session", **(row | more))


def log(path: Path, *said: tuple[str, list[dict[str, object]], dict[str, object]], **more: str) -> Log:
    path.unlink(missing_ok=True)
    connection = opencode_database(path)
    session(connection, **more)
    for role, parts, about in said:
        opencode_said(connection, "ses_1", role, *parts, **about)
    connection.commit()
    connection.close()
    return read(path, host="opencode", name="ses_1")


def shown(found: Log) -> list[tuple[str, str]]:
    return [
        (e.role, e.text) for e in found.entries if e.text and not found.outline.marks[e.seq] & {"meta", "synthetic"}
    ]


def test_parts_and_what_they_come_to(tmp_path: Path) -> None:
    def tool(name: str, **state: object) -> dict[str, object]:
        return {"type": "tool", "callID": "k", "tool": name, "state": {"input": {"q": 1}, **state}}

    found = log(
        tmp_path / "a.db",
        (
            "user",
            [
                text("see a.py"),
                text("the file's text", synthetic=True),
                text("a note", ignored=True),
                {"type": "file", "filename": "a.py", "mime": "text/plain", "url": "data:text/plain;base64,QUJD"},
            ],
            {},
        ),
        (
            "assistant",
            [
                {"type": "step-start"},
                {"type": "reasoning", "text": "hidden"},
                text("Looking."),
                tool("bash", status="completed", output="ok", metadata={"exit": 3}),
                tool("read", status="error", error="no such file"),
                tool("history-recall_history_recall_search", status="completed", output="linnet"),
            ],
            {},
        ),
        ("assistant", [], {"error": {"name": "APIError", "data": {"message": "overloaded"}}}),
    )
    assert shown(found) == [
        ("user", "see a.py"),
        ("system", "[attached file] a.py"),
        ("assistant", "Looking."),
        ("assistant", '[bash call, attempted] {"q": 1}'),
        ("tool", "[bash result, attempted, exit code 3]\nok"),
        ("assistant", '[read call, attempted] {"q": 1}'),
        ("tool", "[read result, attempted, error]\nno such file"),
        ("assistant", "[stopped: APIError] overloaded"),
    ]
    assert "linnet" not in "".join(found.texts)
    assert found["prt_0013"].role == "tool"
    assert found["prt_0013.call"].role == "assistant"


@pytest.mark.parametrize(
    ("revert", "undone"),
    [
        ({"messageID": "msg_002"}, ["msg_002", "prt_0020", "msg_003", "prt_0030"]),
        ({"messageID": "msg_001", "partID": "prt_0011"}, ["prt_0011", "msg_002", "prt_0020", "msg_003", "prt_0030"]),
    ],
)
def test_what_was_reverted_is_rewound(tmp_path: Path, revert: dict[str, str], undone: list[str]) -> None:
    turns: list[tuple[str, list[dict[str, object]], dict[str, object]]] = [
        ("user", [text("one")], {}),
        ("assistant", [text("a"), text("b")], {}),
        ("user", [text("two")], {}),
        ("assistant", [text("c")], {}),
    ]
    path = tmp_path / "a.db"
    whole = log(path, *turns).outline.fingerprint
    found = log(path, *turns, revert=json.dumps(revert))
    assert [entry for entry in found.ids if "rewound" in found.marks(entry)] == undone
    assert found.outline.fingerprint.content_sha256 != whole.content_sha256


def test_a_compaction_marks_what_was_before_and_its_answer_is_a_summary(tmp_path: Path) -> None:
    found = log(
        tmp_path / "a.db",
        ("user", [text("old")], {}),
        ("user", [{"type": "compaction", "auto": True}], {}),
        ("assistant", [text("Summary: old")], {"summary": True}),
        ("user", [text("new")], {}),
    )
    compacted = [e.text for e in found.entries if e.text and "compacted" in found.outline.marks[e.seq]]
    assert (compacted, [e.text for e in found.entries if e.role == "summary"]) == (["old"], ["Summary: old"])


def test_child_sessions_archives_and_titles(home: Path) -> None:
    path = opencode(home)
    connection = sqlite3.connect(path)
    session(connection, "ses_2", parent_id="ses_1", title="Child session - 2026-04-07T10:00:00.000Z")
    session(connection, "ses_3", time_archived=AT, title="given")
    for name in ("ses_2", "ses_3"):
        opencode_said(connection, name, "user", text("x"))
    connection.commit()
    connection.close()
    catalogue = Catalogue(load({"HOME": str(home), "HISTORY_RECALL_CURRENT": "opencode:ses_1"}), [])
    found, warnings = catalogue.listed()
    heads = {item.source.name: item.header for item in found if item.header}
    assert warnings == []
    assert sorted(heads) == ["opencode:ses_1", "opencode:ses_2", "opencode:ses_3"]
    child, archived = heads["opencode:ses_2"], heads["opencode:ses_3"]
    assert (child.sidechain, child.parent, child.title) == (True, "ses_1", None)
    assert (archived.archived, archived.title, archived.host_version) == (True, "given", "1.18.0")
    assert sorted(item.source.name for item in found if catalogue.is_current(item)) == [
        "opencode:ses_1",
        "opencode:ses_2",
    ]


def test_where_it_looks(home: Path) -> None:
    path = opencode(home)
    channel = path.with_name("opencode-dev.db")
    path.rename(channel)
    found, warnings = Catalogue(load({"HOME": str(home)}), []).listed()
    assert [item.source.path for item in found] == [str(channel)]
    assert [(warning.code, str(path) in warning.message) for warning in warnings] == [("database_missing", True)]
    given = Catalogue(load({"HOME": "/nobody", "OPENCODE_DB": str(channel)}), [])
    assert given.resolve("opencode:ses_1").path == str(channel)
    with pytest.raises(SourceError) as error:
        given.resolve("opencode:ses_9")
    assert error.value.code == "source_missing"
    with pytest.raises(SourceError) as error:
        given.resolve(str(channel))
    assert error.value.code == "unsupported_source"


def test_its_projects(home: Path) -> None:
    settings = load({"HOME": str(home)})
    assert project_records(settings, "opencode") == ()
    opencode(home)
    expected = HostProject("opencode", "deadbeef", "kiln", (CWD,), frozenset({"ses_1"}))
    assert project_records(settings, "opencode") == (expected,)


def test_an_answer_that_is_written_on_is_a_change(home: Path) -> None:
    path = opencode(home)
    (item,), _ = Catalogue(load({"HOME": str(home)}), []).listed()
    before = fingerprint(item.source).fingerprint
    connection = sqlite3.connect(path)
    connection.execute("UPDATE part SET data = replace(data, '1.9 GB', '1.8 GB')")
    connection.commit()
    connection.close()
    after = fingerprint(item.source, prefix_bytes=before.content_bytes)
    assert after.prefix_sha256 != before.content_sha256


def test_resume() -> None:
    assert resume("opencode", Resumable("ses_1", "/x", "/srv", "1.18", False)) == "cd /srv && opencode --session ses_1"


@needs_shared
def test_given_shapes() -> None:
    found = read(SHARED / "sessions/shapes/opencode/opencode.db", host="opencode", name="ses_1")
    assert shown(found) == [
        ("user", "speed up build"),
        ("assistant", '[bash call, attempted] {"command": "make"}'),
        ("tool", "[bash result, attempted]\nok"),
    ]
    assert all(marks - {"meta"} == {"active"} for marks in found.outline.marks)
    assert found.outline.header.title == "Speed up build"
