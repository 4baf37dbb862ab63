"""A conversation has one set of names, and every command that takes one takes all of them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from recall.hashing import conversation_id
from recall.surfaces.cli import main
from tests.process.world import lines

HEADER, IN_NAME = "5e551011-heron", "0199aaaa-bbbb-7ccc-8ddd-eeeeffff0001"
NAME = f"2026-03-02T09-00-00-000Z_{IN_NAME}"
TURNS = ["Where is the heron?", "The heron is at the pond."]
SPELLINGS: dict[str, Callable[[Path, str], str]] = {
    "our id": lambda _path, own: own,
    "host and its id": lambda _path, _own: f"pi:{HEADER}",
    "its id alone": lambda _path, _own: HEADER,
    "host and the id in the file's name": lambda _path, _own: f"pi:{IN_NAME}",
    "the id in the file's name": lambda _path, _own: IN_NAME,
    "the file's name": lambda path, _own: path.name,
    "the file's name without its ending": lambda path, _own: path.stem,
    "path": lambda path, _own: str(path),
    "path from the home folder": lambda path, _own: "~/" + str(path.relative_to(Path.home())),
    "roundabout path": lambda path, _own: str(path.parent / ".." / path.parent.name / path.name),
}
COMMANDS: dict[str, Callable[[str], list[str]]] = {
    "index": lambda name: ["index", name],
    "dry run": lambda name: ["index", name, "--dry-run"],
    "read": lambda name: ["read", name],
    "search": lambda name: ["search", "heron", "--conversation", name],
    "search without": lambda name: ["search", "heron", "--exclude", name],
    "move": lambda name: ["project", "move", name, "Ponds"],
    "export": lambda name: ["export", name, "--format", "json"],
    "forget, dry run": lambda name: ["forget", name, "--dry-run"],
}
UNINDEXED = ("index", "dry run", "move", "forget, dry run")
Answer = Callable[..., Any]


@pytest.fixture
def answer(capsys: pytest.CaptureFixture[str]) -> Answer:
    def run(*words: str) -> Any:
        code = main([*words, "--json"])
        out = capsys.readouterr().out
        assert code == 0, out
        return json.loads(out)

    return run


@pytest.fixture
def path(home: Path) -> Path:
    log = home / ".pi/agent/sessions/--srv-demo--" / f"{NAME}.jsonl"
    log.parent.mkdir(parents=True)
    log.write_text("".join(lines(HEADER, TURNS)), encoding="utf-8")
    return log


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_every_command_takes_every_name(path: Path, answer: Answer, spelling: str) -> None:
    own = answer("index", str(path))["completed"][0]["conversation_id"]
    answer("project", "create", "Ponds")
    name = SPELLINGS[spelling](path, own)
    said = {command: answer(*words(name)) for command, words in COMMANDS.items()}
    assert said["index"]["failed"] == []
    assert said["dry run"]["would_send"]["calls"] == 0
    assert said["read"]["conversation_id"] == own
    assert [one["conversation_id"] for one in said["search"]["conversations"]] == [own]
    assert said["search without"]["conversations"] == []
    assert said["move"]["conversation_id"] == own
    assert own in json.dumps(said["export"])
    assert [one["conversation_id"] for one in said["forget, dry run"]["forgotten"]] == [own]
    assert answer("forget", name)["forgotten"]
    assert answer("forget", name, "--unforget")["unforgotten"]
    assert [answer(*COMMANDS[command](name)) for command in UNINDEXED[1:]]
    assert [one["conversation_id"] for one in answer("index", name)["completed"]] == [own]


@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize("command", UNINDEXED)
def test_what_is_not_indexed_has_the_same_names(path: Path, answer: Answer, command: str, spelling: str) -> None:
    answer("project", "create", "Ponds")
    said = answer(*COMMANDS[command](SPELLINGS[spelling](path, conversation_id("default", "pi", HEADER))))
    assert said


def test_our_id_of_what_is_nowhere_names_nothing(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = conversation_id("another", "pi", HEADER)
    for words in (["index", other], ["forget", other], ["project", "move", other, ""]):
        assert main([*words, "--json"]) == 1, words
    assert "not_found" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["heron", "0001", "ffff0001", "eeeeffff0001-", "-0001", "%", "_", "jsonl"])
def test_a_piece_of_a_name_names_nothing(path: Path, capsys: pytest.CaptureFixture[str], name: str) -> None:
    assert main(["index", str(path), "--json"]) == 0
    for words in (["read", name], ["forget", name], ["index", name], ["export", name]):
        assert main([*words, "--json"]) in (1, 2), words
    capsys.readouterr()
    assert main(["read", IN_NAME, "--json"]) == 0


def test_an_id_of_two_programs_is_asked_back(
    path: Path, home: Path, answer: Answer, capsys: pytest.CaptureFixture[str]
) -> None:
    other = home / ".omp/agent/sessions/-srv-demo" / path.name
    other.parent.mkdir(parents=True)
    other.write_bytes(path.read_bytes())
    assert main(["index", HEADER, "--json"]) == 1
    message = json.loads(capsys.readouterr().out)["error"]
    assert f"pi:{HEADER}" in message["hint"]
    assert f"omp:{HEADER}" in message["hint"]
    assert answer("index", f"pi:{HEADER}")["completed"]
