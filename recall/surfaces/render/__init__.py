"""Answers as a person reads them: a module for what belongs together, as in `commands`.

Everything that came from a log goes through `visible` or `one_line`.
"""

from __future__ import annotations

from collections.abc import Sequence

from recall.errors import RecallError
from recall.surfaces.render import (
    brief,
    browsing,
    carrying,
    consent,
    conversations,
    doctor,
    forgetting,
    hosts,
    indexing,
    jobs,
    projects,
    reading,
    searching,
    status,
    upkeep,
)
from recall.surfaces.render.plain import Answer, Renderers, as_wide_as
from recall.surfaces.terminal import one_line, visible

__all__ = ["RENDERERS", "again", "as_wide_as", "error", "text"]

RENDERERS: Renderers = {
    **brief.RENDERERS,
    **browsing.RENDERERS,
    **carrying.RENDERERS,
    **consent.RENDERERS,
    **conversations.RENDERERS,
    **doctor.RENDERERS,
    **forgetting.RENDERERS,
    **hosts.RENDERERS,
    **indexing.RENDERERS,
    **jobs.RENDERERS,
    **projects.RENDERERS,
    **reading.RENDERERS,
    **searching.RENDERERS,
    **status.RENDERERS,
    **upkeep.RENDERERS,
}


def text(operation: str, answer: Answer, command: str = "") -> str:
    """The answer of an operation as text without a trailing line break. `command` is how to ask for the next page."""
    lines = list(RENDERERS[operation](answer))
    if operation != "status" and answer.get("project_hint"):
        lines.append(f"hint: {one_line(answer['project_hint']['message'])}")
    if answer.get("next_cursor"):
        lines.append(f"more: {one_line(command)} --cursor {answer['next_cursor']}")
    return "\n".join(lines)


def again(command: Sequence[str]) -> list[str]:
    """The words of a command without its cursor: what the next page is asked with."""
    words = list(command)
    if "--cursor" in words:
        place = words.index("--cursor")
        del words[place : place + 2]
    return [word for word in words if not word.startswith("--cursor=")]


def error(wrong: RecallError) -> list[str]:
    """An error as a person reads it: what happened, the question where one is open, what to do."""
    lines = [visible(f"error: {wrong.message} ({wrong.code})")]
    if "question" in wrong.data:
        lines.append(visible(f"  {wrong.data['question']}"))
    if wrong.hint:
        lines.append(visible(f"  {wrong.hint}"))
    return lines
