"""From a model's words to one object that satisfies a schema, or a sentence that says why not.

Takes off one outer code fence (and thinking before it); finds the one object in chatty text; refuses what JSON does
not have (NaN, numbers without end), what it leaves open (a key twice) and what would be a trap further on (a hundred
levels, a thousand digits). Every string is redacted as a last net, in the parsed tree: a mask put into raw JSON could
break it. A finish reason is judged first: a reply cut off for length is none, even where its text happens to parse.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import NoReturn

from recall.errors import ModelError
from recall.hashing import canonical_json
from recall.models.failures import CutShort, words
from recall.models.request import ModelReply
from recall.models.schemas import fault_of
from recall.redact import redact_text

MAX_CHARS = 1_000_000
MAX_DEPTH = 40
MAX_STARTS = 2_000
MAX_DIGITS = 18
_FENCE = re.compile(r"```[ \t]*[\w+-]*\s(.*?)\s*```", re.DOTALL)
_THINKING = re.compile(r"<think>.*?</think>", re.DOTALL)
_SURROGATE = re.compile("[\ud800-\udfff]")


class InvalidReply(Exception):
    """A reply that is not accepted. The message goes back to the model: it names place and rule, and quotes nothing."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class _NotJson(ValueError):
    """Something that Python's parser takes and JSON, or we, do not."""


def judge(reply: ModelReply, max_output_tokens: int) -> None:
    """Raise where the way a reply ended makes it none: cut, out of budget, refused, empty.

    A reply that calls tools need not have text.
    """
    reason = reply.finish_reason
    if reason == "length":
        raise _out_of_budget(reply, max_output_tokens)
    if reason in ("refusal", "content_filter"):
        hint = "try another model; the conversation stays un-indexed"
        said = f": {words(reply.text)}" if reason == "refusal" else " (content filter)"
        raise ModelError("model_refused", f"The model refused{said}", hint)
    if not reason:
        raise CutShort("model_request_failed", "The reply ended without a finish reason", "try again later")
    if not reply.text.strip() and not reply.calls:
        raise InvalidReply("the reply is empty")


def _out_of_budget(reply: ModelReply, cap: int) -> ModelError:
    used, thought = reply.completion_tokens, reply.reasoning_tokens
    data = {"max_output_tokens": cap, "completion_tokens": used, "reasoning_tokens": thought}
    if not reply.text.strip() and not reply.calls:
        numbers = f"{thought if thought else 'an unknown number'} of {used if used is not None else cap} tokens"
        message = f"The output budget was spent on reasoning: {numbers}, no text"
        hint = "use a model that reasons less, or a lower effort"
        return ModelError("model_output_truncated", message, hint, data | {"reasoning": True})
    return ModelError("model_output_truncated", f"The reply was cut off at {cap} tokens", "", data)


def read_object(text: str, schema: Mapping[str, object]) -> object:
    """The one object in the text that satisfies the schema, its strings redacted. Raises InvalidReply."""
    if len(text) > MAX_CHARS:
        raise InvalidReply(f"the reply is longer than {MAX_CHARS} characters")
    body = without_thinking(_SURROGATE.sub("\ufffd", text).lstrip("\ufeff").strip())
    fence = _FENCE.fullmatch(body)
    try:
        return _only_object((fence[1] if fence else body).strip(), schema)
    except _NotJson as error:
        raise InvalidReply(f"the reply is not valid JSON: {error}") from error
    except RecursionError as error:
        raise InvalidReply("the reply is nested too deeply") from error


def without_thinking(text: str) -> str:
    """The text without the thinking that some local servers leave in front of a model's answer."""
    thinking = _THINKING.match(text)
    return text[thinking.end() :].strip() if thinking else text


def redacted_json(text: str) -> str:
    """The text with its secrets masked, and otherwise as it is, whether it is JSON or not.

    What is JSON is masked in its strings: a mask put across a quotation mark would break it.
    """
    try:
        value = _DECODER.decode(text)
        tidy = _tidy(value)
    except (ValueError, RecursionError):
        return redact_text(_SURROGATE.sub("\ufffd", text))
    return text if tidy == value else canonical_json(tidy)


def _only_object(body: str, schema: Mapping[str, object]) -> object:
    try:
        whole = _tidy(_DECODER.decode(body))
    except json.JSONDecodeError as error:
        return _object_among_words(body, schema, error)
    fault = fault_of(schema, whole)
    if fault is not None:
        raise InvalidReply(f"the reply does not satisfy the schema: {fault}")
    return whole


def _object_among_words(body: str, schema: Mapping[str, object], error: json.JSONDecodeError) -> object:
    """Decode at each brace; what was inside a decoded object is not looked at again."""
    good: list[object] = []
    faults: list[str] = []
    at, starts = body.find("{"), 0
    while at >= 0 and starts < MAX_STARTS:
        starts += 1
        try:
            value, end = _DECODER.raw_decode(body, at)
        except json.JSONDecodeError:
            at = body.find("{", at + 1)
            continue
        value = _tidy(value)
        fault = fault_of(schema, value)
        if fault is None:
            good.append(value)
        else:
            faults.append(fault)
        at = body.find("{", end)
    if len(good) == 1:
        return good[0]
    if good:
        raise InvalidReply(f"the reply holds {len(good)} JSON objects that fit; exactly one is wanted")
    if faults:
        raise InvalidReply(f"no object in the reply satisfies the schema: {faults[-1]}")
    raise InvalidReply(f"the reply is not one JSON object: {error.msg} at character {error.pos}")


def _tidy(value: object, depth: int = 0) -> object:
    """The value with every string redacted and free of lone surrogates."""
    if depth > MAX_DEPTH:
        raise _NotJson(f"it is nested more than {MAX_DEPTH} deep")
    if isinstance(value, str):
        return redact_text(_SURROGATE.sub("\ufffd", value))
    if isinstance(value, list):
        return [_tidy(item, depth + 1) for item in value]
    if isinstance(value, dict):
        return {_SURROGATE.sub("\ufffd", name): _tidy(item, depth + 1) for name, item in value.items()}
    return value


def _pairs(pairs: list[tuple[str, object]]) -> dict[str, object]:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise _NotJson("a key stands twice in one object")
    return made


def _constant(name: str) -> NoReturn:
    raise _NotJson(f"{name} is no JSON value")


def _float(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise _NotJson("a number is out of range")
    return value


def _int(digits: str) -> int:
    if len(digits.lstrip("-")) > MAX_DIGITS:
        raise _NotJson("a number is out of range")
    return int(digits)


_DECODER = json.JSONDecoder(object_pairs_hook=_pairs, parse_constant=_constant, parse_float=_float, parse_int=_int)
