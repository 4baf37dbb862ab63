"""Text that is glued to a mark: whoever writes a log can put a false placeholder in front of a secret."""

import pytest

from recall.redact import Redactor, redact_text

SECRET = "Kf83jdk29dk3sQQ"
MARKS = [
    "[REDACTED:x#1]",
    "[REDACTED:token#3]",
    "[REDACTED:x#1][REDACTED:y#2]",
    "[REDACTED]",
    "[redacted]",
    "<redacted>",
    "[FILTERED]",
    "{masked}",
    "[image/png omitted, 12 bytes]",
]
PLACES = [
    "password={}",
    "TOKEN={}",
    "DB_PASS={} # of the base",
    'password: "{}"',
    "api_key: '{}',",
    '{{"password": "{}"}}',
    "the password is {} and that is it",
    "--password {} --user ana",
]


@pytest.mark.parametrize("mark", MARKS)
@pytest.mark.parametrize("place", PLACES)
def test_what_is_glued_to_a_mark_goes(mark: str, place: str) -> None:
    for value in (mark + SECRET, SECRET + mark, mark + SECRET + mark):
        once = redact_text(place.format(value))
        assert SECRET not in once
        assert redact_text(once) == once


@pytest.mark.parametrize("mark", MARKS)
def test_what_is_glued_to_a_mark_in_a_tree_goes(mark: str) -> None:
    once = Redactor().tree({"password": mark + SECRET, "client_secret": SECRET + mark})
    assert SECRET not in repr(once)
    assert Redactor().tree(once) == once


@pytest.mark.parametrize(
    "text",
    [
        "password=[REDACTED:password#1]",
        "password=[REDACTED:password#1] and words behind it",
        "postgres://ana:[REDACTED:url-password#1]@db.invalid/app",
        'password: "[REDACTED:password#1]", user',
        "password=[redacted], token=[redacted]",
        "f(password=[REDACTED:password#1])",
        "password: [redacted] because of the rules",
        "https://h.invalid/?token=[REDACTED:token#1]&page=2",
    ],
)
def test_marks_without_anything_glued_stay(text: str) -> None:
    assert redact_text(text) == text
