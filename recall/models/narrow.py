"""A reply's schema for one request, narrowed to what that request can be answered with.

A server that generates by a schema (llama.cpp and its like do) then cannot cite an entry that it was not shown, nor
leave a facet without evidence; small models do both. The reply is judged by the prompt's own schema and by the host
all the same. Only for servers on this machine: elsewhere a schema is prepared once and kept, a new one costs time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

MOST_IDS = 200  # a grammar with more alternatives slows the sampling down


def narrowed(schema: Mapping[str, object], citable: Sequence[str]) -> Mapping[str, object]:
    """The schema with these ids as the only ones for `entry_id`, and at least one item in each `evidence`."""
    if not 0 < len(citable) <= MOST_IDS:
        return schema
    return {name: _narrowed(name, value, citable) for name, value in schema.items()}


def _narrowed(name: str, value: object, citable: Sequence[str]) -> object:
    if isinstance(value, list):
        return [_narrowed("", one, citable) for one in value]
    if not isinstance(value, Mapping):
        return value
    if name == "entry_id":
        return {"enum": list(citable)}
    inner = {key: _narrowed(key, one, citable) for key, one in value.items()}
    return inner | {"minItems": 1} if name == "evidence" else inner
