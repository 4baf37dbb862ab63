"""From a name that says secret to the value that a sentence gives for it."""

import re

from . import rules_structure as rules
from .extent import bare_end, closing, led_end
from .names import Name
from .proofs import accept, spoken
from .rule import Span
from .values import is_phrase, is_public_id, looks_random

WEIGHT = 20
_USES = re.compile(r"(?i)\b(?:use|used|using|with|try|enter|type|via|is)\s(?:the\s|my\s|this\s|its\s)?(?:\w{1,12}\s)?$")
_WITH_A_USER = re.compile(r"(?i)\b(?:user|username|login|account|as)\s[\w.@\-]{1,40},?\s(?:and|with|/)\s(?:the\s)?$")
USING = ("use", "using", "with", "try", "enter", "type", "via", "is")  # one is in all that the pattern above finds
_GIVEN = re.compile(
    r"(?i)\s(?:you|they|he|she|we|I)\s(?:gave|sent|shared|pasted|mentioned|told|showed|asked\sfor)\b.*(?:[(:=]|\s(?:is|was))\s?$"
)
_HERE_IS = re.compile(r"(?i)\bhere(?:'s|’s|\sis)\s(?:the|my|your|our|a|his|her|their)\s(?:\w{1,20}\s){0,2}$")
_IS = re.compile(r"(?i)\b(?:is|was|to|ist|lautet|est|es|è|é)\b|[是为為はがを이가는은]|[:=：]")
_QUOTED_WORDS = re.compile(r"(?:[a-z]{3,12}[ \-]){3,7}[a-z]{3,12}")
_TOLD = (rules.SENTENCE, rules.FROM_TO)  # a verb stands before the value
# Letters of both cases and a digit, by no sign joined: no digest, no id, no path, no name of a program's.
_ISSUED = re.compile(
    r"(?=[A-Z0-9_\-]*[a-z])(?=[a-z0-9_\-]*[A-Z])(?=[A-Za-z_\-]*[0-9])[A-Za-z0-9_\-]{20,400}(?![\w+/.(\[])"
)
_WORDS_IN = re.compile(r"[A-Z]?[a-z]{3,}|[A-Z]{4,}")
# Words that are more often something else than the name of what stands behind them.
VERBS_TOO = frozenset("pass key auth session seed salt login pat pin sas sk".split())
_NO_LATER = VERBS_TOO - {"key"}  # what a clause behind them is about is something else
_PAIR = re.compile(r"[\w.]+=[^=]")


def find(text: str, start: int, end: int, name: Name) -> Span | None:
    foreign = not text[start:end].isascii()
    asked = _USES.search(text, max(0, start - 24), start) is not None
    for pattern in (rules.SENTENCE, rules.FROM_TO, rules.LATER, rules.BESIDE, rules.GLUED):
        if pattern is rules.GLUED and not foreign:
            continue
        joined = pattern.match(text, end)
        if joined is None or (pattern is rules.LATER and text[start:end].lower() in _NO_LATER):
            continue
        if pattern is rules.BESIDE and text[start:end].lower() in VERBS_TOO and name.strength:
            if _WITH_A_USER.search(text, max(0, start - 60), start) is None:
                continue
            name = Name(name.kind, 1)
        if pattern is rules.LATER:
            issued = _ISSUED.match(text, joined.end())
            if issued is not None and _is_issued(issued.group()):
                return Span(joined.end(), issued.end(), name.kind, WEIGHT)
            continue
        quote = joined.group("q")
        if name.strength < 3 and (
            _GIVEN.search(joined.group()) is not None
            or (":" in joined.group() and _HERE_IS.search(text, max(0, start - 60), start) is not None)
        ):
            name = Name(name.kind, 3)
        if quote:
            close = closing(text, joined.end(), quote)
            if close is None:
                continue
            value = text[joined.end() : close]
            if name.kind == "password" and _IS.search(joined.group()) and _said_words(value):
                return Span(joined.end(), close, name.kind, WEIGHT)
            if (" " not in value or is_phrase(value, "phrase" in text[start:end].lower())) and accept(
                value, name, "sign" if pattern is rules.BESIDE else "weak", True
            ):
                return Span(joined.end(), close, name.kind, WEIGHT)
            continue
        bare = bare_end(text, joined.end())
        if bare is None and foreign:
            bare = led_end(text, joined.end())
        if bare is None:
            continue
        value = text[joined.end() : bare].rstrip(".,;:!?)*_…")
        value = value[:-2] if value.endswith("'s") else value
        if _PAIR.match(value) and not foreign:
            continue
        if spoken(text, joined.end() + len(value), value, name, pattern in _TOLD or foreign or asked):
            return Span(joined.end(), joined.end() + len(value), name.kind, WEIGHT)
    return None


def _is_issued(value: str) -> bool:
    """No words, and no public id."""
    words = sum(len(word) for word in _WORDS_IN.findall(value))
    return 2 * words < len(value) and looks_random(value) and not is_public_id(value)


def _said_words(value: str) -> bool:
    """Four words or more that are no sentence, where a sentence quotes the value."""
    return _QUOTED_WORDS.fullmatch(value) is not None and is_phrase(value, True)
