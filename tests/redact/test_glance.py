"""What is told at a glance to be plain holds nothing that the rules find."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fixtures.redact.forms import FORMS
from fixtures.redact.grid import ALONE, BY_NAME, NAMED, VALUES_IN_ANY_LANGUAGE, VENDOR
from fixtures.redact.places import PLACES
from fixtures.redact.samples import SAMPLES
from recall.redact import Redactor, engine
from recall.redact.glance import LONGEST
from recall.redact.rule import Span
from recall.redact.view import View

from .test_anchors import TEXTS

CODING = Path(__file__).parents[2] / "fixtures" / "coding"
# What may be read otherwise, stand in front of a line, or make another word of two.
IN_FRONT = (
    *("foo-12-", "a.py:7:", "  12\t", "12→", "> ", "+", "[2026-11-02 09:00:01] ", "web-1  | ", "：", "\u200b"),
    *("\uff21", "\u212a", "\u0130", "密", "&quot;", "\\n", "%22", "\x1b[0m", "_", "-", "a", "0", "\n", ""),
)


def _secrets() -> Iterator[str]:
    yield from (text for text, _ in SAMPLES.values())
    yield from (text for _, text in PLACES + FORMS)
    yield from (place(secret) for place in ALONE.values() for secret in VENDOR.values())
    yield from (say(*named) for say in BY_NAME.values() for named in NAMED.values())
    yield from (say(value) for say in VALUES_IN_ANY_LANGUAGE.values() for _, value in NAMED.values())


SECRETS = sorted(set(_secrets()))


def _found(text: str) -> bool:
    view = View(text)
    return bool(engine.find(view.text, view.beyond))


def test_no_known_secret_is_plain() -> None:
    assert len(SECRETS) > 9000
    assert [text for text in SECRETS if engine.is_plain(text) and _found(text)] == []
    assert sum(map(_found, SECRETS)) > 9000


@settings(max_examples=1500, deadline=None)
@given(st.sampled_from(SECRETS), st.sampled_from(IN_FRONT), st.integers(0, 60), st.integers(0, 200), st.booleans())
def test_no_changed_secret_that_is_found_is_plain(text: str, put: str, at: int, cut: int, lines: bool) -> None:
    at %= len(text) + 1
    text = text[:at] + put + text[at:]
    text = text[: len(text) - cut % len(text)] if cut > 100 else text
    text = "\n".join(put + line for line in text.split("\n")) if lines else text
    assert not (engine.is_plain(text) and _found(text))


@settings(max_examples=600, deadline=None)
@given(TEXTS)
def test_no_text_of_anchors_that_is_found_is_plain(text: str) -> None:
    assert not (engine.is_plain(text) and _found(text))


def test_most_strings_of_a_log_are_plain(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [line for path in sorted(CODING.rglob("*.jsonl")) for line in path.read_text("utf-8").splitlines()]
    read: list[str] = []
    find = engine.find

    def noted(text: str, beyond: frozenset[str] | None = None) -> list[tuple[Span, str | None]]:
        read.append(text)
        return find(text, beyond)

    monkeypatch.setattr(engine, "find", noted)
    redactor = Redactor()
    for line in lines:
        redactor.tree(json.loads(line))
    short = {text for line in lines for text in _strings(json.loads(line)) if 16 <= len(text) <= LONGEST}
    assert len(short) > 2000
    assert len(short.intersection(read)) < len(short) / 2


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _strings(item)
