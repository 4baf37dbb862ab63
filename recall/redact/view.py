"""A view of a text without what only a terminal or a renderer sees, and the way back to the offsets of the original.

Colour codes, zero-width characters and NUL may stand in the middle of a secret or between a name and its value. The rules
read the view; what they find is cut out of the original.
"""

import re
from bisect import bisect_right

_NOISE = re.compile(
    r"\x1b(?:\[[0-9;?]{0,30}[ -/]?[@-~]|\][^\x07\x1b\n]{0,300}(?:\x07|\x1b\\)|[()][0-9A-B]|[=>78cDEHM])"
    r"|(?:\\{1,2}u00[19][bB]|\\{1,2}x1[bB]|\\{1,2}033|\\{1,2}e)\[[0-9;]{0,20}[mK]|[\x00\x07\x08\u00ad\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]+"
)
_SIGNS = ("\x1b", "\x00", "\x07", "\x08", "\\u001b[", "\\u001B[", "\\x1b[", "\\x1B[", "\\033[", "\\e[")
_WIDE_SIGNS = re.compile("[\u00ad\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]")


class View:
    """``text`` is what the rules read; ``original(start, end)`` gives the stretch it stands for."""

    def __init__(self, original: str) -> None:
        self.text = original
        self._at: list[int] = []
        self._shift: list[int] = []
        plain = original.isascii()
        if plain and "\\" not in original and "\x1b" not in original and original.isprintable():
            return
        if not any(sign in original for sign in _SIGNS) and (plain or not _WIDE_SIGNS.search(original)):
            return
        parts: list[str] = []
        position = length = 0
        for match in _NOISE.finditer(original):
            parts.append(original[position : match.start()])
            length += match.start() - position
            position = match.end()
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
        return start + self._by(start), end - 1 + self._by(end - 1) + 1

    def _by(self, offset: int) -> int:
        index = bisect_right(self._at, offset) - 1
        return self._shift[index] if index >= 0 else 0
