"""The command line as a user meets it: real files, a fresh home, every answer looked at."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.shared import ROOT, SHARED, needs_shared

Said = Callable[..., tuple[int, str, str]]


def _demo(home: Path) -> None:
    shutil.copytree(ROOT / "fixtures" / "demo" / "home", home, dirs_exist_ok=True)


def test_reading_commands_on_a_fresh_home_answer_and_make_no_file(home: Path, said: Said) -> None:
    for words in (
        ["status"],
        ["conversations"],
        ["sources", "list"],
        ["search", "anything"],
        ["browse"],
        ["consent", "show"],
        ["doctor"],
    ):
        for extra in ([], ["--json"]):
            code, out, err = said(*words, *extra)
            assert (code, err) == (0, ""), words
            assert out.strip()
    assert said("read", "c_none")[0] == 1
    assert list(home.rglob("*")) == []


@pytest.mark.parametrize(
    "words",
    [
        ["serach", "x"],
        ["status", "spare"],
        ["search"],
        ["index"],
        ["index-all", "--sessions", "0"],
        ["search", "x", "--mode", "psychic"],
        ["sources", "ad", "x"],
        ["conversations", "--state", "tired"],
    ],
)
def test_unknown_words_and_spare_arguments_are_usage_and_change_nothing(
    words: list[str], home: Path, said: Said
) -> None:
    code, out, err = said(*words)
    assert (code, out) == (2, "")
    assert "usage" in err
    code, out, err = said(*words, "--json")
    assert json.loads(out)["error"]["code"] == "usage"
    assert code == 2
    assert list(home.rglob("*")) == []


def test_offline_there_is_no_endpoint_to_consent_to(home: Path, said: Said, monkeypatch: pytest.MonkeyPatch) -> None:
    assert said("consent", "show")[1] == "consent: not needed (offline: there is no endpoint, nothing is sent)\n"
    monkeypatch.setenv("HISTORY_RECALL_MODEL", "ollama/x")
    monkeypatch.setenv("HISTORY_RECALL_API_BASE", "http://127.0.0.1:1")
    assert "the endpoint is on this machine" in said("consent", "show")[1]


def test_a_log_may_be_named_from_the_folder_that_the_person_is_in(
    home: Path, answer: Callable[..., Any], said: Said, monkeypatch: pytest.MonkeyPatch
) -> None:
    _demo(home)
    third, first, _, second = sorted((home / ".omp").rglob("*.jsonl"))
    monkeypatch.chdir(first.parent)
    assert answer("index", first.name, "--dry-run")["sources"] == 1
    for words in (
        [first.name],
        [f"../{second.parent.name}/{second.name}"],
        [third.name, "--cwd", str(third.parent)],
    ):
        assert len(answer("index", *words)["completed"]) == 1
    assert answer("conversations", "--state", "indexed")["total"] == 3
    for named, code in (("./no.jsonl", "source_missing"), ("no.jsonl", "not_authorised"), ("c_no", "not_authorised")):
        assert json.loads(said("index", named, "--json")[1])["error"]["code"] == code


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("project", "bind", "."), "bind_refused"),
        (("project", "decline", "."), "bind_refused"),
        (("sources", "add", "."), "not_authorised"),
        (("sources", "add", "log.jsonl"), "not_authorised"),
    ],
)
def test_a_folder_whose_name_is_no_text_is_refused(
    home: Path, tmp_path: Path, said: Said, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], code: str
) -> None:
    folder = os.fsencode(tmp_path) + b"/caf\xe9"
    try:
        os.mkdir(folder)
    except OSError:
        pytest.skip("this file system takes names in UTF-8 only")
    (Path(os.fsdecode(folder)) / "log.jsonl").write_text("{}\n", encoding="utf-8")
    monkeypatch.chdir(os.fsdecode(folder))
    failed, out, _ = said(*words, "--json")
    assert (failed, json.loads(out)["error"]["code"]) == (1, code)


def test_the_demo_conversations_from_listing_to_reading(home: Path, answer: Callable[..., Any]) -> None:
    _demo(home)
    listed = answer("conversations")["conversations"]
    assert [row["state"] for row in listed] == ["new"] * 6
    indexed = answer("index-all")
    assert len(indexed["completed"]) == 6
    assert indexed["failed"] == []
    assert indexed["redactions"] == {"gitlab-token": 1, "url-password": 1}
    assert {row["repair"]["state"] for row in indexed["completed"]} == {"not_due"}
    found = answer("search", "satellite spool overflow")["conversations"]
    assert found[0]["title"] == "upload retries again"
    entry = found[0]["entries"][0]
    read = answer("read", found[0]["conversation_id"], "--entry", entry["entry_id"], "--before", "0", "--after", "0")
    text = read["fragments"][0]["text"]
    assert text[entry["offset"] : entry["offset"] + entry["length"]] == entry["snippet"]
    raw = answer("read", found[0]["conversation_id"], "--entry", entry["entry_id"], "--before", "0", "--raw")
    assert json.loads(raw["fragments"][0]["text"])["id"] == entry["entry_id"]
    assert answer("doctor", "--deep")["ok"] is True
    assert answer("conversations", "--state", "indexed", "--host", "pi")["total"] == 2


def test_words_that_begin_with_a_dash_can_be_searched(home: Path, said: Said, answer: Callable[..., Any]) -> None:
    _demo(home)
    answer("index-all")
    code, _, err = said("search", "--type")
    assert code == 2
    assert "put -- before" in err
    code, out, _ = said("search", "--json", "--", "--type")
    assert code == 0
    assert json.loads(out)["conversations"]


def test_a_second_run_finds_nothing_to_do(home: Path, answer: Callable[..., Any]) -> None:
    _demo(home)
    answer("index-all")
    again = answer("index-all")
    assert (again["requested"], again["completed"]) == (0, [])


def test_the_list_goes_on_page_by_page(home: Path, answer: Callable[..., Any]) -> None:
    _demo(home)
    whole = [row["source"] for row in answer("conversations")["conversations"]]
    paged: list[str] = []
    cursor: str | None = None
    while True:
        page = answer("conversations", "--limit", "2", *(["--cursor", cursor] if cursor else []))
        paged += [row["source"] for row in page["conversations"]]
        cursor = page["next_cursor"]
        if cursor is None:
            break
    assert paged == whole


def test_the_running_conversation_is_not_indexed_and_not_shown(
    home: Path, said: Said, answer: Callable[..., Any]
) -> None:
    _demo(home)
    running = "omp:0198b0c1-5a10-7000-8a00-0000000000d1"
    code, out, _ = said("index", running, "--current", running, "--json")
    assert (code, json.loads(out)["error"]["code"]) == (1, "current_conversation")
    assert len(answer("index-all", "--current", running)["completed"]) == 5
    answer("index-all")
    titles = [hit["title"] for hit in answer("search", "jitter", "--current", running)["conversations"]]
    assert "retry storm on the ingest gateway" not in titles
    assert answer("read", "current", "--current", running)["fragments"]


@needs_shared
def test_what_acts_on_a_terminal_reaches_no_output(
    home: Path, tmp_path: Path, said: Said, answer: Callable[..., Any]
) -> None:
    log = tmp_path / "114.jsonl"
    shutil.copy(SHARED / "cases" / "inputs" / "114-terminal-escapes.jsonl", log)
    acting = "\x1b\x07\x08\r\x7f\x9b\u202e\u202c"
    answer("sources", "add", str(log))
    outputs = [said("conversations"), said("index", str(log)), said("status"), said("browse")]
    found = answer("search", "rubythroat")["conversations"][0]
    outputs += [said("search", "rubythroat"), said("read", found["conversation_id"])]
    outputs += [said("search", "rubythroat", "--json"), said("read", found["conversation_id"], "--json")]
    outputs += [said("read", "\x1b[31mnone"), said("index", "/no/\x1b[2Jsuch")]
    for _, out, err in outputs:
        assert not [c for c in out + err if c in acting]


@needs_shared
def test_an_image_is_named_and_not_shown(home: Path, tmp_path: Path, answer: Callable[..., Any]) -> None:
    log = tmp_path / "115.jsonl"
    shutil.copy(SHARED / "cases" / "inputs" / "115-inline-image-flood.jsonl", log)
    answer("sources", "add", str(log))
    answer("index", str(log))
    for word in ("bullfinch", "redpoll", "saved"):
        hit = answer("search", word)["conversations"][0]
        assert len(json.dumps(hit)) < 4000
        text = "".join(f["text"] for f in answer("read", hit["conversation_id"])["fragments"])
        assert "AAAAAAAA" not in text
        assert "[image/png omitted, " in text


@needs_shared
def test_the_real_omp_store(
    home: Path, said: Said, answer: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(SHARED / "sessions" / "omp", home, dirs_exist_ok=True)
    listed = answer("conversations")["conversations"]
    assert [row["state"] for row in listed] == ["new"] * 4
    assert sorted(row["cwd"].rsplit("/", 1)[-1] for row in listed) == ["cjk", "deploy", "wal", "wal"]
    assert answer("index-all")["redactions"] == {"github-token": 1}
    where = {row["conversation_id"]: row["cwd"].rsplit("/", 1)[-1] for row in answer("conversations")["conversations"]}
    for query, place in (("power cut", "wal"), ("归属", "cjk"), ("E0308", "cjk"), ("update_session_cwd", "cjk")):
        found = answer("search", query)["conversations"]
        assert where[found[0]["conversation_id"]] == place, query
    nothing = answer("search", "keepalive_expiry")
    assert nothing["conversations"] == []
    assert "keepalive_expiry" in nothing["message"]
    token = "16C7e42F292c6912" + "E7710c838347Ae178B4a"
    for words in (["status"], ["browse"], ["search", "registry token"], ["conversations"]):
        assert token not in "".join(map(str, said(*words)))
    stored = b"".join(path.read_bytes() for path in (home / ".local").rglob("*") if path.is_file())
    assert token.encode() not in stored


@needs_shared
@pytest.mark.parametrize("name", ["before-compaction", "large-session"])
def test_the_long_public_sessions(name: str, home: Path, tmp_path: Path, answer: Callable[..., Any]) -> None:
    log = tmp_path / f"{name}.jsonl"
    shutil.copy(SHARED / "sessions" / "public" / "pi" / f"{name}.jsonl", log)
    answer("sources", "add", str(log))
    done = answer("index", str(log))["completed"][0]
    assert done["facets"] >= 1
    text: list[str] = []
    cursor: str | None = None
    while True:
        page = answer(
            "read", done["conversation_id"], "--max-chars", "48000", *(["--cursor", cursor] if cursor else [])
        )
        text += [fragment["text"] for fragment in page["fragments"]]
        cursor = page["next_cursor"]
        if cursor is None:
            break
    assert len("".join(text)) > 300_000
    assert answer("search", "theme selector")["conversations"][0]["entries"]
    assert answer("doctor", "--deep")["ok"] is True
