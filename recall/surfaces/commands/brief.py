"""The command that says what matters here."""

from __future__ import annotations

from recall.surfaces.commands.parameters import number, text
from recall.surfaces.operations import Answer, Arguments, Operation, Parameter
from recall.surfaces.session import Session


def _brief(session: Session, arguments: Arguments) -> Answer:
    from recall import brief

    request = brief.BriefRequest(text(arguments, "project"), number(arguments, "max_chars", brief.CHARS))
    answer = brief.brief(session.for_reading(), session.settings.profile, request, session.here())
    return answer | {"message": ""} if arguments.get("quiet") else answer


OPERATIONS: tuple[Operation, ...] = (
    Operation(
        "brief",
        "Say in a bounded block what matters here: open questions, the latest decisions, live topics.",
        _brief,
        (
            Parameter("project", "The project that comes first: its id, its name, or . for the current one."),
            Parameter("max_chars", "At most so many characters (2000).", "number", minimum=300, maximum=48_000),
            Parameter(
                "quiet", "Print nothing where nothing matters: for a program that shows it at its start.", "flag"
            ),
        ),
    ),
)
