"""Which projects a person names in their own words: whole names, case aside, and nothing that merely contains one.

`ledger` is not named by `ledger-ui`, `ledgers` or `ledger.py`; in Chinese or Japanese text no space is needed around
it. A name that is too short to tell something names nothing.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping

SHORTEST = 3  # characters of a name in an alphabet
_LATIN = "0-9A-Za-z_\u00c0-\u024f"


def mentioned(texts: Iterable[str], names: Mapping[str, int]) -> frozenset[int]:
    """The numbers of the names that stand in the texts."""
    patterns = {number: _pattern(name) for name, number in names.items() if _tells(name)}
    found: set[int] = set()
    for text in texts:
        folded = _folded(text)
        found |= {n for n, pattern in patterns.items() if n not in found and pattern.search(folded)}
        if len(found) > 1:  # two are no guess, and so are more
            break
    return frozenset(found)


def _folded(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()


def _tells(name: str) -> bool:
    folded = _folded(name).strip()
    return len(folded) >= (SHORTEST if folded.isascii() else 2) and not folded.isdigit()


def _pattern(name: str) -> re.Pattern[str]:
    words = r"\s+".join(re.escape(word) for word in _folded(name).split())
    return re.compile(rf"(?<![{_LATIN}\-.]){words}(?![{_LATIN}\-])(?!\.[{_LATIN}])")
