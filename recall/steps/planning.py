"""What a run can come to at most, without sending anything: the part of `--dry-run` that cannot be counted exactly.

The first level is known to the byte (`recall.steps.analyse.plan_requests`). What the levels above it and placement
will be shown depends on replies that nobody has yet; so these are upper bounds, from the lengths that replies may have.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from recall import prompts
from recall.hashing import canonical_json
from recall.models.request import ModelRequest
from recall.prompts import Prompt
from recall.steps import reduce

# A reply has at most so many tokens (ModelRequest.max_output_tokens), and a token of JSON seldom has more bytes.
REPLY_BYTES = 4096 * 6


@dataclass(frozen=True, slots=True)
class Bound:
    """At most so many requests with so many bytes in all."""

    calls: int
    bytes: int

    def __add__(self, other: Bound) -> Bound:
        return Bound(self.calls + other.calls, self.bytes + other.bytes)


def size(request: ModelRequest) -> int:
    """The bytes of a request as they are charged: instructions, content and schema."""
    return overhead(request.prompt) + len(request.content.encode())


def overhead(prompt: Prompt) -> int:
    """The bytes of a request beside its content."""
    return len((prompt.instructions + canonical_json(prompt.schema)).encode())


def joining(chunks: int) -> Bound:
    """What joining so many chunks can take. Each request joins two or more parts, and shrinks them."""
    if chunks < 2:
        return Bound(0, 0)
    calls = chunks - 1
    return Bound(calls, calls * overhead(prompts.load(reduce.PROMPT)) + (chunks + calls - 1) * REPLY_BYTES)


def total(requests: Sequence[ModelRequest]) -> Bound:
    """The first level, exactly."""
    return Bound(len(requests), sum(size(request) for request in requests))
