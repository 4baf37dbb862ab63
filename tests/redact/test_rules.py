"""Every rule has a text of its own, finds the secret in it, and the redactor takes it out."""

import re

import pytest

from fixtures.redact.grid import ALONE, BY_NAME, NAMED, VALUES_IN_ANY_LANGUAGE, VENDOR
from fixtures.redact.samples import SAMPLES
from recall.redact import redact_text
from recall.redact.engine import ALL_CONTEXT_RULES, ALL_VENDOR_RULES
from recall.redact.rules_structure import SYNTAXES

RULES = {rule.name: rule for rule in ALL_VENDOR_RULES + ALL_CONTEXT_RULES}


def left(secret: str, text: str) -> bool:
    """Whether eight letters in a row of a long secret, or a short one whole, still stand in the text."""
    text = re.sub("\x1b\\[[0-9]*m|\u200b", "", re.sub(r"\[REDACTED:[^\]]*\]", "", text))
    body = secret.rsplit("/", 1)[-1] if secret.startswith("https:") else secret
    pieces = [body[at : at + 8] for at in range(0, len(body) - 7, 4)] if len(body) >= 16 else [body]
    return any(piece in text for piece in pieces)


def test_each_rule_has_one_text_and_each_text_a_rule() -> None:
    assert len(RULES) == len(ALL_VENDOR_RULES) + len(ALL_CONTEXT_RULES), "two rules of one name"
    assert set(SAMPLES) == set(RULES)
    assert len({rule.kind for rule in ALL_VENDOR_RULES}) >= 100


@pytest.mark.parametrize("name", sorted(RULES))
def test_rule_finds_its_secret(name: str) -> None:
    rule, (text, parts) = RULES[name], SAMPLES[name]
    match = rule.pattern.search(text)
    assert match is not None
    assert match["v"]
    assert rule.check is None or rule.check(match["v"])
    assert any(anchor in (text.lower() if rule.fold else text) for anchor in rule.anchors)
    redacted = redact_text(text)
    assert redacted != text
    assert not any(part in redacted for part in parts if len(part) > 6)
    assert redact_text(redacted) == redacted


@pytest.mark.parametrize("kind", sorted(VENDOR))
def test_vendor_forms_in_every_way(kind: str) -> None:
    secret = VENDOR[kind]
    missed = [way for way, place in ALONE.items() if left(secret, redact_text(place(secret)))]
    assert not missed


@pytest.mark.parametrize("way", sorted(BY_NAME))
def test_values_behind_their_names(way: str) -> None:
    # a lower-case name and a weak word in two columns say too little
    missed = [name for name, (said, value) in NAMED.items() if left(value, redact_text(BY_NAME[way](said, value)))]
    assert not missed


@pytest.mark.parametrize("way", sorted(VALUES_IN_ANY_LANGUAGE))
def test_values_in_sentences(way: str) -> None:
    missed = [value for _, value in NAMED.values() if left(value, redact_text(VALUES_IN_ANY_LANGUAGE[way](value)))]
    assert not missed


def test_grid_is_as_large_as_promised() -> None:
    assert len(VENDOR) >= 150
    assert len(ALONE) >= 30
    assert len(NAMED) >= 40
    assert len(BY_NAME) >= 60


def test_each_syntax_reads_a_value() -> None:
    texts = [place(said, value) for place in BY_NAME.values() for said, value in NAMED.values()]
    texts += [
        'args = ["--password", "x9Yfoo1q"]',
        'passwords = ["x9Yfoo1q", "y8Zbar2w"]',
        'password = flag ? a : b || "x9Yfoo1q"',
        'user.setPassword("x9Yfoo1q")',
        "DB_PASSWORD%3Dx9Yfoo1q",
        'name="password"\r\n\r\nx9Yfoo1q\r\n',
        "the password:\nx9Yfoo1q\n",
        "Enter password for root? x9Yfoo1q",
        "kubectl config set-credentials x --password 'x9Yfoo1q'",
        'password "x9Yfoo1q"',
        "&lt;password&gt;x9Yfoo1q&lt;/password&gt;",
        '<a name="password">x9Yfoo1q</a>',
        "psql set password x9Yfoo1q",
        "page.locator('#password').fill('x9Yfoo1q')",
        "page.fill('#password', 'x9Yfoo1q')",
        'def get_api_key():\n    return "x9Yfoo1qZ"',
        "<key>Password</key>\n<string>x9Yfoo1q</string>",
        '["password", "x9Yfoo1qZ4"]',
        "Enter password> x9Yfoo1qZ4",
        "Password [hidden]: x9Yfoo1q",
        "<Password><Value>x9Yfoo1q</Value></Password>",
        "DefaultPassword    REG_SZ    x9Yfoo1q",
        '{:password, "x9Yfoo1qZ4"}',
    ]
    for syntax in SYNTAXES:
        assert any(
            syntax.join.match(text, at.end()) for text in texts for at in re.finditer(r"[A-Za-z][\w.\-]*", text)
        ), syntax.name
    assert not [text for text in texts[-22:] if "x9Yfoo1q" in redact_text(text)]
