"""The rows of the operations table that are about projects."""

from __future__ import annotations

from recall.errors import ArgumentError
from recall.hosts.names import HOSTS
from recall.surfaces.commands.parameters import text
from recall.surfaces.operations import Answer, Arguments, Operation, Parameter
from recall.surfaces.session import Session


def _list(session: Session, _arguments: Arguments) -> Answer:
    from recall import projects

    return projects.listing(session.settings, session.for_reading(), session.here())


def _create(session: Session, arguments: Arguments) -> Answer:
    from recall import projects

    return projects.create(session.run(), str(arguments["name"]))


def _rename(session: Session, arguments: Arguments) -> Answer:
    from recall import projects

    return projects.rename(session.run(), session.here(), str(arguments["project"]), str(arguments["name"]))


def _bind(session: Session, arguments: Arguments) -> Answer:
    from recall import binding

    # A person who types the command has agreed to what it does; an agent has to bring the user's yes.
    return binding.bind(
        session.run(),
        session.here(),
        text(arguments, "folder"),
        name=text(arguments, "name"),
        project=text(arguments, "project"),
        write_marker=not arguments.get("no_marker"),
        agreed=not session.agent,
    )


def _move(session: Session, arguments: Arguments) -> Answer:
    from recall import moving

    conversation, project = str(arguments["conversation"]), str(arguments["project"])
    return moving.move(session.run(), session.here(), conversation, project, with_cwd=bool(arguments.get("with_cwd")))


def _rebind(session: Session, arguments: Arguments) -> Answer:
    from recall import binding

    return binding.rebind(
        session.run(),
        session.here(),
        str(arguments["project"]),
        text(arguments, "folder"),
        write_marker=not arguments.get("no_marker"),
    )


def _adopt(session: Session, arguments: Arguments) -> Answer:
    from recall import binding

    return binding.adopt(
        session.run(),
        session.here(),
        text(arguments, "project"),
        text(arguments, "folder"),
        write_marker=not arguments.get("no_marker"),
    )


def _decline(session: Session, arguments: Arguments) -> Answer:
    from recall import binding

    return binding.decline(session.run(), session.here(), text(arguments, "folder"))


def _archive(session: Session, arguments: Arguments) -> Answer:
    from recall import projects

    return projects.archive(session.run(), session.here(), str(arguments["project"]), undo=bool(arguments.get("undo")))


def _delete(session: Session, arguments: Arguments) -> Answer:
    from recall import projects

    return projects.delete(session.run(), session.here(), str(arguments["project"]))


def _assign(session: Session, arguments: Arguments) -> Answer:
    from recall import assigning

    host = str(arguments["from_host"])
    if arguments.get("dry_run"):
        return assigning.plan(session.settings, session.for_reading(), host)
    return assigning.assign(session.run(), host)


def _revert(session: Session, arguments: Arguments) -> Answer:
    from recall import assigning

    return assigning.revert(session.run(), str(arguments["journal"]))


def _for_agents(session: Session, arguments: Arguments) -> Answer:
    from recall import binding

    action = arguments["action"]
    if action == "show":
        return _list(session, arguments)
    if session.here().cwd is None:  # where this process happens to be is nobody's project
        message = "The caller named no folder that could be bound"
        raise ArgumentError("no_project", message, "the program passes it: --cwd DIR, or HISTORY_RECALL_CWD")
    if action == "decline":
        return _decline(session, arguments)
    name, token = text(arguments, "name"), text(arguments, "confirm")
    return binding.bind(session.run(), session.here(), None, name=name, token=token)


_PROJECT = Parameter("project", "Its id, its name, or . for the current one.", positional=True, required=True)
_FOLDER = Parameter("folder", "The folder (the one you are in).", positional=True)
_NO_MARKER = Parameter("no_marker", "Write no marker file into the folder.", "flag")

OPERATIONS: tuple[Operation, ...] = (
    Operation("project list", "List the projects with what leads to them.", _list),
    Operation(
        "project create",
        "Make a project without a folder.",
        _create,
        (Parameter("name", "What to call it.", positional=True, required=True),),
    ),
    Operation(
        "project rename",
        "Call a project something else; its id stays.",
        _rename,
        (_PROJECT, Parameter("name", "The new name.", positional=True, required=True)),
    ),
    Operation(
        "project bind",
        "Make a folder a project, or one more folder of a project. Writes its marker file.",
        _bind,
        (
            _FOLDER,
            Parameter("name", "What to call a new project (the folder's name)."),
            Parameter("project", "The project that the folder belongs to: its id or name."),
            _NO_MARKER,
        ),
    ),
    Operation(
        "project move",
        "Move a conversation into a project; an empty PROJECT moves it out of every one.",
        _move,
        (
            Parameter("conversation", 'Its id, HOST:ID, or "current".', positional=True, required=True),
            Parameter(
                "project", 'The project\'s id or name; "" for none.', positional=True, required=True, may_be_empty=True
            ),
            Parameter("with_cwd", "Also ask the host to switch the conversation's directory.", "flag"),
        ),
    ),
    Operation(
        "project rebind",
        "Point a new folder at a project whose folder has moved.",
        _rebind,
        (_PROJECT, _FOLDER, _NO_MARKER),
    ),
    Operation(
        "project adopt",
        "Bind a folder to a project that has lost its bindings; without one, list them.",
        _adopt,
        (Parameter("project", "Its id or name.", positional=True), _FOLDER, _NO_MARKER),
    ),
    Operation("project decline", "Do not ask again about a folder for 30 days.", _decline, (_FOLDER,)),
    Operation(
        "project archive",
        "Put a project out of sight. It keeps its conversations.",
        _archive,
        (_PROJECT, Parameter("undo", "Take it out of the archive.", "flag")),
    ),
    Operation(
        "project assign",
        "Take over a host's own projects. Backs the index up first, and writes a journal.",
        _assign,
        (
            Parameter("from_host", "The host whose records are taken over.", required=True, choices=HOSTS),
            Parameter("dry_run", "Say what would be assigned, and change nothing.", "flag"),
        ),
    ),
    Operation(
        "project revert",
        "Undo a run of `project assign` exactly.",
        _revert,
        (Parameter("journal", "Its journal, as `project assign` named it.", positional=True, required=True),),
    ),
    Operation("project delete", "Delete a project that holds no conversation.", _delete, (_PROJECT,)),
)

# What an agent's tool runs and no command: one operation, the same folder for all that it does.
FOR_AGENTS: tuple[Operation, ...] = (
    Operation(
        "project",
        "Show, bind or decline the project of the caller's folder.",
        _for_agents,
        (
            Parameter("action", "What to do.", required=True, choices=("show", "bind", "decline")),
            Parameter("name", "What to call a new project."),
            Parameter("confirm", "The token of a confirmation_required answer: the person's yes to its question."),
        ),
    ),
)
