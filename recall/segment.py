r"""Text to words, the same way for the index and for a query.

A word of the index is made of letters, digits and full-width punctuation only, so that a tokenizer that splits at
spaces decides nothing: this module alone does. Two streams come from a text:

    body    its words in order: `update session cwd` for update_session_cwd, `http server` for HTTPServer. Scripts
            that are written without spaces become overlapping pairs with the last character alone at the end
            (abc -> ab bc c), so that one character is a prefix and any longer part a phrase. A new script starts a
            new word. Emoji and signs are words of their own. English words lose their inflection.
    whole   compound words as they stand, folded: `update＿session＿cwd`, `httpserver`, `src／foo．py`, `c＋＋`.
            ASCII punctuation stands there in its full-width form, which folding never leaves in a text.

What a tool was asked stands as JSON in a text, so a line begins with `\n`, which is no letter of its first word; but
`\n` may begin a name in a path too. One reading goes to `body`, the words of the other to `whole`.

Nothing depends on the interpreter's Unicode tables: see segment_ranges. A change of any rule here, or of which words
are the reader's own (recall.labels), raises SEGMENT_VERSION, since an index can only be emptied by the rules that
filled it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import NamedTuple

from recall import segment_ranges
from recall.stem import stem

SEGMENT_VERSION = 4
LONGEST = 128  # a longer word is cut into pieces of this many characters, in the index and in a query


def _pairs(table: str) -> Iterator[tuple[int, int]]:
    for item in table.split():
        low, _, high = item.partition("-")
        yield int(low, 16), int(high or low, 16)


def _set(table: str) -> str:
    """The inside of a regular expression's character set."""
    return "".join(f"\\U{low:08x}-\\U{high:08x}" for low, high in _pairs(table))


_JOIN = r"[_\-./:\\@#+=~%$&]"  # punctuation that holds a compound word together
_COMPOUND = rf"(?:--?|[.#@$%_])?[{{word}}]+(?:{_JOIN}+[{{word}}]+)*(?:\+\+|\#)?"
_ASCII_TOKEN = re.compile(_COMPOUND.format(word="A-Za-z0-9"))
_ASCII_WORDS = re.compile("[A-Za-z0-9]+")
_CHUNK = re.compile(r"[^\x00-\x20]+")
# HTTPServer -> HTTP Server, getID -> get ID, x2Go -> x2 Go, but IDs and E0308 stay.
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[a-z][0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z]{2})")
# A break or an edge as JSON and regular expressions spell it, with the word behind it; not in a path with a drive.
_ESCAPE = re.compile(
    r"(?P<path>(?<![A-Za-z0-9])[A-Za-z]:(?:\\+[A-Za-z0-9_.$~-]+)+)"
    r"|(?<!\\)(?P<marks>\\+)(?P<letter>[bnrt])(?P<word>[A-Za-z0-9_]*)(?P<rest>[A-Za-z0-9_./:@#+=~%$&-]*)"
)
_WIDE = {code: code + 0xFEE0 for code in range(0x21, 0x7F) if not chr(code).isalnum()}


class _Wide(NamedTuple):
    """What texts beyond ASCII are cut by. It takes a while to make, and many a search needs none of it."""

    token: re.Pattern[str]
    words: re.Pattern[str]
    unassigned: re.Pattern[str]
    accents: Mapping[int, None]


@cache
def _wide() -> _Wide:
    word, run, symbol = (_set(of) for of in (segment_ranges.WORD, segment_ranges.RUN, segment_ranges.SYMBOL))
    return _Wide(
        re.compile(rf"(?P<word>{_COMPOUND.format(word=word)})|(?P<run>[{run}]+)|(?P<symbol>[{symbol}])"),
        re.compile(f"[{word}]+"),
        re.compile(f"([^{_set(segment_ranges.ASSIGNED)}]+)"),
        {code: None for low, high in _pairs(segment_ranges.ACCENT) for code in range(low, high + 1)},
    )


@dataclass(frozen=True, slots=True)
class Word:
    """One word of a text as it was typed: its parts for `body`, its compound forms for `whole`."""

    kind: str  # word, run or symbol
    parts: tuple[str, ...]
    wholes: tuple[str, ...]


def fold(text: str) -> str:
    """Compatibility forms, width and accents folded; case is kept (it divides words)."""
    if text.isascii():
        return text
    if _wide().unassigned.search(text):
        return "".join(
            piece if index % 2 else _fold_assigned(piece) for index, piece in enumerate(_wide().unassigned.split(text))
        )
    return _fold_assigned(text)


def _fold_assigned(text: str) -> str:
    return unicodedata.normalize("NFC", unicodedata.normalize("NFKD", text).translate(_wide().accents))


def lower(text: str) -> str:
    """The case of folded text taken away."""
    return text.lower() if text.isascii() else _caseless(text)


def plain(text: str) -> str:
    """A text folded for comparing letter for letter: width, accents and case away."""
    return lower(fold(text))


def _caseless(text: str) -> str:
    return "".join(
        piece if index % 2 else piece.casefold().translate(_wide().accents)
        for index, piece in enumerate(_wide().unassigned.split(text))
    )


def words(text: str) -> Iterator[Word]:
    """The words of a text in order."""
    return (word for word, _ in spelled(text))


def spelled(text: str) -> Iterator[tuple[Word, str]]:
    """The same, each with its folded spelling."""
    folded = fold(text)
    for chunk in _CHUNK.findall(_unescaped(folded)):
        for kind, typed in _typed(chunk):
            if kind == "word":
                yield Word(kind, *_compound(typed)), typed
            else:
                yield Word(kind, pairs(typed) if kind == "run" else (typed,), ()), typed
    for form in _read_otherwise(folded):
        yield Word("word", (), (form,)), form


def _typed(chunk: str) -> Iterator[tuple[str, str]]:
    """(kind, the folded word as it was typed) of each word in a piece of folded text."""
    if chunk.isascii():
        for found in _ASCII_TOKEN.findall(chunk):
            yield "word", found
    else:  # every step of this pattern asks three large sets, so it is kept for what needs it
        for match in _wide().token.finditer(chunk):
            yield match.lastgroup or "word", match.group()


def body(text: str) -> str:
    """The words of a text in order, separated by single spaces: a column of the index."""
    return both(text)[0]


def whole(text: str) -> str:
    """The compound words of a text: a column of the index."""
    return both(text)[1]


@lru_cache(maxsize=1)  # an index row asks for both columns of one text, one after the other
def both(text: str) -> tuple[str, str]:
    """`body` and `whole` in one pass."""
    if len(text) <= _SLICE:
        return _both(text)
    return joined(_both(piece) for piece in pieces(text))


def joined(made: Iterable[tuple[str, str]]) -> tuple[str, str]:
    """The columns of a text from those of its pieces, in order."""
    columns = list(made)
    return " ".join(part for part, _ in columns if part), " ".join(form for _, form in columns if form)


def _both(text: str) -> tuple[str, str]:
    parts: list[str] = []
    wholes: list[str] = []
    folded = fold(text)
    for chunk in _CHUNK.findall(_unescaped(folded)):
        own, forms = _known(chunk) if len(chunk) <= _KNOWN else _columns(chunk)
        parts += own
        wholes += forms
    wholes += _read_otherwise(folded)
    return " ".join(parts), " ".join(wholes)


def _unescaped(folded: str) -> str:
    """Folded text with a space for each break and edge that one backslash spells; two are a backslash."""
    return _ESCAPE.sub(_apart, folded) if "\\" in folded else folded


def _apart(found: re.Match[str]) -> str:
    return f" {found['word']}{found['rest']}" if found["marks"] == "\\" else found.group()


def _read_otherwise(folded: str) -> Iterator[str]:
    """The words behind an escape, where it is none: `new` of `src\\new`; and the other way round behind two."""
    for found in _ESCAPE.finditer(folded) if "\\" in folded else ():
        if found["word"] and found["marks"] == "\\":
            yield from (part for part in _compound(found["letter"] + found["word"])[0][:1] if len(part) > 1)
        elif found["word"] and found["marks"]:
            for parts, forms in map(_compound, _ASCII_TOKEN.findall(found["word"] + found["rest"])):
                yield from (*parts, *forms)


_SLICE = 1 << 18
_ENDS = re.compile(r"[ \t\r\n]")


def pieces(text: str) -> Iterator[str]:
    """A long text in pieces that end at a space, where no word and no accent goes on: a tenth of the memory."""
    start = 0
    while start < len(text):
        space = _ENDS.search(text, start + _SLICE)
        end = space.end() if space else len(text)
        yield text[start:end]
        start = end


def _columns(chunk: str) -> tuple[list[str], list[str]]:
    parts: list[str] = []
    wholes: list[str] = []
    for kind, typed in _typed(chunk):
        if kind == "word":
            own, forms = _compound(typed)
            parts += own
            wholes += forms
        elif kind == "run":
            parts += pairs(typed)
        else:
            parts.append(typed)
    return parts, wholes


_KNOWN = 40  # pieces up to this length come again and again
_known = lru_cache(maxsize=1 << 16)(_columns)


def pairs(run: str) -> tuple[str, ...]:
    """A run of a script without spaces (none has case) as overlapping pairs, the last character alone at the end."""
    return (*(run[index : index + 2] for index in range(len(run) - 1)), run[-1:])


@lru_cache(maxsize=1 << 16)
def _compound(text: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    if len(text) <= LONGEST and text.isascii() and text.islower() and text.isalpha():
        return (stem(text),), ()
    pieces = [
        piece
        for run in (_ASCII_WORDS if text.isascii() else _wide().words).findall(text)
        for piece in _CAMEL.split(run)
    ]
    parts = tuple(stem(lower(cut)) for piece in pieces for cut in _cuts(piece))
    if len(text) > LONGEST or (len(pieces) == 1 and len(pieces[0]) == len(text)):
        return parts, ()
    form = lower(text)
    if form.isascii() and form.isalnum():
        return parts, (stem(form),)
    forms = [form.translate(_WIDE)]
    if form[0] == "v" and form[1:2].isdecimal():  # v2.31.0 is asked for as 2.31.0 too
        forms.append(forms[0][1:])
    return parts, tuple(forms)


def _cuts(piece: str) -> Iterator[str]:
    for start in range(0, len(piece), LONGEST):
        yield piece[start : start + LONGEST]
