"""All hosts in one home: listed, indexed, found, read, and opened again; also those whose sources are rows."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.hosts import stores
from tests.hosts.stores import claude_answer, claude_said, hermes_said, insert, lines, uuid

Answer = Callable[..., Any]
SESSION = "20260407_100000_abc123"


def states(answer: Answer) -> dict[str, str]:
    return {row["source"]: row["state"] for row in answer("conversations")["conversations"]}


def hits(answer: Answer, *words: str) -> list[str]:
    found = answer("search", *words)["conversations"]
    return [entry["entry_id"] for one in found for entry in one["entries"]]


def test_every_host_is_indexed_found_read_and_opened_again(home: Path, answer: Answer) -> None:
    for write in stores.WRITERS.values():
        write(home)
    listed = answer("conversations")
    assert {row["host"] for row in listed["conversations"]} == set(stores.WRITERS)
    assert listed["warnings"] == []
    done = answer("index-all")
    assert (len(done["completed"]), done["failed"]) == (len(stores.WRITERS), [])
    assert set(states(answer).values()) == {"indexed"}
    assert answer("index-all")["requested"] == 0
    found = answer("search", "kiln-debug", "--limit", "20")["conversations"]
    resume = {one["host"]: one["resume"] for one in found}
    assert resume == {
        "omp": f"omp --resume {stores.omp(home)}",
        "pi": f"pi --session {stores.pi(home)}",
        "claude-code": f"cd {stores.CWD} && claude --resume {uuid(1)}",
        "codex": f"codex resume {uuid(1)}",
        "gemini": f"cd {stores.CWD} && gemini --resume {uuid(1)}",
        "hermes": f"hermes --resume {SESSION}",
        "opencode": f"cd {stores.CWD} && opencode --session ses_1",
    }
    for one in found:
        entry = one["entries"][0]
        read = answer("read", one["conversation_id"], "--entry", entry["entry_id"], "--raw")
        assert "kiln-debug" in json.dumps(read["fragments"])
    assert answer("doctor", code=0)


def test_a_row_is_a_source_with_a_name(home: Path, answer: Answer) -> None:
    path = stores.hermes(home)
    name = f"hermes:{SESSION}"
    assert states(answer) == {name: "new"}
    done = answer("index", name)["completed"][0]
    assert (done["source"], states(answer)) == (name, {name: "indexed"})
    assert answer("index", name)["completed"][0]["unchanged"]
    conversation = done["conversation_id"]
    assert answer("read", conversation)["source_state"] == "ok"
    with closing(sqlite3.connect(path)) as connection:
        hermes_said(connection, SESSION, "user", "linnet is on the roof")
        connection.commit()
        assert states(answer) == {name: "grown"}
        assert answer("read", conversation)["source_state"] == "grown"
        assert answer("index", conversation)["completed"][0]["conversation_id"] == conversation
        assert answer("search", "linnet")["conversations"][0]["conversation_id"] == conversation
        connection.execute("UPDATE messages SET active = 0 WHERE content LIKE 'linnet%'")
        connection.commit()
        assert states(answer) == {name: "changed"}
        answer("index-all")
    assert "8" not in hits(answer, "linnet")
    assert "8" in hits(answer, "linnet", "--include", "undone")
    path.unlink()
    assert states(answer) == {name: "gone"}
    assert answer("read", conversation)["source_state"] == "gone"
    assert answer("conversations")["warnings"][0]["code"] == "database_missing"


def test_delegates_automation_and_what_was_put_aside_are_found_on_request(home: Path, answer: Answer) -> None:
    with closing(stores.hermes_database(home / ".hermes/state.db")) as connection:
        for name, more in (
            ("plain", {}),
            ("delegates", {"source": "subagent"}),
            ("automation", {"source": "cron"}),
            ("archived", {"archived": 1}),
        ):
            insert(connection, "sessions", **({"id": name, "source": "cli", "started_at": stores.T0} | more))
            hermes_said(connection, name, "user", f"linnet of {name}")
        connection.commit()
    answer("index-all")

    def found(*words: str) -> set[str]:
        return {one["host_conversation_id"] for one in answer("search", "linnet", *words)["conversations"]}

    assert found() == {"plain"}
    for name in ("delegates", "automation", "archived"):
        assert found("--include", name) == {"plain", name}
    assert found("--conversation", "archived") == {"archived"}


def test_the_running_conversation_is_left_out_by_every_host(
    home: Path, answer: Answer, monkeypatch: pytest.MonkeyPatch
) -> None:
    stores.hermes(home)
    stores.claude_code(home)
    monkeypatch.setenv("HISTORY_RECALL_CURRENT", f"hermes:{SESSION}")
    done = answer("index-all")
    assert [one["source"].startswith("/") for one in done["completed"]] == [True]
    assert answer("index", f"hermes:{SESSION}", code=1)["error"]["code"] == "current_conversation"


def test_a_fork_that_wrote_its_own_id_into_the_copy_is_found_once(home: Path, answer: Answer) -> None:
    folder = home / ".claude/projects/-x"
    copied = [claude_said(1, None, "the linnet nests in the kiln"), claude_answer(2, 1, "Then wait.", "msg_1")]
    lines(folder / f"{uuid(1)}.jsonl", *copied, claude_said(3, 2, "until May?"))
    again = [record | {"sessionId": uuid(9)} for record in copied]
    lines(folder / f"{uuid(9)}.jsonl", *again, claude_said(4, 2, "or move the kiln?") | {"sessionId": uuid(9)})
    answer("index-all")
    found = answer("search", "linnet nests")["conversations"]
    assert [entry["entry_id"] for one in found for entry in one["entries"]].count(uuid(1)) == 1
    assert len(answer("search", "move the kiln")["conversations"]) >= 1


def test_a_database_can_be_added(home: Path, tmp_path: Path, answer: Answer) -> None:
    path = stores.opencode(tmp_path / "elsewhere")
    answer("sources", "add", str(path))
    assert states(answer) == {"opencode:ses_1": "new"}
    assert answer("index", "opencode:ses_1")["completed"]
    refused = answer("index", str(path), code=1)["error"]
    assert (refused["code"], "HOST:ID" in refused["hint"] or "conversations" in refused["hint"]) == (
        "unsupported_source",
        True,
    )


def test_conversations_of_all_hosts_about_one_folder_come_together(
    home: Path, answer: Answer, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = home / "work" / "kiln"
    folder.mkdir(parents=True)
    monkeypatch.setattr(stores, "CWD", str(folder))
    for write in stores.WRITERS.values():
        write(home)
    project = answer("project", "bind", str(folder), "--no-marker")["project_id"]
    answer("index-all")
    found = answer("search", "kiln-debug", "--project", project, "--scope", "project", "--limit", "20")
    assert {one["host"] for one in found["conversations"]} == set(stores.WRITERS)
    assert {one["why_project"] for one in found["conversations"]} == {"folder"}


def test_a_hosts_own_projects_are_taken_over_and_given_back(home: Path, answer: Answer) -> None:
    stores.hermes(home)
    stores.pi(home)
    with closing(sqlite3.connect(home / ".hermes/projects.db")) as connection:
        connection.executescript(
            f"""CREATE TABLE projects (id TEXT, name TEXT, primary_path TEXT);
                INSERT INTO projects VALUES ('p_1', 'Kiln', '{stores.CWD}');"""
        )
    answer("index-all")
    before = {row["source"]: row["project"] for row in answer("conversations")["conversations"]}
    planned = answer("project", "assign", "--from-host", "hermes", "--dry-run")
    assert {row["source"]: row["project"] for row in answer("conversations")["conversations"]} == before, planned
    done = answer("project", "assign", "--from-host", "hermes")
    rows = {row["host"]: row["project"] for row in answer("conversations")["conversations"]}
    assert rows["hermes"] is not None
    assert rows["pi"] is None, "only rows of the named host are touched"
    answer("project", "revert", done["journal"])
    assert {row["source"]: row["project"] for row in answer("conversations")["conversations"]} == before
