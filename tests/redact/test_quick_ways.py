"""The quicker ways to the same answer: each against the slow one that it stands for."""

import importlib
import random

import pytest

from recall.redact import rules_structure as rules
from recall.redact.assignments import _Quotes
from recall.redact.extent import BARE, _bare

SIGNS = list("\\\"'`,;|&<>()[]{} \n\t\u3000\x00\x01\u00a0=é密，")
PARTS = [*SIGNS, "a1", "x" * 300, "Zq-9_", "\\n", "&amp;", "b=c"]


@pytest.mark.parametrize("seed", range(20))
def test_a_bare_value_ends_where_its_pattern_ends(seed: int) -> None:
    chosen = random.Random(seed)
    for _ in range(200):
        text = "".join(chosen.choices(PARTS, k=chosen.randint(1, 12)))
        slow, quick = BARE.match(text), _bare(text, 0)
        assert (slow and slow.end()) == (quick and quick.end()), text


def test_no_join_with_a_quote_reaches_further_than_quotes_are_looked_for() -> None:
    parse = importlib.import_module("re._parser").parse
    rows = [row for row in rules.SYNTAXES if row.ends_in_quote]
    assert len(rows) > 10
    for row in rows:
        assert parse(row.join.pattern).getwidth()[1] < rules.FARTHEST_QUOTE, row.name


def test_quotes_are_near_as_far_as_a_join_reaches() -> None:
    text = "a" * 10 + '"' + "b" * 2 * rules.FARTHEST_QUOTE + "“"
    quotes = _Quotes(text)
    for end in (0, 10, 11, 500, len(text) - rules.FARTHEST_QUOTE, len(text) - 1, len(text), 3):
        reach = text[end : end + rules.FARTHEST_QUOTE]
        assert quotes.is_near(end) is (rules.A_QUOTE.search(reach) is not None), end
