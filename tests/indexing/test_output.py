"""One JSON document on stdout whatever happens, progress as JSON lines on stderr, and the exit codes."""

from __future__ import annotations

import contextlib
import signal
import subprocess
import sys
import time

import pytest

from benchmarks.servers.chat_server import Turn
from recall.surfaces.commands import OPERATIONS
from tests.indexing import shapes
from tests.indexing.product import Product, long, short
from tests.shared import ROOT


def test_every_command_answers_in_the_contract_s_form(product: Product, monkeypatch: pytest.MonkeyPatch) -> None:
    """`run` checks each answer; here no command is left out, on an empty index and on a full one."""
    source = product.add(short("b001", "mill"), "one")
    outside = product.home / "elsewhere"
    outside.mkdir()
    monkeypatch.chdir(outside)  # some commands are about the folder they are run in
    extra = outside / "log.jsonl"
    extra.write_bytes(short("b002", "ferry").bytes())
    words = {
        "status": ["--cost"],
        "search": ["mill", "--explain"],
        "read": ["c_nobody"],
        "jobs follow": ["j_nobody"],
        "jobs cancel": ["j_nobody"],
        "index": [str(source)],
        "sources add": [str(extra)],
        "sources remove": [str(extra)],
        "browse": [],
        "index-all": ["--sessions", "5"],
    }
    answering = [operation for operation in OPERATIONS if not operation.on_stdio]
    for operation in answering:
        product.run(*operation.name.split(), *words.get(operation.name, []))
    conversation = product.rows("SELECT conversation_id FROM conversations")[0][0]
    topic = product.rows("SELECT topic_id FROM topics")[0][0]
    for operation in answering:
        product.run(
            *operation.name.split(), *(words | {"read": [conversation], "browse": [topic]}).get(operation.name, [])
        )
    product.done("browse", topic, "--history")
    found = product.done("search", "queue")["conversations"][0]
    entry = found["entries"][0]["entry_id"]
    around = product.done("read", conversation, "--entry", entry, "--before", "0", "--after", "0")
    assert [fragment["entry_id"] for fragment in around["fragments"]] == [entry]
    assert {operation.name for operation in answering} <= shapes.ANSWERS.keys()


@pytest.mark.parametrize(
    "words",
    [
        ("nonsense",),
        ("status", "spare"),
        ("index",),
        ("index", "--nonsense", "x"),
        ("index-all", "--sessions", "many"),
        ("index-all", "--sessions", "0"),
        ("search",),
        ("browse", "--limit", "0"),
        ("sources",),
        ("sources", "nonsense"),
        ("conversations", "--state", "nonsense"),
    ],
)
def test_what_is_not_understood_changes_nothing(product: Product, words: tuple[str, ...]) -> None:
    ran = product.run(*words)

    assert (ran.code, ran.error["code"], ran.stderr) == (2, "usage", "")
    assert not product.database.exists()


def test_settings_that_are_none(product: Product) -> None:
    product.set(batch_calls="lots")

    ran = product.run("status")

    assert (ran.code, ran.error["code"]) == (2, "usage")
    assert "HISTORY_RECALL_BATCH_CALLS" in ran.error["message"]


def test_a_file_that_nobody_authorised(product: Product) -> None:
    stray = product.home / "stray.jsonl"
    stray.write_bytes(short("b003", "mill").bytes())

    for words in (("index", stray), ("index", product.home / "missing.jsonl"), ("index", "relative.jsonl")):
        assert product.run(*words).code in (1, 2)
    assert product.ledger() == []


def test_progress_goes_from_reading_to_publishing(product: Product) -> None:
    ran = product.run("index", product.add(long("b004", 20), "long"))

    stages = list(dict.fromkeys(line["progress"] for line in ran.progress))
    assert stages == ["reading", "analysing", "placing", "repairing", "publishing"]
    last = [line for line in ran.progress if line["progress"] == "analysing"][-1]
    assert last["done"] == last["total"] > 0


def test_an_interrupt_ends_with_130_and_one_document(product: Product) -> None:
    """What had come in is kept, what hangs is left, nothing is published, and the next run goes on."""
    source = product.add(long("b005", 30), "long")
    product.set(concurrency="1")
    answers = product.server.responder
    assert answers is not None
    product.answers(lambda body: Turn("hang") if len(product.seen()) >= 3 else answers(body))
    process = subprocess.Popen(
        [sys.executable, "-m", "recall", "index", str(source), "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    )
    try:
        _wait_for(3, product, process)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=120)
    finally:
        process.kill()

    assert process.returncode == 130, err
    assert out.count("\n") == 1
    assert '"code": "cancelled"' in out
    assert all(line.startswith("{") for line in err.splitlines())
    assert len(product.ledger()) == len(product.seen()) == 3
    assert product.rows("SELECT count(*) FROM model_cache") == [(2,)]
    status = product.done("status")
    assert (status["conversations"], status["jobs"]) == (0, [])
    assert [(one["code"], one["attempts"]) for one in status["queue"]["failed"]] == [("cancelled", 0)]
    product.answers(answers)
    product.done("index", source)
    bodies = [product.body(number) for number in range(len(product.seen()))]
    assert bodies[2] in bodies[3:]
    assert not set(bodies[:2]) & set(bodies[3:])


def _wait_for(count: int, product: Product, process: subprocess.Popen[str]) -> None:
    """Until so many requests of the process have come. On a busy machine its imports alone can take minutes."""
    until = time.monotonic() + 600
    while process.poll() is None and time.monotonic() < until:
        with contextlib.suppress(TimeoutError):
            return product.server.wait_for(count, 2)
    process.kill()
    raise AssertionError(f"{len(product.seen())} of {count} requests came: {process.communicate()}")
