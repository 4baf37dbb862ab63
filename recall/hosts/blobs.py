"""Images and other base64 in text give way to a word about them.

A `data:` URI is unmistakable and goes before redaction, so that no rule spends time on it. A bare run of base64 goes
after redaction: until then a rule may need the whole of what stands there.
"""

from __future__ import annotations

import re
from collections.abc import Callable

_DATA_URI = re.compile(
    r"data:(?P<mime>[A-Za-z0-9.+-]{1,80}/[A-Za-z0-9.+-]{1,80})?(?:;[A-Za-z0-9=_.+-]{1,80}){0,8};base64,"
    r"(?P<data>(?:[A-Za-z0-9+/_=%-]++|\\/)++)"
)
_RUN = re.compile(
    r"(?<![A-Za-z0-9+/])(?:[A-Za-z0-9+/]{512,}+={0,2}|(?:[A-Za-z0-9+/]{48,}+(?:\r?\n|\\n)){8,}+"
    r"(?:[A-Za-z0-9+/]{16,}+={0,2}|[A-Za-z0-9+/]{1,15}+={1,2})?)"
)
# A run of 512 covers a whole block of 256; a text without such a block needs no search.
_BLOCK = re.compile(r"[A-Za-z0-9+/=\r\n\\]{256}")


def omitted(mime: str, size: int | None) -> str:
    """What stands where an image stood; the size where it is known."""
    known = mime if re.fullmatch(r"[A-Za-z0-9.+-]{1,80}(?:/[A-Za-z0-9.+-]{1,80})?", mime) else "data"
    return f"[{known} omitted]" if size is None else f"[{known} omitted, {size} bytes]"


def decoded_size(data: str) -> int:
    """How many bytes a base64 text stands for."""
    return max(0, len(data) * 3 // 4 - data[-2:].count("="))


def without_data_uris(text: str, say: Callable[[str, int], str] = omitted) -> str:
    """The text with each base64 `data:` URI replaced."""
    if "base64," not in text:
        return text
    return _DATA_URI.sub(lambda match: say(match["mime"] or "", decoded_size(match["data"])), text)


def without_runs(text: str) -> str:
    """The text with each long run of base64, on one line or wrapped, replaced."""
    if len(text) < 512 or not any(_BLOCK.fullmatch(text, at, at + 256) for at in range(0, len(text) - 255, 256)):
        return text
    return _RUN.sub(lambda match: _blob(match.group()), text)


def _blob(run: str) -> str:
    # A long word of one case, or of digits only, is a pattern, a number or a test, not base64.
    head = run[:4096]
    if not (re.search("[a-z]", head) and re.search("[A-Z]", head) and re.search("[0-9]", head)):
        return run
    letters = re.sub(r"\\n|\s", "", run)
    return f"[base64 omitted, {decoded_size(letters)} bytes]"
