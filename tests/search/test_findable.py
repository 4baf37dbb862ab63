"""Any literal token of a source is findable, however long the text is that it stands in and whatever it is glued to."""

from __future__ import annotations

from typing import Any

from recall.searcher import SearchRequest, search
from tests.search.builder import PROFILE, Index, Turn


def found(index: Index, query: str) -> list[str]:
    """The titles of what is found, best first."""
    answer: Any = search(index.database, PROFILE, SearchRequest((query,), mode="keyword"))
    return [conversation["title"] for conversation in answer["conversations"]]


def test_a_path_in_a_long_listing_is_found_among_short_entries(index: Index) -> None:
    paths = [f"./.git/objects/{n % 256:02x}/{n:030x}" for n in range(3000, 3600)]
    index.conversation([Turn("\n".join(paths), "tool"), "The deadlocks come back."], "listing")
    index.conversation([f"note {n} about git objects" for n in range(150)], "notes")
    for query in (paths[300], paths[300].removeprefix("."), f"{300 + 3000:030x}"):
        assert found(index, query)[:1] == ["About listing"], query


def test_a_word_of_a_long_text_is_found_in_any_of_its_forms(index: Index) -> None:
    index.conversation([Turn("retry after the deadlock\n" + "some other line of output\n" * 600, "tool")], "output")
    index.conversation([f"note {n}" for n in range(150)], "notes")
    assert found(index, "deadlocks") == ["About output"]


def test_a_spelling_of_common_words_is_drawn_where_it_goes_on_in_the_text(index: Index) -> None:
    long = "showWarning() for errors/warnings\\n " + "and a line of prose that says nothing of it\n" * 200
    index.conversation([long], "long")
    index.conversation([f"errors {n} and warnings, warnings and errors" for n in range(150)], "notes")
    assert found(index, "errors/warnings")[0] == "About long"
