"""Errors told apart by what is to be done about them (cases B079, B080)."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from recall.errors import ModelError
from recall.models.failures import CutShort, FormatRefused, Transient, classify, is_overflow, retry_after, words
from tests.shared import SHARED, needs_shared

NOW = datetime(2026, 3, 2, 9, 0, 0, tzinfo=UTC)


class _Error(Exception):
    def __init__(self, text: str, status: int | None = None, headers: dict[str, str] | None = None) -> None:
        super().__init__(text)
        self.status_code = status
        self.litellm_response_headers = headers


class BadRequestError(_Error):
    pass


class ContextWindowExceededError(_Error):
    pass


class APIConnectionError(_Error):
    pass


class Timeout(_Error):
    pass


def _read(error: BaseException, *, started: bool = False, formatted: bool = False) -> ModelError:
    return classify(error, endpoint="here", started=started, formatted=formatted, now=NOW)


@pytest.mark.parametrize(
    ("error", "kind", "code"),
    [
        (_Error("no", 401), ModelError, "auth_unavailable"),
        (_Error("no", 403), ModelError, "auth_unavailable"),
        (_Error("no such model", 404), ModelError, "model_unavailable"),
        (_Error("slow down", 429), Transient, "rate_limited"),
        (_Error("no", 500), Transient, "model_request_failed"),
        (_Error("no", 502), Transient, "model_request_failed"),
        (_Error("no", 503), Transient, "model_unavailable"),
        (_Error("InternalServerError - Connection error.", 500), Transient, "model_unavailable"),
        (APIConnectionError("Cannot connect to host 127.0.0.1:9"), Transient, "model_unavailable"),
        (APIConnectionError("'choices'", 500), Transient, "model_request_failed"),
        (Timeout("late", 408), Transient, "model_request_failed"),
        (_Error("late", 504), Transient, "model_request_failed"),
        (BadRequestError("no", 400), ModelError, "model_request_failed"),
        (_Error("too large", 413), ModelError, "model_request_failed"),
        (_Error("no", 422), ModelError, "model_request_failed"),
        (ContextWindowExceededError("no", 400), ModelError, "model_context_too_small"),
        (ValueError("odd"), ModelError, "model_request_failed"),
    ],
)
def test_each_error_has_its_code_and_says_whether_to_try_again(
    error: BaseException, kind: type[ModelError], code: str
) -> None:
    failure = _read(error)
    assert (type(failure), failure.code) == (kind, code)


def test_what_began_is_cut_short() -> None:
    assert isinstance(_read(APIConnectionError("gone", 500), started=True), CutShort)


def test_only_a_format_that_was_asked_for_can_be_refused() -> None:
    error = BadRequestError("unknown parameter: response_format", 400)
    assert isinstance(_read(error, formatted=True), FormatRefused)
    assert type(_read(error)) is ModelError


@needs_shared
def test_case_of_overflows_under_other_names() -> None:
    case = json.loads((SHARED / "cases/inputs/079-context-window-unmapped.json").read_text(encoding="utf-8"))
    found = [is_overflow(BadRequestError(one["body"], one["status"])) for one in case["errors"]]
    assert found == [True, True, True, False]


@pytest.mark.parametrize(
    ("text", "overflow"),
    [
        ("This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens.", True),
        ("prompt is too long: 210000 tokens > 200000 maximum", True),
        ("the request exceeds the available context size. try increasing the context size", True),
        ("Requested tokens (9001) exceed context window of 8192", True),
        ("Range of input length should be [1, 30720]", True),
        ("max_tokens is too large", False),
        ("the tool list is too long", False),
        ("invalid temperature", False),
    ],
)
def test_overflow_by_known_phrases(text: str, overflow: bool) -> None:
    assert is_overflow(BadRequestError(text, 400)) is overflow


def test_an_overflow_says_that_a_shorter_request_may_pass() -> None:
    assert _read(ContextWindowExceededError("no", 400)).data == {"overflow": True}


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("2", 2.0),
        ("0.5", 0.5),
        ("Mon, 02 Mar 2026 09:00:05 GMT", 5.0),
        ("86400", 86400.0),
        ("-1", None),
        ("Mon, 02 Mar 2026 08:00:00 GMT", None),
        ("soon", None),
        ("", None),
    ],
)
def test_retry_after_in_both_forms(value: str, seconds: float | None) -> None:
    assert retry_after({"Retry-After": value}, NOW) == seconds
    failure = _read(_Error("slow down", 429, {"retry-after": value}))
    assert isinstance(failure, Transient)
    assert failure.retry_after == seconds


def test_keys_and_long_texts_do_not_get_into_a_message() -> None:
    key = "sk-" + "abcdefghijklmnopqrstuvwxyz" + "1234567890ABCDEFGHIJ"
    said = _read(
        _Error(f"litellm.AuthenticationError: AuthenticationError: OpenAIException - bad {key}\n" + "x" * 999, 401)
    )
    assert key not in str(said)
    assert said.message.startswith("here refused the key: bad [REDACTED:")
    assert len(words("y" * 9999)) == 240
