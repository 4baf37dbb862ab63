"""The offer to make the caller's folder a project, beside the answers where it is due."""

from __future__ import annotations

from recall.run import now_ms
from recall.surfaces.operations import Answer
from recall.surfaces.session import Session


def hinted(session: Session, answer: Answer) -> Answer:
    """The answer, with an offer to bind the caller's folder where one is due."""
    from recall import offering

    hint = offering.hint_of(session.settings, session.for_reading(), session.here(), now_ms())
    return answer if hint is None else answer | {"project_hint": hint}
