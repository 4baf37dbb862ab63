"""`--dry-run` says to whom, how many and how large, sends and writes nothing, and what it says is true.

Bytes are those of instructions, content and schema of each request, the same that the ledger charges.
"""

from __future__ import annotations

import pytest

from recall.surfaces.cli import main
from tests.indexing.product import Log, Product, append, long, short, text_of, turn


def test_a_short_conversation_is_told_exactly(product: Product) -> None:
    source = product.add(short("a201", "mill"), "one")

    told = product.done("index", source, "--dry-run")["would_send"]

    assert (told["calls"], told["endpoint"], told["exact"]) == (1, product.server.url, True)
    assert product.seen() == ()
    assert not product.database.parent.exists()
    product.done("index", source)
    assert _charged(product, 0) == (told["calls"], told["bytes"])
    # And what is charged is what goes over the wire: messages and schema, the rest is the envelope.
    body = product.seen()[0].body
    schema = body["response_format"]["json_schema"]["schema"]  # type: ignore[index]
    on_the_wire = len(text_of(product.seen()[0]).encode()) + len(_compact(schema).encode())
    assert 0 <= on_the_wire - told["bytes"] <= 1


def test_a_second_conversation_is_told_as_a_bound_that_holds(product: Product) -> None:
    product.done("index", product.add(short("a202", "mill"), "one"))
    second = product.add(short("a203", "ferry"), "two")

    told = product.done("index", second, "--dry-run")["would_send"]

    assert told["calls"] == 2
    _holds(product, told, "index", second)


def test_a_long_conversation_is_told_as_a_bound_that_holds(product: Product) -> None:
    source = product.add(long("a204", 40), "long")

    told = product.done("index", source, "--dry-run")["would_send"]

    assert told["exact"] is False
    _holds(product, told, "index", source)


def test_an_append_is_told_without_what_is_cached(product: Product) -> None:
    log = long("a205", 40)
    source = product.add(log, "long")
    whole = product.done("index", source, "--dry-run")["would_send"]
    product.done("index", source)
    append(source, log, [turn(100)])

    told = product.done("index", source, "--dry-run")["would_send"]

    assert told["calls"] <= whole["calls"]
    _holds(product, told, "index", source)


def test_an_unchanged_source_would_send_nothing(product: Product) -> None:
    source = product.add(short("a206", "mill"), "one")
    product.done("index", source)

    for words in (("index", source), ("index-all",)):
        told = product.done(*words, "--dry-run")["would_send"]
        assert (told["calls"], told["bytes"]) == (0, 0)


def test_force_is_told_as_it_is_done(product: Product) -> None:
    """The cache answers what was asked before; after a rebuild nothing is cached."""
    source = product.add(short("a207", "mill"), "one")
    product.done("index", source)
    product.done("rebuild")

    assert product.done("index", source, "--dry-run", "--force")["would_send"]["calls"] >= 1
    told = product.done("index-all", "--dry-run")["would_send"]
    assert told["calls"] >= 1
    _holds(product, told, "index-all")


def test_a_batch_is_told_as_a_bound_that_holds(product: Product) -> None:
    """Also for what its first conversations add to the catalogue."""
    for number, subject in enumerate(("mill", "ferry", "kiln", "loom", "weir")):
        product.add(short(f"a21{number}", subject), subject)
    for sessions in ("1", "2", "3"):
        told = product.done("index-all", "--sessions", sessions, "--dry-run")
        assert told["sources"] == min(int(sessions), 5 - _published(product))
        _holds(product, told["would_send"], "index-all", "--sessions", sessions)
        if told["would_send"]["exact"]:
            assert sessions == "1"


def test_offline_says_that_nothing_is_sent(product: Product) -> None:
    product.set(model="offline")
    product.unset("api_base")
    source = product.add(short("a208", "mill"), "one")

    told = product.done("index", source, "--dry-run")["would_send"]

    assert (told["calls"], told["bytes"], told["endpoint"]) == (0, 0, None)
    assert product.done("index", source, "--dry-run")["run_cap"] is None
    assert not product.database.exists()


def test_an_unreadable_source_does_not_end_the_batch(product: Product) -> None:
    product.add(short("a209", "mill"), "one")
    product.add(Log("a20a"), "empty")

    told = product.done("index-all", "--dry-run", "--sessions", "10")

    assert told["would_send"]["calls"] == 1


def test_where_a_run_stops_is_told_with_the_runs_that_makes(product: Product) -> None:
    source = product.add(long("a219", 40), "long")
    product.set(batch_calls="3")

    one, batch, wide = (
        product.done(*words, "--dry-run")
        for words in (("index", source), ("index-all",), ("index-all", "--calls", "1000"))
    )

    calls = one["would_send"]["calls"]
    assert calls > 3
    assert one["run_cap"] == batch["run_cap"] == {"calls": 3, "runs": -(-calls // 3)}
    assert wide["run_cap"] == {"calls": 1000, "runs": 1}
    runs = 1
    while product.run("index", source, "--no-repair").code:
        runs += 1
    assert 1 < runs <= one["run_cap"]["runs"]
    assert product.done("index-all", "--calls", "0", "--dry-run")["run_cap"] == {"calls": 0, "runs": None}


def test_a_person_reads_where_a_run_stops(product: Product, capsys: pytest.CaptureFixture[str]) -> None:
    source = product.add(long("a221", 40), "long")

    def said(cap: str) -> list[str]:
        product.set(batch_calls=cap)
        capsys.readouterr()
        assert main(["index", str(source), "--dry-run"]) == 0
        return [line for line in capsys.readouterr().out.splitlines() if line.startswith("a run stops")]

    calls = product.done("index", source, "--dry-run")["would_send"]["calls"]
    more = (
        "and the same command again goes on; HISTORY_RECALL_BATCH_CALLS, or --calls of index-all, sets another number"
    )
    assert said(str(calls - 1)) == [f"a run stops at {calls - 1} requests: so many take up to 2 runs, {more}"]
    assert said(str(calls)) == [f"a run stops at {calls} requests"]
    product.done("index", source)
    assert said("3") == []  # nothing would be sent


def _holds(product: Product, told: dict[str, int], *words: object) -> None:
    before = len(product.ledger())
    product.done(*map(str, words))
    calls, size = _charged(product, before)
    assert 0 < calls <= told["calls"]
    assert 0 < size <= told["bytes"]
    if told["exact"]:
        assert (calls, size) == (told["calls"], told["bytes"])


def _charged(product: Product, since: int) -> tuple[int, int]:
    rows = product.rows("SELECT request_bytes FROM ledger ORDER BY call_no")[since:]
    assert len(rows) == len(product.seen()) - since
    return len(rows), sum(row[0] for row in rows)


def _published(product: Product) -> int:
    return int(product.done("status")["conversations"])


def _compact(value: object) -> str:
    from recall.hashing import canonical_json

    return canonical_json(value)
