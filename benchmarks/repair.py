"""Planted faults in the topics of generated histories, and what of them topic repair mends and breaks.

    python -m benchmarks.repair --conversations N [N …] [--child NAME …] [--out FILE]

For each N a history is indexed once, by a scripted provider whose placement errs as told (see `benchmarks.faults`),
with repair put off. Then each child mends a copy of that index, run after run of `history-recall repair`, until a whole
round over all facets has mended nothing more:

    offline    the built-in analyser, by its overlap figures
    careful    a script that reads before it speaks, over the real protocol
    careless   one with the same judgement that skips, makes up and forges, and breaks off

What stands afterwards is read from the database, beside the product's own code. Exit code 1 where anything was broken,
where the careful child fixed less than 95 % of a kind, or `offline` less than half of the wrong memberships and
duplicates. The children are scripts: this shows what the proof lets through, not what a real model would see.
"""

from __future__ import annotations

import argparse
import json
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.faults import KINDS, Planted, Standing
from benchmarks.generated import History
from benchmarks.product import Product, Provider, serving
from recall.errors import RecallError

CHILDREN = ("offline", "careful", "careless")
SUBJECTS = 8  # at least; every kind of fault needs its own
AUDITED = 8  # facets that one run looks at
_ENOUGH = {"careful": dict.fromkeys(KINDS, 0.95), "offline": {"wrong": 0.5, "duplicate": 0.5}, "careless": {}}
_UNCAPPED = {"batch_calls": "1000000", "daily_calls": "1000000"}


def measure(
    conversations: int, children: Sequence[str], folder: Path, subjects: int = SUBJECTS
) -> list[dict[str, Any]]:
    """One run of the benchmark's output for each child."""
    history = History(conversations, subjects=subjects)
    base = folder / "index.db"
    with _provider(folder, history, "careful") as provider, _product(folder, base, provider) as product:
        for path in history.write(folder / "home"):
            product.do("index", file=str(path), no_repair=True)
    return [_mended(history, child, folder, base) for child in children]


def _mended(history: History, child: str, folder: Path, base: Path) -> dict[str, Any]:
    """What one child makes of a copy of the index."""
    own = folder / child
    own.mkdir()
    database = Path(shutil.copy(base, own / "index.db"))
    before = Standing.read(database, history)
    planted = Planted.of(before, history)
    if child == "offline":
        with _product(folder, database, None) as product:
            spent = _rounds(product, history)
    else:
        with (
            _provider(own, history, child) as provider,
            _product(folder, database, provider) as product,
        ):
            spent = _rounds(product, history)
    after = Standing.read(database, history)
    fixed = planted.fixed(after, history)
    return {
        "conversations": len(history.talks),
        "child": child,
        "planted": planted.counts(),
        "fixed": fixed,
        "missed": {kind: number - fixed[kind] for kind, number in planted.counts().items()},
        "broken": planted.broken(before, after, history),
        **spent,
    }


def _rounds(product: Product, history: History) -> dict[str, Any]:
    """Run after run until as many in a row as it takes to look at every facet have changed nothing."""
    quiet, runs = 0, 0
    audited = receipts = 0
    ends: Counter[str] = Counter()
    round_of_runs = 2 + 2 * len(history.segments) // AUDITED
    while quiet < round_of_runs and runs < 8 * round_of_runs:
        runs += 1
        changed = False
        try:
            reports = product.do("repair")["runs"]
        except RecallError as error:
            ends[error.code] += 1
            quiet += 1
            continue
        for report in reports:
            ends[report["repair"]["state"]] += 1
            audited += report["repair"]["audited"]
            receipts += report["repair"]["receipts"]
            changed = changed or any(report["topics"].values())
        quiet = 0 if changed else quiet + 1
    requests, size = product.rows("SELECT count(*), total(request_bytes) FROM ledger WHERE kind = 'repair'")[0]
    return {
        "runs": runs,
        "ends": dict(sorted(ends.items())),
        "audited": audited,
        "receipts": receipts,
        "requests": requests,
        "bytes": int(size),
    }


@contextmanager
def _provider(folder: Path, history: History, child: str) -> Iterator[Provider]:
    numbers = {"conversations": len(history.talks), "subjects": len(history.subjects)}
    options = [f"--{name}={number}" for name, number in numbers.items()]
    with serving(folder / "requests.jsonl", *options, "--faults=all", f"--child={child}") as provider:
        yield provider


def _product(folder: Path, database: Path, provider: Provider | None) -> Product:
    return Product(folder / "home", database, provider, **_UNCAPPED)


def faults_of(run: Mapping[str, Any]) -> list[str]:
    """What a run of the output falls short of."""
    name = f"{run['child']} at {run['conversations']}"
    short = [
        f"{name} fixed {run['fixed'][kind]} of {run['planted'][kind]} {kind}"
        for kind, share in _ENOUGH[run["child"]].items()
        if run["fixed"][kind] < share * run["planted"][kind]
    ]
    return short + ([f"{name} broke {run['broken']}"] if run["broken"] else [])


def table(runs: Sequence[Mapping[str, Any]]) -> str:
    """The runs for a reader: of each kind what was fixed of what was planted."""
    head = f"{'conversations':>13} {'child':9}" + "".join(f"{kind:>11}" for kind in KINDS)
    lines = [f"{head} {'broken':>7} {'runs':>5} {'audited':>8} {'receipts':>9} {'requests':>9} {'bytes':>10}"]
    for run in runs:
        kinds = "".join(f"{run['fixed'][kind]:>7}/{run['planted'][kind]:<3}" for kind in KINDS)
        lines.append(
            f"{run['conversations']:>13} {run['child']:9}{kinds} {run['broken']:>7} {run['runs']:>5}"
            f" {run['audited']:>8} {run['receipts']:>9} {run['requests']:>9} {run['bytes']:>10}"
        )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description="Planted faults, and what topic repair makes of them.")
    parser.add_argument("--conversations", type=int, nargs="+", required=True)
    parser.add_argument("--child", nargs="+", choices=CHILDREN, default=CHILDREN)
    parser.add_argument("--out", type=Path, help="write the figures as JSON here")
    options = parser.parse_args()
    runs: list[dict[str, Any]] = []
    for conversations in options.conversations:
        with tempfile.TemporaryDirectory(prefix="history-recall-repair-") as folder:
            runs += measure(conversations, options.child, Path(folder))
    print(table(runs))
    if options.out:
        options.out.write_text(json.dumps({"runs": runs}, indent=1) + "\n", encoding="utf-8")
    faults = [fault for run in runs for fault in faults_of(run)]
    if faults:
        raise SystemExit("; ".join(faults))


if __name__ == "__main__":
    main()
