"""What a reader found odd, counted by kind and named by line, but never more of it than a person would read."""

from __future__ import annotations

from recall.hosts.paths import printable
from recall.types import SourceWarning

NAMED = 20


class Notes:
    """Collects warnings; beyond `NAMED` of one code only their number goes up."""

    def __init__(self) -> None:
        self._kept: list[SourceWarning] = []
        self._counts: dict[str, int] = {}

    def add(self, code: str, line: int, message: str) -> None:
        """One more of a kind."""
        count = self._counts.get(code, 0) + 1
        self._counts[code] = count
        if count <= NAMED:
            self._kept.append(SourceWarning(code, line, printable(message)))

    def count(self, code: str) -> int:
        """How many there were of a kind."""
        return self._counts.get(code, 0)

    def all(self) -> tuple[SourceWarning, ...]:
        """The named ones in the order of their lines, then one with line 0 for each kind with more of them."""
        more = [
            SourceWarning(code, 0, f"{code}: {count} in all, of which the first {NAMED} are named")
            for code, count in self._counts.items()
            if count > NAMED
        ]
        return (*sorted(self._kept, key=lambda warning: warning.line), *more)
