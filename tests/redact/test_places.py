"""Hand-written places, harmless texts, the cases from the field, private keys in armour."""

import json
from pathlib import Path
from typing import Any

import pytest

from fixtures.redact.forms import FORMS
from fixtures.redact.places import PLACES, B, P
from recall.redact import Redactor, redact_text

ROOT = Path(__file__).parents[2]
CASES = ROOT.parent / "shared" / "cases" / "inputs"
HARMLESS = (ROOT / "fixtures" / "redact" / "harmless.txt").read_text(encoding="utf-8")
HARMLESS_FORMS = (ROOT / "fixtures" / "redact" / "harmless_forms.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize("index", range(len(PLACES + FORMS)))
def test_secret_is_gone(index: int) -> None:
    secret, text = (PLACES + FORMS)[index]
    redacted = redact_text(text)
    assert secret not in redacted
    assert redact_text(redacted) == redacted


@pytest.mark.parametrize("line", HARMLESS.splitlines() + HARMLESS_FORMS.splitlines())
def test_harmless_line_stays(line: str) -> None:
    assert redact_text(line) == line


def test_harmless_text_stays_as_a_whole() -> None:
    assert redact_text(HARMLESS) == HARMLESS
    assert redact_text(HARMLESS_FORMS) == HARMLESS_FORMS


@pytest.mark.parametrize("number", ["092", "094", "096", "097", "098", "100", "104", "106"])
def test_case_from_the_field(number: str) -> None:
    if not CASES.is_dir():
        pytest.skip("the shared cases are not on this machine")
    for case in json.loads(next(CASES.glob(f"{number}-*.json")).read_text(encoding="utf-8"))["cases"]:
        text = redact_text("".join(case["in_parts"]))
        assert not [gone for gone in case["must_be_gone"] if gone in text]
        assert not [stay for stay in case["must_stay"] if stay not in text]


def test_case_of_a_parsed_object() -> None:
    if not CASES.is_dir():
        pytest.skip("the shared cases are not on this machine")
    case: dict[str, Any] = json.loads((CASES / "103-mask-breaks-json.json").read_text(encoding="utf-8"))
    written = json.dumps(Redactor().tree(case["object"]))
    json.loads(written)
    assert not [gone for gone in case["must_be_gone"] if gone in written]


def test_case_of_slices() -> None:
    if not CASES.is_dir():
        pytest.skip("the shared cases are not on this machine")
    case: dict[str, Any] = json.loads((CASES / "101-chunk-split-secret.json").read_text(encoding="utf-8"))
    secret = case["secret"]
    text = redact_text(
        "".join(case["text_parts"])
        if secret in "".join(case["text_parts"])
        else f"{case['text_parts'][0]} token={secret}"
    )
    assert not any(secret[at : at + 8] in text for at in range(len(secret) - 7))


def test_text_around_a_cut_key_stays() -> None:
    cut = P.split("\n-----END")[0]
    assert (
        redact_text(f"before\n{cut}\nafter that came words")
        == "before\n[REDACTED:private-key#1]\nafter that came words"
    )
    assert (
        redact_text(f"see:\n{P}\nthanks, see sandpiper.py")
        == "see:\n[REDACTED:private-key#1]\nthanks, see sandpiper.py"
    )


def test_public_parts_stay() -> None:
    for label in ("CERTIFICATE", "PUBLIC KEY", "SSH SIGNATURE"):
        text = f"-----BEGIN {label}-----\n{B}\n-----END {label}-----\n"
        assert redact_text(text) == text


def test_the_words_of_a_header_are_no_key() -> None:
    text = (
        'if line.startswith("-----BEGIN RSA PRIVATE' + ' KEY-----"): return True  # -----END RSA PRIVATE' + " KEY-----"
    )
    assert "return True" in redact_text(text)


def test_blobs_are_noted_with_kind_and_length() -> None:
    import base64

    data = base64.b64encode(bytes(range(256)) * 4).decode()
    assert redact_text(f"a data:image/png;base64,{data} b") == "a [image/png omitted, 1024 bytes] b"
    assert redact_text(f"a {data} b") == "a [base64 omitted, 1024 bytes] b"
    image = {"type": "image", "mimeType": "image/png", "data": data}
    assert Redactor().tree(image) == {
        "type": "image",
        "mimeType": "image/png",
        "data": "[image/png omitted, 1024 bytes]",
    }
