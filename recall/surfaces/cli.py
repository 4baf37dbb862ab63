"""The command line: the operations table as click commands, exit codes, and nothing of the work itself.

Exit codes: 0 done; 1 failed; 2 usage; 3 blocked (consent, quota, lease held); 130 cancelled. With --json exactly one
JSON document goes to stdout, errors included, and progress goes to stderr as JSON lines.
"""

from __future__ import annotations

import contextlib
import errno
import io
import os
import shlex
import sqlite3
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import TextIO

import click

from recall import __version__, settings
from recall.errors import ArgumentError, RecallError, StateError
from recall.index.database import translated
from recall.surfaces import render
from recall.surfaces.commands import OPERATIONS
from recall.surfaces.operations import Operation, Parameter
from recall.surfaces.progress import JsonLines, Reporter, TerminalProgress
from recall.surfaces.session import Session, signals_cancel
from recall.surfaces.terminal import json_text, visible

_BLOCKED = frozenset({"consent_required", "work_budget", "daily_budget", "lease_held"})
_OVERRIDES = ("profile", "current", "cwd")
_GROUPS = {
    "sources": "Authorise logs outside the hosts' own folders.",
    "consent": "What may be sent where.",
}
_ABOUT = """Find again what you and your coding agents already worked out.

Nothing is indexed until you ask. Start with `history-recall conversations`, then `history-recall index-all`.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code."""
    _speak_plainly()
    words = [_printable(word) for word in (sys.argv[1:] if arguments is None else arguments)] or ["--help"]
    try:
        code = _main(words)
    except BrokenPipeError:
        code = 0  # the reader of our output went away (`| head`); nothing more can be said to it
    except OSError:
        code = 1  # a full disk behind `>`: the work is done, the answer is lost
    return code if _said(sys.stdout) and _said(sys.stderr, matters=False) else 1


def _main(words: list[str]) -> int:
    try:
        code = cli.main(args=words, prog_name="history-recall", standalone_mode=False, obj=tuple(words))
        return code if isinstance(code, int) else 0
    except click.exceptions.Exit as done:
        return done.exit_code
    except click.UsageError as error:
        return _say(ArgumentError("usage", error.format_message(), _usage_hint(error)), as_json="--json" in words)
    except click.Abort:
        return 130


def _said(stream: TextIO | None, *, matters: bool = True) -> bool:
    """Whether what was written is out. What cannot be goes nowhere: the interpreter must not end with a fault."""
    if stream is None:
        return True
    try:
        stream.flush()
        return True
    except (OSError, ValueError) as error:
        matters = matters and not isinstance(error, BrokenPipeError)
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    return not matters


def _speak_plainly() -> None:
    """A character that the terminal's encoding lacks is escaped; it is no reason to fail."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _printable(word: str) -> str:
    """An argument that is not UTF-8 arrives with surrogates; it names nothing of ours."""
    return word.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _usage_hint(error: click.UsageError) -> str:
    path = error.ctx.command_path if error.ctx else "history-recall"
    if isinstance(error, click.NoSuchOption) and path.endswith(" search"):
        return f"see `{path} --help`; put -- before words that begin with a dash"
    return f"see `{path} --help`"


def _execute(operation: Operation, given: dict[str, object]) -> int:
    as_json = bool(given.pop("json", False))
    overrides = {name: str(value) for name in _OVERRIDES if (value := given.pop(name, None)) is not None}
    named = {p.name: given[_python_name(p)] for p in operation.parameters}
    # By identity: 0 is a number that was given (`--before 0`, `--calls 0`), though it equals False.
    absent = (None, (), False)
    arguments = {name: _plain(v) for name, v in named.items() if not any(v is nothing for nothing in absent)}
    database: Path | None = None
    try:
        chosen = settings.load(overrides=overrides)
        database = chosen.database
        session = Session(chosen)
        with _progress(as_json) as session.report, signals_cancel(session.cancellation):
            try:
                with translated(database):
                    answer = operation.run(session, arguments)
            finally:
                session.close()
    except RecallError as error:
        return _say(error, as_json=as_json)
    except (OSError, sqlite3.Error) as error:
        if isinstance(error, BrokenPipeError):
            raise
        return _say(_from_system(error, database), as_json=as_json)
    except Exception as error:  # noqa: BLE001 - the last border: an unforeseen fault must not print a log's text
        return _say_fault(error, as_json=as_json)
    code = operation.exit_code(answer)
    click.echo(json_text(answer) if as_json else render.text(operation.name, answer, _again()))
    return code


def _again() -> str:
    """The command as it was typed, without its cursor: what the next page is asked with."""
    words = list(click.get_current_context().obj or ())
    if "--cursor" in words:
        place = words.index("--cursor")
        del words[place : place + 2]
    return shlex.join(["history-recall", *(word for word in words if not word.startswith("--cursor="))])


def _progress(as_json: bool) -> Reporter:
    if as_json:
        return JsonLines(sys.stderr)
    return TerminalProgress(sys.stderr) if sys.stderr.isatty() else Reporter()


def _say(error: RecallError, *, as_json: bool) -> int:
    if as_json:
        click.echo(json_text(error.as_json()))
    else:
        click.echo(visible(f"error: {error.message} ({error.code})"), err=True)
        if "question" in error.data:
            click.echo(visible(f"  {error.data['question']}"), err=True)
        if error.hint:
            click.echo(visible(f"  {error.hint}"), err=True)
    return exit_code_of(error)


def exit_code_of(error: RecallError) -> int:
    """The exit code of an error."""
    if error.code == "cancelled":
        return 130
    if error.code in _BLOCKED:
        return 3
    return 2 if error.code == "usage" else 1


def _from_system(error: OSError | sqlite3.Error, database: Path | None) -> StateError:
    where = str(getattr(error, "filename", None) or database)
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        return StateError("disk_full", f"No space left while writing near {where}", "free some space")
    reason = (error.strerror if isinstance(error, OSError) else None) or type(error).__name__
    return StateError("index_unavailable", f"The system refused a file: {reason} ({where})", "check its permissions")


def _say_fault(error: Exception, *, as_json: bool) -> int:
    """Name the fault by type and place only: its message may hold text of a conversation."""
    frame = traceback.extract_tb(error.__traceback__)[-1]
    where = f"{Path(frame.filename).name}:{frame.lineno}"
    message = f"Internal fault: {type(error).__name__} at {where}; nothing was published"
    body = {"error": {"code": "internal", "message": message, "hint": "please report it with this line"}}
    click.echo(json_text(body) if as_json else message, err=not as_json)
    return 1


def _python_name(parameter: Parameter) -> str:
    return parameter.name.replace("-", "_") + "_"


def _plain(value: object) -> object:
    return list(value) if isinstance(value, tuple) else value


def _click_parameter(parameter: Parameter) -> click.Parameter:
    kind: click.ParamType[object] = click.STRING
    if parameter.choices:
        kind = click.Choice(parameter.choices)
    elif parameter.type == "number":
        kind = click.IntRange(parameter.minimum, parameter.maximum)
    name = _python_name(parameter)
    if parameter.positional:
        return click.Argument(
            [name],
            type=kind,
            required=parameter.required,
            nargs=-1 if parameter.many else 1,
            metavar=parameter.name.upper() + ("..." if parameter.many else ""),
        )
    option = f"--{parameter.name.replace('_', '-')}"
    if parameter.type == "flag":
        return click.Option([option, name], is_flag=True, help=parameter.help)
    metavar = None if parameter.choices else {"text": "TEXT", "number": "N"}[parameter.type]
    return click.Option(
        [option, name],
        type=kind,
        help=parameter.help,
        multiple=parameter.many,
        required=parameter.required,
        metavar=metavar,
    )


def _command(operation: Operation) -> click.Command:
    everywhere: list[click.Parameter] = [
        click.Option(["--json"], is_flag=True, help="One JSON document on stdout; progress as JSON lines on stderr."),
        click.Option(["--profile"], metavar="NAME", help="The profile to work in."),
        click.Option(["--current"], metavar="HOST:ID", help="The running conversation: left out of every answer."),
        click.Option(["--cwd"], metavar="DIR", help="The folder that the caller works in."),
    ]

    def callback(**given: object) -> int:
        return _execute(operation, given)

    return click.Command(
        operation.name.split()[-1],
        params=[*map(_click_parameter, operation.parameters), *everywhere],
        callback=callback,
        help=operation.summary,
        short_help=operation.summary.split(". ")[0].rstrip("."),
    )


def _build() -> click.Group:
    root = click.Group("history-recall", help=_ABOUT, context_settings={"help_option_names": ["-h", "--help"]})
    root.params.append(
        click.Option(
            ["--version"],
            is_flag=True,
            is_eager=True,
            expose_value=False,
            help="Show the version.",
            callback=_show_version,
        )
    )
    for operation in OPERATIONS:
        group, _, leaf = operation.name.partition(" ")
        if not leaf:
            root.add_command(_command(operation))
            continue
        parent = root.commands.get(group)
        if not isinstance(parent, click.Group):
            parent = click.Group(group, help=_GROUPS[group])
            root.add_command(parent)
        parent.add_command(_command(operation))
    return root


def _show_version(context: click.Context, _parameter: click.Parameter, value: bool) -> None:
    if value:
        click.echo(f"history-recall {__version__}")
        context.exit()


cli = _build()
