"""A view of a text without what only a terminal, a renderer or a tool put there, and the way back to the offsets.

Colour codes, zero-width characters and NUL may stand in the middle of a secret or between a name and its value. Tools put
a line number, a file name, a time or the name of a container in front of every line, and pages write quotes as entities.
The rules read the view, where a file looks like a file; what they find is cut out of the original.
"""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator

from .lines import at_lines, lines

_CONTROL = r"\x00\x07\x08\u00ad\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff"
# One set of first characters, and what may follow each of them: so the search skips all other characters fast.
_NOISE = re.compile(
    rf"[\x1b\\{_CONTROL}](?:"
    r"(?<=\x1b)(?:\[[0-9;?]{0,30}[ -/]?[@-~]|\][^\x07\x1b\n]{0,300}(?:\x07|\x1b\\)|[()][0-9A-B]|[=>78cDEHM])"
    r"|(?<=\\)\\?(?:u00[19][bB]|x1[bB]|033|e)\[[0-9;]{0,20}[mK]"
    rf"|(?<=[{_CONTROL}])[{_CONTROL}]*)"
)
_ESCAPED_SIGN = re.compile(r"\\(?:u001[bB]|x1[bB]|033|e)\[")
_WIDE_SIGNS = frozenset(
    map(chr, (0xAD, 0x180E, *range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2060, 0x2065), 0xFEFF))
)
# The signs of a wide keyboard that join a name and its value, each as long as the narrow one.
_WIDE = (("\uff1a", ":"), ("\uff1d", "="), ("\u3000", " "), ("\u00a0", " "))
# Letters of a wide keyboard and of the blocks that only dress letters up: each reads as the plain one, at the same place.
_DRESSED = {
    point: plain
    for point in (0xFF0D, 0xFF3F, *range(0xFF10, 0xFF5B), *range(0x1D400, 0x1D800), *range(0x24B6, 0x24EA))
    if len(plain := unicodedata.normalize("NFKC", chr(point))) == 1
    and ((plain.isascii() and plain.isalnum()) or plain in "-_")
}
_DRESSED_LETTERS = frozenset(map(chr, _DRESSED))
_NARROW = bytes(range(128))
# All of those, and the two letters beyond ASCII that become a letter of ASCII in lower case.
_OTHERWISE = re.compile(
    "[\u212a\u0130\U0001d400-\U0001d7ff" + "".join(s for s in _WIDE_SIGNS | _DRESSED_LETTERS if s < "\U0001d400") + "]"
)
_ENTITIES = {
    "&quot;": '"', "&#34;": '"', "&#x22;": '"', "&apos;": "'", "&#39;": "'", "&#x27;": "'", "&lt;": "<", "&#60;": "<",
    "&gt;": ">", "&#62;": ">", "&amp;": "&", "&#38;": "&", "&nbsp;": " ",
}  # fmt: skip
_ENTITY = re.compile("|".join(_ENTITIES))
# What a tool writes in front of each line, and the literals one of which is in it.
_PREFIXES = tuple(
    (signs, *at_lines(prefix))
    for signs, prefix in (
        (("\n>",), r"(?:> ?){1,4}"),
        (("\t", "\u2192"), r"[ \t]{0,8}\d{1,7}(?:\u2192|\t)"),
        ((" | ", " |\n"), r"(?:[ ]{0,8}\d{1,7}|[\w.\-]{1,40}[-_]\d{1,3}[ ]{0,20}) \|(?: |$)"),
        (("\n+",), r"\+(?!\+\+ )"),
        (("\n2", "\n["), r"\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+\-]\d\d:?\d\d)?\]? (?:std(?:out|err) F )?"),
        (("]",), r"[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d [\w.\-]{1,60} [\w.\-/]{1,60}(?:\[\d{1,9}\])?: "),
        ((":", "-"), r"(?:[\w./\-]{1,120}[:\-])?(?P<n>\d{1,7})[:\-]"),
    )
)  # fmt: skip
_ONLY = re.compile(
    r"(?:> ?){1,4}|[ \t]{0,8}\d{1,7}[\u2192\t]|[\w.\-]{1,40}[-_]\d{1,3}[ ]{0,20} \| "
    r"|\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+\-]\d\d:?\d\d)?\]? "
    r"|[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d [\w.\-]{1,60} [\w.\-/]{1,60}(?:\[\d{1,9}\])?: "
)
_HEADS = re.compile(r"\n[>+2\[]")
_SAMPLE = 3000


def beyond_ascii(text: str) -> frozenset[str]:
    """The characters beyond ASCII that are in the text: nearly all are asked for by many, and hardly one is there."""
    if text.isascii():
        return frozenset()
    return frozenset(text.encode("utf-8", "surrogatepass").translate(None, _NARROW).decode("utf-8", "surrogatepass"))


def reads_otherwise(text: str) -> bool:
    """Whether the text has characters beyond ASCII in it that are read as others, or not at all."""
    return _OTHERWISE.search(text) is not None


def narrowed(text: str) -> str:
    """The text with narrow signs in the place of wide ones."""
    for wide, narrow in _WIDE:
        if wide in text:
            text = text.replace(wide, narrow)
    return text


class View:
    """``text`` is what the rules read; ``original(start, end)`` gives the stretch it stands for.

    ``beyond`` holds all characters of the text that are not ASCII, and perhaps some that are gone from it.
    """

    def __init__(self, original: str) -> None:
        self.text = original
        self._at: list[int] = []
        self._shift: list[int] = []
        self._wide: dict[int, int] = {}
        self.beyond = beyond_ascii(original)
        if self.beyond:
            original = narrowed(original)
            if not _DRESSED_LETTERS.isdisjoint(self.beyond):
                original = original.translate(_DRESSED)
            self.text = original
        cuts: list[tuple[int, int, str]] = []
        if (
            "\x1b" in original
            or "\x00" in original
            or "\x07" in original
            or "\x08" in original
            or ("\\" in original and _ESCAPED_SIGN.search(original) is not None)
            or not _WIDE_SIGNS.isdisjoint(self.beyond)
        ):
            cuts += ((match.start(), match.end(), "") for match in _NOISE.finditer(original))
        if "&" in original and ("&quot;" in original or "&#" in original or "&lt;" in original or "&gt;" in original):
            cuts += ((m.start(), m.end(), _ENTITIES[m.group()]) for m in _ENTITY.finditer(original))
        if len(original) > 16:
            cuts += _prefixes(original)
        if cuts:
            cuts.sort()
            self._cut(original, cuts)

    def _cut(self, original: str, cuts: list[tuple[int, int, str]]) -> None:
        parts: list[str] = []
        position = length = 0
        for start, end, put in cuts:
            if start < position:
                continue
            parts += original[position:start], put
            length += start - position
            position = end
            if put:
                self._wide[length] = end - start
                length += len(put)
            if self._at and self._at[-1] == length:
                self._shift[-1] = position - length
            else:
                self._at.append(length)
                self._shift.append(position - length)
        parts.append(original[position:])
        self.text = "".join(parts)

    def original(self, start: int, end: int) -> tuple[int, int]:
        if not self._at:
            return start, end
        return start + self._by(start), end - 1 + self._by(end - 1) + self._wide.get(end - 1, 1)

    def _by(self, offset: int) -> int:
        index = bisect_right(self._at, offset) - 1
        return self._shift[index] if index >= 0 else 0


def _prefixes(text: str) -> Iterator[tuple[int, int, str]]:
    """What stands in front of the lines, where two lines in a row, or the only line, have the same before them."""
    if "\n" not in text:
        # nearly all strings of one line begin with a small letter and have no bar behind a container's name
        match = None if text[0].islower() and "|" not in text[:70] else _ONLY.match(text)
        if match is not None:
            yield match.start(), match.end(), ""
        return
    heads = set(_HEADS.findall(text))
    for signs, here, below in _PREFIXES:
        if not any(sign in heads if sign[0] == "\n" else sign in text for sign in signs) or (
            len(text) > 2 * _SAMPLE
            and len(signs[0]) == 1
            and not any(lines(text[:_SAMPLE], here, below))
            and not any(lines(text[-_SAMPLE:], here, below))
        ):
            continue
        held: tuple[int, int] | None = None
        before = number = -1
        numbered = "n" in here.groupindex
        for match in lines(text, here, below):
            start, end = match.start() + (match.re is below), match.end()
            above, number = number, int(match["n"]) if numbered else -1
            if start == before and (number < 0 or number > above):
                if held is not None:
                    yield held[0], held[1], ""
                    held = None
                yield start, end, ""
            else:
                held = start, end
            before = text.find("\n", end) + 1
