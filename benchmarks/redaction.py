"""How fast the redactor reads conversation text, for each shape in which the product hands it over.

    python -m benchmarks.redaction --data FOLDER [--runs 5] [--json]

The texts are the strings of every JSON Lines file below FOLDER. Four shapes: ``strings``, each string of an entry by
itself; ``entries``, each entry as a parsed tree; ``texts``, each text of 200 characters or more by itself, with a
redactor of its own; ``whole``, all texts joined and cut into pieces of 1 MB. ``cold`` is the first pass of a fresh
process, ``warm`` the best of the later ones. MB are 10^6 bytes of UTF-8, seconds are those of this process on the CPU.

A machine that others use is slow by turns. So each pass stands between two runs of a fixed loop in plain Python, and
``ratio`` is the pass's MB for each such loop: it can be compared between machines and moments, MB/s cannot.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from recall.redact import Redactor, redact_text

SHAPES = ("strings", "entries", "texts", "whole")
PIECE = 1_000_000
_TEXT = 200
_LOOP = 1_000_000


@dataclass(frozen=True, slots=True)
class Speed:
    """One shape: MB in all, MB/s on the CPU, MB for each reference loop."""

    shape: str
    megabytes: float
    cold: float
    cold_ratio: float
    warm: float
    warm_ratio: float


def entries(folder: Path) -> list[list[object]]:
    """The parsed lines of each file, in order of the names."""
    return [list(_lines(path)) for path in sorted(folder.rglob("*.jsonl"))]


def _lines(path: Path) -> Iterator[object]:
    for line in path.read_text(encoding="utf-8", errors="replace").split("\n"):
        try:
            yield json.loads(line)
        except ValueError:
            continue


def strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from strings(item)
    elif isinstance(value, list):
        for item in value:
            yield from strings(item)


def passes(folder: Path) -> dict[str, tuple[int, Callable[[], None]]]:
    """For each shape the bytes that one pass reads, and the pass."""
    files = entries(folder)
    leaves = [list(strings(file)) for file in files]
    texts = [leaf for file in leaves for leaf in file if len(leaf) >= _TEXT]
    joined = "\n".join(texts)
    whole = [joined[at : at + PIECE] for at in range(0, len(joined), PIECE)]
    size = _size(leaf for file in leaves for leaf in file)
    return {
        "strings": (size, partial(_each, _strings, leaves)),
        "entries": (size, partial(_each, _entries, files)),
        "texts": (_size(texts), partial(_each, redact_text, texts)),
        "whole": (_size(whole), partial(_each, redact_text, whole)),
    }


def _each(read: Callable[[Any], object], pieces: Iterable[object]) -> None:
    for piece in pieces:
        read(piece)


def _size(texts: Iterable[str]) -> int:
    return sum(len(text.encode("utf-8", "surrogatepass")) for text in texts)


def _strings(leaves: Iterable[str]) -> None:
    redactor = Redactor()
    for leaf in leaves:
        redactor.text(leaf)


def _entries(parsed: Iterable[object]) -> None:
    redactor = Redactor()
    for entry in parsed:
        redactor.tree(entry)


def _loop() -> float:
    """Seconds of a fixed piece of work: the reference."""
    start = time.process_time()
    value = 1
    for _ in range(_LOOP):
        value = (value * 1103515245 + 12345) & 0x7FFFFFFF
    return time.process_time() - start


def timed(size: int, run: Callable[[], None]) -> tuple[float, float]:
    """MB/s of one pass, and its MB for each reference loop."""
    before = _loop()
    start = time.process_time()
    run()
    seconds = time.process_time() - start
    loop = (before + _loop()) / 2
    return size / 1e6 / seconds, size / 1e6 / (seconds / loop)


def measure(folder: Path, shape: str, runs: int) -> Speed:
    """Cold and warm figures of one shape; cold only in a process that has redacted nothing before."""
    size, run = passes(folder)[shape]
    cold = timed(size, run)
    warm = max((timed(size, run) for _ in range(runs)), key=lambda figures: figures[1])
    return Speed(shape, size / 1e6, *cold, *warm)


def in_fresh_processes(folder: Path, runs: int, shape: str) -> Speed:
    """The best cold figure of as many processes as there are runs, with the warm ones of the last."""
    command = [sys.executable, "-m", "benchmarks.redaction", "--data", str(folder), "--shape", shape]
    done = [
        Speed(**json.loads(subprocess.run([*command, "--runs", str(count)], check=True, capture_output=True).stdout))
        for count in (*([1] * (runs - 1)), runs)
    ]
    best = max(done, key=lambda speed: speed.cold_ratio)
    warm = max(done, key=lambda speed: speed.warm_ratio)
    return Speed(shape, best.megabytes, best.cold, best.cold_ratio, warm.warm, warm.warm_ratio)


def table(speeds: Iterable[Speed]) -> str:
    lines = ["shape       MB    cold MB/s  ratio    warm MB/s  ratio"]
    lines += [
        f"{s.shape:8}{s.megabytes:6.1f}    {s.cold:9.2f}  {s.cold_ratio:.3f}    {s.warm:9.2f}  {s.warm_ratio:.3f}"
        for s in speeds
    ]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description="MB/s of the redactor, cold and warm, for each shape of text.")
    parser.add_argument("--data", type=Path, required=True, help="a folder with JSON Lines files of conversations")
    parser.add_argument("--runs", type=int, default=3, help="passes of which the best counts (default 3)")
    parser.add_argument("--shape", choices=SHAPES, help="measure one shape in this very process and print JSON")
    parser.add_argument("--json", action="store_true", help="print JSON")
    given = parser.parse_args()
    if given.shape is not None:
        print(json.dumps(asdict(measure(given.data, given.shape, given.runs))))
        return
    speeds = [in_fresh_processes(given.data, given.runs, shape) for shape in SHAPES]
    print(json.dumps([asdict(speed) for speed in speeds]) if given.json else table(speeds))


if __name__ == "__main__":
    main()
