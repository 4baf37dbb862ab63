"""What may be sent where."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from recall.surfaces.render.plain import Answer, Renderers, clock, wrapped
from recall.surfaces.terminal import one_line


def consent_line(consent: Mapping[str, Any]) -> str:
    """What a consent comes to, in a line."""
    if consent["endpoint"] is None:
        return "not needed (offline: there is no endpoint, nothing is sent)"
    if not consent["needed"]:
        return "not needed (the endpoint is on this machine)"
    if consent["granted"]:
        return "given"
    if consent["projects"]:
        return f"given for {_of_projects(consent['projects'])} only"
    return "missing; allow it with `history-recall consent grant`"


def _of_projects(projects: Iterable[str]) -> str:
    return ", ".join("what is in no project" if one == "none" else one_line(one) for one in projects)


def _consent(answer: Answer) -> Iterable[str]:
    yield f"consent: {consent_line(answer)}"
    if answer["question"]:
        yield from wrapped(answer["question"], "  ")
    for grant in answer["grants"]:
        until = f", taken back {clock(grant['revoked_at'])}" if grant["revoked_at"] else ""
        given = clock(grant["granted_at"])
        only = "" if grant["projects"] == "all" else f" for {_of_projects(grant['projects'])}"
        yield f"  {one_line(grant['model'])} at {one_line(grant['endpoint'])}: given{only} {given}{until}"


RENDERERS: Renderers = {
    "consent show": _consent,
    "consent grant": _consent,
    "consent revoke": _consent,
}
