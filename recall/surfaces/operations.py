"""The table of operations: every command, tool and slash command is one row, with three faces.

A row names its parameters once; the command line makes options of them, the tools a JSON Schema. `run` takes the
session and checked arguments and returns the JSON document of contract.md.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from recall.surfaces.session import Session

ParameterType = Literal["text", "number", "flag"]
Arguments = Mapping[str, object]
Answer = dict[str, object]


@dataclass(frozen=True, slots=True)
class Parameter:
    """One argument of an operation. `positional` ones have no option name; `many` may be given again and again.

    An empty text is as a rule a variable of a script that was not set: the command line refuses it, but where it means
    something (`may_be_empty`).
    """

    name: str
    help: str
    type: ParameterType = "text"
    positional: bool = False
    required: bool = False
    many: bool = False
    may_be_empty: bool = False
    choices: tuple[str, ...] = ()
    minimum: int | None = None
    maximum: int | None = None

    def schema(self) -> dict[str, object]:
        """The JSON Schema of this argument."""
        kind = {"text": "string", "number": "integer", "flag": "boolean"}[self.type]
        one: dict[str, object] = {"type": kind}
        if self.choices:
            one["enum"] = list(self.choices)
        if self.minimum is not None:
            one["minimum"] = self.minimum
        if self.maximum is not None:
            one["maximum"] = self.maximum
        return {"type": "array", "items": one} if self.many else one


@dataclass(frozen=True, slots=True)
class Operation:
    """One row: `name` may be two words (`sources add`). `exit_code` reads the answer; errors have their own codes.

    `on_stdio`: it speaks a protocol on standard input and output, so it is for programs and says nothing at its end.
    """

    name: str
    summary: str
    run: Callable[[Session, Arguments], Answer]
    parameters: tuple[Parameter, ...] = ()
    exit_code: Callable[[Arguments], int] = lambda answer: 0
    on_stdio: bool = False

    def schema(self) -> dict[str, object]:
        """The JSON Schema of all arguments: unknown keys are refused on every road."""
        return {
            "type": "object",
            "properties": {p.name: p.schema() for p in self.parameters},
            "required": [p.name for p in self.parameters if p.required],
            "additionalProperties": False,
        }
