"""Text from logs, made harmless for a terminal and for JSON.

Nothing that came from a log, a model or a file name may move the cursor, set a title, write the clipboard or turn the
reading direction. A person sees a mark in its place; JSON carries it escaped.
"""

from __future__ import annotations

import json
import re

# DEL, C1, bidi embeddings/overrides/isolates and marks, line and paragraph separators, and what is not seen at all but
# read by a model: the zero-width space, word joiners, tags. Joiners of emoji and of scripts stay.
_EVERYWHERE = "\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2064\u2066-\u2069\ufeff\U000e0000-\U000e007f"
# Also C0 without TAB and LF.
_UNSAFE = re.compile(f"[\x00-\x08\x0b-\x1f{_EVERYWHERE}]|[\ud800-\udfff]")
_UNSAFE_IN_JSON = re.compile(f"[{_EVERYWHERE}\ud800-\udfff]")


def visible(text: str) -> str:
    """Each unsafe character as a visible mark: control pictures for C0 and DEL, `<U+XXXX>` for the rest."""
    return _UNSAFE.sub(_mark, text)


def one_line(text: str) -> str:
    """`visible`, with line breaks and tabs folded to one space: for titles, paths and table cells."""
    return visible(" ".join(text.split("\n")).replace("\t", " "))


def json_text(document: object, *, indent: int | None = None) -> str:
    """A JSON document that is safe to print: what a terminal would act on stands escaped."""
    text = json.dumps(document, ensure_ascii=False, indent=indent, allow_nan=False)
    return _UNSAFE_IN_JSON.sub(lambda match: json.dumps(match.group())[1:-1], text)


def _mark(match: re.Match[str]) -> str:
    code = ord(match.group())
    if code < 0x20:
        return chr(0x2400 + code)
    return "\u2421" if code == 0x7F else f"<U+{code:04X}>"
