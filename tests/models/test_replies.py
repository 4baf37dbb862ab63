"""From a model's words to one object (cases B068 to B076)."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall.errors import ModelError
from recall.models.failures import CutShort
from recall.models.replies import MAX_CHARS, InvalidReply, judge, read_object
from recall.models.request import ModelReply
from tests.models.setting import GOOD, SCHEMA
from tests.shared import SHARED, needs_shared

WORD = {"word": "lantern"}
TICKS = {"word": "keep ```inner``` ticks"}


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        f"```json\n{GOOD}\n```",
        f"```\n{GOOD}```",
        f"  ```JSON \r\n{GOOD}\r\n```  \n",
        f"```json {GOOD} ```",
        f"\ufeff{GOOD}\n",
        f'<think>maybe {{"word": "no"}}?</think>\n{GOOD}',
        f"Sure {{draft 2}} - the record follows: {GOOD} regards {{bot}}",
        f'{{"other": 1}} and then {GOOD}',
        f"Here:\n```json\n{GOOD}\n```\nAnything else?",
    ],
)
def test_one_object_is_found(text: str) -> None:
    assert read_object(text, SCHEMA) == WORD


@pytest.mark.parametrize("fence", ["```json\n{}\n```", "```\n{}```", "{}"])
def test_backticks_inside_a_string_stay(fence: str) -> None:
    assert read_object(fence.replace("{}", json.dumps(TICKS)), SCHEMA) == TICKS


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "not one JSON object"),
        ("no braces here", "not one JSON object"),
        (f"{GOOD}\n{GOOD}", "2 JSON objects"),
        (f'{GOOD} or {{"word": "lamp"}}', "2 JSON objects"),
        ('{"word": "a", "word": "b"}', "twice"),
        ('I say {"word": "a", "word": "b"}', "twice"),
        ('{"word": "a", "score": NaN}', "NaN"),
        ('{"word": "a", "score": -Infinity}', "-Infinity"),
        ('{"word": "a", "score": 1e999}', "out of range"),
        ('{"word": "a", "score": ' + "9" * 5000 + "}", "out of range"),
        ('{"word": "a", "score": 12345678901234567890}', "out of range"),
        ('{"word": "lant', "not one JSON object"),
        ('{"word": 5}', "$.word has to be of type string"),
        ('{"word": ""}', "minLength"),
        ("{}", "lacks word"),
        ('{"word": "a", "extra": 1}', "only the keys score, word"),
        (f"[{GOOD}]", "$ has to be of type object"),
        ("null", "$ has to be of type object"),
        ("[" * 100_000, "nested"),
        ('{"a":' * 100_000, "nested"),
        ('{"word": "a", "x": ' + "[" * 60 + "]" * 60 + "}", "nested"),
        ("{" * 100_000, "not one JSON object"),
        ("x" * (MAX_CHARS + 1), "longer than"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_what_is_not_one_good_object_is_refused_by_name(text: str, said: str) -> None:
    with pytest.raises(InvalidReply) as caught:
        read_object(text, SCHEMA)
    assert said in caught.value.message


def test_the_refusal_does_not_quote_the_reply() -> None:
    with pytest.raises(InvalidReply) as caught:
        read_object(json.dumps({"word": "the launch code is tulip " * 9}), SCHEMA)
    assert caught.value.message.endswith("$.word breaks maxLength 60 (it has 225)")


def test_lone_surrogates_become_replacement_characters() -> None:
    assert read_object('{"word": "a\\ud83d!"}', SCHEMA) == {"word": "a\ufffd!"}
    assert read_object('{"word": "a\ud83d!"}', SCHEMA) == {"word": "a\ufffd!"}
    assert read_object('{"word": "\\ud83d\\ude00"}', SCHEMA) == {"word": "😀"}


def test_a_secret_in_a_reply_is_masked_and_the_json_holds() -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"
    found = read_object(json.dumps({"word": f'"{secret}" \\'}), SCHEMA)
    assert isinstance(found, dict)
    assert secret not in found["word"]
    assert "[REDACTED:" in found["word"]


@given(st.text())
def test_any_text_gives_an_object_or_a_refusal(text: str) -> None:
    try:
        found = read_object(text, SCHEMA)
    except InvalidReply:
        return
    assert isinstance(found, dict)


_json = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**17), 10**17)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(st.dictionaries(st.text(), _json, max_size=4), st.booleans(), st.booleans())
def test_any_object_is_read_back_bare_or_fenced(value: dict[str, object], fence: bool, ascii_only: bool) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only)
    read = read_object(f"```json\n{text}\n```" if fence else text, {"type": "object"})
    assert isinstance(read, dict)
    assert len(read) == len(value)


@pytest.mark.parametrize(
    ("reply", "code"),
    [
        (ModelReply(GOOD, "length"), "model_output_truncated"),
        (ModelReply('{"word": "lan', "length"), "model_output_truncated"),
        (ModelReply("", "length", 900, 200, 199), "model_output_truncated"),
        (ModelReply("I can't help with that.", "refusal"), "model_refused"),
        (ModelReply(GOOD, "content_filter"), "model_refused"),
        (ModelReply(GOOD, ""), "model_request_failed"),
    ],
)
def test_how_a_reply_ended_comes_before_what_it_says(reply: ModelReply, code: str) -> None:
    with pytest.raises(ModelError) as caught:
        judge(reply, 4096)
    assert caught.value.code == code


def test_a_budget_spent_on_reasoning_is_named_with_its_numbers() -> None:
    with pytest.raises(ModelError, match="spent on reasoning: 199 of 200 tokens") as caught:
        judge(ModelReply("", "length", 900, 200, 199), 200)
    assert caught.value.data["reasoning"] is True


def test_no_finish_reason_is_a_reply_cut_short() -> None:
    with pytest.raises(CutShort):
        judge(ModelReply(GOOD, ""), 4096)


@pytest.mark.parametrize("text", ["", " \n"])
def test_an_empty_reply_is_asked_again(text: str) -> None:
    with pytest.raises(InvalidReply, match="empty"):
        judge(ModelReply(text, "stop"), 4096)


_CASE_SCHEMA = {
    "type": "object",
    "properties": {
        "summary": {"type": "string"},
        "facets": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "title": {"type": "string"},
                    "confidence": {"type": "number", "minimum": 0, "maximum": 1},
                    "evidence": {"type": "array", "items": {"type": "string"}},
                },
                "required": ["title", "evidence"],
                "additionalProperties": False,
            },
        },
    },
    "required": ["summary", "facets"],
    "additionalProperties": False,
}


def _texts(case: str) -> list[str]:
    path = SHARED / "cases" / "inputs" / case
    return [
        one["choices"][0]["message"]["content"] for one in json.loads(path.read_text(encoding="utf-8"))["responses"]
    ]


@needs_shared
def test_cases_of_fences_and_chatter() -> None:
    fenced = _texts("068-llm-code-fence.json")
    chatty, ambiguous = _texts("069-llm-prose-with-braces.json")
    for text in [*fenced, chatty]:
        assert isinstance(read_object(text, _CASE_SCHEMA), dict)
    with pytest.raises(InvalidReply, match="2 JSON objects"):
        read_object(ambiguous, _CASE_SCHEMA)


@needs_shared
def test_cases_of_numbers_that_are_none() -> None:
    for text in _texts("073-llm-nan.json"):
        with pytest.raises(InvalidReply, match="not valid JSON"):
            read_object(text, _CASE_SCHEMA)
