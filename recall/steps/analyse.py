"""The analysis of one conversation: chunks, a request for each, and where there are several, joining them.

A conversation that fits one request costs exactly one. A longer one is mapped chunk by chunk, many at a time, then
joined (`recall.steps.reduce`). What the host lets stand of each reply is decided in `recall.steps.evidence`.

The first chunk is asked in the same words whether it is the whole conversation or only its beginning; only what the
host accepts differs (a whole conversation has at least one facet). So when a short conversation grows, the reply that
was its analysis comes from the cache as that of its first chunk, and only the new text and the joining are sent.

A chunk that the provider refuses for its length is halved without loss, again and again if need be, and one that the
model has more to say about than a reply may hold at most twice; where the halves
ended is in `Analysis.cuts`, so the next run does not try the too long one again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from recall import fence, prompts
from recall.chunk import Chunk, Cut, chunks, end, halves
from recall.errors import ModelError
from recall.models.request import AnalysisTask, ModelRequest
from recall.steps.asking import HALVINGS, SHORTENINGS, Asker, Meter, in_order, room, said_too_much, too_long
from recall.steps.evidence import Part, TextOf, shown_in, verified
from recall.steps.material import Material, Shown
from recall.steps.reduce import joined
from recall.types import Analysis

PROMPT = "analysis"
Report = Callable[[int, int], None]
"""Told how many characters of how many are analysed."""


@dataclass(frozen=True, slots=True)
class _Read:
    """A chunk with its verified analysis."""

    chunk: Chunk
    part: Part


async def analyse(
    material: Material,
    asker: Asker,
    meter: Meter,
    cuts: frozenset[Cut] = frozenset(),
    *,
    source: str | None = None,
    progress: Report | None = None,
    model: str = "",
    extractive: bool = False,
) -> Analysis:
    """The analysis of the conversation in `material`. `cuts` are those of its last publication.

    Without anything to show there is no request and no facet. Raises ModelError or StateError; replies that were
    accepted before that are cached.
    """
    shown = Shown(material)
    reader = _Reader(asker, meter, material.text_of, shown.given_up, source, progress, shown.characters)
    if extractive:
        reader.least = 0  # what rules read may hold nothing to say; asking again would change nothing
    made = _chunked(shown, meter, cuts)
    head = [chunk for chunk in (next(made, None), next(made, None)) if chunk is not None]
    reads = await reader.read(chain(head, made), only=len(head) == 1)
    whole = await _whole(reads, reader, asker, meter, shown.given_up, source)
    dropped: Counter[str] = Counter(whole.dropped)
    if len(reads) > 1:
        for read in reads:
            dropped.update(read.part.dropped)
    return Analysis(
        summary=whole.summary,
        facets=whole.facets,
        extractive=extractive,
        model=model,
        cuts=tuple(end(read.chunk) for read in reads),
        dropped=dict(dropped),
    )


def plan_requests(material: Material, meter: Meter, cuts: frozenset[Cut] = frozenset()) -> Iterator[ModelRequest]:
    """The requests of the first level, one at a time, without sending any: what a dry run counts.

    For a conversation of one chunk that is all there is; for more see `recall.steps.planning`.
    """
    made = _chunked(Shown(material), meter, cuts)
    head = [chunk for chunk in (next(made, None), next(made, None)) if chunk is not None]
    for number, chunk in enumerate(chain(head, made)):
        yield chunk_request(chunk, first=number == 0, only=len(head) == 1)


def chunk_request(chunk: Chunk, *, first: bool, only: bool) -> ModelRequest:
    """The question about one chunk: the same whether it is the only one or just the first."""
    return ModelRequest(
        kind="analysis" if first else "map",
        prompt=prompts.load(PROMPT),
        content=fence.fenced([fence.entry_block(piece) for piece in chunk]),
        task=AnalysisTask(chunk, top=only),
    )


def _chunked(shown: Shown, meter: Meter, cuts: frozenset[Cut]) -> Iterator[Chunk]:
    return chunks(shown, meter.measure, room(meter, prompts.load(PROMPT)), cuts)


async def _whole(
    reads: Sequence[_Read],
    reader: _Reader,
    asker: Asker,
    meter: Meter,
    given_up: Collection[str],
    source: str | None,
) -> Part:
    """One analysis from those of the chunks."""
    if not reads:
        return Part("", ())
    if len(reads) == 1:
        return reads[0].part
    parts = [read.part for read in reads]
    if not any(part.facets for part in parts):
        if not reader.least:
            return parts[0]
        # A conversation is about something. Its beginning says what; the reply kept for it said nothing and is
        # asked for again.
        parts[0] = await reader.ask(reads[0].chunk, first=True, only=True)
    return await joined(parts, asker, meter, given_up, source=source)


class _Reader:
    """Asks about chunks."""

    def __init__(
        self,
        asker: Asker,
        meter: Meter,
        text_of: TextOf,
        given_up: Collection[str],
        source: str | None,
        progress: Report | None,
        total: int,
    ) -> None:
        self._asker = asker
        self._meter = meter
        self._text_of = text_of
        self._given_up = given_up
        self._source = source
        self._progress = progress
        self._total = total
        self._done = 0
        self.least = 1  # facets that a whole conversation has

    async def read(self, made: Iterable[Chunk], *, only: bool) -> list[_Read]:
        """All chunks with their analyses, in order."""

        async def one(numbered: tuple[int, Chunk]) -> list[_Read]:
            number, chunk = numbered
            return await self._halved(chunk, first=number == 0, only=only, left=HALVINGS)

        return [read for group in await in_order(enumerate(made), one, self._asker.width) for read in group]

    async def ask(self, chunk: Chunk, *, first: bool, only: bool) -> Part:
        """One request about one chunk."""
        citable = shown_in(chunk, self._text_of)
        return await self._asker.ask(
            chunk_request(chunk, first=first, only=only),
            lambda reply: verified(reply, citable, self._given_up, at_least=self.least if only else 0),
            source=self._source,
        )

    async def _halved(self, chunk: Chunk, *, first: bool, only: bool, left: int) -> list[_Read]:
        try:
            part = await self.ask(chunk, first=first, only=only)
        except ModelError as error:
            if left == 0 or not (too_long(error) or (said_too_much(error) and left > HALVINGS - SHORTENINGS)):
                raise
        else:
            self._report(chunk)
            return [_Read(chunk, part)]
        front, back = halves(chunk, self._meter.measure)
        return [
            *await self._halved(front, first=first, only=False, left=left - 1),
            *await self._halved(back, first=False, only=False, left=left - 1),
        ]

    def _report(self, chunk: Chunk) -> None:
        self._done += sum(len(piece.text) for piece in chunk)
        if self._progress is not None:
            self._progress(self._done, self._total)
