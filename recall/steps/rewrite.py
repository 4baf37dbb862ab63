"""Queries in the words that the answering passages could use: one request for all queries of a search.

What is sent are the queries, redacted, and the names of the languages that the profile is written in; nothing of the
history. The same queries get the kept reply. A rewrite adds to its query and never stands for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict, cast

from recall import fence, prompts
from recall.fence import Block
from recall.models.replies import InvalidReply
from recall.models.request import ModelRequest, RewriteTask
from recall.redact import redact_text
from recall.steps.asking import Asker

PROMPT = "rewrite"
OUTPUT_TOKENS = 1536
Rewrites = tuple[tuple[str, ...], ...]
"""For each query its rewrites, the likeliest first."""


class _Item(TypedDict):
    query: int
    queries: list[str]


async def rewrite(queries: Sequence[str], languages: Sequence[str], asker: Asker) -> Rewrites:
    """The rewrites of each query, in order. Raises ModelError or StateError."""
    request = rewrite_request(queries, languages)
    return await asker.ask(request, lambda reply: _accepted(reply, queries))


def rewrite_request(queries: Sequence[str], languages: Sequence[str]) -> ModelRequest:
    """The question for all queries."""
    safe = tuple(" ".join(redact_text(query).split()) for query in queries)
    blocks = [Block(f"query {number}", query) for number, query in enumerate(safe, 1)]
    content = f"Languages of the conversations: {', '.join(languages)}\n\n" + fence.fenced(blocks)
    task = RewriteTask(safe, tuple(languages))
    return ModelRequest("rewrite", prompts.load(PROMPT), content, task, max_output_tokens=OUTPUT_TOKENS)


def _accepted(reply: object, queries: Sequence[str]) -> Rewrites:
    """A reply that satisfies the schema, by query. Raises InvalidReply where a query is missing or comes twice."""
    items = cast("list[_Item]", cast("dict[str, object]", reply)["rewrites"])
    numbers = [item["query"] for item in items]
    if sorted(numbers) != list(range(1, len(queries) + 1)):
        raise InvalidReply(f"there are {len(queries)} queries, and each of them needs exactly one item")
    by_number = {item["query"]: item["queries"] for item in items}
    return tuple(_clean(by_number[number], query) for number, query in enumerate(queries, 1))


def _clean(rewrites: Sequence[str], query: str) -> tuple[str, ...]:
    """Each rewrite once, on one line; the query itself is none."""
    folded = [" ".join(rewrite.split()) for rewrite in rewrites]
    return tuple(dict.fromkeys(one for one in folded if one and one.casefold() != query.strip().casefold()))
