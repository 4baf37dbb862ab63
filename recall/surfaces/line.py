"""The line behind `/history-recall`: the same words as the command line, without a shell in between.

People write apostrophes and unfinished quotes into such a line, so a quote opens only where a word begins and where
its end is there too; everything else stands as it was typed. Among the words of a search, what stands in double quotes
keeps them: there they ask for the exact phrase, and no shell takes them away.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from recall.errors import ArgumentError
from recall.run import Cancellation, Progress
from recall.surfaces import render
from recall.surfaces.answering import Answered, Asked, answer
from recall.surfaces.commands import OPERATIONS
from recall.surfaces.operations import Operation
from recall.surfaces.terminal import json_text, visible
from recall.surfaces.words import Shown, UsageError, parse

COMMAND = "/history-recall"
LONGEST = 20_000
# A quoted word ends before a space or the end: `don't`, `5"` and `"a"b` hold no quoted word.
_WORD = re.compile(r"""(?P<option>--[a-z-]+=)?(?:"(?P<double>[^"]*)"|'(?P<single>[^']*)')(?=\s|\Z)|\S+""")


@dataclass(frozen=True, slots=True)
class Word:
    """One word of a line; `phrase` where double quotes stood around it."""

    text: str
    phrase: bool = False


@dataclass(frozen=True, slots=True)
class Said:
    """What a line came to: the text for the person, the document for programs, and the exit code of the command.

    `document` is None where only a text was asked for (`--help`, usage).
    """

    text: str
    document: Mapping[str, object] | None
    exit_code: int


def run(
    line: str,
    overrides: Mapping[str, str],
    report: Callable[[Progress], None],
    cancellation: Cancellation,
    perform: Callable[[Asked, Callable[[Progress], None], Cancellation], Answered] = answer,
) -> Said:
    """Do what a line asks for. `overrides`: what the host says of profile, current and cwd; a word of the line wins.

    Never raises for what was typed: unknown words and spare arguments are answered with usage, and change nothing.
    """
    try:
        asked, words = read(line)
    except Shown as shown:
        return Said(visible(shown.text), None, 0)
    except UsageError as wrong:
        return Said("\n".join([*render.error(wrong.error), *_usage(wrong.usage)]), wrong.error.as_json(), 2)
    answered = perform(replace(asked, overrides={**overrides, **asked.overrides}), report, cancellation)
    return Said(_shown(asked, answered, words), answered.document, answered.exit_code)


def read(line: str) -> tuple[Asked, list[str]]:
    """The operation that a line asks for, and its words; COMMAND may stand before them. Raises Shown, UsageError."""
    if len(line) > LONGEST:
        message = f"The line has {len(line)} characters"
        raise UsageError(ArgumentError("usage", message, f"at most {LONGEST}"), "")
    cut = split(line)
    words = _plain(cut[1:] if cut[:1] == [Word(COMMAND)] else cut)
    asked = parse(words, COMMAND)
    if asked.operation.on_stdio:
        message = f"{asked.operation.name} speaks a protocol on standard input and output"
        hint = f"run `history-recall {asked.operation.name}` from a program"
        raise UsageError(ArgumentError("usage", message, hint), "")
    return asked, words


def split(line: str) -> list[Word]:
    """The words of a line. Never fails: a quote without an end is a character."""
    found: list[Word] = []
    for match in _WORD.finditer(_printable(line)):
        quoted = match["double"] if match["double"] is not None else match["single"]
        if quoted is None:
            found.append(Word(match[0]))
        else:
            found.append(Word((match["option"] or "") + quoted, match["double"] is not None))
    return found


def _plain(words: Sequence[Word]) -> list[str]:
    """The words as the parser takes them: the phrases of a search in their quotes again."""
    if not words or words[0].text != "search":
        return [word.text for word in words]
    operation = next(one for one in OPERATIONS if one.name == "search")
    valued = {f"--{p.name.replace('_', '-')}" for p in operation.parameters if p.type != "flag"}
    valued |= {"--profile", "--current", "--cwd"}
    plain, before = [], ""
    for word in words:
        phrase = word.phrase and before not in valued and not word.text.startswith("--")
        plain.append(f'"{word.text}"' if phrase else word.text)
        before = word.text
    return plain


def _printable(line: str) -> str:
    return line.encode("utf-8", "replace").decode("utf-8")


def _usage(text: str) -> list[str]:
    return [visible(text)] if text else []


def _shown(asked: Asked, answered: Answered, words: Sequence[str]) -> str:
    if asked.as_json:
        return json_text(answered.document)
    if answered.error is not None:
        return "\n".join(render.error(answered.error))
    return render.text(asked.operation.name, answered.document, again(asked.operation, words))


def again(operation: Operation, words: Sequence[str]) -> str:
    """The line that asks for the same again, without its cursor."""
    return " ".join([COMMAND, *(_typed(word, operation) for word in render.again(words))])


def _typed(word: str, operation: Operation) -> str:
    """A word as it has to be typed to be read as itself."""
    if [Word(word)] == split(word):
        return word
    if word.startswith('"') and word.endswith('"') and operation.name == "search":
        return word
    return f"'{word}'" if '"' in word else f'"{word}"'
