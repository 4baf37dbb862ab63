"""What holds now before what it replaced: the order of hits and of conversations where a finding was superseded.

Pure. `newer` leads from a hit's entry to the entry that replaced what it says; chains are followed by the order alone,
link by link. A link that leads in a circle is left as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import TypeVar

Item = TypeVar("Item")
Key = TypeVar("Key", bound=Hashable)


def first(items: Sequence[Item], key: Callable[[Item], Key], newer: Mapping[Key, Sequence[Key]]) -> list[Item]:
    """The same items: each right behind all that replaced it, which moves up to where it stood."""
    by_key = {key(item): item for item in items}
    result: list[Item] = []
    placed: set[Key] = set()

    def put(name: Key, above: frozenset[Key]) -> None:
        if name in placed or name in above or name not in by_key:
            return
        for other in newer.get(name, ()):
            put(other, above | {name})
        if name not in placed:
            placed.add(name)
            result.append(by_key[name])

    for item in items:
        put(key(item), frozenset())
    return result
