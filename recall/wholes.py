"""Which of the listed sources are one conversation to a person, and which begin with a copy of another one.

What goes on from a conversation after a compaction, and its subagents, are parts of it. Forks and resets are
conversations of their own that hold copies. Told by what the headers say, so that it does not matter what is indexed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PureWindowsPath

from recall.errors import SourceError
from recall.hosts import walk
from recall.hosts.host import Listed
from recall.hosts.reading import probe
from recall.types import Header, SourceRef

Identity = tuple[str, str]  # the host, and its id of the conversation


@dataclass(frozen=True, slots=True)
class Link:
    """What one conversation says of others. `path`: of its log; `parents`: ids or paths of what it was forked from, or
    whose subagent (`delegate`) it is.
    """

    identity: Identity
    path: str | None
    continues: str | None
    parents: tuple[str, ...]
    delegate: bool


def links(listed: Iterable[Listed]) -> Iterator[Link]:
    """What the sources say that can be read."""
    for item in listed:
        if (header := item.header) is not None:
            source = item.source
            yield Link(
                (header.host, header.host_conversation_id),
                source.path if source.conversation is None else None,
                header.continues,
                tuple(filter(None, (header.parent, source.parent_path))),
                delegate=_is_delegate(source, header),
            )


class Wholes:
    """How conversations belong together."""

    def __init__(self, told: Iterable[Link]) -> None:
        self._links = list(told)
        self._by_path = {link.path: link.identity for link in self._links if link.path is not None}
        self._by_stem = {(one[0], _stem(path)): one for path, one in self._by_path.items()}
        self._parts: dict[Identity, list[Identity]] = {}
        self._forks: dict[Identity, list[Identity]] = {}
        for link in self._links:
            if link.continues:
                before = self._identity(link.identity[0], link.continues)
                self._parts.setdefault(before, []).append(link.identity)
                self._parts.setdefault(link.identity, []).append(before)
            came = self._parts if link.delegate else self._forks
            for name in link.parents:
                came.setdefault(self._identity(link.identity[0], name), []).append(link.identity)

    def whole(self, of: Iterable[Identity]) -> frozenset[Identity]:
        """These with what goes on from them, what they go on from, and the subagents of all."""
        return frozenset(_reached(of, self._parts))

    def forks(self, of: frozenset[Identity]) -> list[Identity]:
        """The forks and resets of these, and the forks of those."""
        return sorted(_reached(of, self._forks) - of)

    def _identity(self, host: str, name: str) -> Identity:
        """What a header's name of another conversation means: an id, or the path of its log, there or not."""
        if name in self._by_path:
            return self._by_path[name]
        if "/" not in name and "\\" not in name:
            return host, name
        return self._by_stem.get((host, _stem(name))) or (host, _id_in(name))


def above(source: SourceRef, header: Header) -> frozenset[str]:
    """The host's ids of what a conversation is a part of, as far as its own header and the place of its log say."""
    names = {header.continues} if header.continues else set()
    if _is_delegate(source, header) and header.parent:
        names |= {header.parent} if "/" not in header.parent and "\\" not in header.parent else {_id_in(header.parent)}
    parent = source.parent_path
    while parent is not None:
        try:
            names.add(probe(SourceRef(source.host, parent)).host_conversation_id)
        except SourceError:  # its log is gone; the name of the file is what is left to go by
            names.add(_id_in(parent))
        higher = walk.log_above(Path(parent))
        parent = str(higher) if higher is not None and higher.is_file() else None
    return frozenset(name for name in names if name)


def _is_delegate(source: SourceRef, header: Header) -> bool:
    return source.sidechain or header.sidechain


def _stem(path: str) -> str:
    return PureWindowsPath(path).stem  # takes both kinds of slashes


def _id_in(path: str) -> str:
    """The id that the name of a log ends in."""
    return _stem(path).rpartition("_")[2]


def _reached(start: Iterable[Identity], edges: Mapping[Identity, Sequence[Identity]]) -> set[Identity]:
    found: set[Identity] = set()
    left = list(start)
    while left:
        one = left.pop()
        if one not in found:
            found.add(one)
            left += edges.get(one, ())
    return found
