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
    for conflict in answer["conflicts"]:
        yield f"left as it is here: {one_line(conflict['name'])}: {one_line(conflict['reason'])}"


RENDERERS: Renderers = {
    "export": _export,
    "import": _import,
}
