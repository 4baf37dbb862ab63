"""The commands about what may be sent where."""

from __future__ import annotations

from recall.surfaces.commands.parameters import texts
from recall.surfaces.operations import Answer, Arguments, Operation, Parameter
from recall.surfaces.session import Session


def _consent_show(session: Session, _arguments: Arguments) -> Answer:
    from recall import consents

    return consents.show(session.settings, session.for_reading())


def _consent_grant(session: Session, arguments: Arguments) -> Answer:
    from recall import consents

    return consents.grant(session.run(), session.here(), texts(arguments, "project"))


def _consent_revoke(session: Session, _arguments: Arguments) -> Answer:
    from recall import consents

    return consents.revoke(session.run())


OPERATIONS: tuple[Operation, ...] = (
    Operation("consent show", "Show what would be sent where, and what you allowed.", _consent_show),
    Operation(
        "consent grant",
        "Allow the configured model's endpoint.",
        _consent_grant,
        (
            Parameter(
                "project",
                "Only for conversations of this project: its id, its name, . for the current one, or none.",
                many=True,
            ),
        ),
    ),
    Operation("consent revoke", "Take every consent of the profile back.", _consent_revoke),
)
