"""Messages that a host wrote as several records: shown as one turn, each block under its own id for citing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

Fragment = Mapping[str, Any]


def with_messages(fragments: Iterable[Fragment]) -> Iterator[tuple[Fragment, str | None, bool]]:
    """Each fragment with the id of the last one on the page that is a block of the same message, and whether that one
    stands right before it. The results of calls may stand between the blocks of one message.
    """
    last: dict[str, str] = {}
    previous: str | None = None
    for fragment in fragments:
        name, turn = str(fragment["entry_id"]), str(fragment["turn"])
        before = last.get(turn)
        yield fragment, before, before is not None and before == previous
        last[turn] = previous = name


_BROKEN = {
    "broken_chain": "some name a parent that is not there",
    "parent_cycle": "some are their own ancestors, their parents form a circle",
}


def how_broken(codes: Iterable[str]) -> str:
    """What is wrong with how the entries of a conversation hang together; one of an older index says only that."""
    return "; ".join(_BROKEN[code] for code in codes) or "the chain of parents is broken"


def broken_here(code: str | None) -> str:
    """What is wrong at the entry where the chain of parents is broken."""
    return "it is its own ancestor" if code == "parent_cycle" else "what this entry answers is not in the log"
