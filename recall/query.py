"""What a user typed, cut into terms the same way as the text is cut.

Nothing typed reaches the grammar of the text index: a term is a sequence of words of the segmenter's alphabet, and the
index quotes it. Words of one chunk without spaces stand together as a phrase beside their parts, so that
`osprey-edge-lab` prefers its own spelling and still finds the parts. A balanced pair of double quotes is an exact
phrase; an odd quote is noise. What holds no word at all (`%`, `=>`) is looked for as it stands.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from recall import borders, segment
from recall.borders import NO_PAIRS, Pairs
from recall.segment import Word
from recall.stem import stem

_NAME = re.compile(r"\b[^\W\d_a-z][a-z\u00df-\u024f]+\b")
_QUOTED = re.compile(r'"([^"]*)"|“([^“”]*)”')
_WEAK = frozenset(
    "\"'`“”„‘’«».,;:!?()[]{}，。！？、；：（）「」『』【】《》…"
)  # alone they say nothing; two of them may
_CONTROLS = dict.fromkeys(range(0x20), " ")  # nothing that is typed; one of them covers labels
_STOP = """
a about after again all also am an and any are as at be been before being but by can could did do does doing done for
from get got had has have having he her here him his how i if in into is it its just like me more most my no nor not of
on once only or other our out over own re s same she should so some such t than that the their them then there these
they this those through to too under until up us very was we were what when where which while who whom whose why will
with would you your ll ve d m
什么 怎么 我们 你们 他们 这个 那个 为什 什么 时候 哪个 哪些 是否 有没 没有 一个 可以
的时 如何 之前 后来 是不 不是 还是 当时 的是 了吗 是怎 么样
"""
STOP_WORDS = frozenset(stem(word) for word in _STOP.split())
# A date as Chinese, Japanese and Korean write it: in a text it stands as one, whatever is around it there.
_DATE = re.compile(r"(?<!\d)0?(1[0-2]|[1-9])\s*([月월])(?:\s*0?([12]\d|3[01]|[1-9])(?!\d))?")
MOST_PARTS, LONGEST_RUN = 6, 6  # of a query in two scripts that names things; a longer one is a sentence


@dataclass(frozen=True, slots=True)
class Term:
    """Words that stand side by side (one: a word). `prefix`: the last one may go on."""

    words: tuple[str, ...]
    prefix: bool = False


@dataclass(frozen=True, slots=True)
class Query:
    """One query, cut.

    `terms`: any of them makes a match. `required`: phrases that have to match. `exact`: spellings whose appearance
    letter for letter puts an entry first (folded); `whole` is that of all of it. `literal`: what to look for where no
    word was typed (empty: nothing). `names`: words that were typed as names are, with a capital. `pairs`: those of
    its runs without spaces that are no words.
    """

    text: str
    terms: tuple[Term, ...]
    required: tuple[Term, ...]
    required_spellings: tuple[str, ...]
    exact: tuple[str, ...]
    literal: str
    names: tuple[str, ...] = ()
    whole: str = ""
    pairs: Pairs = NO_PAIRS

    @property
    def empty(self) -> bool:
        return not self.terms and not self.required


def cut(text: str) -> Query:
    """Cut a query. Never raises, whatever was typed."""
    text = text.translate(_CONTROLS)
    quoted = _quoted(text)
    terms = list(dict.fromkeys([*(term for chunk in _chunks(text) for term in _terms(chunk)), *_dates(text)]))
    kept = [term for term in terms if not _is_stop(term)]
    phrases = [(typed, term) for typed in quoted for term in [phrase(list(segment.words(typed)))] if term]
    return Query(
        text=text,
        terms=tuple(kept or terms),
        required=tuple(term for _, term in phrases),
        required_spellings=tuple(spelling(typed) for typed, _ in phrases),
        exact=tuple(dict.fromkeys((*_compounds(text), *filter(None, (whole := _whole(text),))))),
        literal=text.strip() if terms else _signs(text),
        names=tuple(dict.fromkeys(_names(text))),
        whole=whole,
        pairs=borders.pairs(text),
    )


def telling(words: Iterable[str]) -> list[str]:
    """Those of the words, as they were typed but for their punctuation, that are not in nearly every text."""
    bare = (word.strip("".join(_WEAK)) for word in words)
    return [word for word in bare if any(not _is_stop(term) for term in _terms(list(segment.words(word))))]


def mixed_parts(text: str) -> dict[str, Term]:
    """The parts of a query that mixes scripts, each as it was typed and as a term; empty for all other queries.

    Who types `kestrel 网关` names things that belong together. A sentence in both scripts does not: no entry has to
    repeat its words.
    """
    parts: dict[str, Term] = {}
    kinds: set[str] = set()
    for word, typed in segment.spelled(text.translate(_CONTROLS)):
        term = phrase([word])
        if term is None or _is_stop(term):
            continue
        if word.kind == "run" and len(typed) > LONGEST_RUN:
            return {}
        parts[typed] = term
        if not typed.isdecimal():
            kinds.add(word.kind)
    return parts if {"word", "run"} <= kinds and len(parts) <= MOST_PARTS else {}


def _signs(text: str) -> str:
    """What to look for where no word was typed, as it stands; empty where that would be in nearly every text."""
    bare = " ".join(_quoted(text)) if not _QUOTED.sub("", text).strip() else text.strip()
    telling = bare.replace('"', "") and any(len(chunk) > 1 or chunk not in _WEAK for chunk in bare.split())
    return bare if telling else ""


def spelling(text: str) -> str:
    """A text folded for comparing letter for letter: accents, width and case away, white space even."""
    return " ".join(segment.plain(text).split())


def holds(text: str, spellings: Sequence[str]) -> bool:
    """Whether a text has each folded spelling, letter for letter. A long text is folded piece by piece."""
    missing = set(spellings)
    reach = max(map(len, missing), default=0)
    before = ""
    for piece in segment.pieces(text):
        folded = f"{before} {spelling(piece)}" if before else spelling(piece)
        missing = {each for each in missing if each not in folded}
        if not missing:
            break
        before = folded[-reach:]
    return not missing


def _quoted(text: str) -> list[str]:
    straight = text.count('"') % 2 == 0
    found = [(match[1] if straight else "") or match[2] or "" for match in _QUOTED.finditer(text)]
    return [phrase.strip() for phrase in found if phrase.strip()]


def _chunks(text: str) -> list[list[Word]]:
    return [list(segment.words(chunk)) for chunk in text.split()]


def _terms(chunk: Sequence[Word]) -> Iterable[Term]:
    for word in chunk:
        yield from _word_terms(word)
    if len(chunk) > 1:
        together = phrase(chunk)
        if together is not None:
            yield together


def _word_terms(word: Word) -> Iterable[Term]:
    if word.kind == "run" and len(word.parts) == 1:
        yield Term(word.parts, prefix=True)
        return
    parts = word.parts[:-1] if word.kind == "run" else word.parts
    for part in parts:
        yield Term((part,))
    for form in word.wholes:
        yield Term((form,))
    if len(parts) > 1:
        yield Term(parts)


def _dates(text: str) -> Iterable[Term]:
    """The month of each date, and the date."""
    for found in _DATE.finditer(segment.fold(text)):
        month, sign, day = found.groups()
        yield Term((month, sign), prefix=True)
        if day:
            yield Term((month, sign, day))


def phrase(words: Sequence[Word]) -> Term | None:
    """All words side by side. A run without spaces at the end may go on in the text: its last pair is enough."""
    parts = [part for word in words for part in word.parts]
    if not parts:
        return None
    if words[-1].kind == "run":
        if len(words[-1].parts) > 1:
            return Term(tuple(parts[:-1]))
        return Term(tuple(parts), prefix=True)
    return Term(tuple(parts))


def _is_stop(term: Term) -> bool:
    return all(word in STOP_WORDS for word in term.words)


def _names(text: str) -> Iterable[str]:
    for typed in _NAME.findall(text):
        for word in segment.words(typed):
            if len(word.parts) == 1 and word.parts[0] not in STOP_WORDS:
                yield word.parts[0]


def _compounds(text: str) -> Iterable[str]:
    for chunk in text.split():
        bare = chunk.strip("\"'“”‘’()[]{}<>,;:!?`*，。！？、")
        words = list(segment.words(bare))
        compound = any(len(word.parts) > 1 or word.wholes for word in words if word.kind == "word")
        if compound and len(bare) > 2:
            yield spelling(bare)


def _whole(text: str) -> str:
    """The spelling of a whole query; empty where it has no word, or is too long to stand anywhere as it is."""
    whole = spelling(_QUOTED.sub(" ", text).strip("?!.。？！ ") if '"' in text else text.strip("?!.。？！ "))
    return whole if list(segment.words(whole)) and len(whole) <= 200 else ""
