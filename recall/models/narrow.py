"""A reply's schema for one request, narrowed to what that request can be answered with.

A server that generates by a schema (llama.cpp and its like do) then cannot cite an entry that it was not shown, nor
quote what does not stand there, nor leave a facet without evidence; small models do all three. The reply is judged by
the prompt's own schema and by the host all the same. Only for servers on this machine: elsewhere a schema is prepared
once and kept, so that a new one each time costs time, and larger models need none of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from recall.hashing import canonical_json
from recall.models.endpoints import is_loopback
from recall.models.request import AnalysisTask, ModelRequest, ReduceTask, Task

# A grammar with more in it slows the sampling down, or is refused. In bytes of JSON, and passages.
MOST_BYTES = 32_000
MOST_PASSAGES = 400

_SHORT, _LONG = 12, 240  # characters of a passage
_SENTENCE = re.compile(r"(?<=[.!?;])\s+|(?<=[。！？；])|[\r\n]+")

Citable = tuple[tuple[str, tuple[str, ...]], ...]
"""Entry ids, each once, with the passages of theirs that can be quoted."""


def sent_schema(request: ModelRequest, endpoint: str) -> Mapping[str, object]:
    """The schema that goes with a request to this endpoint."""
    schema = request.prompt.schema
    return narrowed(schema, citable_of(request.task)) if is_loopback(endpoint) else schema


def citable_of(task: Task | None) -> Citable:
    """What a reply to the task can cite: passages of the entries shown, or what the parts to be joined cite."""
    if isinstance(task, AnalysisTask):
        return _by_entry((piece.entry_id, quote) for piece in task.entries for quote in passages(piece.text))
    if isinstance(task, ReduceTask):
        return _by_entry(pair for part in task.parts for pair in _cited(part))
    return ()


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
