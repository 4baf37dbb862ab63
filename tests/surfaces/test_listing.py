"""What a listing says of moved, copied and extractive sources, and what `index-all` makes of them."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from recall.doctor import doctor
from recall.index.database import Database
from recall.settings import load
from recall.surfaces.cli import main
from tests.shared import ROOT

Answer = Callable[..., Any]
STORE = ".pi/agent/sessions/--home-dev-src-tidepool--"


@pytest.fixture
def log(home: Path, answer: Answer) -> Path:
    """One indexed Pi log."""
    shutil.copytree(ROOT / "fixtures" / "demo" / "home" / STORE, home / STORE)
    answer("index-all")
    return next(path for path in sorted((home / STORE).iterdir()))


def _row(answer: Answer, log: Path) -> Any:
    return next(row for row in answer("conversations")["conversations"] if row["source"] == str(log))


def test_a_moved_log_is_read_where_it_is_and_index_all_notes_its_place(log: Path, answer: Answer) -> None:
    before = _row(answer, log)
    moved = log.parent.parent / "--elsewhere--" / log.name
    moved.parent.mkdir()
    log.rename(moved)
    row = _row(answer, moved)
    assert (row["state"], row["conversation_id"], row["copy_of"]) == ("indexed", before["conversation_id"], None)
    assert answer("read", row["conversation_id"], "--raw")["fragments"]
    done = answer("index-all")
    assert [one["unchanged"] for one in done["completed"]] == [True]
    assert done["calls"] == 0
    assert answer("read", row["conversation_id"])["source_state"] == "ok"
    assert answer("index-all")["requested"] == 0


def test_a_copy_is_named_as_one_and_counted_once(log: Path, answer: Answer) -> None:
    copy = log.parent / ("copy-" + log.name)
    shutil.copy(log, copy)
    assert _row(answer, copy)["copy_of"] == str(log)
    assert answer("status")["coverage"] == {"pi": {"indexed": 2}}
    assert answer("rebuild")["queued"] == 2
    assert not answer("index-all")["skipped"]


def test_with_a_model_index_all_takes_what_the_built_in_analyser_made(
    log: Path, answer: Answer, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert {row["analysis"] for row in answer("conversations")["conversations"]} == {"extractive"}
    monkeypatch.setenv("HISTORY_RECALL_MODEL", "openai/local")
    monkeypatch.setenv("HISTORY_RECALL_API_BASE", "http://127.0.0.1:9/v1")
    plan = answer("index-all", "--dry-run")
    assert (plan["sources"], plan["would_send"]["calls"] > 1) == (2, True)


def test_an_indexed_conversation_can_be_named_by_its_id(log: Path, answer: Answer) -> None:
    identity = _row(answer, log)["conversation_id"]
    assert answer("index", identity)["completed"][0]["unchanged"] is True


def test_a_slash_command_is_no_title(home: Path, answer: Answer) -> None:
    folder = home / STORE
    folder.mkdir(parents=True)
    lines = [
        {"type": "session", "version": 3, "id": "5f0c2c8e-1", "timestamp": "2026-09-02T13:05:00.000Z", "cwd": "/w"},
        _said("a0000001", None, "/mode"),
        _said("a0000002", "a0000001", "Why is the tide table empty on Mondays?"),
    ]
    (folder / "x_5f0c2c8e-1.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    answer("index-all")
    assert answer("conversations")["conversations"][0]["title"] == "Why is the tide table empty on Mondays?"


def test_a_filter_that_leaves_nothing_says_so(log: Path, answer: Answer) -> None:
    assert (
        answer("conversations", "--state", "changed")["message"]
        == "None of the 2 conversations is of that host and state"
    )
    log.unlink()
    answer("forget", str(_row(answer, log)["conversation_id"]))
    one = "The one conversation is not of that host and state"
    assert answer("conversations", "--state", "changed")["message"] == one


def test_a_topics_history_is_told_in_words(log: Path, answer: Answer, capsys: pytest.CaptureFixture[str]) -> None:
    topic = answer("browse")["entries"][0]["topic_id"]
    assert main(["browse", topic, "--history"]) == 0
    out = capsys.readouterr().out
    assert "Created as" in out
    assert "{" not in out


def test_the_next_page_is_a_whole_command(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["browse", "--limit", "1"]) == 0
    more = capsys.readouterr().out.splitlines()[-1]
    assert more.startswith("more: history-recall browse --limit 1 --cursor ")
    assert main(more.split()[2:]) == 0


def test_no_words_at_all_show_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    assert "index-all" in capsys.readouterr().out


def test_a_model_without_a_provider_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HISTORY_RECALL_MODEL", "nonsense")
    assert main(["status"]) == 2
    assert "names no provider" in capsys.readouterr().err


def test_newest_first_by_the_time_that_is_shown_page_by_page(
    log: Path, answer: Answer, capsys: pytest.CaptureFixture[str]
) -> None:
    new = log.parent / "new_5f0c2c8e-9.jsonl"
    head = {"type": "session", "version": 3, "id": "5f0c2c8e-9", "timestamp": "2026-09-02T13:05:00.000Z", "cwd": "/w"}
    new.write_text(json.dumps(head) + "\n" + json.dumps(_said("a0000001", None, "Is the gauge drifting?")) + "\n")
    listed = answer("conversations")["conversations"]
    indexed = sorted((row for row in listed if row["conversation_id"]), key=lambda row: row["last_active_at"])
    for place, row in enumerate(indexed):  # the files' times say the opposite
        moment = 1_600_000_000 - place
        os.utime(row["source"], (moment, moment))
    os.utime(new, (1, 1))
    listed = answer("conversations")["conversations"]
    times = [row["active_at"] for row in listed]
    assert times == sorted(times, reverse=True)
    assert listed[-1]["source"] == str(new)
    assert listed[-1]["active_at"] == listed[-1]["modified_at"]
    assert [row["source"] for row in listed[:-1]] == [row["source"] for row in reversed(indexed)]
    paged, cursor = [], None
    while True:
        page = answer("conversations", "--limit", "1", *(["--cursor", cursor] if cursor else []))
        paged += page["conversations"]
        if (cursor := page["next_cursor"]) is None:
            break
    assert paged == listed
    main(["conversations"])
    shown = [line[23:39] for line in capsys.readouterr().out.splitlines() if " UTC " in line]
    assert shown == [moment[:16].replace("T", " ") for moment in times]


def _said(identity: str, parent: str | None, text: str) -> dict[str, object]:
    message = {"role": "user", "content": [{"type": "text", "text": text}]}
    return {
        "type": "message",
        "id": identity,
        "parentId": parent,
        "timestamp": "2026-09-02T13:06:00.000Z",
        "message": message,
    }


def test_a_second_file_of_a_conversation_counts_only_where_it_goes_on_from_the_first(
    log: Path, answer: Answer, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = log.read_text(encoding="utf-8").splitlines(keepends=True)
    other = log.parent / "other.jsonl"
    other.write_text("".join(line.replace("UTC", "GMT") for line in [*lines, lines[-1]]), encoding="utf-8")
    assert main(["index", str(other), "--json"]) == 1
    refused = json.loads(capsys.readouterr().out)["error"]
    assert refused["code"] == "duplicate_conversation"
    assert str(log) in refused["message"]
    assert str(other) in refused["message"]
    assert "are not in the second" in refused["message"]  # it went another way
    row = _row(answer, other)
    assert (row["state"], row["copy_of"], row["problem"]) == ("changed", str(log), refused["message"])
    assert answer("search", "gauge", "--mode", "keyword")["coverage"] == "partial"
    state = answer("status")
    assert (state["queue"]["waiting"], state["coverage"]["pi"]["changed"]) == (0, 1)
    assert [failed["code"] for failed in state["queue"]["failed"]] == ["duplicate_conversation"]
    assert main(["doctor", "--json"]) == 1
    checks = {check["name"]: check for check in json.loads(capsys.readouterr().out)["checks"]}
    assert checks["second files"]["ok"] is False
    assert str(other) in checks["second files"]["detail"]
    other.write_text("".join(lines), encoding="utf-8")
    assert main(["index", str(other), "--json"]) == 1
    assert "and not more of it" in json.loads(capsys.readouterr().out)["error"]["message"]
    row = _row(answer, other)
    assert (row["state"], row["copy_of"], row["problem"]) == ("indexed", str(log), None)
    assert answer("search", "gauge", "--mode", "keyword")["coverage"] == "complete"
    assert main(["doctor", "--json"]) == 0
    assert "copies" in capsys.readouterr().out
    more = _said("c0ffee01", json.loads(lines[-1])["id"], "And the tides of spring?")
    other.write_text("".join(lines) + json.dumps(more) + "\n", encoding="utf-8")
    assert answer("index", str(other))["completed"][0]["unchanged"] is False
    assert _row(answer, other)["copy_of"] is None


def test_a_second_file_that_comes_later_with_entries_of_its_own_is_noticed_by_index_all(
    log: Path, answer: Answer
) -> None:
    lines = log.read_text(encoding="utf-8").splitlines(keepends=True)
    other = log.parent / "other.jsonl"
    other.write_text(lines[0] + json.dumps(_said("c0ffee01", None, "Where does the whimbrel rest?")) + "\n")
    first = answer("index-all")
    assert (first["requested"], first["left"]) == (0, 0)  # no run can do anything about it
    assert (_row(answer, other)["state"], _row(answer, other)["copy_of"]) == ("changed", str(log))
    assert answer("search", "whimbrel", "--mode", "keyword")["coverage"] == "partial"
    other.unlink()
    answer("index-all")
    assert answer("search", "whimbrel", "--mode", "keyword")["coverage"] == "complete"


def test_what_was_skipped_is_named_by_line(home: Path, answer: Answer, capsys: pytest.CaptureFixture[str]) -> None:
    folder = home / STORE
    folder.mkdir(parents=True)
    head = {"type": "session", "version": 3, "id": "5f0c2c8e-2", "timestamp": "2026-09-02T13:05:00.000Z", "cwd": "/w"}
    said = _said("a0000001", None, "Is the gauge at pier 4 drifting?")
    text = json.dumps(head) + "\n" + json.dumps(said) + "\n{broken\n" + json.dumps(said)[:40]
    log = folder / "x_5f0c2c8e-2.jsonl"
    log.write_text(text)
    warnings = answer("index", str(log))["completed"][0]["warnings"]
    assert [(w["code"], w["line"]) for w in warnings] == [("malformed_line", 3), ("torn_tail", 4)]
    main(["index", str(log), "--force"])
    out = capsys.readouterr().out
    assert "line 3: " in out
    assert "torn_tail" in out


@pytest.mark.parametrize(
    ("words", "usage"),
    [("browse", "browse [OPTIONS] [TOPIC]"), ("read", "read [OPTIONS] CONVERSATION"), ("search", "[OPTIONS] QUERY...")],
)
def test_usage_says_what_is_optional(words: str, usage: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([words, "--help"]) == 0
    assert usage + "\n" in capsys.readouterr().out


def test_one_is_told_as_one_and_no_table_is_named(
    home: Path, answer: Answer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (home / STORE).mkdir(parents=True)
    head = {"type": "session", "version": 3, "id": "5f0c2c8e-7", "timestamp": "2026-09-02T13:05:00.000Z", "cwd": "/w"}
    said = _said("a0000001", None, "Why does the quillonbrace rattle?")
    (home / STORE / "x_5f0c2c8e-7.jsonl").write_text(json.dumps(head) + "\n" + json.dumps(said) + "\n")
    answer("index-all")
    bundle = str(tmp_path / "one.json")
    answer("export", "--output", bundle)
    main(["forget", "pi:5f0c2c8e-7", "--dry-run"])
    assert "with it: 1 conversation, 1 entry, 1 facet\n" in capsys.readouterr().out
    assert main(["forget", "pi:5f0c2c8e-7"]) == 0
    held = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("with it: "))
    assert "1 conversation" in held
    assert "1 place in a topic" in held
    assert not re.search(r"_|\b1 \w+s\b", held)
    answer("forget", "pi:5f0c2c8e-7", "--unforget")
    main(["import", bundle])
    assert capsys.readouterr().out.startswith("1 conversation taken in, 0 there already")


def test_files_without_a_conversation_are_not_counted_as_conversations(
    log: Path, answer: Answer, capsys: pytest.CaptureFixture[str]
) -> None:
    (log.parent / "empty.jsonl").touch()
    for name in ("one", "two"):
        (log.parent / f"{name}.jsonl").write_text('{"a": 1}\n')
    row = next(row for row in answer("hosts", "list")["hosts"] if row["host"] == "pi")
    assert (row["conversations"], row["indexed"], row["unreadable"]) == (2, 2, 3)
    assert main(["hosts", "list"]) == 0
    told = capsys.readouterr().out.splitlines()
    assert any("2 conversations, 2 indexed, 3 files that cannot be read" in line for line in told)
    assert sum("cannot be read" in line for line in told) == 1
    log.write_text("broken\n")  # what was indexed of it is a conversation still
    row = next(row for row in answer("hosts", "list")["hosts"] if row["host"] == "pi")
    assert (row["conversations"], row["unreadable"]) == (2, 3)


def test_doctor_of_an_index_that_cannot_be_written_calls_nothing_damaged(log: Path, answer: Answer) -> None:
    settings = load(os.environ)
    database = Database._open_read_only(settings.database, lambda: False)  # as on a read-only file system
    told = doctor(settings, database)
    database.close()
    checks = {check["name"]: check for check in told["checks"]}  # type: ignore[attr-defined]
    assert told["ok"] is True, checks
    assert (checks["text index"]["ok"], checks["journal"]["ok"]) == (None, None)
    assert "cannot be checked" in checks["text index"]["detail"]


@pytest.mark.parametrize("body", ["broken\n", None])
def test_a_token_in_the_name_of_a_file_is_not_shown(
    log: Path, answer: Answer, body: str | None, capsys: pytest.CaptureFixture[str]
) -> None:
    token = "ghp_" + "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dF3hJ5"
    named = log.parent / f"x_{token}.jsonl"
    log.rename(named)
    if body is not None:
        named.write_text(body)
    rows = [row for row in answer("conversations")["conversations"] if "x_[REDACTED" in row["source"]]
    assert [row["state"] for row in rows] == ["indexed" if body is None else "invalid"]
    assert token not in json.dumps(answer("conversations"))
    main(["conversations"])
    out = capsys.readouterr().out
    assert "x_[REDACTED" in out
    assert token not in out
