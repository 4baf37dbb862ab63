"""The arguments of a tool call, held against the tool's JSON Schema: strict on every road (decisions.md 21).

Unknown keys are refused, nothing is coerced ("7" is no number, 7.0 neither), and the error names the field.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from recall.errors import ArgumentError

_SHOWN = 80


def check(tool: str, schema: Mapping[str, object], arguments: object) -> Mapping[str, object]:
    """The arguments, printable. Raises ArgumentError `usage`, whose `data` has `field` and `tool`."""
    if not isinstance(arguments, Mapping):
        raise _refused(tool, "", f"The arguments are {_kind(arguments)}", "give one JSON object")
    known = schema["properties"]
    if not isinstance(known, Mapping):
        raise TypeError("a tool's schema has properties")
    for name in arguments:
        if name not in known:
            hint = f"it takes {', '.join(known)}" if known else "it takes no arguments"
            raise _refused(tool, str(name), f"{_cut(str(name))!r} is no argument of it", hint)
    errors = sorted(_validator(_frozen(schema)).iter_errors(dict(arguments)), key=lambda one: list(map(str, one.path)))
    if errors:
        field = ".".join(str(part) for part in errors[0].path) or _missing(errors[0])
        raise _refused(tool, field, f"{field}: {_cut(errors[0].message)}", _hint(known, field))
    return {name: printable(value) for name, value in arguments.items()}


@lru_cache(maxsize=64)
def _validator(schema: str) -> Any:
    """One compiled validator a schema. jsonschema takes its time to import, so it is, with the first call."""
    import json

    from jsonschema import Draft202012Validator, validators

    strict = Draft202012Validator.TYPE_CHECKER.redefine(
        "integer", lambda _checker, value: isinstance(value, int) and not isinstance(value, bool)
    )
    kind: Any = validators.extend(Draft202012Validator, type_checker=strict)  # type: ignore[no-untyped-call]  # the stub has none
    return kind(json.loads(schema))


def _frozen(schema: Mapping[str, object]) -> str:
    import json

    return json.dumps(schema, sort_keys=True)


def _missing(error: Any) -> str:
    """The argument that is not there."""
    return next((name for name in error.validator_value if name not in error.instance), "arguments")


def _hint(known: Mapping[str, Any], field: str) -> str:
    name = field.partition(".")[0]
    return str(known[name].get("description", "")) if name in known else ""


def _refused(tool: str, field: str, message: str, hint: str) -> ArgumentError:
    return ArgumentError("usage", f"{tool}: {message}", hint, {"tool": tool, "field": field})


def _kind(value: object) -> str:
    return "null" if value is None else type(value).__name__


def _cut(text: str) -> str:
    """What was sent comes back in the error, but not the whole of it."""
    return text if len(text) <= 3 * _SHOWN else f"{text[:_SHOWN]} … {text[-_SHOWN:]}"


def printable(value: object) -> object:
    """Half a surrogate pair may stand in JSON; it names nothing of ours, and SQLite refuses it."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, list):
        return [printable(item) for item in value]
    if isinstance(value, Mapping):
        return {printable(name): printable(item) for name, item in value.items()}
    return value
