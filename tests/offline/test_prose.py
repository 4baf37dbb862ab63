"""What was said and what was only shown: nothing pasted, listed or put there by a reader names or describes a scope."""

from __future__ import annotations

import time

import pytest

from recall.models.extractive.prose import code, said, shows, unlabelled
from recall.models.extractive.terms import han_pieces
from tests.offline import asking

_SHOWN = [
    "$ find .",
    "➜  project git:(main) ✗ npx tsx src/cli.ts",
    "dev@host:~/work$ make test",
    ">>> import json",
    "./.git/logs/refs/remotes/origin/HEAD",
    "'/var/folders/x y/Screenshot at 01.27.21.png'",
    "/mode",
    "/theme dark",
    "@@ -1,4 +1,5 @@",
    "+314 - Tips for creating harmonious themes",
    "14 - **Width Compliance**: Fixed `TruncatedText` component to",
    "132 collapseChangelog = false,",
    "64 station=ST-286 rows=9508 ms=215 wal_mb=26.7",
    "drwxr-xr-x  3 dev dev 4096 Nov 30 07:36 src",
    'packages/agent/src/agent.ts: if (this.queueMode === "one-at-a-time") {',
    "@returns Text content, or null if no assistant message exists",
    "this.editorContainer.addChild(this.modelSelector);",
    "const savedModel = sessionManager.loadModel();",
    "| Syntax highlighting | Done | High |",
    "2026-08-20T09:03:18 copy batch=0010 rows=9617",
    "npm error command failed",
    "[attached file] docs/theme.md",
    '[bash call, attempted] {"command": "make test"}',
]
_SAID = [
    "The pool is exhausted on each deploy, please fix it.",
    "- 3 agents failed after the restart",
    "We met at 10:30 and talked about the parade.",
    "I will meet you between 5 - 10 minutes later",
    "离线终端恢复联网后重发,导致重复扣款 63 笔。",
]


@pytest.mark.parametrize("line", _SHOWN)
def test_a_line_that_was_pasted_is_blanked(line: str) -> None:
    text = f"Before it.\n{line}\nAfter it."
    assert said(text) == f"Before it.\n{' ' * len(line)}\nAfter it."


@pytest.mark.parametrize("line", _SAID)
def test_a_line_that_was_said_stays(line: str) -> None:
    assert said(line) == line


def test_the_arguments_of_a_call_may_go_over_many_lines() -> None:
    text = "I patch it now.\n[apply_patch call, attempted] *** Begin\nNew words here\n\nand more of them"
    assert said(text).split("\n")[0] == "I patch it now."
    assert not said(text)[len("I patch it now.") :].strip()


@pytest.mark.parametrize(
    "label",
    [
        "[bash call, attempted]",
        "[read result, attempted]",
        "[bash result, attempted, error, exit code 1]",
        "[python cell, attempted, cancelled]",
        "[attached file]",
        "[image/png omitted, 120 bytes]",
        "[elided thinking 812 bytes]",
    ],
)
def test_a_label_is_no_content(label: str) -> None:
    assert unlabelled(f"{label} words") == " " * len(label) + " words"
    shown = asking.entries(
        "The harbour crane scheduler loses its berth table.",
        f"{label}\nThe berth table is rebuilt on each start of the scheduler.",
        ("tool", f"{label}\nberth table rebuilt"),
    )
    reply = asking.analyse(shown)
    words = " ".join(
        [reply["summary"], *(" ".join([f["title"], f["description"], *f["aliases"]]) for f in reply["facets"])]
    )
    for word in ("attempted", "omitted", "elided", "attached file"):
        assert word not in words


@pytest.mark.parametrize(
    "command", ["cat notes.md", "cd src && grep -n failed .", "git log --oneline", "sed -n 1,9p a"]
)
def test_what_a_command_prints_of_a_file_is_no_outcome(command: str) -> None:
    call = f'[bash call, attempted] {{"command": "{command}"}}'
    assert shows(call)
    shown = asking.entries(
        "What do the notes say of the berth table?",
        call,
        ("tool", "[bash result, attempted]\n12 passed in 3s\nERROR berth table lost"),
    )
    assert asking.findings(asking.analyse(shown)) == []


def test_a_command_that_does_something_has_outcomes() -> None:
    assert not shows('[bash call, attempted] {"command": "make test"}')
    assert not shows("no call at all")


def test_a_listing_is_code() -> None:
    assert code("12: def fail():")
    assert code("src/a.py:3: failed = True")
    assert not code("3 failed, 9 passed in 4s")


@pytest.mark.parametrize(
    "line", ["[" * 60_000, "|x" * 30_000, "a.b" * 30_000, "1 " * 30_000, "`*" * 30_000, "at x:1" * 9_000]
)
def test_one_long_line_takes_linear_time(line: str) -> None:
    began = time.process_time()
    unlabelled(said(line + " attempted"))
    code(line)
    assert time.process_time() - began < 1.0


def test_a_word_of_han_is_not_cut_at_a_character_that_is_a_particle_elsewhere() -> None:
    assert han_pieces("会话归属") == ("会话归属",)
    assert han_pieces("二元切分") == ("二元切分",)
    assert "话归属" not in han_pieces("搜索会话归属的结果")
    # A cut at a character that may be part of a word is not sure, so what it leaves is no name.
    assert han_pieces("要切分器") == ()
