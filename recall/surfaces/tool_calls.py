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
    limit = _limit(tool, plain)
    while True:
        answered = perform(Asked(operation_of(tool), plain, overrides, agent=True), report, cancellation)
        if limit is None or limit <= 1 or not agent_text.is_larger(answered.document, LARGEST):
            return _answered(tool, answered)
        limit = limit // 2
        plain["limit"] = limit


def _limit(tool: Tool, arguments: Mapping[str, object]) -> int | None:
    """How many a page would hold, where the tool has pages of so many."""
    if not any(one.name == "limit" for one in tool.arguments):
        return None
    given = arguments.get("limit")
    return given if isinstance(given, int) else 10


def _answered(tool: Tool | None, answered: Answered) -> ToolAnswer:
    if answered.error is not None:
        return ToolAnswer(agent_text.error(answered.error), answered.document, True)
    name = "" if tool is None else tool.operation
    return ToolAnswer(agent_text.text(name, answered.document), agent_text.noted(name, answered.document), False)


def _unknown(name: str) -> ArgumentError:
    hint = "there are " + ", ".join(tool.name for tool in TOOLS)
    return ArgumentError("usage", f"There is no tool {name[:80]!r}", hint, {"tool": name[:80], "field": "name"})
