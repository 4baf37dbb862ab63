"""Hermes: rows by whatever columns are there, what was compacted and taken back, lineage, profiles, projects."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from recall.errors import SourceError
from recall.hosts.catalogue import Catalogue, Listed
from recall.hosts.project_records import HostProject, project_records
from recall.hosts.reading import Resumable, fingerprint, missing, read_record, resume
from recall.redact import Redactor
from recall.settings import load
from recall.types import Header
from tests.hosts.logs import Log, read
from tests.hosts.stores import T0, hermes, hermes_database, hermes_said, insert
from tests.shared import SHARED, needs_shared

SESSION = "20260407_100000_abc123"
SHAPES = SHARED / "sessions" / "shapes" / "hermes"


@pytest.fixture
def db(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    with closing(hermes_database(tmp_path / "state.db", 30)) as connection:
        insert(connection, "sessions", id="s1", source="cli", started_at=T0)
        yield connection


def log(db: sqlite3.Connection, name: str = "s1") -> Log:
    db.commit()
    path = db.execute("PRAGMA database_list").fetchone()[2]
    return read(Path(path), host="hermes", name=name)


def catalogue(home: Path, **environment: str) -> Catalogue:
    return Catalogue(load({"HOME": str(home), **environment}), [])


def heads(home: Path, **environment: str) -> dict[str, Header]:
    found, _ = catalogue(home, **environment).listed()
    return {item.header.host_conversation_id: item.header for item in found if item.header}


# --- messages ---------------------------------------------------------------------------------------------------


def test_flags_come_to_marks(db: sqlite3.Connection) -> None:
    for text, flags in (
        ("summed up", {"active": 0, "compacted": 1}),
        ("taken back", {"active": 0, "compacted": 0}),
        ("overheard", {"observed": 1}),
        ("scaffolding", {"display_kind": "hidden"}),
        ("live", {}),
    ):
        hermes_said(db, "s1", "user", text, **flags)
    found = log(db)
    assert {entry.text: found.outline.marks[entry.seq] - {"active"} for entry in found.entries} == {
        "summed up": {"compacted"},
        "taken back": {"rewound"},
        "overheard": {"meta"},
        "scaffolding": {"meta"},
        "live": set(),
    }


def test_contents_of_every_form(db: sqlite3.Connection) -> None:
    blocks = [
        {"type": "text", "text": "see"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}},
    ]
    hermes_said(db, "s1", "user", "\x00json:" + json.dumps(blocks))
    hermes_said(db, "s1", "user", '{"typed": "as JSON"}')
    hermes_said(db, "s1", "user", "nul\x00inside")
    hermes_said(db, "s1", "tool", json.dumps({"output": "no", "exit_code": 2, "error": "bad"}), tool_name="terminal")
    hermes_said(db, "s1", "tool", json.dumps({"matches": 3}), tool_name="grep")
    hermes_said(db, "s1", "tool", "{broken", tool_name="grep")
    hermes_said(db, "s1", "system", "you are")
    assert log(db).texts == [
        "see\n[image/png omitted, 2 bytes]",
        '{"typed": "as JSON"}',
        "nulinside",
        "[terminal result, attempted, error, exit code 2]\nno\nbad",
        '[grep result, attempted]\n{"matches": 3}',
        "[grep result, attempted]\n{broken",
        "you are",
    ]


def test_our_own_answers_are_left_out(db: sqlite3.Connection) -> None:
    calls = [{"id": "k1", "function": {"name": "history_recall_search", "arguments": '{"queries": ["linnet"]}'}}]
    hermes_said(db, "s1", "assistant", "", tool_calls=json.dumps(calls))
    hermes_said(db, "s1", "tool", "linnet v2", tool_call_id="k1")
    hermes_said(db, "s1", "assistant", "use it")
    found = log(db)
    assert found.texts == ["", "", "use it"]


@pytest.mark.parametrize(
    ("content", "role", "text"),
    [
        ("[CONTEXT COMPACTION — REFERENCE ONLY] so far", "summary", None),
        ("[CONTEXT SUMMARY]: so far", "summary", None),
        ("[CONTEXT COMPACTION — REFERENCE ONLY] so far\n--- END OF CONTEXT SUMMARY ---\n\ngo on", "user", "go on"),
        (
            "[PRIOR CONTEXT — for reference]\nwhat I said\n[END OF PRIOR CONTEXT — BELOW]\n[CONTEXT COMPACTION — x] y",
            "user",
            "what I said",
        ),
        ("I saw [CONTEXT COMPACTION in a log", "user", "I saw [CONTEXT COMPACTION in a log"),
    ],
)
def test_a_summary_is_known_and_cut_off_what_it_was_merged_into(
    db: sqlite3.Connection, content: str, role: str, text: str | None
) -> None:
    hermes_said(db, "s1", "user", content)
    (entry,) = log(db).entries
    assert (entry.role, entry.text) == (role, text or content)


def test_rows_that_a_compaction_wrote_once_more_count_once(db: sqlite3.Connection) -> None:
    long = "a long question " * 10
    for text in ("yes", long):
        hermes_said(db, "s1", "user", text, active=0, compacted=1)
    for text in ("yes", long):
        hermes_said(db, "s1", "user", text)
    found = log(db)
    assert found.texts == ["yes", "", "yes", long]
    assert found.outline.marks[1] == {"active", "compacted", "meta"}


# --- what changes -----------------------------------------------------------------------------------------------


def test_growth_keeps_the_beginning_and_a_flag_changes_the_whole_but_no_entry(db: sqlite3.Connection) -> None:
    hermes_said(db, "s1", "user", "one")
    hermes_said(db, "s1", "user", "two")
    before = log(db)
    path = Path(db.execute("PRAGMA database_list").fetchone()[2])
    (item,) = Catalogue(load({"HOME": "/nobody"}), [(str(path), "file")]).listed()[0]
    read_before = before.outline.fingerprint.content_bytes
    hermes_said(db, "s1", "user", "three")
    db.commit()
    grown = fingerprint(item.source, prefix_bytes=read_before)
    assert grown.prefix_sha256 == before.outline.fingerprint.content_sha256
    assert grown.fingerprint.size > item.size
    db.execute("UPDATE messages SET active = 0 WHERE content = 'one'")
    db.commit()
    flagged = fingerprint(item.source, prefix_bytes=read_before)
    assert flagged.prefix_sha256 != before.outline.fingerprint.content_sha256
    assert flagged.fingerprint.inode != grown.fingerprint.inode
    wanted = [(entry.entry_id, entry.position, entry.sha256) for entry in before.entries]
    assert missing(item.source, wanted) == frozenset()
    db.execute("UPDATE messages SET content = 'other' WHERE content = 'two'")
    db.commit()
    assert missing(item.source, wanted) == {"2"}
    first, second = before.entries
    assert read_record(item.source, first.position, first.sha256, Redactor(), entry_id="1")["content"] == "one"
    with pytest.raises(SourceError) as error:
        read_record(item.source, second.position, second.sha256, Redactor(), entry_id="2")
    assert error.value.code == "stale_evidence"


# --- which conversation -----------------------------------------------------------------------------------------


def test_what_a_session_is_to_its_parent(home: Path) -> None:
    with closing(hermes_database(home / ".hermes/state.db")) as connection:
        for name, more in (
            ("root", {"end_reason": "compression"}),
            ("goes-on", {"parent_session_id": "root"}),
            ("branch", {"parent_session_id": "root", "model_config": '{"_branched_from": "root"}'}),
            ("reset", {"parent_session_id": "root", "model_config": '{"_reset_from": "root"}'}),
            ("delegate", {"parent_session_id": "goes-on", "model_config": '{"_delegate_from": "goes-on"}'}),
            ("subagent", {"parent_session_id": "goes-on", "source": "subagent"}),
            ("timetable", {"source": "cron"}),
            ("aside", {"archived": 1}),
            ("odd", {"model_config": "no json"}),
        ):
            insert(connection, "sessions", **({"id": name, "source": "cli", "started_at": T0} | more))
            hermes_said(connection, name, "user", "x")
        connection.commit()
        found = heads(home)
    told = {name: (head.parent, head.continues, head.sidechain) for name, head in found.items()}
    assert told == {
        "root": (None, None, False),
        "goes-on": (None, "root", False),
        "branch": ("root", None, False),
        "reset": ("root", None, False),
        "delegate": ("goes-on", None, True),
        "subagent": ("goes-on", None, True),
        "timetable": (None, None, False),
        "aside": (None, None, False),
        "odd": (None, None, False),
    }
    assert [name for name, head in found.items() if head.automation] == ["timetable"]
    assert [name for name, head in found.items() if head.archived] == ["aside"]


def test_profiles_are_walls(home: Path) -> None:
    hermes(home)
    other = home / "elsewhere"
    hermes(other)
    (home / ".hermes/profiles").mkdir()
    (other / ".hermes").rename(home / ".hermes/profiles/office")
    default, work = home / ".hermes/state.db", home / ".hermes/profiles/office/state.db"

    def sources(**environment: str) -> list[str]:
        return [item.source.path for item in catalogue(home, **environment).listed()[0]]

    assert sources() == sources(HERMES_HOME=str(home / ".hermes/profiles/office")) == [str(default)]
    assert sources(HISTORY_RECALL_PROFILE="office") == [str(work)]
    assert sources(HISTORY_RECALL_PROFILE="play") == []
    assert sources(HERMES_HOME=str(home / ".hermes/profiles/office"), HISTORY_RECALL_PROFILE="office") == [str(work)]


def test_a_database_that_is_not_there_is_named(home: Path) -> None:
    (home / ".hermes").mkdir()
    found, warnings = catalogue(home).listed()
    assert found == []
    assert [(one.code, "state.db is not there" in one.message) for one in warnings] == [("database_missing", True)]


@pytest.mark.parametrize("content", [b"", b"SQLite format 3\x00" + b"\xff" * 4000, b"no database"])
def test_a_database_that_is_none_is_named_and_nothing_else_suffers(home: Path, content: bytes) -> None:
    path = hermes(home)
    hermes(home / "other")
    path.write_bytes(content)
    found, warnings = Catalogue(load({"HOME": str(home)}), [(str(home / "other/.hermes/state.db"), "file")]).listed()
    assert [item.source.name for item in found] == [f"hermes:{SESSION}"]
    assert [one.code for one in warnings] == ["database_unreadable"]


def test_one_session_in_two_databases_is_listed_once(home: Path) -> None:
    hermes(home)
    hermes(home / "backup")
    given = Catalogue(load({"HOME": str(home)}), [(str(home / "backup/.hermes/state.db"), "file")])
    found: list[Listed] = given.listed()[0]
    assert [item.source.path for item in found] == [str(home / ".hermes/state.db")]


def test_its_projects(home: Path) -> None:
    settings = load({"HOME": str(home)})
    assert project_records(settings, "hermes") == ()
    hermes(home)
    with closing(sqlite3.connect(home / ".hermes/projects.db")) as connection:
        connection.executescript(
            """CREATE TABLE projects (id TEXT, slug TEXT, name TEXT, primary_path TEXT);
               CREATE TABLE project_folders (project_id TEXT, path TEXT, is_primary INTEGER);
               INSERT INTO projects VALUES ('p_1', 'kiln', 'Kiln', '/srv/kiln'), ('p_0', 'none', 'None', NULL);
               INSERT INTO project_folders VALUES ('p_1', '/srv/docs', 0), ('p_1', '/srv/kiln', 1);"""
        )
    assert project_records(settings, "hermes") == (
        HostProject("hermes", "p_0", "None"),
        HostProject("hermes", "p_1", "Kiln", ("/srv/kiln", "/srv/docs")),
    )


def test_resume() -> None:
    assert resume("hermes", Resumable(SESSION, "/x", "/srv", None, False)) == f"hermes --resume {SESSION}"
    assert resume("hermes", Resumable(SESSION, "/x", "/srv", None, True)) is None


@needs_shared
@pytest.mark.parametrize("version", [22, 30])
def test_given_shapes(version: int) -> None:
    path = SHAPES / f"state_v{version}.db"
    found = read(path, host="hermes", name="20261102_090000_a1b2c3")
    assert [(entry.role, sorted(found.outline.marks[entry.seq] - {"active"})) for entry in found.entries] == [
        ("user", ["compacted"]),
        ("assistant", ["compacted"]),
        ("tool", ["compacted"]),
        ("summary", []),
        ("user", ["rewound"]),
        ("user", []),
    ]
    assert found.entries[-1].text == "see image\n[image/png omitted, 2 bytes]"
    assert found.outline.header.version == version
    listed = Catalogue(load({"HOME": "/nobody"}), [(str(path), "file")]).listed()[0]
    told = {item.header.host_conversation_id: item.header for item in listed if item.header}
    assert told["20261101_090000_old002"].continues == "20261101_080000_old001"
    assert told["20261101_091000_fork01"].parent == "20261101_090000_old002"
    assert told["20261101_092000_sub001"].sidechain
    assert told["20261001_000000_arch01"].archived
    assert sorted(item.problem.code for item in listed if item.problem) == ["source_empty"] * 5
