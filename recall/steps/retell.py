"""A topic's words from the facets that are left in it, after a conversation was forgotten: one request a topic.

What is shown are the facets' cards, as placement shows them, the oldest first, and as many of the latest as there is
room for. Nothing of what was forgotten is in them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from recall import fence, prompts
from recall.models.replies import InvalidReply
from recall.models.request import FacetCard, ModelRequest
from recall.steps import pages
from recall.steps.asking import Asker, Meter, room
from recall.steps.evidence import fold
from recall.types import Draft

PROMPT = "retell"
OUTPUT_TOKENS = 1024


async def retell(facets: Sequence[FacetCard], asker: Asker, meter: Meter) -> Draft:
    """The words of a topic that holds these facets. Raises ModelError or StateError."""
    return await asker.ask(retell_request(facets, meter), _accepted)


def retell_request(facets: Sequence[FacetCard], meter: Meter) -> ModelRequest:
    """The question about one topic."""
    prompt = prompts.load(PROMPT)
    left = room(meter, prompt) - meter.measure(fence.frame())
    detail = pages.DETAILS[0]
    shown: list[FacetCard] = []
    for facet in reversed(facets):
        left -= meter.measure(fence.sample(pages.facet_block(len(facets), facet, detail)))
        if left < 0 and shown:
            break
        shown.insert(0, facet)
    blocks = [pages.facet_block(number, facet, detail) for number, facet in enumerate(shown, start=1)]
    return ModelRequest("retell", prompt, fence.fenced(blocks), None, max_output_tokens=OUTPUT_TOKENS)


def _accepted(reply: object) -> Draft:
    card = cast("Mapping[str, object]", reply)
    title, description = fold(str(card["title"])), fold(str(card["description"]))
    if not title or not description:
        raise InvalidReply("title and description must hold words")
    aliases = (fold(alias) for alias in cast("list[str]", card["aliases"]))
    return Draft(title, description, tuple(alias for alias in aliases if alias))
