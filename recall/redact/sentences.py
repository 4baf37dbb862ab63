"""From a name that says secret to the value that a sentence gives for it."""

import re

from . import rules_structure as rules
from .extent import bare_end, closing, led_end
from .names import Name
from .proofs import accept, spoken
from .rule import Span
from .values import is_phrase

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
# Words that are more often something else than the name of what stands behind them.
VERBS_TOO = frozenset("pass key auth session seed salt login pat pin sas sk".split())
_PAIR = re.compile(r"[\w.]+=[^=]")


def find(text: str, start: int, end: int, name: Name) -> Span | None:
    foreign = not text[start:end].isascii()
    asked = _USES.search(text, max(0, start - 24), start) is not None
    for pattern in (rules.SENTENCE, rules.BESIDE, rules.GLUED):
        if pattern is rules.GLUED and not foreign:
            continue
        joined = pattern.match(text, end)
        if joined is None:
            continue
        if pattern is rules.BESIDE and text[start:end].lower() in VERBS_TOO and name.strength:
            if _WITH_A_USER.search(text, max(0, start - 60), start) is None:
                continue
            name = Name(name.kind, 1)
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
        if spoken(text, joined.end() + len(value), value, name, pattern is rules.SENTENCE or foreign or asked):
            return Span(joined.end(), joined.end() + len(value), name.kind, WEIGHT)
    return None


def _said_words(value: str) -> bool:
    """Four words or more that are no sentence, where a sentence quotes the value."""
    return _QUOTED_WORDS.fullmatch(value) is not None and is_phrase(value, True)
