"""What can go wrong between us and a model, told apart by what is to be done about it.

    ModelError                 final: another try would not help
      Transient                another try may help; `retry_after` is what the server asked for
        CutShort               a reply that began broke off, or there was none in the answer: tried once more
        FormatRefused          the server does not take that `response_format`: tried at once with a simpler one

litellm's types cannot be trusted alone (a refused connection and a missing key are both InternalServerError, an
overflow is often a plain BadRequestError), so an error is read by type names, status and known phrases. This module
does not import litellm: errors are known by the names in their class tree.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from recall.errors import ModelError
from recall.redact import redact_text

MAX_WORDS = 240
MAX_WAIT = 366 * 86_400.0  # seconds; a server may name any number, a date has to come of it
KEY_MARK = "[REDACTED:key]"
REPEATED = "(the server's answer repeats the request)"
_LOOKED_AT = 8_000
_RUN = 32  # letters and digits in a row: about forty characters
_ESCAPE = re.compile(r"\\+(?:u([0-9a-fA-F]{4})|.)", re.DOTALL)
_OVERFLOW = re.compile(
    r"context[ _-]?(?:length|window|limit|size)|maximum context|longer than the model|prompt is too long"
    r"|input (?:is|was) too long|too many (?:input )?tokens|input tokens? exceed|tokens? exceeds? the|"
    r"exceeds? the (?:configured |maximum )?(?:token )?limit of \d+ tokens|reduce the length of the (?:messages|prompt)"
    r"|exceeds the available context|range of input length should be|request too large for model",
    re.IGNORECASE,
)
# A model or server that makes no tool calls says so in words of both kinds (OpenAI, OpenRouter, Ollama, llama.cpp,
# vLLM, Groq, DeepSeek); of the third kind are words about calls that were sent wrongly.
_TOOLS = re.compile(r"\btools?\b|tool[ _-]?(?:choice|us|call)|function[ _-]?call|\bfunctions\b", re.IGNORECASE)
_NO_SUPPORT = re.compile(
    r"(?:not?|n't) (?:\w+ )?(?:support|allow|permit|enabl|availab|implement)|unsupported|unrecogni[sz]ed|disabled"
    r"|un(?:known|expected) (?:field|param|arg|name|key)|no endpoints found|requires? --"
    r"|extra[ _](?:input|field|forbid)",
    re.IGNORECASE,
)
_WRONGLY_SENT = re.compile(r"tool_(?:call|use)_id|schema for (?:function|tool)|role '?\"?tool", re.IGNORECASE)
# The server could not read what the model called; another try may be better (Groq, llama.cpp).
_BAD_CALL = re.compile(
    r"tool_use_failed|failed to (?:call a function|parse tool call)|tool call validation failed", re.IGNORECASE
)
_FORMAT = re.compile(r"response_format|json_schema|json_object|structured output|guided_|grammar", re.IGNORECASE)
_PREFIXES = re.compile(r"^(?:(?:litellm\.)?\w*(?:Error|Exception|Timeout)(?: Error)?(?:: | - ))+")
_COPIES = re.compile(r"Original exception:|Traceback \(most recent call last\)")
_CONNECTION = re.compile(
    r"connection (?:error|refused|reset|attempts failed)|cannot connect|connect call failed|name resolution"
    r"|name or service not known|nodename nor servname",
    re.IGNORECASE,
)


class Transient(ModelError):
    """Another try may help. `retry_after` is in seconds, None where the server named no time."""

    retry_after: float | None = None


class CutShort(Transient):
    """The reply broke off, or there was none in the answer. One more try, charged like the first."""


class FormatRefused(Transient):
    """The server refused the form of reply that was asked for; the model knows a simpler one now."""


def words(text: object) -> str:
    """A provider's or a model's words, fit to be shown: redacted, on one line, cut short."""
    line = " ".join(redact_text(str(text)).split())
    return line if len(line) <= MAX_WORDS else line[: MAX_WORDS - 1] + "…"


def is_overflow(error: BaseException) -> bool:
    """Whether the request was longer than the model can take, whatever type the error came as."""
    if "ContextWindowExceededError" in _names(error):
        return True
    return _status(error) in (400, 413, 422, 500) and _OVERFLOW.search(str(error)) is not None


def no_tools(who: str, said: str = "") -> ModelError:
    """A model or server that makes no tool calls: never a reason to ask for them in some other form."""
    hint = (
        "set HISTORY_RECALL_REPAIR=never to index with this model (once: `index FILE --no-repair`), or name a model "
        "that makes tool calls"
    )
    words = f": {said}" if said else ""
    message = f"{who} makes no tool calls{words}; topic repair needs them, so nothing was published"
    return ModelError("unsupported_repair_model", message, hint)


def masked(text: str, secrets: Sequence[str]) -> str:
    """The text without these values, whether or not they look like keys: a server may repeat the one it was sent."""
    for secret in secrets:
        for form in (secret, json.dumps(secret)[1:-1]):
            text = text.replace(form, KEY_MARK)
    return text


def repeats(text: str, sent: str) -> bool:
    """Whether the text, where it may come to be shown, holds a piece of what was sent, however it is escaped."""
    answer, request = _letters(text[:_LOOKED_AT]), _letters(sent)
    return any(answer[at : at + _RUN] in request for at in range(len(answer) - _RUN + 1))


def classify(
    error: BaseException,
    *,
    endpoint: str,
    started: bool,
    formatted: bool,
    now: datetime,
    tooled: bool = False,
    secrets: Sequence[str] = (),
    sent: str = "",
) -> ModelError:
    """Litellm's error as ours. `started`: the stream had begun; `formatted`: a response_format was asked for;
    `tooled`: tools were sent along.

    Of the server's words none of the `secrets` is left, and nothing where they repeat what was `sent`.
    """
    names, status, plain = _names(error), _status(error), _plain(error)
    said = REPEATED if repeats(plain, sent) else words(masked(plain, secrets))
    if is_overflow(error):
        hint = "use a model with a longer context"
        message = f"The request is longer than the model's context: {said}"
        return ModelError("model_context_too_small", message, hint, {"overflow": True})
    if status in (401, 403) or "AuthenticationError" in names or "PermissionDeniedError" in names:
        return ModelError("auth_unavailable", f"{endpoint} refused the key: {said}", "check the provider's API key")
    if "ContentPolicyViolationError" in names:
        return ModelError("model_refused", f"The provider refused the request: {said}", "try another model")
    if status == 429:
        return _rate_limited(error, endpoint, said, now)
    if tooled and _BAD_CALL.search(str(error)):
        return CutShort("invalid_model_output", f"{endpoint} could not read the model's tool call: {said}")
    if tooled and not started and _refuses_tools(error, names, status):
        return no_tools(endpoint, said)
    if formatted and status in (400, 422) and _FORMAT.search(str(error)):
        return FormatRefused("model_request_failed", f"{endpoint} refused the reply format: {said}")
    if status == 404:
        hint = "check the model's name and HISTORY_RECALL_API_BASE"
        return ModelError("model_unavailable", f"{endpoint} does not have the model: {said}", hint)
    if started:
        return CutShort("model_request_failed", f"The reply of {endpoint} broke off: {said}", "try again later")
    if "Timeout" in names or status in (408, 504):
        return Transient("model_request_failed", f"{endpoint} did not answer in time: {said}", "try again later")
    if status is not None and 400 <= status < 500:
        return ModelError("model_request_failed", f"{endpoint} refused the request ({status}): {said}")
    if _CONNECTION.search(str(error)):
        return Transient("model_unavailable", f"{endpoint} cannot be reached: {said}", "is the server running?")
    if "APIConnectionError" in names:  # litellm gives this name to whatever it did not expect
        return Transient("model_request_failed", f"The request to {endpoint} failed: {said}", "try again later")
    if status is not None and status >= 500:
        code = "model_unavailable" if status == 503 else "model_request_failed"
        return Transient(code, f"{endpoint} failed ({status}): {said}", "try again later")
    return ModelError("model_request_failed", f"The request to {endpoint} failed: {type(error).__name__}: {said}")


def retry_after(headers: Mapping[str, str], now: datetime) -> float | None:
    """Seconds that a Retry-After header asks for: a number, or an HTTP date. None where it says nothing usable."""
    value = next((text.strip() for name, text in headers.items() if name.lower() == "retry-after"), "")
    if re.fullmatch(r"\d+(?:\.\d+)?", value):
        return min(float(value), MAX_WAIT)
    try:
        moment = parsedate_to_datetime(value)
        seconds = (moment.replace(tzinfo=moment.tzinfo or UTC) - now).total_seconds()
    except (TypeError, ValueError, OverflowError):
        return None
    return min(seconds, MAX_WAIT) if seconds > 0 else None


def _refuses_tools(error: BaseException, names: frozenset[str], status: int | None) -> bool:
    if "UnsupportedParamsError" in names:
        return True
    said = str(error)
    about_tools = _TOOLS.search(said) and _NO_SUPPORT.search(said) and not _WRONGLY_SENT.search(said)
    return status in (400, 404, 405, 422, 500, 501) and bool(about_tools)


def _letters(text: str) -> str:
    """The letters and digits alone, with escapes read."""
    read = _ESCAPE.sub(lambda found: chr(int(found[1], 16)) if found[1] else " ", text)
    return "".join(char for char in read if char.isalnum())


def _rate_limited(error: BaseException, endpoint: str, said: str, now: datetime) -> Transient:
    failure = Transient("rate_limited", f"{endpoint} limits the rate: {said}", "run the command again later")
    failure.retry_after = retry_after(_headers(error), now)
    return failure


def _plain(error: BaseException) -> str:
    """What the server said, without the names that litellm puts before it and the copies it puts behind."""
    wrapped = getattr(error, "original_exception", None)
    text = str(wrapped if isinstance(wrapped, BaseException) else error)
    said = _COPIES.split(text, maxsplit=1)[0]
    return _PREFIXES.sub("", said).strip() or type(error).__name__


def _headers(error: BaseException) -> Mapping[str, str]:
    response = getattr(error, "response", None)
    for found in (getattr(response, "headers", None), getattr(error, "litellm_response_headers", None)):
        if found:
            return {str(name): str(value) for name, value in dict(found).items()}
    return {}


def _names(error: BaseException) -> frozenset[str]:
    wrapped = getattr(error, "original_exception", None)
    inner = _names(wrapped) if isinstance(wrapped, BaseException) else frozenset()
    return inner | {kind.__name__ for kind in type(error).__mro__}


def _status(error: BaseException) -> int | None:
    wrapped = getattr(error, "original_exception", None)
    status = getattr(wrapped if isinstance(wrapped, BaseException) else error, "status_code", None)
    return status if isinstance(status, int) else None
