"""A message that its host wrote as several records is one turn to whoever reads it; each block can still be cited."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from recall.steps.material import Shown
from recall.surfaces import agent_text
from recall.surfaces.cli import main
from tests.hosts.stores import claude_answer, claude_result, claude_said, lines, use, uuid
from tests.steps.asker import Log, entry

Run = Callable[..., str]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """What a command that ends well prints."""

    def said(*words: str) -> str:
        assert main(list(words)) == 0
        return capsys.readouterr().out

    return said


@pytest.fixture
def indexed(home: Path, run: Run) -> dict[str, Any]:
    """A conversation of Claude Code: a text and two calls in one message, with a result between the calls."""
    thinking: dict[str, object] = {"type": "thinking", "thinking": "They may be the same.", "signature": "x"}
    lines(
        home / ".claude/projects/-x" / f"{uuid(1)}.jsonl",
        claude_said(1, None, "Compare the two heron files."),
        claude_answer(2, 1, thinking, "msg_1"),
        claude_answer(3, 2, "I read both of them.", "msg_1"),
        claude_answer(4, 3, use("k1", "Read", file="a"), "msg_1"),
        claude_result(5, 4, "k1", "of a"),
        claude_answer(6, 4, use("k2", "Read", file="b"), "msg_1"),
        claude_result(7, 6, "k2", "of b"),
        claude_answer(8, 7, "They are equal.", "msg_2"),
    )
    done = json.loads(run("index-all", "--json"))
    answer: dict[str, Any] = json.loads(run("read", done["completed"][0]["conversation_id"], "--json"))
    return answer


def test_the_blocks_are_told_by_their_turn_and_read_by_their_own_ids(indexed: dict[str, Any], run: Run) -> None:
    of = {fragment["entry_id"]: fragment["turn"] for fragment in indexed["fragments"]}
    blocks = [name for name, turn in of.items() if turn == of[uuid(3)]]
    assert blocks == [uuid(3), uuid(4), uuid(6)]
    assert [name for name, turn in of.items() if turn == name] == [uuid(1), uuid(5), uuid(7), uuid(8)]
    for fragment in indexed["fragments"]:
        words = ("read", indexed["conversation_id"], "--entry", fragment["entry_id"], "--before", "0", "--after", "0")
        again = json.loads(run(*words, "--json"))["fragments"]
        assert [(one["entry_id"], one["sha256"], one["text"]) for one in again] == [
            (fragment["entry_id"], fragment["sha256"], fragment["text"])
        ]


def test_a_person_reads_one_turn(indexed: dict[str, Any], run: Run) -> None:
    heads = [line for line in run("read", indexed["conversation_id"]).splitlines() if line.startswith("--- ")]
    assert [head.split("  ")[0] for head in heads] == [
        f"--- user {uuid(1)}",
        f"--- assistant {uuid(3)}",
        f"--- {uuid(4)}",
        f"--- tool {uuid(5)}",
        f"--- assistant {uuid(6)}",
        f"--- tool {uuid(7)}",
        f"--- assistant {uuid(8)}",
    ]
    assert heads[4].endswith(f"(goes on with the message of {uuid(4)})")


def test_an_agent_reads_one_turn(indexed: dict[str, Any]) -> None:
    heads = [line for line in agent_text.text("read", indexed).splitlines() if line.startswith("--- entry")]
    assert heads[2] == f"--- entry {uuid(4)} (the same message goes on)"
    assert heads[4].endswith(f", goes on with the message of {uuid(4)})")
    assert [head for head in heads if "goes on" in head] == [heads[2], heads[4]]


def test_a_model_is_shown_which_blocks_are_one_message() -> None:
    """By the first block that it sees: the very first may have nothing to show."""
    log = Log(
        [
            entry(0, text="Compare."),
            entry(1, role="assistant", text="", parent="e0"),
            entry(2, role="assistant", text="Both.", parent="e1", turn="e1"),
            entry(3, role="assistant", text="[Read]", parent="e2", turn="e1"),
            entry(4, role="tool", text="of a", parent="e3"),
        ]
    )
    assert [(one.entry_id, one.turn) for one in Shown(log)] == [("e0", None), ("e2", None), ("e3", "e2"), ("e4", None)]
    assert list(Shown(log)) == list(Shown(log))
