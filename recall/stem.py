"""English endings off, so that `configured` finds `configures`. Frozen with the segmenter (SEGMENT_VERSION).

Light on purpose: it takes off plural, -ed, -ing and -ly and evens out a final e or y; it never makes two unlike
words one as the heavier stemmers do (`universe`, `university`). Forms that no ending tells are in a table: questions
ask `when did we choose`, and what was written is `we chose`. Words with other letters than a to z stay.
"""

from __future__ import annotations

import re
from functools import lru_cache

_IRREGULAR = """
arise arose arisen; bear borne; become became; begin began begun; bend bent; bite bitten; bleed bled; break broke
broken; breed bred; bring brought; build built; burn burnt; buy bought; catch caught; choose chose chosen; come came;
creep crept; deal dealt; dig dug; draw drew drawn; dream dreamt; drink drank drunk; drive drove driven; eat ate eaten;
fall fell fallen; feed fed; feel felt; fight fought; find found; fly flew flown; forbid forbade forbidden; forget
forgot forgotten; forgive forgave forgiven; freeze froze frozen; give gave given; go went gone; grow grew grown; hang
hung; hear heard; hide hid hidden; hold held; keep kept; kneel knelt; know knew known; lead led; learn learnt; leave
left; lend lent; lose lost; make made; mean meant; meet met; overcome overcame; overwrite overwrote overwritten; pay
paid; prove proven; rebuild rebuilt; redo redid redone; rerun reran; rethink rethought; rewrite rewrote rewritten;
ride rode ridden; ring rang rung; rise rose risen; run ran; say said; see saw seen; seek sought; sell sold; send sent;
shake shook shaken; shine shone; shoot shot; show shown; shrink shrank shrunk; sing sang sung; sink sank sunk; sit
sat; sleep slept; slide slid; speak spoke spoken; spend spent; spin spun; stand stood; steal stole stolen; stick
stuck; strike struck; swear swore sworn; sweep swept; swim swam swum; take took taken; teach taught; tear torn; tell
told; think thought; throw threw thrown; undergo underwent undergone; understand understood; undo undid undone; wake
woke woken; wear wore worn; weep wept; win won; withdraw withdrew withdrawn; withhold withheld; write wrote written;
child children; foot feet; index indices; man men; matrix matrices; mouse mice; person people; tooth teeth; vertex
vertices; wife wives; woman women; knife knives; shelf shelves; half halves
"""
_PLAIN = re.compile(r"[a-z]{4,30}")
_VOWEL = re.compile(r"[aeiouy]")
_KEEP_DOUBLE = "lsz"
_FORMS = {form: line.split()[0] for line in _IRREGULAR.split(";") for form in line.split()[1:]}


def irregular(stemmed: str) -> list[str]:
    """The forms of a stem that no ending tells: `broke` and `broken` for `break`."""
    return [form for form, base in _FORMS.items() if stem(base) == stemmed]


@lru_cache(maxsize=1 << 16)
def stem(word: str) -> str:
    """The word without its English ending, or the stem of which it is a form; any other word as it is."""
    word = _FORMS.get(word, word)
    if not _PLAIN.fullmatch(word):
        return word
    word = _singular(word)
    for ending in ("edly", "ingly", "ed", "ing"):
        rest = word.removesuffix(ending)
        if rest != word and len(rest) >= 3 and _VOWEL.search(rest):
            return _even(rest)
    if word.endswith("ly") and len(word) > 5:
        word = word[:-2]
    return _final(word)


def _singular(word: str) -> str:
    if word.endswith("sses"):
        return word[:-2]
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("xes", "ches", "shes", "zes")):
        return word[:-2]
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def _even(rest: str) -> str:
    if rest[-1] == rest[-2] and rest[-1] not in _KEEP_DOUBLE and rest[-1] not in "aeiou":
        return rest[:-1]
    return _final(rest)


def _final(word: str) -> str:
    if len(word) > 3 and word.endswith("e"):
        return word[:-1]
    if len(word) > 2 and word.endswith("y") and word[-2] not in "aeiou":
        return word[:-1] + "i"
    return word
