"""What was exported or taken in."""

from __future__ import annotations

from collections.abc import Iterable

from recall.counting import count
from recall.surfaces.render.plain import Answer, Renderers
from recall.surfaces.terminal import one_line, visible


def _export(answer: Answer) -> Iterable[str]:
    if answer["output"]:
        yield f"{answer['kind']} written to {one_line(answer['output'])} ({count(answer['characters'], 'character')})"
    else:
        yield visible(answer["text"])


def _import(answer: Answer) -> Iterable[str]:
    yield f"{count(answer['imported'], 'conversation')} taken in, {answer['unchanged']} there already"
    elsewhere: dict[str, dict[str, int]] = {}
    for conflict in answer["conflicts"]:
        if "profile" in conflict:
            kinds = elsewhere.setdefault(conflict["profile"], {})
            kinds[conflict["kind"]] = kinds.get(conflict["kind"], 0) + 1
    for profile, kinds in elsewhere.items():
        what = " and ".join(count(number, kind) for kind, number in kinds.items())
        yield f"not taken in: {what} that profile {one_line(profile)!r} of this index holds; --json names them"
        yield "an index holds each of them once: give this profile an index of its own with HISTORY_RECALL_DB"
    for conflict in answer["conflicts"]:
        if "profile" in conflict:
            continue
        yield f"left as it is here: {one_line(conflict['name'])}: {one_line(conflict['reason'])}"


RENDERERS: Renderers = {
    "export": _export,
    "import": _import,
}
