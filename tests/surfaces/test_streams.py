"""Streams that go away, encodings that lack letters, arguments that are no text: no traceback, and the work is done."""

from __future__ import annotations

import errno
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.shared import ROOT

NO_SPACE = os.strerror(errno.ENOSPC)


def _run(home: Path, command: str, **variables: str) -> subprocess.CompletedProcess[bytes]:
    """A shell line in which $R is the command line."""
    env = {"PATH": os.environ["PATH"], "HOME": str(home), "PYTHONPATH": str(ROOT), **variables}
    env["R"] = f"{sys.executable} -m recall"
    return subprocess.run(["bash", "-c", command], env=env, capture_output=True, check=False, cwd=home)


@pytest.fixture
def store(home: Path) -> Path:
    shutil.copytree(ROOT / "fixtures" / "demo" / "home" / ".pi", home / ".pi")
    return home


def test_nobody_has_to_watch_for_the_work_to_be_done(store: Path) -> None:
    done = _run(store, "$R index-all --json 2>/dev/full")
    assert done.returncode == 0
    assert len(json.loads(done.stdout)["completed"]) == 2


@pytest.mark.parametrize("closed", ["<&-", "2>&-", "<&- 2>&-"])
def test_a_process_that_was_started_without_a_stream_answers_on_the_others(store: Path, closed: str) -> None:
    for words in ("index-all --json", "index-all", "status --json", "search zebra", "rebuild"):
        done = _run(store, f"$R {words} {closed}")
        assert (done.returncode, bool(done.stdout)) == (0, True), words
    for words, code in (("status", 0), ("index-all", 0), ("nonsense", 2), ("read c_none", 1)):
        done = _run(store, f"$R {words} >&- {closed}")
        assert done.returncode == code, words
        assert b"Traceback" not in done.stderr


@pytest.mark.parametrize("closed", ["<&-", ">&- </dev/null"])
@pytest.mark.parametrize("words", ["serve", "mcp"])
def test_a_protocol_without_one_of_its_streams_says_so(store: Path, words: str, closed: str) -> None:
    done = _run(store, f"$R {words} {closed}")
    assert done.returncode == 2
    assert b"one of them is closed" in done.stderr


def test_an_answer_that_cannot_be_written_is_a_failure_without_a_traceback(store: Path) -> None:
    for words in ("status", "status --json", "--help", "nonsense"):
        done = _run(store, f"$R {words} >/dev/full 2>&1")
        assert done.returncode in (1, 2)
    done = _run(store, "$R status >/dev/full")
    assert (done.returncode, done.stderr.decode()) == (1, f"error: the answer could not be written: {NO_SPACE}\n")


def test_a_reader_that_stops_early_is_no_fault(store: Path) -> None:
    done = _run(store, "$R conversations --json | head -c 10")
    assert done.stderr == b""


@pytest.mark.parametrize("extra", ["", " --json"])
def test_letters_that_the_terminal_lacks_are_escaped(store: Path, extra: str) -> None:
    _run(store, "$R index-all")
    done = _run(store, "$R conversations" + extra, PYTHONIOENCODING="latin-1")
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"\\u" in done.stdout


@pytest.mark.parametrize(
    "words", ["search $'\\xff'", "read $'\\xff'", "browse $'\\xff'", "search a --exclude $'\\xff'", "index $'/\\xff'"]
)
def test_arguments_that_are_no_text_are_answered_in_order(store: Path, words: str) -> None:
    done = _run(store, f"$R {words} --json")
    assert b"internal" not in done.stdout
    assert done.returncode in (0, 1, 2)


def test_settings_that_are_no_text_are_named(store: Path) -> None:
    (store / ".config" / "history-recall").mkdir(parents=True)
    config = store / ".config" / "history-recall" / "config.toml"
    for text in ('db = "a\\u0000b"', "a = " + "[" * 100_000):
        config.write_text(text)
        done = _run(store, "$R status --json")
        assert (done.returncode, json.loads(done.stdout)["error"]["code"]) == (2, "usage")


def test_an_answer_is_as_wide_as_the_terminal_and_no_wider(store: Path) -> None:
    _run(store, "$R index-all")
    for columns, most in ((60, 60), (200, 100)):
        done = _run(store, "script -qec '$R browse' /dev/null", COLUMNS=str(columns), TERM="dumb")
        if done.returncode == 127:
            pytest.skip("needs the command `script`, for a terminal")
        folded = [line for line in done.stdout.decode().splitlines() if line.startswith("    ")]
        assert folded
        assert max(map(len, folded)) <= most
        assert max(map(len, folded)) > most - 20
    piped = _run(store, "$R browse", COLUMNS="60").stdout.decode()
    assert max(len(line) for line in piped.splitlines() if line.startswith("    ")) > 60


def test_help_says_what_each_argument_is(store: Path) -> None:
    said = _run(store, "$R index --help").stdout.decode()
    assert "Arguments:\n  FILE  The log, or HOST:ID.\n" in said
    assert said.count("The log, or HOST:ID.") == 1
    missing = _run(store, "$R hosts")
    assert (missing.returncode, missing.stdout) == (2, b"")
    assert (
        "history-recall hosts list | install | uninstall; see `history-recall hosts --help`" in missing.stderr.decode()
    )
    assert "'abc' is not a valid number." in _run(store, "$R search x --limit abc").stderr.decode()
    assert "The slash command and the..." not in _run(store, "$R --help", COLUMNS="40").stdout.decode()
