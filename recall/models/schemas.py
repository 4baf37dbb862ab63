"""The JSON Schemas of the prompts, compiled once each, and what breaks one said in words of our own.

jsonschema's sentences quote the value that failed, which is text of a conversation; ours name the place and the rule.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from itertools import islice

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError

from recall.hashing import canonical_json

_SHOWN = 3


def fault_of(schema: Mapping[str, object], value: object) -> str | None:
    """What is wrong with the value, in one line, or None where it satisfies the schema."""
    errors = islice(_compiled(canonical_json(schema)).iter_errors(value), _SHOWN)
    return "; ".join(dict.fromkeys(map(_sentence, errors))) or None


@functools.lru_cache(maxsize=64)
def _compiled(schema: str) -> Draft202012Validator:
    return Draft202012Validator(json.loads(schema))


def _sentence(error: ValidationError) -> str:
    where = error.json_path
    rule, asked, found = error.validator, error.validator_value, error.instance
    if rule == "required" and isinstance(found, dict) and isinstance(asked, list):
        return f"{where} lacks {', '.join(str(name) for name in asked if name not in found)}"
    if rule == "additionalProperties":
        allowed = error.schema.get("properties", {}) if isinstance(error.schema, dict) else {}
        return f"{where} may have only the keys {', '.join(allowed)}"
    if rule == "type":
        return f"{where} has to be of type {asked}"
    if rule == "enum" and isinstance(asked, list):
        return f"{where} has to be one of {', '.join(map(str, asked))}"
    if rule in ("maxLength", "minLength", "maxItems", "minItems") and isinstance(found, str | list):
        return f"{where} breaks {rule} {asked} (it has {len(found)})"
    return f"{where} breaks {rule} {str(asked)[:80]}"
