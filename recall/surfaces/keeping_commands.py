"""The rows of the operations table that take history out, or carry it elsewhere."""

from __future__ import annotations

from collections.abc import Mapping

from recall import brief, exporting, forgetting, importing
from recall.errors import ArgumentError
from recall.surfaces.operations import Operation, Parameter
from recall.surfaces.session import Session

Arguments = Mapping[str, object]
Answer = dict[str, object]


def _text(arguments: Arguments, name: str) -> str | None:
    value = arguments.get(name)
    return None if value is None else str(value)


def _forget(session: Session, arguments: Arguments) -> Answer:

    names = (_text(arguments, name) for name in ("conversation", "project", "before"))
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


def _brief(session: Session, arguments: Arguments) -> Answer:
    most = arguments.get("max_chars")
    request = brief.BriefRequest(_text(arguments, "project"), brief.CHARS if most is None else int(str(most)))
    answer = brief.brief(session.for_reading(), session.settings.profile, request, session.here())
    return answer | {"message": ""} if arguments.get("quiet") else answer


def _export(session: Session, arguments: Arguments) -> Answer:
    what, output = _text(arguments, "what"), _text(arguments, "output")
    form = _text(arguments, "format") or ("json" if what is None else "md")
    transcript = not arguments.get("no_transcript")
    database, profile = session.for_reading(), session.settings.profile
    return exporting.export(database, profile, session.here(), what, form, output, transcript=transcript)


def _import(session: Session, arguments: Arguments) -> Answer:
    return importing.import_bundle(session.run(), str(arguments["bundle"]))


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
