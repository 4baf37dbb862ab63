"""The commands that carry history elsewhere: export and import."""

from __future__ import annotations

from recall.surfaces.commands.parameters import text
from recall.surfaces.operations import Answer, Arguments, Operation, Parameter
from recall.surfaces.session import Session


def _export(session: Session, arguments: Arguments) -> Answer:
    from recall import exporting

    what, output = text(arguments, "what"), text(arguments, "output")
    form = text(arguments, "format") or ("json" if what is None else "md")
    transcript = not arguments.get("no_transcript")
    database, profile = session.for_reading(), session.settings.profile
    return exporting.export(database, profile, session.here(), what, form, output, transcript=transcript)


def _import(session: Session, arguments: Arguments) -> Answer:
    from recall import importing

    return importing.import_bundle(session.run(), str(arguments["bundle"]))


OPERATIONS: tuple[Operation, ...] = (
    Operation(
        "export",
        "Write a topic or a conversation with its citations, or the whole profile as a bundle.",
        _export,
        (
            Parameter("what", "A topic's or a conversation's id; the whole profile without it.", positional=True),
            Parameter(
                "format",
                "Markdown or JSON; a profile is a JSON bundle.",
                choices=("md", "json"),
            ),
            Parameter("output", "The file to write (0600). Without it the text is the answer."),
            Parameter("no_transcript", "Of a conversation only what was made of it, not what was said.", "flag"),
        ),
    ),
    Operation(
        "import",
        "Take in a bundle that another machine exported: the same ids, nothing twice.",
        _import,
        (Parameter("bundle", "The file.", positional=True, required=True),),
    ),
)
