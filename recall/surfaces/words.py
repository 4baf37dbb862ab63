"""Words to an operation with its arguments: the click commands that are made from the table of operations.

Parsing runs nothing and prints nothing. The command line and the `/history-recall` line parse with the same commands.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from recall import __version__
from recall.errors import ArgumentError
from recall.surfaces.answering import Asked
from recall.surfaces.commands import OPERATIONS
from recall.surfaces.operations import Operation, Parameter

_OVERRIDES = ("profile", "current", "cwd")
_EVERYWHERE = ("--json", *(f"--{name}" for name in _OVERRIDES))
_GROUPS = {
    "sources": "Authorise logs outside the hosts' own folders.",
    "consent": "What may be sent where.",
    "jobs": "Index runs in the background.",
    "hosts": "The slash command and the tools in host programs.",
    "project": "What belongs together, whatever the program.",
}
_ABOUT = """Find again what you and your coding agents already worked out.

Nothing is indexed until you ask. Start with `history-recall conversations`, then `history-recall index-all`.
"""


class Shown(Exception):
    """`--help` or `--version` was asked for."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text


class UsageError(Exception):
    """The words are none of ours. `usage` is how the nearest command is called."""

    def __init__(self, error: ArgumentError, usage: str) -> None:
        super().__init__(str(error))
        self.error = error
        self.usage = usage


def parse(words: Sequence[str], program: str = "history-recall") -> Asked:
    """The operation that the words name. Raises Shown, UsageError. `program` is how usage texts call us."""
    try:
        asked = cli.main(args=list(words) or ["--help"], prog_name=program, standalone_mode=False)
    except click.UsageError as error:
        usage = (error.ctx.get_usage() if error.ctx else "").strip()
        message = " ".join(error.format_message().split())  # click lists choices with tabs, one a line
        raise UsageError(ArgumentError("usage", message, _hint(error, program)), usage) from error
    if not isinstance(asked, Asked):
        raise TypeError("a command gives what was asked")
    return asked


def _hint(error: click.UsageError, program: str) -> str:
    path = error.ctx.command_path if error.ctx else program
    unknown = error.option_name if isinstance(error, click.NoSuchOption) else ""
    group = error.ctx.command if error.ctx else None
    if isinstance(group, click.Group) and error.message == "Missing command.":
        return f"{path} {' | '.join(group.commands)}; see `{path} --help`"
    if unknown in _EVERYWHERE:
        return f"it stands behind the whole command: {path} COMMAND … {unknown}"
    if unknown and path.endswith(" search"):
        return f"see `{path} --help`; put -- before words that begin with a dash"
    return f"see `{path} --help`"


def _asked(operation: Operation, given: dict[str, object]) -> Asked:
    as_json = bool(given.pop("json", False))
    overrides = {name: str(value) for name in _OVERRIDES if (value := given.pop(name, None)) is not None}
    named = {p.name: given[_python_name(p)] for p in operation.parameters}
    # By identity: 0 is a number that was given (`--before 0`, `--calls 0`), though it equals False.
    absent = (None, (), False)
    arguments = {name: _plain(v) for name, v in named.items() if not any(v is nothing for nothing in absent)}
    for parameter in operation.parameters:
        if arguments.get(parameter.name) == "" and not parameter.may_be_empty:
            raise click.UsageError(f"{_shown_name(parameter)} is empty", click.get_current_context())
    return Asked(operation, arguments, overrides, as_json)


def _python_name(parameter: Parameter) -> str:
    return parameter.name.replace("-", "_") + "_"


def _shown_name(parameter: Parameter) -> str:
    return parameter.name.upper() if parameter.positional else f"--{parameter.name.replace('_', '-')}"


def _plain(value: object) -> object:
    return list(value) if isinstance(value, tuple) else value


def _click_parameter(parameter: Parameter) -> click.Parameter:
    kind: click.ParamType[object] = click.STRING
    if parameter.choices:
        kind = click.Choice(parameter.choices)
    elif parameter.type == "number":
        kind = click.IntRange(parameter.minimum, parameter.maximum)
        kind.name = "number"  # click would call it an integer range where it refuses it
    name = _python_name(parameter)
    if parameter.positional:
        metavar = parameter.name.upper() + ("..." if parameter.many else "")
        return _Argument(
            name,
            parameter.help,
            type=kind,
            required=parameter.required,
            nargs=-1 if parameter.many else 1,
            metavar=metavar if parameter.required else f"[{metavar}]",
        )
    option = f"--{parameter.name.replace('_', '-')}"
    if parameter.type == "flag":
        return click.Option([option, name], is_flag=True, help=parameter.help)
    value = None if parameter.choices else {"text": "TEXT", "number": "N"}[parameter.type]
    return click.Option(
        [option, name],
        type=kind,
        help=parameter.help,
        multiple=parameter.many,
        required=parameter.required,
        metavar=value,
    )


def _flag(names: list[str], text: str, show: bool) -> click.Option:
    """`--help`, and at the top `--version`: raised, so that no face has to catch what click would print."""

    def raised(context: click.Context, _parameter: click.Parameter, value: bool) -> None:
        if value and not context.resilient_parsing:
            raise Shown(context.get_help() if show else f"history-recall {__version__}")

    return click.Option(names, is_flag=True, is_eager=True, expose_value=False, help=text, callback=raised)


class _Command(click.Command):
    """A command whose help says what its arguments are too; not every version of click says that."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        arguments = [one for one in self.params if isinstance(one, _Argument)]
        if arguments:
            with formatter.section("Arguments"):
                formatter.write_dl([(str(one.metavar), one.about) for one in arguments])
        super().format_options(ctx, formatter)


class _Argument(click.Argument):
    """An argument with a word about it, under a name that no version of click has."""

    def __init__(self, name: str, about: str, **more: Any) -> None:
        super().__init__([name], **more)
        self.about = about


def _command(operation: Operation) -> click.Command:
    everywhere: list[click.Parameter] = [
        click.Option(["--json"], is_flag=True, help="One JSON document on stdout; progress as JSON lines on stderr."),
        click.Option(["--profile"], metavar="NAME", help="The profile to work in."),
        click.Option(["--current"], metavar="HOST:ID", help="The running conversation: left out of every answer."),
        click.Option(["--cwd"], metavar="DIR", help="The folder that the caller works in."),
        _flag(["-h", "--help"], "Show this message and exit.", show=True),
    ]

    def callback(**given: object) -> Asked:
        return _asked(operation, given)

    return _Command(
        operation.name.split()[-1],
        params=[*map(_click_parameter, operation.parameters), *everywhere],
        callback=callback,
        help=operation.summary,
        short_help=operation.summary.split(". ")[0].rstrip("."),
        add_help_option=False,
    )


def _group(name: str, about: str) -> click.Group:
    flags: list[click.Parameter] = [_flag(["-h", "--help"], "Show this message and exit.", show=True)]
    return click.Group(
        name, help=about, short_help=about.rstrip("."), params=flags, add_help_option=False, no_args_is_help=False
    )


def _build() -> click.Group:
    root = _group("history-recall", _ABOUT)
    root.params.append(_flag(["--version"], "Show the version.", show=False))
    for operation in OPERATIONS:
        group, _, leaf = operation.name.partition(" ")
        if not leaf:
            root.add_command(_command(operation))
            continue
        parent = root.commands.get(group)
        if not isinstance(parent, click.Group):
            parent = _group(group, _GROUPS[group])
            root.add_command(parent)
        parent.add_command(_command(operation))
    return root


cli = _build()
