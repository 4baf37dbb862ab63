"""A page of an original."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from recall.surfaces.blocks import broken_here, how_broken, with_messages
from recall.surfaces.render.plain import Answer, Renderers, clock, cut
from recall.surfaces.terminal import one_line, visible


def _read(answer: Answer) -> Iterable[str]:
    state = answer["source_state"]
    title = f"  {cut(answer['title'], 70)}" if answer["title"] else ""
    yield f"{answer['conversation_id']}{title}  [{answer['host']}]" + ("" if state == "ok" else f"  (source: {state})")
    if answer.get("resume"):
        yield f"go on with it: {one_line(answer['resume'])}"
    if answer["graph_damaged"]:
        yield f"(its entries do not hang together: {how_broken(answer['graph_problems'])})"
    for fragment, before, adjoins in with_messages(answer["fragments"]):
        status = fragment["status"]
        marks = [mark for mark in status if mark != "active"] if isinstance(status, Sequence) else []
        label = f"  [{', '.join(marks)}]" if marks else ""
        yield ""
        if fragment["broken"]:
            yield f"(the chain is broken here: {broken_here(fragment['break'])})"
        if fragment["stands"] is False:
            yield "(as it was indexed: the log holds something else at this place now)"
        name = one_line(fragment["entry_id"])
        if adjoins:  # a further block of the message above
            yield f"--- {name}{label}"
        else:
            after = f"  (goes on with the message of {one_line(before)})" if before is not None else ""
            yield f"--- {fragment['role']} {name}  {clock(fragment['timestamp'])}{label}{after}"
        if fragment["offset"]:
            yield f"(goes on at character {fragment['offset']} of {fragment['total_chars']})"
        yield visible(fragment["text"])
    context = answer.get("context") or {}
    for other in context.get("alternate_children") or []:
        yield f"other branch here: {one_line(str(other if isinstance(other, str) else other.get('entry_id')))}"


RENDERERS: Renderers = {
    "read": _read,
}
