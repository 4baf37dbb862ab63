"""After `forget` the model that is set words the topics anew, from what is left in them and nothing else."""

from __future__ import annotations

import pytest

from tests.indexing.product import CWD, Log, Product

FORGOTTEN = "quillonbrace"


@pytest.fixture
def topic(product: Product) -> str:
    """A topic of two conversations, one of which has a word of its own."""
    for identity, cause in (("aa010001", f"the {FORGOTTEN} bolt is loose"), ("bb010001", "the shaft wants grease")):
        said = [("Why does the mill wheel rattle at night?", f"The cause was found: {cause}.")]
        product.done("index", product.add(Log(identity, CWD).talk(said), identity))
    [[name]] = product.rows("SELECT topic_id FROM topics WHERE state = 'live'")
    return str(name)


def test_the_model_words_a_topic_from_what_is_left(product: Product, topic: str) -> None:
    before = len(product.seen())
    done = product.done("forget", "pi:aa010001")
    assert done["proof"]["ok"]
    assert done["words"] == {"calls": 1, "by_model": [topic], "extractive": [], "code": None, "message": None}
    [sent] = product.seen()[before:]
    assert FORGOTTEN not in str(sent.body)
    assert "wants grease" in str(sent.body)
    [[title, description, extractive]] = product.rows("SELECT title, description, extractive FROM topics")
    assert title.startswith("On ")
    assert description.startswith("Told anew: ")
    assert extractive == 0
    assert [kind for kind, _, _ in product.ledger()][-1] == "retell"
    told = product.done("browse", topic, "--history", "--limit", "50")["entries"][-1]
    assert told["kind"] == "redefined"
    assert "worded anew" in told["words"]
    assert FORGOTTEN.encode() not in product.database.read_bytes()


@pytest.mark.parametrize(
    ("name", "value", "code"),
    [("api_base", "http://192.0.2.1:9/v1", "consent_required"), ("daily_calls", "1", "daily_budget")],
)
def test_without_a_yes_or_over_a_cap_the_extractive_words_stay_and_the_answer_says_why(
    product: Product, topic: str, name: str, value: str, code: str
) -> None:
    before = len(product.seen())
    product.set(**{name: value})
    done = product.done("forget", "pi:aa010001")
    assert done["proof"]["ok"]
    assert (done["words"]["by_model"], done["words"]["extractive"], done["words"]["code"]) == ([], [topic], code)
    assert done["words"]["message"]
    assert len(product.seen()) == before
    [[title]] = product.rows("SELECT title FROM topics")
    assert title.startswith("Why does the mill wheel")


def test_an_emptied_topic_asks_nobody(product: Product, topic: str) -> None:
    product.done("forget", "pi:aa010001")
    done = product.done("forget", "pi:bb010001")
    assert (done["words"]["calls"], done["words"]["by_model"], done["words"]["extractive"]) == (0, [], [])
