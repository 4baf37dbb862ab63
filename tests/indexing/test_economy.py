"""Unchanged costs nothing, an append costs what is new: told by what the server saw after it."""

from __future__ import annotations

from hashlib import sha256

from tests.indexing.product import Log, Product, append, long, marker, short, text_of, turn


def test_an_unchanged_source_sends_and_writes_nothing(product: Product) -> None:
    sources = product.demo()
    product.done("index-all", "--sessions", "100")
    seen, state = len(product.seen()), _state(product)

    for source in sources:
        answer = product.done("index", source)
        assert answer["calls"] == 0
        assert [one["unchanged"] for one in answer["completed"]] == [True]
    again = product.done("index-all", "--sessions", "100")

    assert (again["completed"], again["calls"]) == ([], 0)
    assert len(product.seen()) == seen
    assert _state(product) == state


def test_a_touched_source_sends_nothing_and_keeps_its_revision(product: Product) -> None:
    source = product.add(short("e1e1", "kiln"), "one")
    product.done("index", source)
    revision = product.done("status")["revision"]
    source.write_bytes(source.read_bytes())

    assert product.done("index", source)["calls"] == 0

    assert len(product.seen()) == 1
    assert product.done("status")["revision"] == revision
    assert [row["state"] for row in product.done("conversations")["conversations"]] == ["indexed"]


def test_an_append_to_a_long_conversation_sends_the_new_text_only(product: Product) -> None:
    log = long("e2e2", 30)
    source = product.add(log, "long")
    product.done("index", source)
    seen = len(product.seen())

    append(source, log, [turn(100), turn(101)])
    answer = product.done("index", source)

    kinds = [kind for kind, _, _ in product.ledger()][seen:]
    assert kinds[0] == "map"
    assert set(kinds[1:]) <= {"reduce", "final", "placement"}
    assert len(product.seen()) - seen == answer["calls"] <= 3
    _old_text_is_not_sent(product, seen, range(30))
    new = text_of(product.seen()[seen])
    assert marker(100) in new
    assert marker(101) in new


def test_an_append_to_a_short_conversation_does_not_send_it_again(product: Product) -> None:
    log = Log("e3e3").talk([turn(0, 300), turn(1, 300), turn(2, 300)])
    source = product.add(log, "short")
    assert product.done("index", source)["calls"] == 1

    append(source, log, [turn(100, 300)])
    answer = product.done("index", source)

    assert [kind for kind, _, _ in product.ledger()][1:3] == ["map", "final"]
    assert answer["calls"] <= 3
    assert "Question 0" not in text_of(product.seen()[1])
    _old_text_is_not_sent(product, 1, range(3))


def test_many_small_appends_keep_the_cost_bounded(product: Product) -> None:
    log = Log("e4e4").talk([turn(0, 600)])
    source = product.add(log, "growing")
    product.done("index", source)
    first_level: dict[int, int] = {}

    for number in range(1, 21):
        seen = len(product.seen())
        append(source, log, [turn(number, 600)])
        answer = product.done("index", source)
        assert answer["calls"] <= 4, number
        for request, (kind, _, _) in zip(product.seen()[seen:], product.ledger()[seen:], strict=True):
            if kind in ("analysis", "map"):
                for turned in range(number + 1):
                    first_level[turned] = first_level.get(turned, 0) + (f"end of {marker(turned)}" in text_of(request))

    # Each turn once, and once more for each join of small chunks at the end.
    assert max(first_level.values()) <= 4
    assert sum(first_level.values()) <= 3 * 21
    assert product.done("doctor", "--deep")["ok"]


def test_force_asks_the_cache_first(product: Product) -> None:
    source = product.add(short("e5e5", "kiln"), "one")
    product.done("index", source)

    assert product.done("index", source, "--force")["calls"] == 0
    assert len(product.seen()) == 1


def test_a_rebuild_pays_again_and_keeps_the_topics(product: Product) -> None:
    source = product.add(short("e6e6", "kiln"), "one")
    product.done("index", source)
    topics = [topic["topic_id"] for topic in product.done("browse")["entries"]]
    facets = product.rows("SELECT facet_id FROM facets ORDER BY 1")

    assert product.done("rebuild")["queued"] == 1
    assert product.done("index-all")["calls"] == 1

    assert [topic["topic_id"] for topic in product.done("browse")["entries"]] == topics
    assert product.rows("SELECT facet_id FROM facets ORDER BY 1") == facets


def test_a_title_or_another_place_costs_nothing(product: Product) -> None:
    log = short("e7e7", "kiln")
    source = product.add(log, "one")
    product.done("index", source)
    moved = source.with_name("2026-09-02T13-05-00-000Z_moved.jsonl")
    source.rename(moved)
    log.titled("Another name for it")
    moved.write_bytes(log.bytes())

    assert product.done("index", moved)["calls"] == 0
    assert len(product.seen()) == 1


def _old_text_is_not_sent(product: Product, since: int, old: range) -> None:
    """What joining shows is what the old chunks' replies cite; no filler of the old turns is among it."""
    for request, (kind, _, _) in zip(product.seen()[since:], product.ledger()[since:], strict=True):
        text = text_of(request)
        for number in old:
            assert f"end of {marker(number)}" not in text, (kind, number)
            assert f"{marker(number)} line 9 of" not in text, (kind, number)
            if kind == "map":
                assert marker(number) not in text, number


def _state(product: Product) -> list[tuple[str, str, int]]:
    """Every file beside the index, its bytes and its time: a write of any kind would show."""
    files = sorted(path for path in product.database.parent.iterdir() if path.is_file())
    return [(path.name, sha256(path.read_bytes()).hexdigest(), path.stat().st_mtime_ns) for path in files]
