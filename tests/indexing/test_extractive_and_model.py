"""What the built-in analyser made gives way to a model's analysis, and never the other way round."""

from __future__ import annotations

from benchmarks.servers.replies import answer
from tests.indexing.product import Product, append, short, turn


def test_a_model_takes_the_place_of_the_built_in_analyser(product: Product) -> None:
    source = product.add(short("a801", "mill"), "one")
    product.set(model="offline")
    product.done("index", source)
    assert _made_by(product) == [("offline", 1)]
    conversation = _conversation(product)

    product.set(model="openai/local")
    assert product.done("index", source)["completed"][0]["unchanged"] is False
    assert _made_by(product) == [("openai/local", 0)]

    product.set(model="offline")
    again = product.done("index", source)
    assert again["completed"][0]["unchanged"] is True
    assert _made_by(product) == [("openai/local", 0)]
    assert _conversation(product) == conversation


def test_index_all_takes_what_only_the_built_in_analyser_saw(product: Product) -> None:
    product.set(model="offline")
    product.done("index", product.add(short("a802", "mill"), "one"))
    product.set(model="openai/local")

    product.done("rebuild")
    product.done("index-all")

    assert _made_by(product) == [("openai/local", 0)]


def test_a_topic_keeps_its_id_when_a_facet_of_the_same_name_comes_again(product: Product) -> None:
    log = short("a803", "mill")
    source = product.add(log, "one")
    product.done("index", source)
    facets, topics = _facets(product), _topics(product)

    append(source, log, [turn(1, 200)])
    product.done("index", source)

    assert facets <= _facets(product)
    assert topics <= _topics(product)
    assert product.done("doctor", "--deep")["ok"]


def test_the_same_analysis_under_another_model_keeps_facets_and_topics(product: Product) -> None:
    source = product.add(short("a804", "mill"), "one")
    product.done("index", source)
    facets, topics = _facets(product), _topics(product)

    product.set(model="openai/other")
    product.done("index", source, "--force")

    assert (_facets(product), _topics(product)) == (facets, topics)
    assert _made_by(product) == [("openai/other", 0)]


def test_a_facet_that_is_gone_leaves_a_retired_topic(product: Product) -> None:
    source = product.add(short("a805", "mill"), "one")
    product.done("index", source)
    (old,) = _topics(product)

    product.set(model="openai/other")
    product.answers(lambda body: answer(body).replace("Why does the mill stall at dawn?", "stall at dawn?"))
    changed = product.done("index", source, "--force")["completed"][0]["topics"]

    assert old in _topics(product) or changed["retired"] == [old]
    assert len(_topics(product)) == 1
    assert product.done("doctor", "--deep")["ok"]


def _made_by(product: Product) -> list[tuple[str, int]]:
    return [(row[0], row[1]) for row in product.rows("SELECT model, extractive FROM conversations")]


def _conversation(product: Product) -> str:
    return str(product.rows("SELECT conversation_id FROM conversations")[0][0])


def _facets(product: Product) -> set[str]:
    return {row[0] for row in product.rows("SELECT facet_id FROM facets")}


def _topics(product: Product) -> set[str]:
    return {topic["topic_id"] for topic in product.done("browse", "--limit", "50")["entries"]}
