"""From the analyses of chunks to one: in rounds that must shrink, then the final request.

As long as all parts together do not fit one request, neighbours are joined in groups that do. A part longer than half
a request is shortened first (`recall.steps.shorten`), so that each group holds at least two and every round leaves
about half as many. The groups are filled from the front, so that after an append those of the unchanged front come
from the cache. A round that does not leave less to read would go on for ever: it fails by name instead.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from recall import fence, prompts
from recall.errors import ModelError
from recall.fence import Block
from recall.hashing import canonical_json
from recall.models.request import ModelRequest, ReduceTask
from recall.steps.asking import HALVINGS, Asker, Meter, in_order, room, too_long
from recall.steps.evidence import Part, cited_by, verified
from recall.steps.shorten import shortened
from recall.types import Facet

PROMPT = "reduce"
_SOME = 9999  # a number of a part, for sizes only


async def joined(
    parts: Sequence[Part], asker: Asker, meter: Meter, given_up: Collection[str], *, source: str | None = None
) -> Part:
    """One analysis of two or more parts, in their order. Raises ModelError `model_reduce_not_shrinking`."""
    reducer = _Reducer(asker, meter, given_up, source)
    limit = room(meter, prompts.load(PROMPT))
    level = list(parts)
    for _ in range(HALVINGS):
        level = await reducer.shrunk(level, limit)
        try:
            final = await reducer.ask(level, top=True)
        except ModelError as error:
            if not too_long(error):
                raise
            limit = min(limit, reducer.size(level)) * 2 // 3
        else:
            return Part(final.summary, final.facets, final.dropped)
    raise _stuck()


class _Reducer:
    def __init__(self, asker: Asker, meter: Meter, given_up: Collection[str], source: str | None) -> None:
        self._asker = asker
        self._meter = meter
        self._given_up = given_up
        self._source = source

    async def ask(self, parts: Sequence[Part], *, top: bool) -> Part:
        """One request. What it may cite is what these parts cite."""
        citable = cited_by(parts)
        return await self._asker.ask(
            reduce_request(parts, top=top),
            lambda reply: verified(reply, citable, self._given_up, at_least=1 if top else 0),
            source=self._source,
        )

    async def shrunk(self, level: list[Part], limit: int) -> list[Part]:
        """The parts, joined in rounds until they fit one request."""
        while self.size(level) > limit:
            level = self._halfway(level, limit)
            before = self.size(level)
            if before <= limit:
                break
            level = await in_order(self._groups(level, limit), self._group)
            if self.size(self._halfway(level, limit)) >= before:
                raise _stuck()
        return level

    def _halfway(self, level: Sequence[Part], limit: int) -> list[Part]:
        """The parts, none longer than half of what a request holds."""
        half = (limit - self._meter.measure(fence.frame())) // 2
        fitting = [shortened(part, lambda one: self._cost(one) <= half) for part in level]
        made = [part for part in fitting if part is not None]
        if len(made) < len(level):
            raise _stuck()
        return made

    async def _group(self, parts: Sequence[Part]) -> Part:
        return parts[0] if len(parts) == 1 else await self.ask(parts, top=False)

    def _groups(self, level: Sequence[Part], limit: int) -> list[list[Part]]:
        groups: list[list[Part]] = []
        used = 0
        empty = self._meter.measure(fence.frame())
        for part in level:
            cost = self._cost(part)
            if groups and used + cost <= limit:
                groups[-1].append(part)
                used += cost
            else:
                groups.append([part])
                used = empty + cost
        return groups

    def size(self, level: Sequence[Part]) -> int:
        """What one request with all these parts would hold."""
        return self._meter.measure(fence.frame()) + sum(map(self._cost, level))

    def _cost(self, part: Part) -> int:
        return self._meter.measure(fence.sample(_block(_SOME, part)))


def reduce_request(parts: Sequence[Part], *, top: bool) -> ModelRequest:
    """The request that joins these parts."""
    return ModelRequest(
        kind="final" if top else "reduce",
        prompt=prompts.load(PROMPT),
        content=fence.fenced([_block(number, part) for number, part in enumerate(parts, start=1)]),
        task=ReduceTask(tuple(as_reply(part) for part in parts), top),
    )


def as_reply(part: Part) -> Mapping[str, object]:
    """A part as the object of the analysis schema that it came from, with what was dropped left out."""
    return {"summary": part.summary, "facets": [_facet(facet) for facet in part.facets]}


def _facet(facet: Facet) -> dict[str, object]:
    return {
        "title": facet.title,
        "description": facet.description,
        "aliases": list(facet.aliases),
        "evidence": [{"entry_id": one.entry_id, "quote": one.quote} for one in facet.evidence],
        "findings": [
            {
                "statement": one.statement,
                "status": one.status,
                "entry_id": one.evidence.entry_id,
                "quote": one.evidence.quote,
            }
            for one in facet.findings
        ],
    }


def _block(number: int, part: Part) -> Block:
    """A part as it is shown. Its number is that in the request, so that a front stays the same when more follows."""
    facets = [_facet(facet) | ({"abandoned": True} if facet.abandoned else {}) for facet in part.facets]
    return Block(f"part {number}", canonical_json({"summary": part.summary, "facets": facets}))


def _stuck() -> ModelError:
    return ModelError(
        "model_reduce_not_shrinking",
        "joining the parts of this conversation does not make them shorter",
        "use a model with a larger context, or one that keeps to the asked lengths",
    )
