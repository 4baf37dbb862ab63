"""Which `response_format` an endpoint takes: tried from the strictest down, and remembered for each endpoint and model.

litellm says no for most local servers that do take a schema, so the answer is found by asking. A refusal costs one
charged request, once.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Protocol

from recall.index import traits
from recall.index.database import Database

LADDER = ("json_schema", "json_object", "none")
_TRAIT = "response_format"


class Formats(Protocol):
    """What is known of one endpoint and model."""

    def get(self) -> str: ...

    def put(self, value: str) -> None: ...


class SessionFormats:
    """Known as long as this object lives."""

    def __init__(self, value: str = LADDER[0]) -> None:
        self._value = value

    def get(self) -> str:
        return self._value

    def put(self, value: str) -> None:
        self._value = value


class StoredFormats:
    """Known to every later run, in the index."""

    def __init__(
        self,
        database: Database,
        endpoint: str,
        model: str,
        clock: Callable[[], int] = lambda: time.time_ns() // 1_000_000,
    ) -> None:
        self._database = database
        self._endpoint = endpoint
        self._model = model
        self._clock = clock

    def get(self) -> str:
        with self._database.read() as connection:
            value = traits.get(connection, self._endpoint, self._model, _TRAIT)
        return value if value in LADDER else LADDER[0]

    def put(self, value: str) -> None:
        with self._database.write() as connection:
            traits.put(connection, self._endpoint, self._model, _TRAIT, value, self._clock())


def simpler(value: str) -> str:
    """The next form down."""
    return LADDER[min(LADDER.index(value) + 1, len(LADDER) - 1)]


def response_format(value: str, schema: Mapping[str, object]) -> Mapping[str, object] | None:
    """The parameter for a form, or None where there is none to give."""
    if value == "json_schema":
        return {"type": "json_schema", "json_schema": {"name": "reply", "schema": schema, "strict": False}}
    return {"type": "json_object"} if value == "json_object" else None
