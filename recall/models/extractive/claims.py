"""Whether a sentence can stand alone: as a finding, or as what a scope is called and described by.

A finding is read without its surroundings, so it must be a whole statement; headings, labels of lists, rows and cut
sentences are none, whatever cue words they hold. What names a scope must say something: acknowledgements,
interjections and swearing do not.
"""

from __future__ import annotations

import re

from recall.models.extractive.terms import word
from recall.models.extractive.words import SWEAR

_WORD = re.compile(r"[^\W\d_][^\W_]*(?:['’-][^\W\d_]+)*")
_LEADS_ON = re.compile(r"(?:and|then|so|but|also|fine|agreed|it|that|this|because)\b|那|所以|但", re.IGNORECASE)
_LETTERS = re.compile(r"[a-z]+(?:\.[a-z])*")
_HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\u3040-\u30ff\uac00-\ud7af]")
_SHOWN = re.compile(r"`[^`]*`|\S*[/\\]\S*|https?://\S+")
# A bold or quoted start with a colon or dash labels an item of a list; what follows is about something else's text.
_ITEM = re.compile(
    r"(?:\*\*|__|`)[^*_`]{1,80}(?:\*\*|__|`)\s*(?:\([^)]{0,80}\)\s*)?(?:[:：–—→]|->? |=)|\*\*[^*]{1,80}[:：]\*\*"
)
_BOLD = re.compile(r"\*\*[^*]+\*\*[.!:：]?|__[^_]+__")
_MARKS = re.compile(r"#{1,6}\s|[|>+]|\d+\s*[-|:→]\s")
_END = ":：,，;；、…"
_LEAST_WORDS = 4
_LEAST_HAN = 6


def clear(text: str, start: int, end: int) -> bool:
    """Whether `text[start:end]` is a whole statement of the one who wrote the text."""
    sentence = text[start:end]
    if unfinished(sentence) or _ITEM.match(sentence) or _BOLD.fullmatch(sentence):
        return False
    before = text[max(0, start - 40) : start].rpartition("\n")[2].lstrip()
    if sentence.count("|") > 1 or _MARKS.match(before):
        return False
    if sentence[:1] in "\"“「'" and sentence[-1:] in "\"”」'":
        return False
    bare = _SHOWN.sub(" ", sentence)
    if len(_HAN.findall(bare)) >= _LEAST_HAN:
        return True
    words = _WORD.findall(bare)
    return len(words) >= _LEAST_WORDS and any(len(one) > 1 and one[0].islower() for one in words[1:])


def unfinished(sentence: str) -> bool:
    """Whether a sentence only leads on to what stands below it."""
    return sentence.rstrip("*_` ")[-1:] in _END


def readable(sentence: str) -> float:
    """How well a sentence serves as a title: short and in words, not in signs and numbers."""
    signs = sum(not (c.isalpha() or c.isspace()) for c in sentence) / max(1, len(sentence))
    leads_on = 0.7 if _LEADS_ON.match(sentence) else 1.0
    return (
        leads_on
        * (1.0 if 16 <= len(sentence) <= 100 else 0.5)
        * (1.0 if signs < 0.08 else 0.5 if signs < 0.14 else 0.2)
    )


def telling(text: str) -> bool:
    """Whether a sentence says something: two words that are not everyone's, or enough signs of Han script."""
    if len(_HAN.findall(text)) >= _LEAST_HAN:
        return True
    found = 0
    for token in _WORD.findall(text):
        found += word(token).weight > 0.5
        if found >= 2:
            return True
    return False


def decent(text: str) -> bool:
    """Whether a sentence is free of swearing."""
    return SWEAR.isdisjoint(_LETTERS.findall(text.casefold()))
