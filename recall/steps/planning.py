"""What a run can come to at most, without sending anything: the part of `--dry-run` that cannot be counted exactly.

The first level is known to the byte (`recall.steps.analyse.plan_requests`). What the levels above it and placement
will be shown depends on replies that nobody has yet; so these are upper bounds, from the lengths that replies may have.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from recall import fence, prompts
from recall.hashing import canonical_json
from recall.models import narrow
from recall.prompts import Prompt
from recall.steps import pages, place, reduce, succession
from recall.steps.asking import Meter, room
from recall.types import Facet, TopicCard

# A reply has at most so many tokens (ModelRequest.max_output_tokens), and a token of JSON seldom has more bytes.
REPLY_BYTES = 4096 * 6
FACETS = 5  # of one conversation
_WIDE = "语"  # three bytes and about a token: no usual text of the same length is larger


@dataclass(frozen=True, slots=True)
class Bound:
    """At most so many requests with so many bytes in all."""

    calls: int
    bytes: int

    def __add__(self, other: Bound) -> Bound:
        return Bound(self.calls + other.calls, self.bytes + other.bytes)


def overhead(prompt: Prompt) -> int:
    """The bytes of a request beside its content."""
    return len((prompt.instructions + canonical_json(prompt.schema)).encode())


def joining(chunks: int, *, narrowing: bool) -> Bound:
    """What joining so many chunks can take. Each request joins two or more parts, and shrinks them.

    `narrowing`: the schema is one for each request (see `recall.models.narrow`).
    """
    if chunks < 2:
        return Bound(0, 0)
    calls = chunks - 1
    each = overhead(prompts.load(reduce.PROMPT)) + (narrow.MOST_BYTES if narrowing else 0)
    return Bound(calls, calls * each + (chunks + calls - 1) * REPLY_BYTES)


def placing(catalogue: Sequence[TopicCard], meter: Meter, *, before: int = 0) -> Bound:
    """What placing the facets of one conversation can take: as many pages as the fullest facets leave room for.

    `before` is how many conversations the same run publishes first: each of their facets makes a topic or lets one
    grow, so each counts as the longest card there can be.
    """
    aliases = tuple(f"{n:02}" + _WIDE * 98 for n in range(place.MAX_ALIASES))
    longest = TopicCard("t_" + "x" * 12, 1, _WIDE * 100, _WIDE * place.MAX_DESCRIPTION, aliases, 1, None)
    catalogue = [*catalogue, *[longest] * (before * FACETS)]
    if not catalogue:
        return Bound(0, 0)
    most = Facet(_WIDE * 100, _WIDE * 500, tuple(f"{n:02}" + _WIDE * 98 for n in range(12)), ())
    facets = (replace(place.facet_card(most), statements=(_WIDE * 300,) * 6),) * FACETS
    names = [prompts.load(name) for name in (place.DECIDING, place.SHORTLISTING)]
    compared = overhead(prompts.load(place.COMPARING)) - overhead(prompts.load(place.DECIDING)) + succession.MOST_BYTES
    limit = min(room(meter, prompt) for prompt in names)
    count = pages.most_pages(facets, catalogue, meter, limit)
    fullest = pages.DETAILS[0]
    cards = [len(fence.sample(pages.topic_block(card, fullest, range(1, 6))).encode()) for card in catalogue]
    shown = len(pages.content(facets, (), ((),) * 5, fullest).encode())
    carried = sum(sorted(cards)[-fullest.carried * 5 :]) if count > 1 else 0
    each = max(overhead(prompt) for prompt in names) + shown + carried
    bound = Bound(count, count * each + sum(cards) + compared)
    if count == 1 and (len(catalogue) <= pages.MOST_CARRIED or shown + sum(cards) + compared <= limit):
        return bound
    # Where topics fill the last page, findings have one more, with what was carried.
    return bound + Bound(1, each + sum(sorted(cards)[-fullest.carried * 5 :]))
