"""How much a value has to prove, in the syntax where it stands, before it counts as a secret.

A value in quotes behind ``password`` need not prove anything but that it is no reference; a word behind a colon in the
middle of code has to look like a secret; a word in a sentence has to end it. The names' strengths raise the bar.
"""

import re
from functools import lru_cache

from .names import Name
from .rules_structure import Syntax
from .values import (
    has_digit,
    has_letter,
    is_plain_number,
    is_plain_phrase,
    is_public_id,
    is_reference,
    is_weak_secret,
    looks_random,
    looks_secret,
    odd,
    unmarked,
)

ENOUGH = 512  # letters of a value that decide whether it is a secret
_LINE_START = re.compile(
    r"(?:^|\\n)(?:\x1b\[[0-9;]*m)?(?:[ \t>+\-|#*$%]|\d{1,7}[:\t→|\-]|[\w./\-]{1,120}\.?\w*[:\-]\d{1,7}[:\-]|\w[\w.\-]{0,30}(?:=|>)\s)*+"
    r"(?:(?:export|set|setx|declare|local|readonly|typeset|env|ENV|ARG|SET|def|val|var|const|let|\$env:|-e|--env|--build-arg|-x|-gx|-D|Environment=|SetEnv|os\.environ)\s{0,3}[\"'\[(]?)*[\w.\-$]{0,60}$"
)
_EDGE = re.compile(r"[ \t]*(?:\r?\n|\\r|\\n|$|[\"'`](?:[ \t,]*(?:\n|$))|#|(?<=[ \t]);[ \t])")
_CONFIG_LINE = re.compile(r"\s*(?:\[[\w.\- ]+\]|[;#].*|[\w.\-]+\s*=\s*[^\"'(){}\[\]=]+)\r?")
_STOP_WORDS = frozenset(
    "wrong incorrect correct right fine ok okay good bad weak strong short long empty blank missing required optional invalid valid "
    "unknown known secret secure insecure safe unsafe hidden visible public private same different new old set unset stored saved "
    "hashed encrypted plain expired accepted rejected refused needed used given gone there here not never always also only just still "
    "now what where when how why who which something anything nothing everything sent passed checked read written taken kept shown "
    "leaked exposed compromised case-sensitive sensitive mandatory unchanged changed reset disabled enabled present absent available "
    "unavailable undefined null none random static dynamic default temporary permanent generated configured provided supplied entered "
    "typed prompted asked logged printed masked redacted removed deleted rotated revoked the a an in on to for from at by with your my "
    "our his her their its this that these those patience simple easy hard trivial obvious short-lived long-lived too very so being "
    "ready protected supposed going about important unique shared local remote global yours mine ours theirs wrongly probably likely "
    "abgelaufen falsch ungültig richtig korrekt leer nötig erforderlich obligatorisch zwingend sicher unsicher geheim bekannt vergessen geändert obligatoria obligatorio obligatoire "
    "obligatória obligatório obbligatoria requerida requise requis incorrecta incorrecto incorrecte inválida inválido invalide expirée expirada scaduta corta courte breve débil faible fuerte "
    "необходим обязателен неверный "
    "confirmed confidential automatically generated. stale broken unclear clear ambiguous handled managed injected loaded parsed sourced "
    "pulled fetched coming bound tied scoped limited all yes no true false it one two three first last next".split()
)
_ISSUED = re.compile(
    r"(?=[^A-Z]*[A-Z])(?=[^a-z]*[a-z])(?=[^0-9]*[0-9])(?:[A-Za-z0-9_\-]{24,90}|[A-Za-z0-9+/]{24,90}={1,2})"
)
_WORDS_JOINED = re.compile(r"[a-z]{3,}_[a-z]{3,}")
_UUID = re.compile(r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}")
_HOLLOW = re.compile(r"(?i).*(?:ed|ing|able|ible|ent|less|ful|ous|ly)$")
_CODE = re.compile(r"\d{3}[- ]\d{3}|[a-z0-9]{4,6}-[a-z0-9]{4,6}")
_SIGN = re.compile(r"[!@#$%^&*+=~?]")
_WORDS_ONLY = re.compile(r"[a-z]{3,12}(?:_[a-z]{3,12}){1,3}")
_SAYS_PASSWORD = re.compile(r"(?i).*(?:pass|pwd).*")
_NEXT_ARGUMENT = re.compile(r"\s*(?:$|\n|\\n|--?\w|[\"'|&;<>)/]|\\\r?\n|https?:)")
_NUMBERED = re.compile(r"[a-z_]+(?:_[a-z0-9]+)+|[a-z]{1,2}\d")
_PAIR_BEFORE = re.compile(r"(?:^|\s)\w+=\S+\s+$")
_PAIR_BEHIND = re.compile(r"\s+\w+=\S")
_CALLED = re.compile(r"[A-Za-z_][\w.]*[(\[=:]")
_OF_BASE64 = re.compile("[+=]")
_EITHER = re.compile(r"[A-Za-z]+[-/][A-Za-z/-]+")
_HYPHENED = re.compile(r"[A-Za-z]+(?:-[A-Za-z]+)*")
_NO_VALUE_BEFORE = re.compile(r"(?i)(?:\bto\s|[=(]\s?)$")
_ENDS = re.compile(r"[ ]?(?:[.!,)。、です]|$|\n|\\n)")


@lru_cache(maxsize=64)  # asked a few times of each name, by one syntax after the other
def begins_line(before: str) -> bool:
    """Whether nothing stands in a line before a name but what sets it there."""
    return _LINE_START.search(before) is not None


@lru_cache(maxsize=64)
def _pair_before(before: str) -> bool:
    return _PAIR_BEFORE.search(before) is not None


def accept(value: str, name: Name, proof: str, literal: bool) -> bool:
    value = unmarked(value[:ENOUGH].strip())
    if is_reference(value, literal):
        return False
    if name.kind in ("pin", "otp"):
        return (
            (value.isdigit() and 4 <= len(value) <= 10)
            or (name.kind == "otp" and looks_secret(value))
            or bool(_CODE.fullmatch(value))
        )
    if name.strength == 0:
        return _ISSUED.fullmatch(value) is not None and looks_random(value)
    if name.strength == 1:
        return looks_random(value)
    if name.kind == "session" and is_public_id(value):
        return False
    if name.strength == 2:
        return looks_secret(value) or (literal and name.kind == "password" and is_plain_phrase(value))
    if not is_weak_secret(value, literal):
        return False
    if proof == "weak":
        return True
    if proof == "sign":
        return _has_sign(value) and " " not in value and not is_plain_number(value)
    return looks_secret(value)


@lru_cache(maxsize=256)
def _has_sign(value: str) -> bool:
    return (
        (has_digit(value) and has_letter(value))
        or odd(value)
        or bool(_SIGN.search(value))
        or (len(value) >= 16 and looks_secret(value))
    )


@lru_cache(maxsize=256)
def _given_in_three_classes(value: str) -> bool:
    return (
        len(value) >= 5 and has_digit(value) and value.lower() != value and value.upper() != value and value.isalnum()
    )


def _two_words(value: str) -> bool:
    """Words joined by an underscore, none of which is one that says something about a secret."""
    words = value.lower().split("_")
    return (
        _WORDS_ONLY.fullmatch(value) is not None
        and _STOP_WORDS.isdisjoint(words)
        and not any(_HOLLOW.match(word) for word in words)
        and is_weak_secret("".join(words), True)
        and not _OF_CODE.search(value)
    )


_OF_CODE = re.compile(
    r"(?:^|_)(?:get|set|is|has|on|to|from|id|ids|user|users|name|names|type|types|data|info|file|files|path|url|uri|env|var|vars|conf|config|"
    r"test|tests|field|fields|form|value|values|list|dict|map|str|int|bool|obj|object|func|fn|method|class|module|code|error|errors|"
    r"request|response|client|server|handler|manager|provider|service|factory|model|schema|table|column|row|index|count|size|len|max|min|"
    r"read|write|only|run|load|save|parse|check|valid|state|status|mode|flag|option|options|arg|args|param|params|input|output|result|"
    r"hash|salt|hex|base|text|string|number|date|time|day|hour|api|app|web|http|https|sql|db|database|cache|queue|job|task|event|log|logs|"
    r"account|login|auth|session|admin|root|default|local|global|main|master|prod|dev|staging|sub|new|old|key|keys|secret|token|pass|password)(?:_|$)"
)


def accept_bare(text: str, before: str, word: str, start: int, end: int, name: Name, syntax: Syntax) -> bool:
    value = unmarked(text[start : min(end, start + ENOUGH)])
    at_edge = _EDGE.match(text, end) is not None
    if syntax.proof == "below" or (syntax.proof == "lone" and not at_edge):
        return name.strength >= 2 and _stands_out(value) and text[end : end + 1] not in ("(", "=", "[")
    if value == word.rsplit(".", 1)[-1] or (syntax.proof == "column" and not at_edge):
        return False
    if is_reference(value, False) or name.strength < 3 or name.kind in ("pin", "otp"):
        sure = syntax.proof != "column" or looks_random(value) or _UUID.fullmatch(value) is not None
        return accept(value, name, "secret", False) and (
            sure or (name.kind == "pin" and "_" in word and begins_line(before))
        )
    if not is_weak_secret(value, False):
        words = _WORDS_JOINED.fullmatch(value) is not None and at_edge and word.isupper()
        return words and syntax.name == "assignment, tight" and begins_line(before) and is_weak_secret(value, True)
    if syntax.proof == "column":
        sure = looks_secret(value) or word.isupper() or (len(value) >= 5 and has_digit(value) and begins_line(before))
        return at_edge and _has_sign(value) and sure and not value.startswith(("-", "=")) and "," not in value
    if syntax.proof == "lone":
        return at_edge and (looks_secret(value) or (bool(_SAYS_PASSWORD.fullmatch(word)) and _has_sign(value)))
    if syntax.proof == "flag":
        if _has_sign(value) or (value.isdigit() and len(value) >= 4):
            return True
        after = text[end : end + 12]
        return not value.isupper() and bool(_NEXT_ARGUMENT.match(after)) and not is_plain_number(value)
    if is_plain_number(value):
        return name.kind == "password" and value.isdigit() and len(value) >= 4
    if _has_sign(value):
        # code has identifiers with digits; a secret word in them, or a call behind them, gives them away
        return text[end : end + 1] not in ("(", ".") and not _NUMBERED.fullmatch(value)
    if syntax.name == "assignment, tight":
        loud = word.upper() == word and has_letter(word)
        delimited = text[end : end + 1] in (";", "&") or before.rstrip(" ").endswith((";", "&", "?"))
        logged = _pair_before(before) or _PAIR_BEHIND.match(text[end : end + 40]) is not None
        return loud or delimited or logged or (at_edge and begins_line(before))
    if text[end : end + 1] in (",", ";", ")", "(", ".", "["):
        return ";" in text[end : end + 1] and before.rstrip().endswith(";")
    if not at_edge or not begins_line(before):
        return False
    join = text[max(0, start - 42) : start].rstrip(" \t")[-2:]  # values are lined up behind their names
    if ":" in join and "=" not in join:
        return True
    return word.isupper() or _among_config(text, start, end)


def _stands_out(value: str) -> bool:
    """A value that can be no word, no identifier and no number, whatever stands around it."""
    return (
        len(value) >= 8
        and has_digit(value)
        and value.lower() != value
        and value.upper() != value
        and looks_random(value)
        and not is_reference(value, False)
        and _CALLED.match(value) is None
    )


def _among_config(text: str, start: int, end: int) -> bool:
    line_start = text.rfind("\n", max(0, start - 300), start)
    above = text[max(0, line_start - 200) : max(0, line_start)].rsplit("\n", 1)[-1]
    line_end = text.find("\n", end, end + 300)
    below = text[line_end + 1 : line_end + 200].split("\n", 1)[0] if line_end >= 0 else ""
    return any(side.strip() and _CONFIG_LINE.fullmatch(side) is not None for side in (above, below))


def spoken(text: str, end: int, value: str, name: Name, verb: bool) -> bool:
    """A value in running text: it has to look like one, or to end the sentence without being a common word."""
    value = unmarked(value)
    if (
        is_reference(value, False)
        or text[end : end + 1] in ("(", "=")
        or (is_plain_number(value) and name.kind not in ("pin", "otp", "password"))
    ):
        return False
    if name.strength == 3 and verb and (_given_in_three_classes(value) or _two_words(value)):
        return name.kind not in ("pin", "otp")
    if name.strength == 3 and not is_weak_secret(value, False) and not looks_random(value):
        return False
    if name.kind in ("pin", "otp"):
        return verb and value.isdigit() and 4 <= len(value) <= 8
    if name.strength == 0:
        return _ISSUED.fullmatch(value) is not None and looks_random(value)
    if name.strength == 1:
        return looks_random(value) and len(value) >= 12
    if not verb and "/" in value and not _OF_BASE64.search(value):
        return False
    if value.isdigit():
        return verb and name.kind == "password" and len(value) >= 4
    if is_public_id(value) and name.strength < 3:
        return verb and name.kind in ("token", "api-key", "secret", "key") and _UUID.fullmatch(value) is not None
    if (looks_secret(value) and not _EITHER.fullmatch(value)) or (looks_random(value) and len(value) >= 10):
        return verb or looks_random(value)
    if (
        name.kind == "password"
        and has_digit(value)
        and has_letter(value)
        and len(value) >= 4
        and not is_public_id(value)
    ):
        return verb
    if has_digit(value) and has_letter(value) and len(value) >= 6 and name.strength == 3 and not is_public_id(value):
        return verb
    if verb and name.kind == "password" and len(value) >= 3 and _HYPHENED.fullmatch(value):
        if _NO_VALUE_BEFORE.search(text[max(0, end - len(value) - 4) : end - len(value)]):
            return False
        ends = _ENDS.match(text[end : end + 4]) is not None
        return ends and is_said_word(value)
    return False


def is_said_word(value: str) -> bool:
    """A word that says nothing about a secret, so that it may be one."""
    return value.lower() not in _STOP_WORDS and not _HOLLOW.match(value) and is_weak_secret(value, False)
