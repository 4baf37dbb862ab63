"""Citations: exact places, only from what was shown, and what is dropped is counted."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall.models.replies import InvalidReply
from recall.models.request import ShownEntry
from recall.steps.evidence import Misplaced, cited_by, fold, locate, shown_in, verified
from recall.types import Evidence
from tests.shared import SHARED, needs_shared
from tests.steps.asker import Log, facet, reply

WORDS = st.sampled_from(["a", "the", "cursor", "记录", "(x|y)", "é", "\\d+", "$"])
SPACES = st.sampled_from([" ", "  ", "\n", "\t \n", "\u00a0", "\u2003", "\r\n"])


def unmarked(text: str) -> str:
    return re.sub("[\"'`\u2018\u2019\u201c\u201d]", "'", text)


@st.composite
def spaced(draw: st.DrawFn) -> tuple[list[str], str]:
    words = draw(st.lists(WORDS, min_size=1, max_size=12))
    return words, words[0] + "".join(draw(SPACES) + word for word in words[1:])


@given(spaced(), st.data())
def test_a_quote_is_found_where_it_stands_whatever_its_white_space(
    made: tuple[list[str], str], data: st.DataObject
) -> None:
    words, text = made
    start = data.draw(st.integers(0, len(words) - 1))
    end = data.draw(st.integers(start + 1, len(words)))
    quote = "".join(data.draw(SPACES) + word for word in words[start:end])
    place = locate(text, quote)
    assert place is not None
    at, length = place
    assert fold(text[at : at + length]) == fold(quote)
    assert text[at : at + length] == text[at : at + length].strip()


@given(st.text(max_size=60), st.text(max_size=10))
def test_what_is_found_is_word_for_word(text: str, quote: str) -> None:
    place = locate(text, quote)
    if place is None:
        assert not fold(quote) or fold(quote) not in fold(text)
    else:
        assert unmarked(fold(text[place[0] : sum(place)])) == unmarked(fold(quote))


def test_a_quotation_mark_may_be_another_one_and_no_word_may_be() -> None:
    text = 'He wrote import { Text } from "pi-tui"; and it’s done.'
    assert locate(text, "import { Text } from 'pi-tui'; and it's") == (9, 39)
    assert locate(text, "import { Text } from pi-tui; and") is None
    assert locate(text, "import { Text } from 'pi-tux';") is None


def test_no_word_is_no_quote() -> None:
    assert locate("some text", " \n ") is None
    assert locate("a b", "ab") is None
    assert locate("A b", "a b") is None


LOG = Log.of("The cursor\n  held 6.2M rows.", ("assistant", "Use COPY. Use COPY."), "third words")
SHOWN = (
    ShownEntry("e0", "user", "The cursor\n  held 6.2M rows."),
    ShownEntry("e1", "assistant", "Use COPY.", start=10, whole=19),
)


def test_places_are_those_in_the_whole_entry() -> None:
    find = shown_in(SHOWN, LOG.text_of)
    found = find("e0", "cursor held")
    assert found == Evidence("e0", LOG.entries[0].sha256, "cursor\n  held", 4, 13)
    piece = find("e1", "COPY.")
    assert isinstance(piece, Evidence)
    assert piece.start == 14


def test_only_what_was_shown_can_be_cited() -> None:
    find = shown_in(SHOWN, LOG.text_of)
    assert find("e2", "third words") == "entry_not_shown"
    assert find("E0", "cursor held") == Misplaced("e0", "entry_not_shown")
    assert find("e1", "Use COPY. Use COPY.") == "quote_not_found"
    assert find("e0", "cursor has held") == "quote_not_found"


@needs_shared
def test_invented_evidence_is_dropped_and_its_facets_with_it() -> None:
    """B088: unknown ids, ids of other entries, no ids, and ids in another case."""
    case = json.loads((SHARED / "cases/inputs/088-invented-evidence.json").read_text())
    texts = {entry_id: f"words of {entry_id}" for entry_id in case["shown_entries"]}
    chunk = tuple(ShownEntry(entry_id, "user", text) for entry_id, text in texts.items())
    facets = [
        facet(one["title"], *((entry_id, f"words of {entry_id}") for entry_id in one["evidence"]))
        for one in case["facets"]
    ]
    part = verified(reply(*facets), shown_in(chunk, lambda i: (texts[i], "0" * 64)), (), at_least=1)
    assert [one.title for one in part.facets] == case["expect_accepted"]
    assert part.dropped == {"entry_not_shown": 4, "facet_without_evidence": 5}


def test_when_nothing_is_left_the_complaint_names_what_failed_and_quotes_nothing() -> None:
    find = shown_in(SHOWN, LOG.text_of)
    bad = reply(facet("one", ("nobody", "secret words")), facet("two", ("e0", "not there")))
    with pytest.raises(InvalidReply) as refused:
        verified(bad, find, (), at_least=0)
    assert "facets[0].evidence[0]: no entry with this entry_id was shown" in refused.value.message
    assert "facets[1].evidence[0]: the quote does not stand word for word" in refused.value.message
    assert "secret" not in refused.value.message
    with pytest.raises(InvalidReply):
        verified(reply(), find, (), at_least=1)
    assert verified(reply(), find, (), at_least=0).facets == ()


def test_a_complaint_says_by_number_which_words_of_a_quote_do_stand() -> None:
    text = "We moved the importer to COPY because the cursor held a lock."
    shown = shown_in((ShownEntry("e0", "user", text),), Log.of(text).text_of)

    def complaint(quote: str) -> str:
        with pytest.raises(InvalidReply) as raised:
            verified(reply(facet("Importer", ("e0", quote))), shown, frozenset(), at_least=1)
        return raised.value.message

    assert "only its words 2 to 8 do: quote just these" in complaint(
        "Sadly moved the importer to COPY because the lock was held"
    )
    assert "quote just these" not in complaint("the lock was never in the way of it")


def test_the_same_claim_is_kept_once() -> None:
    find = shown_in(SHOWN, LOG.text_of)
    first = facet(
        "one",
        ("e0", "cursor held"),
        ("e0", "cursor  held"),
        findings=[
            ("The cursor held all rows.", "found", "e0", "held 6.2M rows."),
            ("the cursor  held all ROWS.", "found", "e0", "6.2M rows"),
            ("Other words.", "found", "e0", "held  6.2M rows."),
            ("Use COPY.", "decided", "e1", "not there"),
        ],
    )
    second = facet("two", ("e0", "cursor held"), findings=[("The cursor held all rows.", "found", "e1", "Use COPY.")])
    part = verified(reply(first, second), find, (), at_least=1)
    assert len(part.facets[0].evidence) == 1
    assert [one.statement for one in part.facets[0].findings] == ["The cursor held all rows."]
    assert part.facets[1].findings == ()
    assert part.dropped == {"repeated_claim": 3, "quote_not_found": 1}


def test_a_facet_from_abandoned_entries_alone_is_marked() -> None:
    find = shown_in(SHOWN, LOG.text_of)
    made = reply(facet("gone", ("e1", "Use COPY.")), facet("both", ("e1", "Use COPY."), ("e0", "cursor held")))
    assert [one.abandoned for one in verified(made, find, {"e1"}, at_least=1).facets] == [True, False]


def test_the_level_above_cites_only_what_the_level_below_cited() -> None:
    below = verified(
        reply(facet("one", ("e0", "cursor held 6.2M rows."), findings=[("x", "found", "e1", "Use COPY.")])),
        shown_in(SHOWN, LOG.text_of),
        (),
        at_least=1,
    )
    find = cited_by([below])
    within = find("e0", "held 6.2M")
    assert isinstance(within, Evidence)
    text = LOG.entries[0].text
    assert text[within.start : within.start + within.length] == within.quote == "held 6.2M"
    assert isinstance(find("e1", "Use COPY."), Evidence)
    assert find("e0", "The cursor") == "quote_not_found"
    assert find("e2", "third words") == "entry_not_shown"
