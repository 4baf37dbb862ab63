"""What the messages of a repair run show the built-in child: topics, facets, what was read, and where the run is."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from recall.models.extractive.terms import count

_WHERE = "Where you are: "
_BLOCK = re.compile(r"<<<HISTORY ([0-9a-f]{16})\n(.*?)\nHISTORY \1>>>", re.DOTALL)


Terms = dict[str, float]


@dataclass(frozen=True, slots=True)
class SeenFacet:
    """A facet that was shown, by its terms."""

    facet_id: str
    topic_id: str
    incoming: bool
    terms: Terms


@dataclass
class Seen:
    """What the messages show."""

    words: dict[str, Mapping[str, Any]] = field(default_factory=dict)  # topic id -> its words, in the order shown
    sizes: dict[str, int] = field(default_factory=dict)  # topic id -> how many members it has
    facets: dict[str, SeenFacet] = field(default_factory=dict)
    movable: list[str] = field(default_factory=list)  # audited and incoming facets
    asked: set[str] = field(default_factory=set)  # topics whose members were asked for
    read: dict[tuple[str, str], str] = field(default_factory=dict)  # (facet, entry) read and still in sight -> text
    standing: Mapping[str, Any] = field(default_factory=dict)
    proposed: bool = False
    full: bool = False
    warned: bool = False  # the last turn was one that had been made before

    def add(self, facet_id: str, topic: str, words: Mapping[str, Any], *, incoming: bool) -> None:
        """A facet that was shown."""
        parts = [(words["title"], 2.0), (words["description"], 1.0)]
        parts += [(alias, 1.0) for alias in words.get("aliases", ())]
        self.facets[facet_id] = SeenFacet(facet_id, topic, incoming, count(parts))


def look(messages: Sequence[Mapping[str, Any]]) -> Seen:
    """What these messages show."""
    seen = Seen()
    calls: dict[str, tuple[str, Mapping[str, Any]]] = {}
    for number, message in enumerate(messages):
        content = str(message.get("content") or "")
        if number == 0:
            _opening(seen, content)
        for call in message.get("tool_calls") or ():
            calls[call["id"]] = (call["function"]["name"], json.loads(call["function"]["arguments"]))
        if message["role"] == "assistant":
            seen.full = seen.warned = False
        if message["role"] == "tool":
            _answer(seen, *calls[message["tool_call_id"]], content)
    # Outside of the fences: a text of history may hold the same words.
    said = _BLOCK.sub("", str(messages[-1].get("content") or ""))
    seen.standing = json.loads(said.rsplit(_WHERE, 1)[1].split("\n", 1)[0])
    return seen


def _opening(seen: Seen, content: str) -> None:
    for head, text in _blocks(content):
        words = json.loads(text)
        if head.startswith("topic_id "):
            seen.words[_name(head)] = words
            seen.sizes[_name(head)] = int(re.findall(r", members (\d+)", head)[0])
        elif head.startswith("facet_id "):
            topic = json.loads(re.findall(r'in ("[^"]*")', head)[0])
            seen.add(_name(head), topic, words, incoming=", incoming" in head)
            seen.movable.append(_name(head))


def _answer(seen: Seen, name: str, arguments: Mapping[str, Any], content: str) -> None:
    head = json.loads(content.split("\n", 1)[0])
    seen.full = seen.full or head.get("error") == "context_full"
    seen.warned = seen.warned or "warning" in head
    if name == "repair_members":
        seen.asked.add(arguments["topic_id"])
        for block, text in _facets_in(content):
            seen.add(_name(block), arguments["topic_id"], json.loads(text), incoming=", incoming" in block)
    elif name == "repair_coverage":
        for block, text in _facets_in(content):
            if _name(block) not in seen.facets:
                seen.add(_name(block), arguments["topic"], json.loads(text), incoming=", incoming" in block)
    elif name == "repair_propose":
        seen.proposed = True
    elif name == "repair_read" and "remembered" in head:
        seen.read.pop((arguments["facet_id"], arguments["entry_id"]), None)
    elif name == "repair_read" and "read_to" in head:
        for _, text in _blocks(content):
            seen.read[arguments["facet_id"], arguments["entry_id"]] = text


def _facets_in(content: str) -> Iterator[tuple[str, str]]:
    """(head, text) of each facet in an answer; the child's own notes can stand behind it."""
    return ((head, text) for head, text in _blocks(content) if head.startswith("facet_id "))


def _blocks(content: str) -> Iterator[tuple[str, str]]:
    """(head, text) of each block in the fences of a message."""
    for code, inside in _BLOCK.findall(content):
        for part in re.split(rf"(?:^|\n)=== {code} ", inside)[1:]:
            head, _, text = part.partition("\n")
            yield head, text


def _name(head: str) -> str:
    return str(json.JSONDecoder().raw_decode(head.split(" ", 1)[1])[0])
