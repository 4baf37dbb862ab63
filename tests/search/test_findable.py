"""Any literal token of a source is findable, however long the text is that it stands in and whatever it is glued to."""

from __future__ import annotations

import json
from typing import Any

import pytest

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


JSON = ("DATABASE_URL", "currentTheme", "errors/warnings", "import", "./run.sh", "数据库", r"\bfoo_bar\b", "foo_bar")
PATHS = (r"C:\new\table", "table", "old", r"src\old", "bob", r"C:\\Users\\bob")


@pytest.mark.parametrize(
    ("query", "title"), [*((one, "About json") for one in JSON), *((one, "About paths") for one in PATHS)]
)
def test_words_behind_an_escape_are_found_and_names_that_look_like_one_too(
    index: Index, query: str, title: str
) -> None:
    """What a tool was asked stands as JSON in a text: its lines begin with two characters that are none of it."""
    written = {
        "content": "import os\nDATABASE_URL=x\n\t\tcurrentTheme,\nerrors/warnings\n数据库\n./run.sh",
        "grep": r"\bfoo_bar\b",
    }
    path = {"path": r"C:\Users\bob"}
    index.conversation([Turn(json.dumps(written, ensure_ascii=False), "assistant")], "json")
    index.conversation([Turn(json.dumps(path), "assistant"), r"look into C:\new\table, or is it src\old?"], "paths")
    index.conversation([f"note {n}" for n in range(150)], "notes")
    assert found(index, query)[:1] == [title]


def test_a_name_of_common_parts_is_drawn_from_long_texts(index: Index) -> None:
    index.conversation([Turn("const retryLimit = 3;\n" + "const other = lines;\n" * 2000, "tool")], "long")
    index.conversation([f"note {n}: retry, limit, retry and limit" for n in range(150)], "notes")
    index.conversation([f"note {n} says something else" for n in range(250)], "others")
    assert found(index, "retryLimit")[0] == "About long"
