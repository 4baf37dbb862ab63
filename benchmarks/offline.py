"""The whole product against a provider on this machine: what it costs, how long it takes, and that nothing is lost.

    python -m benchmarks.offline --conversations N [--sessions S] [--out FILE]

A temporary home with N short generated conversations in English and Chinese, from four directories; a streaming
chat-completions server in a process of its own, with real tool calls; every step is an operation of the product, with
litellm in between. Now and then the server's placement errs, and its repair child has to notice. Its model is a script
that knows what was planted: this judges the product, its accounting and its plumbing. IT DOES NOT JUDGE THE QUALITY OF
A REAL MODEL, and no figure here says how good one's summaries, topics or repairs are.

Exit code 1 where a check fails.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.faults import Standing
from benchmarks.generated import History, Segment, appended, written
from benchmarks.product import Product, Provider, Request, percentiles, serving
from benchmarks.servers.planted import BYTES_A_TOKEN
from recall.models.litellm_model import loaded

NOTICE = "The provider is a script that knows what was planted; this does not judge the quality of a real model."
MOST_A_CONVERSATION = {2: 3.0, 4: 2.5}
TOOLS = {
    "repair_topics",
    "repair_members",
    "repair_read",
    "repair_propose",
    "repair_coverage",
    "repair_check",
    "finish",
}
_DEFAULT_SESSIONS = 2
_TIMED = 40  # searches, pages and reads of which the times are taken
_RUNS = 10_000


@dataclass
class Batch:
    """What index runs came to, batch by batch."""

    seconds: float = 0.0
    completed: list[Mapping[str, Any]] = field(default_factory=list)
    failed: list[Mapping[str, Any]] = field(default_factory=list)
    repairs: list[tuple[Mapping[str, Any], int]] = field(default_factory=list)  # with the publications of its batch
    batches: int = 0

    @property
    def published(self) -> int:
        return sum(not one["unchanged"] for one in self.completed)


def measure(conversations: int, sessions: int, folder: Path) -> dict[str, Any]:
    """All figures and checks."""
    history = History(conversations)
    home, database = folder / "home", folder / "index.db"
    paths = history.write(home)
    with (
        serving(folder / "requests.jsonl", "--conversations", str(conversations), "--faults", "slips") as provider,
        Product(home, database, provider, batch_calls="100000", daily_calls="1000000") as product,
    ):
        return Run(history, paths, product, provider, sessions).figures()


class Run:
    """One measurement."""

    def __init__(
        self, history: History, paths: Sequence[Path], product: Product, provider: Provider, sessions: int
    ) -> None:
        self._history = history
        self._paths = paths
        self._product = product
        self._provider = provider
        self._sessions = sessions
        self._bytes = sum(path.stat().st_size for path in paths)

    def figures(self) -> dict[str, Any]:
        """The steps in their order; each one's requests are those that the server saw during it."""
        began = time.perf_counter()
        loaded()  # once a process, and no part of indexing
        loading = time.perf_counter() - began
        with self._counted() as cold_requests:
            cold = self._index_all()
        memory = _peak()
        found, sizes, checks = self._cold(cold, cold_requests), self._sizes(), self._checks(cold, cold_requests)
        reading = self._reading()
        steps = {
            "unchanged": self._step(lambda: self._index_all(only_one=True)),
            "append": self._step(self._append),
            "from_cache": self._step(self._again_from_cache),
            "long": self._step(self._long),
        }
        checks["unchanged_costs_nothing"] = steps["unchanged"]["requests"] == 0
        checks["requests_go_side_by_side"] = steps["long"]["concurrency"] > 1
        checks["cache_answers_again"] = steps["from_cache"]["requests"] == 0
        checks["ledger_is_what_the_server_saw"] = self._ledger_agrees()
        return {
            "notice": NOTICE,
            "conversations": len(self._paths),
            "sessions": self._sessions,
            "history_bytes": self._bytes,
            "litellm_load_seconds": round(loading, 2),
            "cold": found,
            "repair": _repair(cold),
            **steps,
            **reading,
            "sizes": sizes,
            "peak_memory_mb": memory,
            "checks": checks,
        }

    def _cold(self, cold: Batch, requests: Sequence[Request]) -> dict[str, Any]:
        ledger = self._product.rows(
            "SELECT kind, count(*), sum(request_bytes), sum(prompt_tokens) FROM ledger GROUP BY kind ORDER BY kind"
        )
        count, texts = len(self._paths), self._product.rows("SELECT sum(length(CAST(text AS BLOB))) FROM entries")
        text = texts[0][0] or 1
        return {
            "seconds": round(cold.seconds, 2),
            "requests": {kind: number for kind, number, _, _ in ledger},
            "requests_a_conversation": round(len(requests) / count, 3),
            "bytes_sent": sum(row[2] for row in ledger),
            "bytes_sent_a_byte_of_text": round(sum(row[2] for row in ledger) / text, 2),
            "tokens_sent_a_byte_of_text": round(sum(row[3] for row in ledger) / text, 2),
            "tokens_are": f"one for {BYTES_A_TOKEN} bytes, as the local server counts",
        }

    def _index_all(self, *, only_one: bool = False) -> Batch:
        """Batch after batch until nothing waits."""
        batch = Batch()
        began = time.perf_counter()
        for _ in range(_RUNS):
            sized = {} if self._sessions == _DEFAULT_SESSIONS else {"sessions": self._sessions}
            answer = self._product.do("index-all", **sized)
            batch.batches += 1
            batch.completed += answer["completed"]
            batch.failed += answer["failed"]
            batch.repairs += [(report, len(answer["completed"])) for report in _reports(answer)]
            if answer["left"] == 0 or only_one or answer["failed"]:
                break
        batch.seconds = time.perf_counter() - began
        return batch

    def _append(self) -> Batch:
        """Every eighth conversation goes on."""
        for number, (talk, path) in enumerate(zip(self._history.talks, self._paths, strict=True)):
            if number % 8 == 0:
                with path.open("a", encoding="utf-8") as file:
                    file.write(appended(talk, number)[1])
        return self._index_all()

    def _again_from_cache(self) -> Batch:
        """Every conversation is analysed again; what was asked before is answered by kept replies."""
        batch = Batch()
        began = time.perf_counter()
        for path in self._paths:
            batch.completed += self._product.do("index", file=str(path), force=True, no_repair=True)["completed"]
        batch.seconds = time.perf_counter() - began
        return batch

    def _long(self) -> Batch:
        """One conversation that is too long for one request."""
        written(self._history.long, self._product.home)
        return self._index_all()

    def _step(self, work: Callable[[], Batch]) -> dict[str, Any]:
        with self._counted() as requests:
            batch = work()
        return {
            "seconds": round(batch.seconds, 3),
            "conversations": batch.published,
            "requests": len(requests),
            "failed": len(batch.failed),
            "concurrency": max((one.open for one in requests), default=0),
        }

    @contextmanager
    def _counted(self) -> Iterator[list[Request]]:
        """What the server sees meanwhile, once it is over."""
        before = len(self._provider.requests())
        seen: list[Request] = []
        yield seen
        seen += self._provider.requests()[before:]

    def _reading(self) -> dict[str, Any]:
        """Times of search, browse and read, without a model."""
        tokens = list(self._history.segments.values())[:: max(1, len(self._history.segments) // _TIMED)]
        topics = [row[0] for row in self._product.rows("SELECT topic_id FROM topics WHERE state = 'live'")]
        ids = [row[0] for row in self._product.rows("SELECT conversation_id FROM conversations")][:_TIMED]

        def words(segment: Segment) -> list[str]:
            return [segment.subject.name, segment.subject.part, segment.subject.code]

        return {
            "search": percentiles([self._timed("search", query=words(one), mode="keyword") for one in tokens]),
            "browse": percentiles([self._timed("browse", topic=topic) for topic in topics[:_TIMED]]),
            "read": percentiles([self._timed("read", conversation=one) for one in ids]),
        }

    def _timed(self, operation: str, **arguments: object) -> float:
        began = time.perf_counter()
        self._product.do(operation, **arguments)
        return time.perf_counter() - began

    def _sizes(self) -> dict[str, int]:
        tables = "name GLOB '*fts*' OR name GLOB '*_idx' OR name GLOB '*_data' OR name GLOB '*_docsize'"
        try:
            rows = self._product.rows(f"SELECT sum(pgsize) FROM dbstat WHERE {tables}")
        except Exception:  # noqa: BLE001 - a build of SQLite without dbstat has no figure
            rows = [(0,)]
        return {"database_bytes": self._product.database.stat().st_size, "text_index_bytes": rows[0][0] or 0}

    def _checks(self, cold: Batch, requests: Sequence[Request]) -> dict[str, bool]:
        """What has to be so after the cold index."""
        standing = Standing.read(self._product.database, self._history)
        covered = sum(count for report, count in cold.repairs if report["state"] in ("done", "nothing"))
        most = MOST_A_CONVERSATION.get(self._sessions)
        return {
            "all_indexed": cold.published == len(self._paths) and not cold.failed,
            "every_planted_word_is_found_in_its_conversation": self._all_found(),
            "topics_are_those_planted": not (standing.misfiled() or standing.doubled() or standing.homeless()),
            "every_facet_is_there": len(standing.facets) == len(self._history.segments),
            "the_child_saw_its_tools_and_nobody_else_did": _tools_are_right(requests),
            "nothing_sent_names_a_place": not any(self._names_a_place(one.text) for one in requests),
            "repair_ran_for_half_of_the_publications": 2 * covered >= cold.published,
            "requests_within_the_bound": most is None or len(requests) <= most * len(self._paths),
        }

    def _all_found(self) -> bool:
        for token, talk in self._history.talk_of.items():
            found = self._product.do("search", query=[token], mode="keyword")["conversations"]
            if [one["host_conversation_id"] for one in found] != [talk.host_id]:
                return False
        return True

    def _names_a_place(self, text: str) -> bool:
        places = {str(self._product.home), *(talk.cwd for talk in self._history.talks), ".jsonl"}
        return any(place in text for place in places)

    def _ledger_agrees(self) -> bool:
        """Kind by kind: the requests that carried tools, and the others."""
        ledger = Counter(row[0] == "repair" for row in self._product.rows("SELECT kind FROM ledger"))
        return ledger == Counter(bool(one.tools) for one in self._provider.requests())


def _reports(answer: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The repair runs of one batch: of a publication, or after all of them."""
    made = [one["repair"] for one in answer["completed"] if one["repair"]["state"] in ("done", "nothing")]
    after = answer.get("maintenance")
    return made + ([after["repair"]] if after else [])


def _repair(cold: Batch) -> dict[str, Any]:
    reports = [report for report, _ in cold.repairs]
    return {
        "batches": cold.batches,
        "publications": cold.published,
        "runs": len(reports),
        "publications_in_a_batch_with_a_run": sum(count for _, count in cold.repairs),
        "states": dict(Counter(report["state"] for report in reports)),
        "audited": sum(report["audited"] for report in reports),
        "receipts": sum(report["receipts"] for report in reports),
    }


def _tools_are_right(requests: Sequence[Request]) -> bool:
    """A request carries the repair tools where it asks the child, and none where it does not."""
    children = [one for one in requests if one.tools]
    others = [one for one in requests if not one.tools]
    named = any("repair_" in json.dumps(one.body["messages"][0]) for one in others)
    return bool(children) and all(set(one.tools) == TOOLS for one in children) and not named


def _peak() -> float:
    """The most memory that this process had, in MB."""
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(used / (1_000_000 if sys.platform == "darwin" else 1_000), 1)


def main() -> None:
    parser = argparse.ArgumentParser(description="The whole product against a scripted provider on this machine.")
    parser.add_argument("--conversations", type=int, required=True)
    parser.add_argument("--sessions", type=int, default=_DEFAULT_SESSIONS, help="conversations a batch (default: 2)")
    parser.add_argument("--out", type=Path, help="write the figures as JSON here")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="history-recall-offline-") as folder:
        figures = measure(options.conversations, options.sessions, Path(folder))
    print(json.dumps(figures, indent=1, ensure_ascii=False))
    if options.out:
        options.out.write_text(json.dumps(figures, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    failed = [name for name, holds in figures["checks"].items() if not holds]
    if failed:
        raise SystemExit(f"failed: {', '.join(failed)}")


if __name__ == "__main__":
    main()
