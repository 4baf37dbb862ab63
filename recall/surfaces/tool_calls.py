"""A call of an agent tool: its arguments checked, the operation run, the answer shown for a model and as a document."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from recall.errors import ArgumentError
from recall.run import Cancellation, Progress
from recall.surfaces import agent_text
from recall.surfaces.answering import Answered, Asked, answer, failed
from recall.surfaces.arguments import check
from recall.surfaces.tools import TOOLS, Tool, operation_of

LARGEST = 60_000  # characters of a document; a longer page is asked for again with half as many on it
READABLE = 6_000  # what a page of a list weighs for which nobody said how many: some 1,500 tokens
_LISTS = frozenset({"browse", "conversations"})
Perform = Callable[[Asked, Callable[[Progress], None], Cancellation], Answered]


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    """`text` for the model, with history fenced; `document` for programs, an error document where `is_error`."""

    text: str
    document: Mapping[str, object]
    is_error: bool


def call(
    name: str,
    arguments: object,
    overrides: Mapping[str, str],
    report: Callable[[Progress], None],
    cancellation: Cancellation,
    perform: Perform = answer,
) -> ToolAnswer:
    """Run a tool. Never raises for what was asked wrongly: the answer names the argument."""
    tool = next((one for one in TOOLS if one.name == name), None)
    if tool is None:
        return _answered(None, failed(_unknown(name)))
    try:
        checked = check(name, tool.input, arguments)
    except ArgumentError as error:
        return _answered(tool, failed(error))
    named = {a.name: a.parameter or a.name for a in tool.arguments}
    # False is a flag that was not given, as on the command line.
    plain = {named[key]: value for key, value in checked.items() if value is not False}
    chosen = "limit" in plain
    if (usual := _usual_limit(tool)) is not None:
        plain.setdefault("limit", usual)
    while True:
        answered = perform(Asked(operation_of(tool), plain, overrides, agent=True), report, cancellation)
        shown = _answered(tool, answered)
        fewer = _fewer(tool, shown, chosen=chosen) if "limit" in plain else None
        if fewer is None:
            return shown
        plain["limit"] = fewer


def _usual_limit(tool: Tool) -> int | None:
    """How many a page holds where nobody says, of a tool that has pages of so many."""
    usual = [one.narrow.get("default") for one in tool.arguments if one.name == "limit"]
    return usual[0] if usual and isinstance(usual[0], int) else None


def _fewer(tool: Tool, answer: ToolAnswer, *, chosen: bool) -> int | None:
    """How many to ask for instead, where the page is too long; None where it may stay."""
    listed = answer.document.get("entries", answer.document.get("conversations"))
    if answer.is_error or not isinstance(listed, list) or len(listed) < 2:
        return None
    if agent_text.is_larger(answer.document, LARGEST):
        return len(listed) // 2
    size = agent_text.weight(answer.text)
    if chosen or tool.operation not in _LISTS or size <= READABLE:
        return None
    return max(1, min(len(listed) - 1, len(listed) * READABLE // size))


def _answered(tool: Tool | None, answered: Answered) -> ToolAnswer:
    if answered.error is not None:
        return ToolAnswer(agent_text.error(answered.error), answered.document, True)
    name = "" if tool is None else tool.operation
    return ToolAnswer(agent_text.text(name, answered.document), agent_text.noted(name, answered.document), False)


def _unknown(name: str) -> ArgumentError:
    hint = "there are " + ", ".join(tool.name for tool in TOOLS)
    return ArgumentError("usage", f"There is no tool {name[:80]!r}", hint, {"tool": name[:80], "field": "name"})
