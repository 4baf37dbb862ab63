"""Speed and size of search at any size: an invented history is built, and asked questions of every frequency.

    python -m benchmarks.scale --entries N --out FILE

The index is written by the product's own staging and publication and asked through its own `search` (mode keyword, a
default page). Beside it, in the same run: the plain way on the same index (`MATCH … ORDER BY rank LIMIT 20`, no
filter, no neighbours, nothing curated, no snippet), and tantivy over the same words, where its package is installed
(a development extra: `pip install tantivy`; null and a note otherwise). `cold_start` is the command as a user starts
it, in a process of its own, bytecode made before, the best of some runs.

Times are the best of some repeats of each question, then percentiles over the questions of a class: other programs
share the machine. `cpu_p50` and `cpu_p99` are the processor time of the same, which they disturb less. `loss`: what the
plan of a query costs in answers, against scoring everything that matches (benchmarks.scale_loss); `--loss 0` leaves it
out, for at a million entries it takes longest.
"""

from __future__ import annotations

import argparse
import compileall
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import recall
from benchmarks import scale_build, scale_loss, scale_queries, scale_tantivy
from recall.index.database import Database
from recall.searcher import SearchRequest, default_filters, search

_PROFILE_NO = 1
_STARTS = 5
LOSS = 12  # questions of a class that the loss is measured on


def measure(entries: int, folder: Path, *, cold: bool = True, loss: int = LOSS) -> dict[str, Any]:
    """The document that is printed. The index is built in `folder`."""
    path = folder / "index.db"
    built = scale_build.build(path, entries)
    database = Database.open(path)
    try:
        queries, question = _queries(database, folder)
        with database.read() as connection:
            lost = scale_loss.measure(connection, default_filters(_PROFILE_NO), loss)
    finally:
        database.close()
    return {
        "entries": entries,
        "build": built.as_json(),
        "queries": queries,
        "loss": lost,
        "cold_start": cold_start(path, question) if cold else None,
    }


def _queries(database: Database, folder: Path) -> tuple[dict[str, Any], str]:
    """The figures of each class, and a question of medium frequency."""
    with database.read() as connection:
        asked = scale_queries.questions(connection, default_filters(_PROFILE_NO), scale_queries.SEED)
        other = scale_tantivy.Engine.build(connection, folder / "tantivy")
    figures: dict[str, Any] = {}
    for name, questions in asked.items():
        ours = scale_queries.timed(questions, lambda text: search(database, "default", SearchRequest((text,))))
        with database.read() as connection:
            plain = scale_queries.timed(questions, scale_queries.bare(connection, _PROFILE_NO))
        figures[name] = ours.as_json() | {
            "bare_fts5_p50": plain.p50,
            "bare_fts5_p99": plain.p99,
            "tantivy_p50": None if other is None else scale_queries.timed(questions, other.answer).p50,
            "questions": len(questions),
        }
    return figures, asked["medium"][0]


def cold_start(path: Path, question: str) -> dict[str, float]:
    """Wall time and peak memory of `history-recall search`, started anew; the best of some runs."""
    for module in (Path(recall.__file__).parent, Path(recall.__file__).parent.parent / "repair"):
        compileall.compile_dir(module, quiet=2)
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment |= {"HISTORY_RECALL_DB": str(path), "HOME": str(path.parent)}
    words = ["search", "--mode", "keyword", question]
    walls = [_started([sys.executable, "-m", "recall", *words], environment)[0] for _ in range(_STARTS)]
    peak = _started([sys.executable, "-c", _PEAK, *words], environment)[1].split()[-1]
    return {"wall_ms": round(min(walls), 1), "peak_mb": round(int(peak) / 1024, 1)}


# What the system says of an ended child counts the parent that it was forked from, so the program is asked itself.
_PEAK = """
import resource, sys
from recall.__main__ import main
main()
try:
    peak = next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM"))
except OSError:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // (1024 if sys.platform == "darwin" else 1)
print(peak)
"""


def _started(command: Sequence[str], environment: Mapping[str, str]) -> tuple[float, str]:
    """(wall ms, what it printed) of one process. Raises CalledProcessError where it failed."""
    begun = time.perf_counter()
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return (time.perf_counter() - begun) * 1000, done.stdout


_COLUMNS = (
    *((head, 8) for head in ("p50", "p95", "p99", "cpu p50", "cpu p99")),
    *(("FTS5 p50", 9), ("FTS5 p99", 9), ("tantivy", 8)),
)


def table(result: Mapping[str, Any]) -> str:
    """The figures as text."""
    build, cold = result["build"], result["cold_start"]
    size = f"{result['entries']} entries, {build['text_MB']} MB of text"
    lines = [
        f"{size}: {build['MB_per_s']} MB/s, index {build['index_ratio']} of the text",
        " ".join([f"{'ms':16}", *(f"{head:>{wide}}" for head, wide in _COLUMNS)]),
    ]
    for name, row in result["queries"].items():
        shown = [row[key] for key in ("p50", "p95", "p99", "cpu_p50", "cpu_p99")]
        beside = [row["bare_fts5_p50"], row["bare_fts5_p99"], row["tantivy_p50"]]
        cells = ["-" if value is None else f"{value:.1f}" for value in (*shown, *beside)]
        shown_wide = zip(cells, _COLUMNS, strict=True)
        lines.append(" ".join([f"{name:16}", *(f"{cell:>{wide}}" for cell, (_, wide) in shown_wide)]))
    if result["loss"]:
        lines.append(f"{'':16} {'R@10':>8} {'of all':>8} {'loss':>8} {'same':>8} {'asked':>8}")
    for name, row in result["loss"].items():
        cells = [f"{row[key]:.3f}" for key in ("R@10", "everything_R@10", "loss", "same_first_ten")]
        lines.append(f"{name:16} " + " ".join(f"{cell:>8}" for cell in (*cells, str(row["questions"]))))
    if cold is not None:
        lines.append(f"cold start {cold['wall_ms']} ms, {cold['peak_mb']} MB")
    if any(row["tantivy_p50"] is None for row in result["queries"].values()):
        lines.append("tantivy is not installed: its column is empty")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description="Speed and size of search at a given number of entries.")
    parser.add_argument("--entries", type=int, required=True, help="how many; the same number gives the same history")
    parser.add_argument("--out", type=Path, required=True, help="the JSON file to write")
    parser.add_argument("--loss", type=int, default=LOSS, help=f"questions of a class for the loss; {LOSS}")
    parser.add_argument("--folder", type=Path, help="where to build (a temporary folder; some 900 bytes an entry)")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
        result = measure(arguments.entries, Path(folder), loss=arguments.loss)
    arguments.out.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    print(table(result))


if __name__ == "__main__":
    main()
