"""Which finding replaces which: what is shown of earlier findings beside the last page of placement, and what stands.

Only findings of the topics on that page are shown, and of these only those that share telling words with an own one, so
mostly none are, and the page is as it would be. A claim counts if both quotes stand in their entries word for word and
both findings belong to the same topic; a false one changes nothing. Which of the two is older, and whether they are of
one project, is decided when it is published.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import TypedDict

from recall import fence, segment
from recall.fence import Block
from recall.hashing import canonical_json
from recall.steps.asking import Meter
from recall.steps.evidence import TextOf, locate
from recall.types import Facet, Finding, StoredFinding, Succession

MOST = 8  # stored findings that are shown, and own ones
_ENOUGH = MOST // 2  # of stored ones: the pair that counts is among the likeliest few, and seldom the very first
MOST_CHARS = 200  # of a statement, and of a quote
MOST_BYTES = 2 * MOST * (2 * MOST_CHARS * 4 + 200)
_TELLING_CHARS, _SHARED = 4, 2  # a word of so many characters tells something; so many have to be shared


class PairReply(TypedDict):
    """A pair in a reply."""

    own: int
    stored: int
    own_quote: str
    stored_quote: str


@dataclass(frozen=True, slots=True)
class Findings:
    """Where findings come from. `stored`: those of topics, by id. `stored_text`: the text of the entry of one.

    `own_text` and `own_at`: text and time of an entry of this conversation.
    """

    stored: Callable[[Collection[str]], Sequence[StoredFinding]]
    stored_text: Callable[[StoredFinding], str | None]
    own_text: TextOf
    own_at: Callable[[str], int | None]


NO_FINDINGS = Findings(lambda _: (), lambda _: None, lambda _: None, lambda _: None)


@dataclass(frozen=True, slots=True)
class Own:
    """A finding of this conversation: of the facet with that index."""

    facet: int
    finding: Finding
    at: int | None


@dataclass(frozen=True, slots=True)
class Compared:
    """What is shown, in its order; nothing where nothing is to be compared. `left_out`: pairs without room."""

    own: tuple[Own, ...] = ()
    stored: tuple[StoredFinding, ...] = ()
    left_out: int = 0

    def __bool__(self) -> bool:
        return bool(self.own and self.stored)

    @property
    def crowded(self) -> bool:
        """Whether hardly any pair found room."""
        return self.left_out > 0 and len(self.stored) < _ENOUGH

    def blocks(self) -> list[Block]:
        """As a model sees it."""
        if not self:
            return []
        own = [
            _block(f"own {n}, facet {one.facet + 1}", one.finding.statement, one.finding.evidence.quote, one.at)
            for n, one in enumerate(self.own, start=1)
        ]
        stored = [
            _block(f"stored {n}, of topic_id {fence.quoted(one.topic_id)}", one.statement, one.quote, one.at)
            for n, one in enumerate(self.stored, start=1)
        ]
        return [*own, *stored]


NOTHING_COMPARED = Compared()
Claims = tuple[Compared, Sequence[PairReply]]


def compared(
    facets: Sequence[Facet], findings: Findings, topic_ids: Collection[str], meter: Meter, room: int
) -> Compared:
    """The earlier findings that speak of what own ones speak of, as many as there is room for."""
    own = [Own(n, f, findings.own_at(f.evidence.entry_id)) for n, facet in enumerate(facets) for f in facet.findings]
    if not own:
        return NOTHING_COMPARED
    mine = [_telling(f"{one.finding.statement} {one.finding.evidence.quote}") for one in own]
    stored = findings.stored(topic_ids)
    pairs = []
    for place, one in enumerate(stored):
        words = _telling(f"{one.statement} {one.quote}")
        pairs += [(-len(words & those), place, n) for n, those in enumerate(mine) if _alike(words, those)]
    return _fitting(sorted(pairs), own, stored, meter, room)


def _fitting(
    pairs: Sequence[tuple[int, int, int]], own: Sequence[Own], stored: Sequence[StoredFinding], meter: Meter, room: int
) -> Compared:
    """The likeliest pairs (likeness, stored, own), the best first, as many as there is room for."""
    chosen = NOTHING_COMPARED
    owns: set[int] = set()
    places: set[int] = set()
    left_out = 0
    for _, place, n in pairs:
        more_own, more_stored = owns | {n}, places | {place}
        if len(more_own) > MOST or len(more_stored) > MOST:
            continue
        shown = Compared(tuple(own[n] for n in sorted(more_own)), tuple(stored[p] for p in sorted(more_stored)))
        if sum(meter.measure(fence.sample(block)) for block in shown.blocks()) <= room:
            chosen, owns, places = shown, more_own, more_stored
        else:
            left_out += 1
    return replace(chosen, left_out=left_out)


def verified(claims: Claims, topic_ids: Sequence[str | None], findings: Findings) -> tuple[Succession, ...]:
    """The pairs that hold. `topic_ids`: where each facet goes."""
    shown, said = claims
    found: dict[tuple[int, int], Succession] = {}
    for pair in said:
        if 1 <= pair["own"] <= len(shown.own) and 1 <= pair["stored"] <= len(shown.stored):
            own, stored = shown.own[pair["own"] - 1], shown.stored[pair["stored"] - 1]
            evidence = own.finding.evidence
            mine, theirs = findings.own_text(evidence.entry_id), findings.stored_text(stored)
            if topic_ids[own.facet] != stored.topic_id or mine is None or theirs is None:
                continue
            mine_at, theirs_at = locate(mine[0], pair["own_quote"]), locate(theirs, pair["stored_quote"])
            if mine_at is None or theirs_at is None:
                continue
            found[pair["own"], pair["stored"]] = Succession(
                own.facet,
                evidence.entry_id,
                evidence.start,
                mine[0][mine_at[0] : sum(mine_at)],
                stored,
                theirs[theirs_at[0] : sum(theirs_at)],
            )
    return tuple(found.values())


def _block(head: str, statement: str, quote: str, at: int | None) -> Block:
    time = fence.minute(at)
    card = {"finding": statement[:MOST_CHARS], "quote": quote[:MOST_CHARS]}
    return Block(head + ("" if time is None else f", time {time}"), canonical_json(card))


def _alike(one: set[str], other: set[str]) -> bool:
    """Whether two findings could be about one thing; in two scripts one shared name or number has to do."""
    across = all(word.isascii() for word in one) != all(word.isascii() for word in other)
    return len(one & other) >= (1 if across else _SHARED)


def _telling(text: str) -> set[str]:
    """The words of a text that tell something: of some length, with a digit, or of a script that writes no spaces."""
    body, whole = segment.both(text)
    return {
        word
        for word in (*body.split(), *whole.split())
        if len(word) >= _TELLING_CHARS or not word.isascii() or any(c.isdigit() for c in word)
    }
