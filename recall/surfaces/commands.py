"""The rows of the operations table: each takes the session and checked arguments and calls one workflow.

A workflow is imported when it is called: a search needs no analyser, and starts in the time that searching takes.
"""

from __future__ import annotations

from collections.abc import Mapping

from recall import search_request, timewindow
from recall.errors import StateError
from recall.hosts.names import HOSTS
from recall.run import now_ms
from recall.settings import SCOPES
from recall.surfaces import host_commands, keeping_commands, project_commands
from recall.surfaces.counting import count
from recall.surfaces.operations import Operation, Parameter
from recall.surfaces.session import Session
from recall.types import STATES

Arguments = Mapping[str, object]
Answer = dict[str, object]


def _text(arguments: Arguments, name: str) -> str | None:
    value = arguments.get(name)
    return None if value is None else str(value)


def _number(arguments: Arguments, name: str, default: int) -> int:
    value = arguments.get(name)
    return default if value is None else int(str(value))


def _optional_number(arguments: Arguments, name: str) -> int | None:
    value = arguments.get(name)
    return None if value is None else int(str(value))


def _texts(arguments: Arguments, name: str) -> tuple[str, ...]:
    value = arguments.get(name)
    return tuple(str(item) for item in value) if isinstance(value, list | tuple) else ()


def _window(arguments: Arguments) -> timewindow.Window:
    return timewindow.parse(
        _optional_number(arguments, "days"), _text(arguments, "from"), _text(arguments, "to"), now_ms()
    )


def _hinted(session: Session, answer: Answer) -> Answer:
    """The answer, with an offer to bind the caller's folder where one is due."""
    from recall import binding

    hint = binding.hint_of(session.settings, session.for_reading(), session.here(), now_ms())
    return answer if hint is None else answer | {"project_hint": hint}


def _status(session: Session, arguments: Arguments) -> Answer:
    from recall import status

    cost = bool(arguments.get("cost"))
    return status.status(session.settings, session.for_reading(), cost=cost, here=session.here())


def _conversations(session: Session, arguments: Arguments) -> Answer:
    from recall import conversations

    answer = conversations.conversations(
        session.settings,
        session.for_reading(),
        host=_text(arguments, "host"),
        state=_text(arguments, "state"),
        project=_text(arguments, "project"),
        limit=_number(arguments, "limit", conversations.PAGE),
        cursor=_text(arguments, "cursor"),
        here=session.here(),
    )
    return _hinted(session, answer)


def _sources_list(session: Session, _arguments: Arguments) -> Answer:
    from recall import sources

    return sources.listing(session.settings, session.for_reading())


def _sources_add(session: Session, arguments: Arguments) -> Answer:
    from recall import sources

    return sources.add(session.run(), str(arguments["path"]))


def _sources_remove(session: Session, arguments: Arguments) -> Answer:
    from recall import sources

    return sources.remove(session.run(), str(arguments["path"]))


def _index(session: Session, arguments: Arguments) -> Answer:
    from recall import consents, dryrun, indexer
    from recall.surfaces import job_calls

    file, force = str(arguments["file"]), bool(arguments.get("force"))
    if arguments.get("dry_run"):
        return dryrun.one(session.settings, session.for_reading(), file, session.cancellation, force=force)
    if arguments.get("detach"):
        return job_calls.detach(session, _named("index"), arguments)
    if token := _text(arguments, "confirm"):
        consents.confirm(session.run(), token)
    return indexer.index(session.run(), file, force=force, repair=not arguments.get("no_repair"))


def _index_all(session: Session, arguments: Arguments) -> Answer:
    from recall import dryrun, indexer
    from recall.surfaces import job_calls

    sessions, calls = _optional_number(arguments, "sessions"), _optional_number(arguments, "calls")
    if arguments.get("dry_run"):
        return dryrun.batch(session.settings, session.for_reading(), sessions, session.cancellation)
    if arguments.get("detach"):
        return job_calls.detach(session, _named("index-all"), arguments)
    return indexer.index_all(session.run(), sessions=sessions, calls=calls)


def _jobs_list(session: Session, _arguments: Arguments) -> Answer:
    from recall import jobs

    return jobs.listing(session.settings, session.for_reading())


def _jobs_follow(session: Session, arguments: Arguments) -> Answer:
    from recall import jobs

    job_id = str(arguments["job"])
    return jobs.follow(session.settings, session.for_reading(), job_id, session.report, session.cancellation)


def _jobs_cancel(session: Session, arguments: Arguments) -> Answer:
    from recall import jobs

    return jobs.cancel(session.run(), str(arguments["job"]))


def _repair(session: Session, arguments: Arguments) -> Answer:
    from recall import indexer

    return indexer.repair(session.run(), _text(arguments, "topic"))


def _rebuild(session: Session, arguments: Arguments) -> Answer:
    from recall import indexer

    if arguments.get("dry_run"):
        return indexer.would_rebuild(session.settings, session.for_reading())
    replies = indexer.cached_replies(session.settings, session.for_reading())
    if replies and not arguments.get("yes"):
        session.sure(f"Drop {count(replies, 'cached reply')} that may have been paid for, and queue everything again?")
    return indexer.rebuild(session.run())


def _consent_show(session: Session, _arguments: Arguments) -> Answer:
    from recall import consents

    return consents.show(session.settings, session.for_reading())


def _consent_grant(session: Session, arguments: Arguments) -> Answer:
    from recall import consents

    return consents.grant(session.run(), session.here(), _texts(arguments, "project"))


def _consent_revoke(session: Session, _arguments: Arguments) -> Answer:
    from recall import consents

    return consents.revoke(session.run())


def _doctor(session: Session, arguments: Arguments) -> Answer:
    from recall import doctor

    if arguments.get("rebuild_text_index"):
        return doctor.rebuild_text_index(session.settings, session.for_work())
    try:
        database = session.for_reading()
    except StateError as error:
        if error.code != "index_damaged":
            raise
        return doctor.of_damaged(session.settings, error)
    return doctor.doctor(session.settings, database, deep=bool(arguments.get("deep")))


def _batch_exit(answer: Arguments) -> int:
    aborted = answer.get("aborted")
    if isinstance(aborted, Mapping):
        if aborted["code"] == "cancelled":
            return 130
        return 3 if aborted["code"] in ("consent_required", "work_budget", "daily_budget") else 1
    return 1 if answer.get("failed") else 0


def _serve(session: Session, _arguments: Arguments) -> Answer:
    from recall.surfaces.serve import Server  # it runs the operations of this table
    from recall.surfaces.wire import Wire, standard_streams

    with standard_streams() as (incoming, outgoing):
        server = Server(Wire(incoming, outgoing), session.settings)
        session.cancellation.listen(server.stop)
        server.run()
    return {}


def _mcp(session: Session, arguments: Arguments) -> Answer:
    from recall.surfaces.mcp_stdio import serve  # it runs the operations of this table

    prompts, documents = not arguments.get("no_prompts"), not arguments.get("text")
    serve(session.settings, session.cancellation, prompts=prompts, documents=documents)
    return {}


def _search(session: Session, arguments: Arguments) -> Answer:
    from recall import originals, origins, rewriting, searcher

    request = searcher.SearchRequest(
        queries=_texts(arguments, "queries") or (" ".join(_texts(arguments, "query")),),
        mode=_text(arguments, "mode") or "hybrid",
        topic_id=_text(arguments, "topic"),
        conversation_id=_text(arguments, "conversation"),
        roles=_texts(arguments, "role"),
        include=_texts(arguments, "include"),
        window=_window(arguments),
        exclude=_texts(arguments, "exclude"),
        sort=_text(arguments, "sort") or "relevance",
        limit=_number(arguments, "limit", searcher.LIMIT),
        cursor=_text(arguments, "cursor"),
        explain=bool(arguments.get("explain")),
        scope=_text(arguments, "scope"),
        project=_text(arguments, "project"),
    )
    database = session.for_reading()
    answer = searcher.search(
        database,
        session.settings.profile,
        request,
        session.settings.current,
        origins.source_state_of(session.settings, database),
        origins.resume,
        session.here(),
        rewriting.rewriter(session.reading_run()),
        originals.standing_of(session.settings, database),
    )
    return _hinted(session, answer)


def _read(session: Session, arguments: Arguments) -> Answer:
    from recall import originals, origins, reader

    request = reader.ReadRequest(
        conversation_id=str(arguments["conversation"]),
        entry_id=_text(arguments, "entry"),
        before=_optional_number(arguments, "before"),
        after=_optional_number(arguments, "after"),
        cursor=_text(arguments, "cursor"),
        max_chars=_number(arguments, "max_chars", reader.PAGE),
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


def _browse(session: Session, arguments: Arguments) -> Answer:
    from recall import browser, origins

    request = browser.BrowseRequest(
        topic_id=_text(arguments, "topic"),
        history=bool(arguments.get("history")),
        window=_window(arguments),
        limit=_number(arguments, "limit", 10),
        cursor=_text(arguments, "cursor"),
        scope=_text(arguments, "scope"),
        project=_text(arguments, "project"),
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
    return _hinted(session, answer)


_LIMIT_CURSOR = (
    Parameter("limit", "How many on a page.", "number", minimum=1, maximum=1000),
    Parameter("cursor", "The next page, as the page before named it."),
)
_TIME = (
    Parameter("days", "Entries of the last N times 24 hours.", "number", minimum=1, maximum=36_500),
    Parameter("from", "Entries from this time on: a date (UTC midnight), or a time with its zone."),
    Parameter("to", "Entries before this time."),
)

_SCOPE = (
    Parameter("scope", "Everything, the project first, or the project only.", choices=SCOPES),
    Parameter("project", "The project: its id, its name, . for the current one, or git:PATH."),
)
_DETACH = Parameter("detach", "Answer with a job id at once; the work goes on in the background.", "flag")
_JOB = Parameter("job", "Its id.", positional=True, required=True)


def _named(name: str) -> Operation:
    return next(one for one in OPERATIONS if one.name == name)


def _was_done(answer: Arguments) -> bool:
    job = answer["job"]
    return isinstance(job, Mapping) and job["state"] == "done"


OPERATIONS: tuple[Operation, ...] = (
    Operation(
        "status",
        "Show what is indexed, what waits, what was spent, and whether all is well.",
        _status,
        (Parameter("cost", "Also what each model came to.", "flag"),),
    ),
    Operation(
        "conversations",
        "List the authorised conversations, newest first, indexed or not.",
        _conversations,
        (
            Parameter("host", "Only of this host.", choices=HOSTS),
            Parameter("state", "Only in this state.", choices=STATES),
            Parameter("project", "Only of this project: its id, its name, . for the current one, or git:PATH."),
            *_LIMIT_CURSOR,
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
        "Take such an authorisation back. What was indexed stays.",
        _sources_remove,
        (Parameter("path", "What was added.", positional=True, required=True),),
    ),
    Operation(
        "index",
        "Index one conversation: the path of its log, or HOST:ID.",
        _index,
        (
            Parameter("file", "The log, or HOST:ID.", positional=True, required=True),
            Parameter("dry_run", "Say what would be sent, and send nothing.", "flag"),
            Parameter("force", "Analyse again though nothing changed.", "flag"),
            Parameter("no_repair", "Publish without topic repair, which is left waiting.", "flag"),
            Parameter("confirm", "The token of a consent_required answer: your yes to its question."),
            _DETACH,
        ),
        _batch_exit,
    ),
    Operation(
        "index-all",
        "Index what is new or changed: one bounded batch. Run it again to go on.",
        _index_all,
        (
            Parameter("sessions", "At most so many conversations.", "number", minimum=1, maximum=100_000),
            Parameter("calls", "At most so many model calls.", "number", minimum=0, maximum=1_000_000),
            Parameter("dry_run", "Say what would be sent, and send nothing.", "flag"),
            _DETACH,
        ),
        _batch_exit,
    ),
    Operation("jobs list", "List the index runs in the background, the latest first.", _jobs_list),
    Operation(
        "jobs follow",
        "Wait for the end of such a run, and show what it came to.",
        _jobs_follow,
        (_JOB,),
        lambda answer: 0 if _was_done(answer) else 1,
    ),
    Operation("jobs cancel", "End such a run; the same words go on with it later.", _jobs_cancel, (_JOB,)),
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
    Operation(
        "search",
        "Find entries by their words.",
        _search,
        (
            Parameter("query", "What to look for.", positional=True, required=True, many=True),
            Parameter(
                "mode",
                "hybrid: with rewriting (default); keyword: without; semantic: by it alone.",
                choices=search_request.MODES,
            ),
            *_SCOPE,
            Parameter("topic", "Only conversations of this topic."),
            Parameter("conversation", "Only in this conversation."),
            Parameter("role", "Only entries of this role; may be repeated.", many=True, choices=search_request.ROLES),
            Parameter(
                "include", "What is left out by default; may be repeated.", many=True, choices=search_request.INCLUDES
            ),
            *_TIME,
            Parameter("exclude", "CONVERSATION or CONVERSATION/ENTRY already seen; may be repeated.", many=True),
            Parameter("sort", "The order of what was found.", choices=search_request.SORTS),
            Parameter("limit", "How many conversations.", "number", minimum=1, maximum=search_request.MOST),
            Parameter("cursor", "The next page, as the page before named it."),
            Parameter("explain", "Show the parts of each score.", "flag"),
        ),
    ),
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
    Operation(
        "browse",
        "List the topics, the conversations of one topic, or its history.",
        _browse,
        (
            Parameter("topic", "A topic's id.", positional=True),
            Parameter("history", "Its life: every change and why.", "flag"),
            *_SCOPE,
            *_TIME,
            Parameter("limit", "How many on a page (10).", "number", minimum=1, maximum=50),
            Parameter("cursor", "The next page, as the page before named it."),
        ),
    ),
    *project_commands.OPERATIONS,
    *keeping_commands.OPERATIONS,
    *host_commands.OPERATIONS,
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
    Operation(
        "doctor",
        "Check the index, its permissions and the hosts; say how to mend what is wrong.",
        _doctor,
        (
            Parameter("deep", "Also read every page and verify every quote.", "flag"),
            Parameter("rebuild_text_index", "Build the text index again from the stored text.", "flag"),
        ),
        lambda answer: 0 if answer.get("ok") else 1,
    ),
    Operation(
        "mcp",
        "Serve the tools over MCP on standard input and output (docs/tools.md).",
        _mcp,
        (
            Parameter("no_prompts", "Offer no prompts: for a host that has the slash command already.", "flag"),
            Parameter("text", "Answer with text alone: for a host that shows its model the document instead.", "flag"),
        ),
        on_stdio=True,
    ),
    Operation(
        "serve",
        "Serve a host package over standard input and output (docs/serve.md).",
        _serve,
        on_stdio=True,
    ),
)
