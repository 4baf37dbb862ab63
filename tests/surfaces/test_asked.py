"""What is said and asked before something is authorised or thrown away."""

from __future__ import annotations

import json
import os
import pty
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from recall.surfaces.cli import main
from tests.shared import ROOT

Add = Callable[..., tuple[int, Any]]


@pytest.fixture
def add(capsys: pytest.CaptureFixture[str]) -> Add:
    def run(path: Path | str) -> tuple[int, Any]:
        code = main(["sources", "add", str(path), "--json"])
        return code, json.loads(capsys.readouterr().out)

    return run


def _log(folder: Path, name: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    header = {"type": "session", "version": 3, "id": name, "timestamp": "2026-11-02T09:00:00.000Z", "cwd": "/w"}
    said = {"type": "message", "id": "a1", "parentId": None, "message": {"role": "user", "content": "a heron"}}
    path = folder / f"{name}.jsonl"
    path.write_text(f"{json.dumps(header)}\n{json.dumps(said)}\n")
    return path


def test_what_is_added_says_what_is_in_it(home: Path, tmp_path: Path, add: Add) -> None:
    _log(tmp_path / "good", "one")
    _log(tmp_path / "good", "two")
    _log(tmp_path / "mixed", "three")
    (tmp_path / "mixed" / "other.jsonl").write_text('{"a": 1}\n')
    _log(tmp_path / "above" / "bucket", "four")
    (tmp_path / "bare").mkdir()
    (tmp_path / "empty.jsonl").touch()
    expected = {
        "good": (2, 0, ""),
        "mixed": (1, 1, "1 of 2 in it cannot be read"),
        "above": (0, 0, "logs in 1 folder (bucket)"),
        "bare": (0, 0, "No log lies in it yet"),
        "empty.jsonl": (0, 1, "No conversation is in it yet"),
        "good/one.jsonl": (1, 0, ""),
    }
    for name, (logs, unreadable, words) in expected.items():
        code, told = add(tmp_path / name)
        assert code == 0
        assert (told["added"]["logs"], told["added"]["unreadable"]) == (logs, unreadable), name
        assert words in told["message"], told
        assert bool(told["message"]) == bool(words)


@pytest.mark.parametrize("content", [b'{"a": 1}\n', b"not JSON\n", b"\x00\x01\x02", b'{"type": "session"}\n'])
def test_a_file_that_no_host_reads_is_not_added(
    home: Path, tmp_path: Path, add: Add, capsys: pytest.CaptureFixture[str], content: bytes
) -> None:
    path = tmp_path / "b.jsonl"
    path.write_bytes(content)
    _is_not_added(path, add, capsys)


def test_a_database_of_no_host_is_not_added(
    home: Path, tmp_path: Path, add: Add, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "state.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE things (name TEXT)")
    _is_not_added(path, add, capsys)


def _is_not_added(path: Path, add: Add, capsys: pytest.CaptureFixture[str]) -> None:
    code, told = add(path)
    assert (code, told["error"]["code"]) == (1, "unsupported_source")
    assert f"{path} is no log of a host that is known here: " in told["error"]["message"]
    assert "nothing was added" in told["error"]["hint"]
    assert main(["sources", "list", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["added"] == []


def test_what_was_given_up_is_marked_where_it_is_found(
    home: Path, tmp_path: Path, add: Add, capsys: pytest.CaptureFixture[str]
) -> None:
    log = _log(tmp_path / "tree", "seven")
    lines = [("b1", "a1", "go on with the wryneck"), ("c1", "a1", "no, the wryneck stays")]
    with log.open("a") as file:
        for name, parent, text in lines:
            message = {"role": "user", "content": text}
            file.write(json.dumps({"type": "message", "id": name, "parentId": parent, "message": message}) + "\n")
    add(log)
    assert main(["index", str(log)]) == 0
    capsys.readouterr()
    assert main(["search", "wryneck", "--include", "abandoned"]) == 0
    shown = {line.split()[2]: line for line in capsys.readouterr().out.splitlines() if line.startswith("   - ")}
    assert "[abandoned_branch]" in shown["b1"]
    assert "[" not in shown["c1"]


def test_what_lies_in_a_host_s_own_folder_is_said_to_be_looked_through_anyway(home: Path, add: Add) -> None:
    log = _log(home / ".pi" / "agent" / "sessions" / "--w--", "five")
    code, told = add(log.parent)
    assert code == 0
    assert "own folder of pi" in told["message"]


def test_a_folder_where_everybody_may_put_files_is_refused(home: Path, tmp_path: Path, add: Add) -> None:
    _log(tmp_path / "shared", "six")
    (tmp_path / "shared").chmod(0o1777)
    for folder in (tmp_path / "shared", "/proc/self", "/dev", home, "/"):
        code, told = add(folder)
        assert (code, told["error"]["code"]) == (1, "not_authorised"), folder
    (tmp_path / "shared").chmod(0o755)
    assert add(tmp_path / "shared")[0] == 0


def _typed(words: list[str], environment: dict[str, str], typed: bytes) -> tuple[int, str]:
    """Run the command at a terminal and type an answer; its exit code, and what the terminal showed."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "recall", *words], stdin=theirs, stdout=theirs, stderr=theirs, env=environment
    )
    os.close(theirs)
    os.write(ours, typed)
    shown = b""
    try:
        while piece := os.read(ours, 4096):
            shown += piece
    except OSError:
        pass  # the other end is closed: the command has ended
    code = process.wait()
    os.close(ours)
    return code, shown.decode()


def test_a_rebuild_asks_at_a_terminal_before_paid_replies_go(tmp_path: Path) -> None:
    home = tmp_path / "home"
    shutil.copytree(ROOT / "fixtures" / "demo" / "home", home)
    database = tmp_path / "index.db"
    environment = {"PATH": os.environ["PATH"], "HOME": str(home), "HISTORY_RECALL_DB": str(database), "LANG": "C.UTF-8",
                   "PYTHONPATH": str(ROOT)}  # fmt: skip

    def run(*words: str) -> Any:
        command = [sys.executable, "-m", "recall", *words, "--json"]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        return json.loads(done.stdout)

    def replies() -> int:
        with closing(sqlite3.connect(database)) as connection:
            return int(connection.execute("SELECT count(*) FROM model_cache").fetchone()[0])

    run("index-all")
    assert _typed(["rebuild"], environment, b"")[0] == 0, "nothing was paid for, so nothing is asked"
    with closing(sqlite3.connect(database, isolation_level=None)) as connection:
        connection.execute(
            "INSERT INTO model_cache (profile_no, key, kind, model, reply, source, created_at) "
            "SELECT profile_no, 'k', 'analysis', 'm', '{}', NULL, 1 FROM profiles LIMIT 1"
        )
    assert run("rebuild", "--dry-run")["cached_replies_dropped"] == 1
    code, shown = _typed(["rebuild"], environment, b"n\n")
    assert (code, replies()) == (130, 1)
    assert "1 cached reply" in shown
    assert "Nothing was changed" in shown
    code, shown = _typed(["rebuild"], environment, b"y\n")
    assert (code, replies()) == (0, 0)


def test_a_rebuild_that_a_program_runs_is_not_asked(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    environment = {"PATH": os.environ["PATH"], "HOME": str(home), "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "recall", "rebuild"]
    assert subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, capture_output=True).returncode == 0
