"""How a step asks: the road as it sees it, the room it has, and many questions at once.

The steps know the road only by `Asker` and the model's size only by `Meter`; so a test needs neither.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import Protocol, TypeVar

from recall.errors import ModelError
from recall.hashing import canonical_json
from recall.models.request import ModelRequest
from recall.prompts import Prompt

T = TypeVar("T")
Item = TypeVar("Item")
Result = TypeVar("Result")

WIDTH = 32  # as many as the road will ever have under way; more would only hold texts in memory
# How often something that a model found too long is made half as long.
HALVINGS = 10
# How often something that a model cannot say in one reply is made half as long (a model may never end).
SHORTENINGS = 2


class Asker(Protocol):
    """The road to the model: one question, one accepted answer, or a RecallError.

    `validate` gets the parsed reply, which satisfies the prompt's schema, and returns the value or raises
    InvalidReply, whose message is sent back to the model once. `width` is how many questions it has under way at once.
    """

    @property
    def width(self) -> int: ...

    async def ask(self, request: ModelRequest, validate: Callable[[object], T], *, source: str | None = None) -> T: ...


class Meter(Protocol):
    """How long a text is for the model, and how long what it is sent may be, instructions included."""

    @property
    def limit(self) -> int: ...

    def measure(self, text: str) -> int: ...


def room(meter: Meter, prompt: Prompt) -> int:
    """What is left for content beside the instructions and the schema."""
    return meter.limit - meter.measure(prompt.instructions) - meter.measure(canonical_json(prompt.schema))


def too_long(error: ModelError) -> bool:
    """Whether a provider refused a request for its length, so that a shorter one may pass."""
    return error.code == "model_context_too_small" and bool(error.data.get("overflow"))


def said_too_much(error: ModelError) -> bool:
    """Whether a reply ended for its length, so that about less there may be less to say."""
    return error.code == "model_output_truncated" and not error.data.get("reasoning")


async def in_order(
    items: Iterable[Item], work: Callable[[Item], Awaitable[Result]], width: int = WIDTH
) -> list[Result]:
    """The results of `work`, `width` at a time, in the order of the items, which are taken only as they are needed.

    After the first failure nothing more is started; what is under way ends, and is cached by the road. Then the
    failure is raised. With the road's own width nothing waits there for its turn, to be sent after the failure.
    """
    results: dict[int, Result] = {}
    failures: list[BaseException] = []
    numbered = enumerate(items)

    async def worker() -> None:
        try:
            while not failures:
                taken = next(numbered, None)
                if taken is None:
                    return
                results[taken[0]] = await work(taken[1])
        except BaseException as error:  # also a cancelled worker: a list with a hole would pass for a whole one
            failures.append(error)
            raise

    await asyncio.gather(*(worker() for _ in range(width)), return_exceptions=True)
    if failures:
        raise failures[0]
    return [results[number] for number in sorted(results)]
