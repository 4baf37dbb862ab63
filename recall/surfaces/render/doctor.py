"""What the checks found."""

from __future__ import annotations

from collections.abc import Iterable

from recall.surfaces.render.plain import Answer, Renderers
from recall.surfaces.terminal import one_line


def _doctor(answer: Answer) -> Iterable[str]:
    for check in answer["checks"]:
        sign = {True: "ok  ", False: "FAIL", None: "-   "}[check["ok"]]
        yield f"{sign}  {check['name']:<12} {one_line(check['detail'])}"
        if check["hint"]:
            yield f"        {one_line(check['hint'])}"


RENDERERS: Renderers = {
    "doctor": _doctor,
}
