"""The tools of the child: six and `finish`, each with a strict JSON Schema. They exist nowhere else.

Arguments are judged here as the model wrote them: one JSON object, no key twice, no NaN, nothing beside it, every key
known. What fails is told back in words that quote nothing, and the tool does not run.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import NoReturn, cast

from recall.models.schemas import fault_of
from recall.models.turns import ToolCall, ToolSpec
from repair.limits import LIMITS

FINISH = "finish"
_ID = {"type": "string", "minLength": 1, "maxLength": 64}
_ENTRY = {"type": "string", "minLength": 1, "maxLength": 512}
_REASON = {"type": "string", "minLength": 1, "maxLength": 300}
_PAGE = {"type": "integer", "minimum": 1, "maximum": 1_000_000}
_WORDS: dict[str, object] = {
    "title": {"type": "string", "minLength": 1, "maxLength": 100},
    "description": {"type": "string", "minLength": 1, "maxLength": 500},
    "aliases": {"type": "array", "maxItems": 12, "items": {"type": "string", "minLength": 1, "maxLength": 100}},
    "reason": _REASON,
}
_MOST_MOVES = LIMITS.moves + LIMITS.incoming_moves


def _object(properties: Mapping[str, object], *optional: str) -> dict[str, object]:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": [name for name in properties if name not in optional],
        "additionalProperties": False,
    }


def _list(item: Mapping[str, object], most: int) -> dict[str, object]:
    return {"type": "array", "items": item, "maxItems": most}


_NUMBER = {"type": "integer", "minimum": 1, "maximum": LIMITS.drafts}
_PROPOSAL = _object(
    {
        "drafts": _list(_object({"draft": _NUMBER} | _WORDS), LIMITS.drafts),
        "redefinitions": _list(_object({"topic_id": _ID} | _WORDS), LIMITS.redefinitions),
        "moves": _list(_object({"facet_id": _ID, "to": _ID, "reason": _REASON}), _MOST_MOVES),
        "merge": _object(
            {"topic_ids": {"type": "array", "minItems": 2, "maxItems": 2, "uniqueItems": True, "items": _ID}} | _WORDS
        ),
    },
    "drafts",
    "redefinitions",
    "moves",
    "merge",
)

TOOLS: tuple[ToolSpec, ...] = (
    ToolSpec("repair_topics", "List the topics of the catalogue, a page at a time.", _object({"page": _PAGE}, "page")),
    ToolSpec(
        "repair_members",
        "List the facets of one topic, a page at a time, with the entries that each cites.",
        _object({"topic_id": _ID, "page": _PAGE}, "page"),
    ),
    ToolSpec(
        "repair_read",
        "Read an entry that a facet cites, from character `offset` on. Once its last character was given, the answer "
        "has a receipt_id: then it is read. With `remember`: keep your note on an entry that you read, not its text.",
        _object(
            {
                "facet_id": _ID,
                "entry_id": _ENTRY,
                "offset": {"type": "integer", "minimum": 0, "maximum": 200_000_000},
                "max_chars": {"type": "integer", "minimum": LIMITS.least_page, "maximum": LIMITS.most_page},
                "remember": {"type": "string", "minLength": 1, "maxLength": LIMITS.note},
            },
            "offset",
            "max_chars",
            "remember",
        ),
    ),
    ToolSpec(
        "repair_propose",
        "Propose changes, only where something is wrong. `to` is a topic_id, or draft:N for a new topic of `drafts`. "
        "The answer has a proposal_id, or the reason why it is refused.",
        _PROPOSAL,
    ),
    ToolSpec(
        "repair_coverage",
        "Show a member of a topic that the proposal rewords, merges or makes (`topic`: topic_id or draft:N). One "
        "member a page; the page behind the last is the empty end page, which has to be asked for too.",
        _object({"topic": _ID, "page": _PAGE}),
    ),
    ToolSpec(
        "repair_check",
        "Say whether the member on a page of repair_coverage fits the proposed words.",
        _object({"page_id": _ID, "receipt_id": _ID, "fits": {"type": "boolean"}, "reason": _REASON}),
    ),
    ToolSpec(
        FINISH,
        "End, as the only call of its turn: proposal_id null to leave all as it is, else the proposal_id of your "
        "proposal.",
        _object({"proposal_id": {"type": ["string", "null"], "maxLength": 64}, "reason": _REASON}),
    ),
)
SCHEMAS = {tool.name: tool.parameters for tool in TOOLS}


class BadCall(Exception):
    """A call that is none of a tool. The message goes back to the child."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(code, message)
        self.code = code
        self.message = message


def arguments_of(call: ToolCall) -> Mapping[str, object]:
    """The checked arguments. Raises BadCall `unknown_tool`, `invalid_arguments`."""
    schema = SCHEMAS.get(call.name)
    if schema is None:
        raise BadCall("unknown_tool", f"there is no such tool; there are {', '.join(SCHEMAS)}")
    text = call.arguments.strip()
    # A tool that needs nothing may be called with nothing.
    value = {} if text in ("", "null") and not schema["required"] else _parsed(text)
    fault = fault_of(schema, value)
    if fault is not None:
        raise BadCall("invalid_arguments", f"the arguments do not satisfy the schema: {fault}")
    return cast("Mapping[str, object]", value)


def _parsed(text: str) -> object:
    try:
        return json.loads(text, object_pairs_hook=_pairs, parse_constant=_constant)
    except json.JSONDecodeError as error:
        message = f"the arguments are not one JSON object ({error.msg} at character {error.pos}); nothing was done"
        raise BadCall("invalid_arguments", message) from error
    except RecursionError as error:
        raise BadCall("invalid_arguments", "the arguments are nested too deeply; nothing was done") from error


def _pairs(pairs: list[tuple[str, object]]) -> dict[str, object]:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise BadCall("invalid_arguments", "a key stands twice in the arguments; nothing was done")
    return made


def _constant(name: str) -> NoReturn:
    raise BadCall("invalid_arguments", f"{name} is no JSON value; nothing was done")
