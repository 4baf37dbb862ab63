"""The slash commands as MCP prompts: hosts show them as commands of their own.

A prompt runs its line, as `/history-recall` does elsewhere, and gives the model what came of it. `recall` asks the
model to find something out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import mcp_types as types
from mcp.shared.exceptions import MCPError

from recall import fence
from recall.run import Cancellation, Progress
from recall.surfaces import line
from recall.surfaces.agent_text import NOTICE
from recall.surfaces.arguments import printable
from recall.surfaces.commands import OPERATIONS
from recall.surfaces.tool_calls import Perform

# Those that a person runs from inside a conversation; the others through `history-recall`, which takes any.
_OFFERED = ("status", "search", "browse", "conversations", "read", "index", "index-all")
_WORDS = "words"
_RECALL = """Find out from earlier conversations with coding agents: {question}

Search with history_recall_search (several wordings), read the originals of the hits with history_recall_read before you
rely on them, look for later corrections, and answer with the conversation and entry ids that you cite. Say so where
nothing was found."""


def listed() -> list[types.Prompt]:
    """All prompts."""
    summaries = {operation.name: operation.summary for operation in OPERATIONS}
    return [
        _prompt("recall", "Find out from earlier conversations what is known about something.", "question"),
        _prompt("history-recall", "Run any command of history-recall.", _WORDS),
        *(_prompt(name, summaries[name], _WORDS, required=False) for name in _OFFERED),
    ]


def get(
    name: str,
    arguments: Mapping[str, str],
    caller: Mapping[str, str],
    report: Callable[[Progress], None],
    cancellation: Cancellation,
    perform: Perform,
) -> types.GetPromptResult:
    """What a prompt says. Raises MCPError for one that is not there, or an argument that is not its own."""
    prompt = next((one for one in listed() if one.name == name), None)
    if prompt is None:
        raise MCPError(types.INVALID_PARAMS, f"There is no prompt {name[:80]!r}")
    (argument,) = prompt.arguments or []
    for given in arguments:
        if given != argument.name:
            raise MCPError(
                types.INVALID_PARAMS, f"{name}: {given[:80]!r} is no argument of it; it takes {argument.name}"
            )
    if argument.required and not arguments.get(argument.name):
        raise MCPError(types.INVALID_PARAMS, f"{name}: {argument.name} is missing")
    if name == "recall":
        text = _RECALL.format(question=arguments["question"])
    else:
        words = arguments.get(_WORDS, "")
        asked = words if name == line.COMMAND.removeprefix("/") else f"{name} {words}".strip()
        said = line.run(asked, caller, report, cancellation, perform)
        head = (
            f"`{line.COMMAND} {asked}` was run and answered as follows. Show the answer, or use it for what was asked."
        )
        text = f"{head}\n{NOTICE}\n{fence.around(said.text)}"
    content = types.TextContent(type="text", text=str(printable(text)))
    return types.GetPromptResult(
        description=prompt.description, messages=[types.PromptMessage(role="user", content=content)]
    )


def _prompt(name: str, description: str, argument: str, *, required: bool = True) -> types.Prompt:
    about = {
        "question": "What to find out, in your own words.",
        _WORDS: "The words behind the command, as on the command line.",
    }[argument]
    taken = types.PromptArgument(name=argument, description=about, required=required)
    return types.Prompt(name=name, title=f"Recall: {name}", description=description, arguments=[taken])
