"""The command that takes history out, or lets it in again."""

from __future__ import annotations

from collections.abc import Mapping

from recall.errors import ArgumentError
from recall.surfaces.commands.parameters import text
from recall.surfaces.operations import Answer, Arguments, Operation, Parameter
from recall.surfaces.session import Session


def _forget(session: Session, arguments: Arguments) -> Answer:
    from recall import forgetting

    names = (text(arguments, name) for name in ("conversation", "project", "before"))
    wanted = forgetting.Wanted(*names)
    if arguments.get("unforget"):
        if wanted.conversation is None or arguments.get("dry_run"):
            raise ArgumentError("usage", "--unforget takes one CONVERSATION", "see `history-recall forget --help`")
        return forgetting.unforget(session.run(), wanted.conversation)
    if arguments.get("dry_run"):
        return forgetting.plan(session.settings, session.for_reading(), session.here(), wanted)
    return forgetting.forget_now(session.run(), session.here(), wanted)


def _forget_exit(answer: Arguments) -> int:
    proof = answer.get("proof")
    return 0 if not isinstance(proof, Mapping) or proof["ok"] else 1


OPERATIONS: tuple[Operation, ...] = (
    Operation(
        "forget",
        "Remove everything that was made of a conversation, and keep it out. The log itself is yours and stays.",
        _forget,
        (
            Parameter("conversation", "Its id, or HOST:ID; to let one in again also its log's path.", positional=True),
            Parameter("project", "Every conversation of this project."),
            Parameter("before", "Every conversation that ended before this date."),
            Parameter("dry_run", "Say what would be forgotten, and change nothing.", "flag"),
            Parameter("unforget", "Let a forgotten conversation in again.", "flag"),
        ),
        _forget_exit,
    ),
)
