"""What matters here."""

from __future__ import annotations

from collections.abc import Iterable

from recall.surfaces.render.plain import Answer, Renderers
from recall.surfaces.terminal import visible


def _brief(answer: Answer) -> Iterable[str]:
    if said := answer["text"] or answer["message"]:
        yield visible(said)


RENDERERS: Renderers = {
    "brief": _brief,
}
