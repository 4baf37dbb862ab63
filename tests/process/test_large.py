"""Memory: what the contract lets in is indexed in less than 600 MB, a long line with one emoji too; more is refused.

`python -m pytest -m large tests/process` runs all of it; without it, the hardest of the small ones.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.process.world import World
from tests.shared import ROOT

MOST = 600 * 1024 * 1024
MIB = 1 << 20
LINE = 30 * MIB


def _record(number: int, text: str) -> str:
    message = {
        "role": "toolResult",
        "toolCallId": "c",
        "toolName": "bash",
        "isError": False,
        "content": [{"type": "text", "text": text}],
    }
    parent = f"{number - 1:08x}" if number else None
    entry: dict[str, Any] = {"type": "message", "id": f"{number:08x}", "parentId": parent}
    entry |= {"timestamp": "2026-03-02T09:01:00.000Z", "message": message}
    return json.dumps(entry, ensure_ascii=False, separators=(",", ":")) + "\n"


def _head(identity: str) -> str:
    head = {
        "type": "session",
        "version": 3,
        "id": identity,
        "timestamp": "2026-03-02T09:00:00.000Z",
        "cwd": "/srv/demo",
    }
    return json.dumps(head) + "\n"


def _long_line(path: Path, mark: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8") as file:
        file.write(_head("5e551011-line"))
        file.write(_record(0, "lorem ipsum " * (LINE // 12) + f"{mark} gannet-9931"))
        file.write(_record(1, "short line after the long one: gannet-9932"))


def _many_lines(path: Path, size: int) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8") as file:
        written = file.write(_head("5e551011-many"))
        number = 0
        while size - written > 2 * len(record := _record(number, f"block {number} " + "abc def ghi " * 5000)):
            written += file.write(record)
            number += 1
        rest = size - written - len(_record(number, ""))
        file.write(_record(number, "z" * rest))
    assert path.stat().st_size == size


# The program says itself what it took: what wait4 tells of a child counts the memory of the process that started it.
_MEASURED = """
import resource, sys
from pathlib import Path
from recall.__main__ import main
code = main()
status = Path("/proc/self/status")
if status.exists():
    peak = next(int(l.split()[1]) * 1024 for l in status.read_text().splitlines() if l.startswith("VmHWM"))
else:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(peak, file=sys.stderr)
raise SystemExit(code)
"""


def _peak(world: World, source: Path) -> tuple[int, int, dict[str, Any]]:
    """(exit code, bytes of memory at most, answer) of an index run, a program of its own."""
    done = subprocess.run(
        [sys.executable, "-c", _MEASURED, "index", str(source), "--json"],
        cwd=ROOT,
        env=world.environment | {"HISTORY_RECALL_MODEL": "offline"},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, int(done.stderr.splitlines()[-1]), json.loads(done.stdout)


@pytest.mark.parametrize(
    "mark", ["\U0001f986", pytest.param("", marks=pytest.mark.large)], ids=["one-emoji", "letters-only"]
)
def test_a_line_of_30_mib(world: World, mark: str) -> None:
    source = world.folder / "line.jsonl"
    _long_line(source, mark)
    code, peak, answer = _peak(world, source)
    assert (code, answer["failed"]) == (0, [])
    assert peak < MOST
    for word in ("gannet-9931", "gannet-9932"):
        assert world.found(word) == {"5e551011-line"}


@pytest.mark.large
def test_a_file_of_128_mib(world: World) -> None:
    source = world.folder / "many.jsonl"
    _many_lines(source, 128 * MIB)
    code, peak, _ = _peak(world, source)
    assert code == 0
    assert peak < MOST
    assert world.found("abc") == {"5e551011-many"}


def test_one_mib_more_is_refused_and_its_siblings_are_indexed(world: World) -> None:
    world = World(world.home, model="offline")
    source = world.folder / "many.jsonl"
    source.parent.mkdir(parents=True)
    with source.open("w", encoding="utf-8") as file:
        file.write(_head("5e551011-many") + _record(0, "abc"))
        file.truncate(129 * MIB)  # of which no byte is read
    world.log("sibling", ["Where is the heron?", "The heron is found at the pond."])
    refused = world.run("index", source)
    assert (refused.code, refused.error["code"]) == (1, "source_too_large")
    assert str(128 * MIB) in refused.error["message"]
    world.done("index-all")
    assert world.found("heron") == {"5e551011-sibling"}
    states = {one["source"]: one["state"] for one in world.done("conversations")["conversations"]}
    assert states[str(source)] == "too_large"
