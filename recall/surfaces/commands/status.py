"""The command that says what state the profile is in."""

from __future__ import annotations

from recall.surfaces.operations import Answer, Arguments, Operation, Parameter
from recall.surfaces.session import Session


def _status(session: Session, arguments: Arguments) -> Answer:
    from recall import status

    cost = bool(arguments.get("cost"))
    return status.status(session.settings, session.for_reading(), cost=cost, here=session.here())


OPERATIONS: tuple[Operation, ...] = (
    Operation(
        "status",
        "Show what is indexed, what waits, what was spent, and whether all is well.",
        _status,
        (Parameter("cost", "Also what each model came to.", "flag"),),
    ),
)
