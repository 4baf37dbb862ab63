"""The commands that work on what is indexed: topics, and the index itself."""

from __future__ import annotations

from recall.counting import count
from recall.surfaces.commands.parameters import text
from recall.surfaces.operations import Answer, Arguments, Operation, Parameter
from recall.surfaces.session import Session


def _repair(session: Session, arguments: Arguments) -> Answer:
    from recall import indexer

    return indexer.repair(session.run(), text(arguments, "topic"))


def _rebuild(session: Session, arguments: Arguments) -> Answer:
    from recall import rebuilding

    if arguments.get("dry_run"):
        return rebuilding.would_rebuild(session.settings, session.for_reading())
    replies = rebuilding.cached_replies(session.settings, session.for_reading())
    if replies and not arguments.get("yes"):
        session.sure(f"Drop {count(replies, 'cached reply')} that may have been paid for, and queue everything again?")
    return rebuilding.rebuild(session.run())


OPERATIONS: tuple[Operation, ...] = (
    Operation(
        "repair",
        "Mend topics alone: what waits for it, or one topic.",
        _repair,
        (Parameter("topic", "A topic's id.", positional=True),),
    ),
    Operation(
        "rebuild",
        "Drop the cached model replies, rebuild the text index, and queue everything again.",
        _rebuild,
        (
            Parameter("dry_run", "Say what would be dropped and queued; write nothing.", "flag"),
            Parameter("yes", "Do not ask, on a terminal, whether paid replies may go.", "flag"),
        ),
    ),
)
