"""Patterns for the beginnings of lines.

A pattern that begins with a line end is sought many times faster than one that begins with ``^``, because the search can
skip all other characters. So each pattern is made twice: for the beginning of the text and for behind a line end.
"""

import re
from collections.abc import Iterator

Lines = tuple[re.Pattern[str], re.Pattern[str]]


def at_lines(pattern: str) -> Lines:
    return re.compile(pattern, re.M), re.compile("\n" + pattern, re.M)


def lines(text: str, here: re.Pattern[str], below: re.Pattern[str]) -> Iterator[re.Match[str]]:
    """The lines that begin so; the matches of all but the first line begin with the line end before it."""
    first = here.match(text)
    if first is not None:
        yield first
    yield from below.finditer(text)
