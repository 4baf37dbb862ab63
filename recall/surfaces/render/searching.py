"""What a search found."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from recall.surfaces.render.plain import Answer, Renderers, clock, cut, wrapped
from recall.surfaces.terminal import one_line

_UNDONE = ("abandoned_branch", "rewound", "rolled_back")  # what was said there did not stay


def _search(answer: Answer) -> Iterable[str]:
    if answer.get("message"):
        yield one_line(answer["message"])
    for place, conversation in enumerate(answer["conversations"], start=1):
        title = conversation["title"] or "(untitled)"
        yield f"{place}. {cut(title, 70)}  [{conversation['host']}, {clock(conversation['last_active_at'])}]"
        state = conversation["source_state"]
        project = f"  project: {one_line(conversation['project_name'])}" if conversation["project_name"] else ""
        yield f"   {conversation['conversation_id']}{project}" + ("" if state == "ok" else f"  source: {state}")
        for entry in conversation["entries"]:
            near = _near(entry["found_by"])
            undone = [mark for mark in entry["status"] or () if mark in _UNDONE]
            given_up = f"  [{', '.join(undone)}]" if undone else ""
            said = f"{entry['role']} {entry['entry_id']}  {clock(entry['timestamp'])}"
            yield f"   - {said}{given_up}{_facet_of(entry)}{near}"
            if by := entry.get("superseded_by"):
                now = f"{cut(by['statement'], 90)} ({by['conversation_id']}, {clock(by['timestamp'])})"
                yield f"     superseded: {now}"
            quote = " ".join(entry["snippet"].split())
            quote = f"{'… ' if entry['cut_before'] else ''}{quote}{' …' if entry['cut_after'] else ''}"
            yield from wrapped(quote, "     ")
            if entry.get("explain"):
                yield f"     {_explained(entry['explain'])}"
        if conversation.get("truncated"):
            yield f"   (more in this conversation: --conversation {conversation['conversation_id']})"
    if answer["conversations"]:
        first = answer["conversations"][0]
        entry = first["entries"][0]["entry_id"] if first["entries"] else ""
        yield f"read on: history-recall read {first['conversation_id']} --entry {one_line(entry)}"


def _near(found_by: Sequence[str]) -> str:
    """How an entry was found that does not hold the words of the query itself."""
    if {"keyword", "literal"} & set(found_by):
        return ""
    return "  (in other words)" if "rewrite" in found_by else "  (beside or behind a hit)"


def _facet_of(entry: Mapping[str, Any]) -> str:
    facet = entry.get("facet")
    title = facet["title"] if isinstance(facet, Mapping) else facet
    return f"  ({cut(str(title), 50)})" if title else ""


def _explained(explain: Mapping[str, Any]) -> str:
    parts = ", ".join(f"{name} {value:.3f}" for name, value in explain["parts"].items())
    return f"score {explain['score']:.3f} ({parts})"


RENDERERS: Renderers = {
    "search": _search,
}
