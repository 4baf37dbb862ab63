"""The commands about the logs that may be read: what there is, and what the user adds."""

from __future__ import annotations

from recall.hosts.names import HOSTS
from recall.surfaces.commands.hint import hinted
from recall.surfaces.commands.parameters import CURSOR, LIMIT, number, text
from recall.surfaces.operations import Answer, Arguments, Operation, Parameter
from recall.surfaces.session import Session
from recall.types import STATES


def _conversations(session: Session, arguments: Arguments) -> Answer:
    from recall import conversations

    answer = conversations.conversations(
        session.settings,
        session.for_reading(),
        host=text(arguments, "host"),
        state=text(arguments, "state"),
        project=text(arguments, "project"),
        limit=number(arguments, "limit", conversations.PAGE),
        cursor=text(arguments, "cursor"),
        here=session.here(),
    )
    return hinted(session, answer)


def _sources_list(session: Session, _arguments: Arguments) -> Answer:
    from recall import sources

    return sources.listing(session.settings, session.for_reading())


def _sources_add(session: Session, arguments: Arguments) -> Answer:
    from recall import sources

    return sources.add(session.run(), str(arguments["path"]))


def _sources_remove(session: Session, arguments: Arguments) -> Answer:
    from recall import sources

    return sources.remove(session.run(), str(arguments["path"]))


OPERATIONS: tuple[Operation, ...] = (
    Operation(
        "conversations",
        "List the authorised conversations, newest first, indexed or not.",
        _conversations,
        (
            Parameter("host", "Only of this host.", choices=HOSTS),
            Parameter("state", "Only in this state.", choices=STATES),
            Parameter("project", "Only of this project: its id, its name, . for the current one, or git:PATH."),
            LIMIT,
            CURSOR,
        ),
    ),
    Operation("sources list", "List the hosts' own folders and what you added.", _sources_list),
    Operation(
        "sources add",
        "Authorise a log, or the logs directly in a folder.",
        _sources_add,
        (Parameter("path", "A .jsonl file or a folder.", positional=True, required=True),),
    ),
    Operation(
        "sources remove",
        "Take back what `sources add` authorised. What was indexed stays.",
        _sources_remove,
        (Parameter("path", "What was added.", positional=True, required=True),),
    ),
)
