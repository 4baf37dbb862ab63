"""Asking the offline model, and holding each reply to its schema."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from jsonschema import Draft202012Validator

from recall import prompts
from recall.models.offline import OfflineModel
from recall.models.request import AnalysisTask, FacetCard, ModelRequest, PlacementTask, ReduceTask, ShownEntry
from recall.types import Role, TopicCard


def entries(*texts: str | tuple[Role, str]) -> tuple[ShownEntry, ...]:
    """Entries e0, e1, ...; a bare text is a turn of the user where the one before was not, else of the assistant."""
    made: list[ShownEntry] = []
    for number, text in enumerate(texts):
        turn: Role = "assistant" if made and made[-1].role == "user" else "user"
        role, body = (turn, text) if isinstance(text, str) else text
        made.append(ShownEntry(f"e{number}", role, body, tool="bash" if role == "tool" else None))
    return tuple(made)


def analyse(shown: Sequence[ShownEntry], top: bool = True) -> dict[str, Any]:
    reply = _ask("analysis", AnalysisTask(tuple(shown), top))
    _hold(reply, "analysis")
    return reply


def reduce(parts: Sequence[Mapping[str, object]], top: bool = True) -> dict[str, Any]:
    reply = _ask("reduce", ReduceTask(tuple(parts), top))
    _hold(reply, "reduce")
    return reply


def place(
    facets: Sequence[FacetCard],
    page: Sequence[TopicCard] = (),
    carried: Sequence[Sequence[TopicCard]] = (),
    last: bool = True,
) -> list[dict[str, Any]]:
    each = tuple(tuple(cards) for cards in carried) or tuple(() for _ in facets)
    reply = _ask("placement", PlacementTask(tuple(facets), tuple(page), each, last))
    _hold(reply, "placement" if last else "shortlist")
    answers: list[dict[str, Any]] = reply["facets"]
    assert [answer["facet"] for answer in answers] == list(range(1, len(facets) + 1))
    return answers


def verify(reply: Mapping[str, Any], shown: Sequence[ShownEntry]) -> None:
    """Every quote stands in its entry, letter for letter; what is said is quotes."""
    texts: dict[str, list[str]] = {}
    for entry in shown:
        texts.setdefault(entry.entry_id, []).append(entry.text)
    everything = " ".join(" ".join(entry.text.split()) for entry in shown)
    for facet in reply["facets"]:
        for item in (*facet["evidence"], *facet["findings"]):
            assert any(item["quote"] in text for text in texts[item["entry_id"]]), item
            assert len(item["quote"]) <= 300
        for finding in facet["findings"]:
            assert finding["statement"] in " ".join(finding["quote"].split())
        for quote in facet["description"].split(" … "):
            assert quote in everything or "…" in everything
    if reply["summary"] != "–":
        for quote in reply["summary"].split(" … "):
            assert quote in everything or "…" in everything


def card(topic: str, title: str, description: str = "", *aliases: str, members: int = 1) -> TopicCard:
    return TopicCard(topic, 1, title, description, aliases, members, None, "\n".join((title, *aliases)))


def findings(reply: Mapping[str, Any]) -> list[tuple[str, str]]:
    return [(item["status"], item["statement"]) for facet in reply["facets"] for item in facet["findings"]]


def _ask(name: str, task: AnalysisTask | ReduceTask | PlacementTask) -> dict[str, Any]:
    prompt = prompts.load(name)
    request = ModelRequest("placement" if name == "placement" else "analysis", prompt, "", task)
    reply = OfflineModel().answer(request)
    assert reply == OfflineModel().answer(request)
    value: dict[str, Any] = json.loads(reply)
    return value


def _hold(reply: object, name: str) -> None:
    _validator(name).validate(reply)


@cache
def _validator(name: str) -> Draft202012Validator:
    return Draft202012Validator(prompts.load(name).schema)
