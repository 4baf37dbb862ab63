"""Terms of the built-in analyser: one key for the spellings of a word, whatever its accents are made of."""

from __future__ import annotations

import unicodedata

import pytest

from recall.models.extractive.terms import bag, count, keys_of

TEXTS = ["la forêt est détaillée", "perché in Zürich", "ångström über naïve", "проверка ёлки", "パスワードのガイド"]


@pytest.mark.parametrize("text", TEXTS)
def test_letters_and_their_accents_apart_or_together_make_the_same_terms(text: str) -> None:
    apart = unicodedata.normalize("NFD", text)
    assert apart != text
    assert list(keys_of(apart)) == list(keys_of(text))
    made, other = bag(apart, 1.0, phrases=True), bag(text, 1.0, phrases=True)
    assert (made.terms, made.phrases, made.surfaces) == (other.terms, other.phrases, other.surfaces)


def test_a_word_with_accents_is_a_word_and_has_its_plain_key() -> None:
    assert count([("forêt", 1.0)]) == count([("foret", 1.0)]) == {"foret": 1.0}
    assert count([("détaillé", 1.0)]) == count([("detaille", 1.0)])
    assert bag("la forêt", 1.0, phrases=True).surfaces["foret"] == "forêt", "shown as it was written"


def test_an_identifier_has_its_parts() -> None:
    assert {"update_session_cwd", "session", "cwd"} <= count([("update_session_cwd", 1.0)]).keys()
