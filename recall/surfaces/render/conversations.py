"""The logs that may be read, and what the user added."""

from __future__ import annotations

from collections.abc import Iterable

from recall.counting import count
from recall.surfaces.render.plain import Answer, Renderers, clock, cut, size, warnings
from recall.surfaces.terminal import one_line


def _conversations(answer: Answer) -> Iterable[str]:
    for row in answer["conversations"]:
        name = row["title"] or row["cwd"] or ""
        marks = " (running)" if row["running"] else " (subagent)" if row["sidechain"] else ""
        marks += " (a copy)" if row["copy_of"] else ""
        head = f"{row['state']:<10} {row['host']:<11} {clock(row['active_at'])}  {size(row['size_bytes']):>9}"
        yield f"{head}  {row['conversation_id'] or '-':<14}  {cut(name, 48)}{marks}"
        yield f"           {one_line(row['source'])}"
        if row["problem"]:
            yield f"           {one_line(row['problem'])}"
    if answer["message"]:
        yield one_line(answer["message"])
    yield from warnings(answer)


def _sources(answer: Answer) -> Iterable[str]:
    for root in answer["roots"]:
        yield f"{root['host']:<11} {one_line(root['path'])}" + ("" if root["exists"] else "  (not there)")
    for added in answer["added"]:
        yield f"added       {one_line(added['path'])}  ({added['kind']})"


def _added(answer: Answer) -> Iterable[str]:
    verb = "added" if "added" in answer else "removed"
    row = answer[verb]
    logs = f"  ({count(row['logs'], 'log')})" if row.get("logs") else ""
    yield f"{verb} {row['kind']} {one_line(row['path'])}{logs}"
    if answer.get("message"):
        yield one_line(answer["message"])


RENDERERS: Renderers = {
    "conversations": _conversations,
    "sources list": _sources,
    "sources add": _added,
    "sources remove": _added,
}
