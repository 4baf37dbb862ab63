"""A reply's schema for one request, narrowed to what that request can be answered with.

A server that generates by a schema (llama.cpp and its like do) then cannot cite an entry that it was not shown, nor
quote what does not stand there, nor leave a facet without evidence; small models do all three. Nor can it go on and on
about little: lists are bounded by how much was shown. The reply is judged by the prompt's own schema and by the host
all the same. Only for servers on this machine: elsewhere a schema is prepared once and kept, so that a new one each
time costs time, and larger models need none of it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, cast

from recall.hashing import canonical_json
from recall.models.endpoints import is_loopback
from recall.models.request import AnalysisTask, ModelRequest, PlacementTask, ReduceTask, Task

# A grammar with more in it slows the sampling down, or is refused. In bytes of JSON, and passages.
MOST_BYTES = 32_000
MOST_PASSAGES = 400

# A request of so many characters is answered with lists as long as the prompt's schema lets them be, a shorter one with
# shorter lists: a model of 1.5b parameters on two cores writes 14 tokens a second, and left to itself it filled the 90
# seconds of one request in ten with facets about 4,000 characters.
FULL_CHARS = 12_000
_LEAST_ITEMS = {"facets": 1, "evidence": 3, "findings": 2, "aliases": 4}

_SHORT, _LONG = 12, 240  # characters of a passage
_SENTENCE = re.compile(r"(?<=[.!?;])\s+|(?<=[。！？；])|[\r\n]+")

Citable = tuple[tuple[str, tuple[str, ...]], ...]
"""Entry ids, each once, with the passages of theirs that can be quoted."""


def sent_schema(request: ModelRequest, endpoint: str) -> Mapping[str, object]:
    """The schema that goes with a request to this endpoint."""
    schema = request.prompt.schema
    if not is_loopback(endpoint):
        return schema
    if isinstance(request.task, PlacementTask):
        return placing(schema, request.task)
    bounded = shortened(schema, _shown_chars(request.task))
    return narrowed(bounded, citable_of(request.task))


def placing(schema: Mapping[str, object], task: PlacementTask) -> Mapping[str, object]:
    """The schema with one item for each facet, in their order, and with the ids of the topics that are shown.

    Where the ids would make it too large, only the facets are held.
    """
    cards = (*(card for carried in task.carried for card in carried), *task.page)
    shown = tuple(dict.fromkeys(card.topic_id for card in cards))
    made = _placing(schema, len(task.facets), shown)
    return made if len(canonical_json(made).encode()) <= MOST_BYTES else _placing(schema, len(task.facets), None)


def _placing(schema: Mapping[str, object], count: int, shown: tuple[str, ...] | None) -> Mapping[str, object]:
    parts = cast("Mapping[str, Any]", schema["properties"])
    item = parts["facets"]["items"]
    own: dict[str, object] = dict(item["properties"])
    if shown is not None and "topic_id" in own:
        own["topic_id"] = {"enum": [*shown, None]}
    if shown is not None:
        few = {"maxItems": 0} if not shown else {"items": {"enum": list(shown)}}
        own["candidates"] = item["properties"]["candidates"] | few
    # `items` must not stand beside `prefixItems`: llama.cpp would take it for the form of every item.
    rest = {name: value for name, value in parts["facets"].items() if name != "items"}
    forms = [item | {"properties": own | {"facet": {"enum": [number]}}} for number in range(1, count + 1)]
    facets = rest | {"minItems": count, "maxItems": count, "prefixItems": forms}
    return {**schema, "properties": {**parts, "facets": facets}}


def citable_of(task: Task | None) -> Citable:
    """What a reply to the task can cite: passages of the entries shown, or what the parts to be joined cite."""
    if isinstance(task, AnalysisTask):
        return _by_entry((piece.entry_id, quote) for piece in task.entries for quote in passages(piece.text))
    if isinstance(task, ReduceTask):
        return _by_entry(pair for part in task.parts for pair in _cited(part))
    return ()


def shortened(schema: Mapping[str, object], chars: int) -> Mapping[str, object]:
    """The schema with its lists bounded in proportion to the characters that were shown."""
    if chars >= FULL_CHARS:
        return schema
    return {name: _shortened(name, value, chars / FULL_CHARS) for name, value in schema.items()}


def _shortened(name: str, value: object, share: float) -> object:
    if isinstance(value, list):
        return [_shortened("", one, share) for one in value]
    if not isinstance(value, Mapping):
        return value
    inner = {key: _shortened(key, one, share) for key, one in value.items()}
    most = value.get("maxItems")
    if name not in _LEAST_ITEMS or not isinstance(most, int):
        return inner
    return inner | {"maxItems": min(most, max(_LEAST_ITEMS[name], math.ceil(most * share)))}


def _shown_chars(task: Task | None) -> int:
    """How much a reply to the task is about; all that fits where that is no matter of what was shown."""
    if isinstance(task, AnalysisTask):
        return sum(len(piece.text) for piece in task.entries)
    if isinstance(task, ReduceTask):
        return sum(len(canonical_json(part)) for part in task.parts)
    return FULL_CHARS


def passages(text: str) -> tuple[str, ...]:
    """The lines and sentences of a text that are long enough to be told apart, each once, in order."""
    found = dict.fromkeys(piece for part in _SENTENCE.split(text) for piece in _pieces(" ".join(part.split())))
    return tuple(found) or tuple(_pieces(" ".join(text.split()), least=1))


def narrowed(schema: Mapping[str, object], citable: Citable) -> Mapping[str, object]:
    """The schema with citations of these entries and passages only, and at least one in each `evidence`.

    Where that would be too large only the ids are held, and where that is too large as well, nothing.
    """
    few = sum(len(quotes) for _, quotes in citable) <= MOST_PASSAGES
    for held in (citable if few else (), tuple((entry_id, ()) for entry_id, _ in citable)):
        made = {name: _narrowed(name, value, held) for name, value in schema.items()} if held else schema
        if held and len(canonical_json(made).encode()) <= MOST_BYTES:
            return made
    return schema


def _narrowed(name: str, value: object, citable: Citable) -> object:
    if isinstance(value, list):
        return [_narrowed("", one, citable) for one in value]
    if not isinstance(value, Mapping):
        return value
    properties = value.get("properties")
    if isinstance(properties, Mapping) and "entry_id" in properties:
        return _citing(value, properties, citable)
    inner = {key: _narrowed(key, one, citable) for key, one in value.items()}
    return inner | {"minItems": 1} if name == "evidence" else inner


def _citing(value: Mapping[str, object], properties: Mapping[str, object], citable: Citable) -> Mapping[str, object]:
    """An object with a citation: one form for each entry where its passages are known, else only the ids."""
    if not any(quotes for _, quotes in citable):
        ids = {"enum": [entry_id for entry_id, _ in citable]}
        return {**value, "properties": {**properties, "entry_id": ids}}
    forms = [
        {**value, "properties": {**properties, "entry_id": {"enum": [entry_id]}, "quote": {"enum": list(quotes)}}}
        for entry_id, quotes in citable
        if quotes
    ]
    return {"anyOf": forms}


def _pieces(line: str, least: int = _SHORT) -> Iterator[str]:
    """A line, where it is longer than a quote should be cut between words."""
    while len(line) > _LONG:
        cut = line.rfind(" ", _LONG // 2, _LONG)
        cut = _LONG if cut < 0 else cut
        yield line[:cut]
        line = line[cut:].strip()
    if len(line) >= least:
        yield line


def _by_entry(pairs: Iterable[tuple[str, str]]) -> Citable:
    found: dict[str, dict[str, None]] = {}
    for entry_id, quote in pairs:
        found.setdefault(entry_id, {})[" ".join(quote.split())] = None
    return tuple((entry_id, tuple(quotes)) for entry_id, quotes in found.items())


def _cited(part: object) -> Iterator[tuple[str, str]]:
    """Every citation in an object of the analysis schema, however deep it stands."""
    if isinstance(part, Mapping):
        if "entry_id" in part:
            yield str(part["entry_id"]), str(part["quote"])
        for inner in part.values():
            yield from _cited(inner)
    elif isinstance(part, list | tuple):
        for inner in part:
            yield from _cited(inner)
