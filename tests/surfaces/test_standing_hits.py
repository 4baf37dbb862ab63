"""A hit whose source has changed is held against it before it is shown: what was edited or undone is left out."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from recall import originals
from recall.surfaces.cli import main

Run = Callable[..., Any]
FIRST, SECOND = "The osprey gate opens at dusk.", "The osprey gate was painted."


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """What a command that succeeds prints: its JSON, or its text where that is asked for."""

    def printed(*words: str, text: bool = False) -> Any:
        code = main([*words, *([] if text else ["--json"])])
        out = capsys.readouterr().out
        assert code == 0, out
        return out if text else json.loads(out)

    return printed


def _line(entry_id: str, parent: str | None, role: str, text: str, minute: int) -> str:
    message = {"role": role, "content": [{"type": "text", "text": text}]}
    stamp = f"2026-03-02T09:{minute:02}:00.000Z"
    return json.dumps({"type": "message", "id": entry_id, "parentId": parent, "timestamp": stamp, "message": message})


HEAD = json.dumps({"type": "session", "version": 3, "id": "s-1", "timestamp": "2026-03-02T09:00:00.000Z", "cwd": "/w"})
LINES = [HEAD, _line("a1", None, "user", FIRST, 1), _line("a2", "a1", "assistant", SECOND, 2)]


@pytest.fixture
def log(tmp_path: Path, run: Run) -> Path:
    path = tmp_path / "osprey.jsonl"
    _write(path, LINES)
    run("sources", "add", str(path))
    run("index", str(path))
    return path


def _write(path: Path, lines: list[str]) -> None:
    path.write_text("".join(line + "\n" for line in lines))
    os.utime(path, (path.stat().st_atime, path.stat().st_mtime + 2))


def _shown(answer: Any) -> list[str]:
    return [entry["entry_id"] for one in answer["conversations"] for entry in one["entries"]]


def test_a_source_that_stands_leaves_nothing_out(log: Path, run: Run) -> None:
    answer = run("search", "osprey")
    assert (sorted(_shown(answer)), answer["left_out"]) == (["a1", "a2"], 0)


def test_an_edited_entry_is_left_out_and_counted(log: Path, run: Run) -> None:
    _write(log, [LINES[0], LINES[1].replace("dusk", "noon"), LINES[2]])
    answer = run("search", "osprey")
    assert (_shown(answer), answer["left_out"]) == (["a2"], 1)
    assert answer["conversations"][0]["source_state"] == "changed"
    assert "1 entry was left out: edited or undone in the source since. Index it again." in answer["message"]
    assert "1 entry was left out" in run("search", "osprey", text=True)
    identity = answer["conversations"][0]["conversation_id"]
    within = run("search", "osprey", "--conversation", identity)
    assert (_shown(within), within["left_out"]) == (["a2"], 1)


def test_an_entry_on_a_branch_that_was_given_up_since_is_left_out(log: Path, run: Run) -> None:
    _write(log, [*LINES, _line("b2", "a1", "assistant", "It stays shut.", 3)])
    answer = run("search", "osprey")
    assert (_shown(answer), answer["left_out"]) == (["a1"], 1)
    assert sorted(_shown(run("search", "osprey", "--include", "abandoned"))) == ["a1", "a2"]


def test_an_entry_that_only_moved_inside_its_source_stands(log: Path, run: Run) -> None:
    _write(log, [HEAD.replace('"/w"', '"/srv/elsewhere"'), *LINES[1:]])
    answer = run("search", "osprey")
    assert (sorted(_shown(answer)), answer["left_out"]) == (["a1", "a2"], 0)


def test_of_a_source_too_long_to_be_read_again_the_records_are_held_against_their_places(
    log: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(originals, "READ_AGAIN", 10)
    _write(log, [LINES[0], LINES[1].replace("dusk", "noon"), LINES[2]])
    answer = run("search", "osprey")
    assert (_shown(answer), answer["left_out"]) == (["a2"], 1)


def test_where_everything_was_edited_the_answer_is_empty_and_says_why(log: Path, run: Run) -> None:
    _write(log, [LINES[0], LINES[1].replace("osprey", "merlin"), LINES[2].replace("osprey", "merlin")])
    answer = run("search", "osprey")
    assert (answer["conversations"], answer["left_out"], answer["next_cursor"]) == ([], 2, None)
    assert "2 entries were left out" in answer["message"]


def test_a_source_that_is_gone_keeps_its_hits_and_says_so(log: Path, run: Run) -> None:
    log.unlink()
    answer = run("search", "osprey")
    assert sorted(_shown(answer)) == ["a1", "a2"]
    assert answer["conversations"][0]["source_state"] == "gone"


def test_what_is_left_out_takes_no_place_of_a_page(tmp_path: Path, run: Run) -> None:
    paths = [tmp_path / f"heron-{number}.jsonl" for number in range(4)]
    for number, path in enumerate(paths):
        head = HEAD.replace("s-1", f"s-{number}")
        _write(path, [head, _line(f"h{number}", None, "user", f"heron number {number}", number)])
        run("sources", "add", str(path))
    run("index-all")
    whole = _shown(run("search", "heron", "--mode", "keyword"))
    assert len(whole) == 4
    edited = paths[int(whole[1][1:])]
    _write(edited, [edited.read_text().splitlines()[0], _line(whole[1], None, "user", "nothing of it", 9)])
    first = run("search", "heron", "--mode", "keyword", "--limit", "2")
    assert (_shown(first), first["left_out"]) == ([whole[0], whole[2]], 1)
    second = run("search", "heron", "--mode", "keyword", "--limit", "2", "--cursor", first["next_cursor"])
    assert (_shown(second), second["left_out"], second["next_cursor"]) == ([whole[3]], 0, None)
