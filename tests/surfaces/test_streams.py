"""Streams that go away, encodings that lack letters, arguments that are no text: no traceback, and the work is done."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.shared import ROOT


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


def test_an_answer_that_cannot_be_written_is_a_failure_without_a_traceback(store: Path) -> None:
    for words in ("status", "status --json", "--help", "nonsense"):
        done = _run(store, f"$R {words} >/dev/full 2>&1")
        assert done.returncode in (1, 2)
    done = _run(store, "$R status >/dev/full")
    assert (done.returncode, done.stderr) == (1, b"")


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
