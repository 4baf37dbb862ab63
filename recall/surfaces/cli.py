"""The command line: what was typed, what is printed, exit codes, and nothing of the work itself.

Exit codes: 0 done; 1 failed; 2 usage; 3 blocked (consent, quota, lease held); 130 cancelled. With --json exactly one
JSON document goes to stdout, errors included, and progress goes to stderr as JSON lines.
"""

from __future__ import annotations

import contextlib
import io
import os
import shlex
import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TextIO

import click

from recall.hosts.names import HOSTS
from recall.run import Cancellation
from recall.surfaces import render
from recall.surfaces.answering import Answered, Asked, answer, failed
from recall.surfaces.progress import JsonLines, Reporter, TerminalProgress
from recall.surfaces.session import signals_cancel
from recall.surfaces.terminal import json_text
from recall.surfaces.words import Shown, UsageError, parse


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code."""
    _speak_plainly()
    words = [_printable(word) for word in (sys.argv[1:] if arguments is None else arguments)]
    try:
        code = _main(words)
    except BrokenPipeError:
        code = 0  # the reader of our output went away (`| head`); nothing more can be said to it
    except OSError as error:  # a full disk behind `>`: the work is done, the answer is lost
        code = 1
        with contextlib.suppress(OSError):
            click.echo(f"error: the answer could not be written: {error.strerror}", err=True)
    out, _ = _said(sys.stdout), _said(sys.stderr, matters=False)
    return code if out else 1


def _main(words: list[str]) -> int:
    try:
        asked = _from_here(parse(words))
    except Shown as shown:
        click.echo(shown.text)
        return 0
    except UsageError as wrong:
        return _say(failed(wrong.error), as_json="--json" in words)
    except click.Abort:
        return 130
    cancellation = Cancellation()
    with _progress(asked.as_json) as report, signals_cancel(cancellation):
        answered = answer(asked, report, cancellation, ask=_asker(asked, cancellation))
    return _show(asked, answered, words)


def _from_here(asked: Asked) -> Asked:
    """A log's path may be given from the folder that a person is in, or that --cwd names. Ids stay as they are."""
    named = str(asked.arguments.get("file", ""))
    if asked.operation.name != "index" or named.startswith("~") or "\0" in named or named.split(":")[0] in HOSTS:
        return asked
    path = os.path.join(asked.overrides.get("cwd", ""), named)
    if os.path.basename(named) == named and (named.startswith("c_") or not os.path.lexists(path)):
        return asked
    with contextlib.suppress(FileNotFoundError):  # the folder was removed while we are in it
        path = os.path.abspath(path)
    return replace(asked, arguments={**asked.arguments, "file": path})


def _show(asked: Asked, answered: Answered, words: Sequence[str]) -> int:
    if answered.error is not None:
        return _say(answered, as_json=asked.as_json)
    if asked.operation.on_stdio:
        return answered.exit_code  # standard output belongs to its protocol
    if asked.as_json:
        click.echo(json_text(answered.document))
    else:
        command = shlex.join(["history-recall", *render.again(words)])
        with render.as_wide_as(_columns()):
            said = render.text(asked.operation.name, answered.document, command)
        if said:
            click.echo(said)
    return answered.exit_code


def _columns() -> int | None:
    """How wide the terminal is that the answer is shown on; None where it goes elsewhere."""
    if sys.stdout is None or not sys.stdout.isatty():
        return None
    return shutil.get_terminal_size().columns


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


def _progress(as_json: bool) -> Reporter:
    stream: TextIO | None = sys.stderr  # None where the process was started without
    if stream is None:
        return Reporter()
    if as_json:
        return JsonLines(stream)
    return TerminalProgress(stream) if stream.isatty() else Reporter()


def _asker(asked: Asked, cancellation: Cancellation) -> Callable[[str], bool] | None:
    """How the person at the terminal is asked; None where a program reads or writes."""
    here: tuple[TextIO | None, ...] = (sys.stdin, sys.stderr)  # None where the process was started without
    if asked.as_json or not all(stream is not None and stream.isatty() for stream in here):
        return None

    def ask(question: str) -> bool:
        with cancellation.torn():
            try:
                return click.confirm(question, err=True)
            except click.Abort:
                return False

    return ask


def _say(answered: Answered, *, as_json: bool) -> int:
    if as_json or answered.error is None:
        click.echo(json_text(answered.document))
    else:
        click.echo("\n".join(render.error(answered.error)), err=True)
    return answered.exit_code
