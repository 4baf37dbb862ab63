"""Prompts and schemas say the same, and a schema leaves nothing unbounded."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import cast

import jsonschema
import pytest

from recall.models.replies import InvalidReply, read_object
from recall.prompts import load
from recall.types import FINDING_STATUSES
from tests.steps.asker import facet, reply

NAMES = ("analysis", "reduce", "placement", "shortlist", "rewrite", "retell")


def nodes(schema: Mapping[str, object]) -> Iterator[Mapping[str, object]]:
    yield schema
    for inner in cast("Mapping[str, Mapping[str, object]]", schema.get("properties", {})).values():
        yield from nodes(inner)
    if "items" in schema:
        yield from nodes(cast("Mapping[str, object]", schema["items"]))


@pytest.mark.parametrize("name", NAMES)
def test_everything_is_bounded_and_nothing_else_is_let_in(name: str) -> None:
    schema = load(name).schema
    jsonschema.Draft202012Validator.check_schema(dict(schema))
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    for node in nodes(schema):
        kinds = node.get("type")
        kinds = kinds if isinstance(kinds, list) else [kinds]
        if "object" in kinds:
            assert node["additionalProperties"] is False
            assert set(cast("list[str]", node["required"])) == set(cast("Mapping[str, object]", node["properties"]))
        if "array" in kinds:
            assert "maxItems" in node
        if "string" in kinds:
            assert "maxLength" in node
            assert "minLength" in node
        if "integer" in kinds:
            assert "minimum" in node
            assert "maximum" in node
        assert "pattern" not in node, "anchored patterns let a line break through, others stop some servers"


@pytest.mark.parametrize("name", ["analysis", "reduce"])
def test_the_words_name_the_limits_of_the_schema(name: str) -> None:
    prompt = load(name)
    text = prompt.instructions
    assert all(f"`{status}`" in text for status in FINDING_STATUSES)
    finding = [
        node for node in nodes(prompt.schema) if "status" in cast("Mapping[str, object]", node.get("properties", {}))
    ]
    properties = cast("Mapping[str, Mapping[str, object]]", finding[0]["properties"])
    assert properties["status"]["enum"] == list(FINDING_STATUSES)
    for limit in ("1200", "1 to 5", "100", "500", "12", "1 to 12", "up to 6", "300"):
        assert limit in text


def test_analysis_and_reduction_have_one_form() -> None:
    first, second = (dict(load(name).schema) | {"title": ""} for name in ("analysis", "reduce"))
    assert first == second


@pytest.mark.parametrize("name", NAMES)
def test_each_prompt_says_that_what_is_fenced_is_data(name: str) -> None:
    text = load(name).instructions
    assert "untrusted data" in text
    assert "<<<HISTORY code" in text
    assert "HISTORY code>>>" in text
    assert "One JSON object and nothing else" in text


@pytest.mark.parametrize(
    "broken",
    [
        {"summary": "x" * 1201, "facets": []},
        {"summary": "", "facets": []},
        {"summary": "x", "facets": [], "more": 1},
        reply(*[facet("t", ("e", "q"))] * 6),
        reply(facet("t" * 101, ("e", "q"))),
        reply(facet("t", *[("e", "q")] * 13)),
        reply(facet("t", ("e", "q"), findings=[("s", "succeeded", "e", "q")])),
        reply(facet("t", ("e", "q"), findings=[("s" * 301, "open", "e", "q")])),
        reply(facet("t", ("e", "q"), findings=[("s", "open", "e", "q")] * 7)),
    ],
)
def test_what_is_longer_or_other_is_refused(broken: Mapping[str, object]) -> None:
    with pytest.raises(InvalidReply):
        read_object(json.dumps(broken), load("analysis").schema)
