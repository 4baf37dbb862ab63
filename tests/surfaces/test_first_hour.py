"""What somebody runs into in the first hour: wrong words, empty words, words that an answer itself suggests."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shlex
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from recall.errors import ArgumentError
from recall.settings import load
from tests.shared import ROOT

Said = Callable[..., tuple[int, str, str]]


@pytest.fixture
def closed(home: Path) -> Iterator[Callable[[Path], None]]:
    """Closes a file or folder to us until the test has ended."""
    modes: list[tuple[Path, int]] = []

    def close(path: Path) -> None:
        modes.append((path, path.stat().st_mode))
        path.chmod(0)
        if os.access(path, os.R_OK):
            pytest.skip("this user may read everything")

    yield close
    for path, mode in reversed(modes):
        path.chmod(mode)


def _demo(home: Path, said: Said) -> list[dict[str, Any]]:
    shutil.copytree(ROOT / "fixtures" / "demo" / "home", home, dirs_exist_ok=True)
    assert said("index-all")[0] == 0
    listed: list[dict[str, Any]] = json.loads(said("conversations", "--json")[1])["conversations"]
    return listed


@pytest.mark.parametrize(
    ("words", "name"),
    [
        (["read", ""], "CONVERSATION"),
        (["index", ""], "FILE"),
        (["browse", ""], "TOPIC"),
        (["forget", ""], "CONVERSATION"),
        (["project", "move", "", "app"], "CONVERSATION"),
        (["project", "bind", ""], "FOLDER"),
        (["sources", "add", ""], "PATH"),
        (["export", ""], "WHAT"),
        (["search", "x", "--project", ""], "--project"),
        (["forget", "--before", ""], "--before"),
    ],
)
def test_an_empty_argument_is_a_usage_error_that_names_it(words: list[str], name: str, home: Path, said: Said) -> None:
    code, out, err = said(*words)
    assert (code, out) == (2, "")
    assert err.startswith(f"error: {name} is empty (usage)\n")
    assert list(home.rglob("*")) == []


def test_an_empty_project_still_takes_a_conversation_out_of_every_one(home: Path, said: Said) -> None:
    conversation = _demo(home, said)[0]["conversation_id"]
    assert said("project", "create", "app")[0] == 0
    assert said("project", "move", conversation, "app")[0] == 0
    moved = json.loads(said("project", "move", conversation, "", "--json")[1])
    assert moved["project"] is None
    assert moved["previous"] is not None


@pytest.mark.parametrize("name", ["nothing.jsonl", "clod:5f0c2c8e", "c_none"])
def test_what_names_no_conversation_is_said_back_with_the_two_ways_to_name_one(name: str, said: Said) -> None:
    code, _, err = said("index", name)
    assert code == 1
    assert f"'{name}' is neither the path of a log that is there nor a conversation's id" in err
    assert "HOST:ID" in err
    assert "claude-code" in err


def test_what_was_forgotten_comes_back_by_the_path_that_the_list_shows(home: Path, said: Said) -> None:
    row = next(row for row in _demo(home, said) if row["source"].endswith(".jsonl"))
    assert said("forget", row["conversation_id"])[0] == 0
    shown = said("conversations", "--state", "forgotten")[1]
    assert row["source"] in shown
    code, out, _ = said("forget", row["source"], "--unforget")
    name = f"{row['host']}:{row['host_conversation_id']}"
    assert (code, out) == (0, f"{name} may be indexed again: `history-recall index {name}`\n")
    assert said("index", name)[0] == 0
    assert said("forget", row["source"], "--unforget")[0] == 1


def test_what_changes_in_a_host_is_shown_in_lines_that_can_be_read(home: Path, said: Said) -> None:
    (home / ".omp" / "agent").mkdir(parents=True)
    assert said("hosts", "install", "omp")[0] == 0
    out = said("hosts", "install", "omp", "--brief")[1]
    assert "\n  + " in out
    assert max(len(line) for line in out.splitlines()) < 200


def test_a_cost_of_nothing_is_said(home: Path, said: Said) -> None:
    _demo(home, said)
    assert "spent       nothing: no model was asked yet\n" in said("status", "--cost")[1]
    assert "spent" not in said("status")[1]


def test_a_rebuild_that_only_says_what_it_would_do_says_would(home: Path, said: Said) -> None:
    queued = len(_demo(home, said))
    assert f"{queued} sources would be queued, 0 cached replies would be dropped\n" in said("rebuild", "--dry-run")[1]
    assert f"{queued} sources queued, 0 cached replies dropped\n" in said("rebuild")[1]


def test_a_setting_that_is_misspelt_in_the_file_is_named(home: Path) -> None:
    config = home / ".config" / "history-recall" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text("daily_cals = 5\n")
    with pytest.raises(ArgumentError, match="'daily_cals' is no setting") as caught:
        load({"HOME": str(home)})
    assert "daily_calls" in str(caught.value.hint)
    config.write_text("[projects]\nagent_scop = 'project'\n")
    with pytest.raises(ArgumentError, match="'projects_agent_scop' is no setting"):
        load({"HOME": str(home)})
    config.write_text("daily_calls = 5\nprojects.agent_scope = 'project'\n")
    settings = load({"HOME": str(home)})
    assert (settings.daily_calls, settings.agent_scope) == (5, "project")


def test_an_option_in_front_of_its_command_is_told_where_it_stands(said: Said) -> None:
    code, _, err = said("--cwd", "/x", "status")
    assert code == 2
    assert "it stands behind the whole command: history-recall COMMAND … --cwd" in err
    code, out, _ = said("jobs", "--json")
    assert code == 2
    assert "history-recall jobs COMMAND … --json" in json.loads(out)["error"]["hint"]


def test_a_choice_that_is_missing_is_asked_for_in_one_line(said: Said) -> None:
    assert "Choose from: omp, pi, claude-code, codex, gemini, hermes, opencode (usage)\n" in said("hosts", "install")[2]


def test_an_index_in_a_folder_that_is_closed_is_not_said_to_be_none(
    home: Path, said: Said, closed: Callable[[Path], None]
) -> None:
    _demo(home, said)
    closed(home / ".local/share/history-recall")
    for words in (["status"], ["search", "retry"], ["index-all"], ["doctor"]):
        code, out, err = said(*words)
        assert (code, out) == (1, "")
        assert "index.db cannot be seen: Permission denied (index_unavailable)" in err


def test_a_folder_that_cannot_be_listed_is_not_added(home: Path, said: Said, closed: Callable[[Path], None]) -> None:
    (home / "logs").mkdir()
    closed(home / "logs")
    code, _, err = said("sources", "add", str(home / "logs"))
    assert (code, err) == (
        1,
        "error: the source cannot be read: Permission denied (source_unreadable)\n  check its permissions\n",
    )
    assert json.loads(said("sources", "list", "--json")[1])["added"] == []


@pytest.mark.parametrize("place", ["config.toml", ""])
def test_settings_that_are_closed_are_named(place: str, home: Path, closed: Callable[[Path], None]) -> None:
    config = home / ".config" / "history-recall" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text("daily_calls = 5\n")
    closed(config.parent / place)
    with pytest.raises(ArgumentError, match=r"config\.toml cannot be read: Permission denied"):
        load({"HOME": str(home)})


def test_an_index_of_older_word_rules_is_told_and_what_is_said_to_help_helps(home: Path, said: Said) -> None:
    _demo(home, said)
    with contextlib.closing(sqlite3.connect(home / ".local/share/history-recall/index.db")) as connection:
        connection.execute("UPDATE text_indexes SET segment_version = segment_version - 1")
        connection.commit()
    code, _, err = said("search", "retry")
    assert (code, "word rules" in err) == (1, True)
    code, out, _ = said("status")
    assert code == 0
    assert "text index  damaged: The text index was made by word rules" in out
    named = re.search(r"run `history-recall (.+?)`", err)
    assert named
    assert said(*named[1].split())[0] == 0
    assert said("search", "retry")[0] == 0
    assert "text index  healthy" in said("status")[1]


def test_a_batch_with_nothing_to_do_says_so_and_where_to_look(home: Path, said: Said) -> None:
    nothing = "Nothing is new or changed; `history-recall conversations` lists what there is\n"
    assert said("index-all")[1].startswith(nothing)
    _demo(home, said)
    assert said("index-all")[1].startswith(nothing)


def test_what_the_readme_shows_is_what_is_printed(home: Path, said: Said) -> None:
    shutil.copytree(ROOT / "fixtures" / "demo" / "home", home, dirs_exist_ok=True)
    block = next(part for part in (ROOT / "README.md").read_text("utf-8").split("```") if "\n$ history-recall" in part)
    shown = re.split(r"^\$ history-recall ", block, flags=re.MULTILINE)[1:]
    assert len(shown) == 3
    for one in shown:
        command, *lines = one.strip().splitlines()
        code, out, _ = said(*shlex.split(command))
        assert code == 0
        printed = iter(out.replace(str(home), "~").splitlines())
        for line in lines:
            if line.strip() not in ("", "…"):
                wanted = re.compile(".*".join(map(re.escape, line.split("…"))))
                assert any(wanted.fullmatch(found) for found in printed), f"not printed, or not in this order: {line}"


def test_what_a_batch_skips_is_named(home: Path, said: Said) -> None:
    empty = home / "logs" / "empty.jsonl"
    empty.parent.mkdir()
    empty.touch()
    assert said("sources", "add", str(empty.parent))[0] == 0
    assert said("index", str(empty))[1].startswith(f"skipped    {empty}: the conversation holds no entries yet (")
