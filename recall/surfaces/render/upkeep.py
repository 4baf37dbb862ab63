"""What became of topics and of the index."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from recall.counting import count
from recall.surfaces.render.plain import Answer, Renderers, wrapped
from recall.surfaces.terminal import one_line


def repaired(repair: Mapping[str, Any], topics: Mapping[str, Any]) -> Iterable[str]:
    """What topic repair came to, where it ran."""
    if repair["state"] in ("none", "not_due"):
        return
    said = {
        "done": "topics mended",
        "nothing": "topics looked at, nothing to mend",
        "deferred": "topics are looked at later",
        "skipped": "topics not looked at",
        "unsupported": "this model cannot repair topics",
    }[repair["state"]]
    changes = [f"{len(topics[what])} {what}" for what in ("moved", "merged", "created", "retired") if topics[what]]
    if repair["state"] == "done" and changes:
        said += f": {', '.join(changes)}"
    if repair["audited"]:
        said += f" ({count(repair['audited'], 'facet')} audited, {count(repair['receipts'], 'receipt')})"
    yield f"           {said}"
    for row in repair["deferred"]:
        yield f"           left alone: {one_line(row['conversation_id'])} ({row['code']})"


def _repair(answer: Answer) -> Iterable[str]:
    for one in answer["runs"]:
        yield from (line.strip() for line in repaired(one["repair"], one["topics"]))
    yield count(answer["calls"], "model call")
    if answer["left"]:
        yield f"{count(answer['left'], 'topic')} still waiting; run repair again to go on"


def _rebuild(answer: Answer) -> Iterable[str]:
    dropped = count(answer["cached_replies_dropped"], "cached reply")
    would = "would be " if answer["text_index"] == "unchanged" else ""
    yield f"{count(answer['queued'], 'source')} {would}queued, {dropped} {would}dropped"
    yield from wrapped(answer["message"], "")


RENDERERS: Renderers = {
    "repair": _repair,
    "rebuild": _rebuild,
}
