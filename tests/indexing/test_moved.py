"""A conversation that a model analysed is moved: one attribute changes, and nothing is asked again."""

from __future__ import annotations

from typing import Any

from tests.indexing.product import Product, append, short, turn

_LAYERS = (
    "ledger",
    "model_cache",
    "entries",
    "placeholders",
    "facets",
    "evidence",
    "findings",
    "memberships",
    "topics",
    "topic_events",
)


def layers(product: Product) -> dict[str, list[tuple[Any, ...]]]:
    return {table: product.rows(f"SELECT * FROM {table} ORDER BY rowid") for table in _LAYERS}


def test_moving_asks_no_model_and_changes_one_attribute(product: Product) -> None:
    for name in ("mill", "dam"):
        product.done("project", "create", name)
    log = short("a301", "mill")
    source = product.add(log, "a301")
    product.add(short("a302", "sluice"), "a302")
    product.done("index-all", "--sessions", "10")
    before, sent = layers(product), len(product.seen())
    assert sent
    assert before["model_cache"]
    columns = product.rows("SELECT * FROM conversations ORDER BY conversation_no")

    moved = product.done("project", "move", "pi:a301", "mill")
    product.done("project", "move", "pi:a301", "dam")
    product.done("index-all", "--sessions", "10")

    assert layers(product) == before
    assert len(product.seen()) == sent
    after = product.rows("SELECT * FROM conversations ORDER BY conversation_no")
    changed = [[(a, b) for a, b in zip(*pair, strict=True) if a != b] for pair in zip(columns, after, strict=True)]
    assert sorted(len(one) for one in changed) == [0, 2]  # the project and why
    assert moved["cwd"] is None

    # What is added is analysed, in the place where it was moved to.
    append(source, log, [turn(1, 60)])
    product.done("index", source)
    assert len(product.seen()) > sent
    row = product.rows("SELECT name, why_project FROM conversations JOIN projects USING (project_no)")
    assert row == [("dam", "moved")]
