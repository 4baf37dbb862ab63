"""The command that lists topics and what they hold."""

from __future__ import annotations

from recall.surfaces.commands.hint import hinted
from recall.surfaces.commands.parameters import SCOPE, TIME, number, text, window
from recall.surfaces.operations import Answer, Arguments, Operation, Parameter
from recall.surfaces.session import Session


def _browse(session: Session, arguments: Arguments) -> Answer:
    from recall import browser, origins

    request = browser.BrowseRequest(
        topic_id=text(arguments, "topic"),
        history=bool(arguments.get("history")),
        window=window(arguments),
        limit=number(arguments, "limit", 10),
        cursor=text(arguments, "cursor"),
        scope=text(arguments, "scope"),
        project=text(arguments, "project"),
    )
    database = session.for_reading()
    answer = browser.browse(
        database,
        session.settings.profile,
        request,
        session.settings.current,
        origins.source_state_of(session.settings, database),
        origins.resume,
        session.here(),
    )
    return hinted(session, answer)


OPERATIONS: tuple[Operation, ...] = (
    Operation(
        "browse",
        "List the topics, the conversations of one topic, or its history.",
        _browse,
        (
            Parameter("topic", "A topic's id.", positional=True),
            Parameter("history", "Its life: every change and why.", "flag"),
            *SCOPE,
            *TIME,
            Parameter("limit", "How many on a page (10).", "number", minimum=1, maximum=50),
            Parameter("cursor", "The next page, as the page before named it."),
        ),
    ),
)
