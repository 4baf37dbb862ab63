"""What topic repair may change, as frozen values: new topics, redefinitions, moves of facets, one merge.

A plan says nothing of why it may be believed; that is the proof's (`repair.proof`). It is written by
`recall.index.mending`, inside the publishing transaction.
"""

from __future__ import annotations

from dataclasses import dataclass

from recall.types import Draft


@dataclass(frozen=True, slots=True)
class NewTopic:
    """A topic to be made, by its number in the plan; the moves into it are its members."""

    number: int
    words: Draft
    reason: str


@dataclass(frozen=True, slots=True)
class Redefinition:
    """New words for a stored topic."""

    topic_id: str
    words: Draft
    reason: str


@dataclass(frozen=True, slots=True)
class Move:
    """A facet leaves `source` for a stored topic (its id) or a new one (its number)."""

    facet_id: str
    source: str
    target: str | int
    reason: str


@dataclass(frozen=True, slots=True)
class Merge:
    """`gone` becomes part of `kept`, the older of the two, which gets these words."""

    kept: str
    gone: str
    words: Draft
    reason: str


@dataclass(frozen=True, slots=True)
class TopicPlan:
    """One run's changes. A split is new topics and moves."""

    new: tuple[NewTopic, ...] = ()
    redefinitions: tuple[Redefinition, ...] = ()
    moves: tuple[Move, ...] = ()
    merge: Merge | None = None

    @property
    def touched(self) -> tuple[str, ...]:
        """The stored topics that it changes, each once, in order."""
        ids = [one.topic_id for one in self.redefinitions]
        ids += [topic for move in self.moves for topic in (move.source, move.target) if isinstance(topic, str)]
        ids += [self.merge.kept, self.merge.gone] if self.merge is not None else []
        return tuple(sorted(set(ids)))


@dataclass(frozen=True, slots=True)
class Receipt:
    """The whole text of an entry that a facet cites was delivered. `facet_sha256` is the facet's digest then."""

    facet_id: str
    facet_sha256: str
    entry_id: str
    sha256: str
    chars: int
