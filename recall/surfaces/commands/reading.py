"""The command that reads the original of a conversation."""

from __future__ import annotations

from recall.surfaces.commands.parameters import number, optional_number, text
from recall.surfaces.operations import Answer, Arguments, Operation, Parameter
from recall.surfaces.session import Session


def _read(session: Session, arguments: Arguments) -> Answer:
    from recall import originals, origins, reader

    request = reader.ReadRequest(
        conversation_id=str(arguments["conversation"]),
        entry_id=text(arguments, "entry"),
        before=optional_number(arguments, "before"),
        after=optional_number(arguments, "after"),
        cursor=text(arguments, "cursor"),
        max_chars=number(arguments, "max_chars", reader.PAGE),
        raw=bool(arguments.get("raw")),
    )
    database = session.for_reading()
    return reader.read(
        database,
        session.settings.profile,
        request,
        session.settings.current,
        origins.source_state_of(session.settings, database),
        raw=originals.reader_of(session.settings, database),
        prove=originals.prover_of(session.settings, database),
        here=session.here(),
        resume=origins.resume,
    )


OPERATIONS: tuple[Operation, ...] = (
    Operation(
        "read",
        "Read the original of a conversation, page by page or around an entry.",
        _read,
        (
            Parameter("conversation", "Its id.", positional=True, required=True),
            Parameter("entry", "The entry to read around."),
            Parameter("before", "Entries before it (3); with an entry only.", "number", minimum=0, maximum=50),
            Parameter("after", "Entries after it (3); with an entry only.", "number", minimum=0, maximum=50),
            Parameter("cursor", "The next page, as the page before named it."),
            Parameter("max_chars", "Characters on a page (12000).", "number", minimum=1000, maximum=48_000),
            Parameter("raw", "The redacted original records.", "flag"),
        ),
    ),
)
