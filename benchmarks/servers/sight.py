"""What the messages of a repair run show a scripted child, taken apart."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from benchmarks.generated import History, Subject

Arguments = dict[str, Any]
Call = tuple[str, Arguments]
_FENCE = re.compile(r"<<<HISTORY ([0-9a-f]{16})\n(.*?)\nHISTORY \1>>>", re.DOTALL)
_WHERE = "Where you are: "


@dataclass
class Facet:
    """A facet as the child knows it. `subject`: by what was read of it; None: not read."""

    facet_id: str
    topic_id: str
    title: str
    incoming: bool
    cites: Sequence[Mapping[str, Any]]
    subject: Subject | None = None


@dataclass
class Sight:
    """What the messages of a run show."""

    opening: str = ""  # the code of its fence
    titles: dict[str, str] = field(default_factory=dict)  # by topic id, in the order shown
    facets: dict[str, Facet] = field(default_factory=dict)
    listed: dict[str, tuple[int, int]] = field(default_factory=dict)  # topic id -> pages of its members seen, of all
    proposed: list[str] = field(default_factory=list)  # titles
    unnoted: set[tuple[str, str]] = field(default_factory=set)  # (facet, entry) read and without a note
    standing: Mapping[str, Any] = field(default_factory=dict)
    turns: int = 0
    refused: bool = False
    unproved: bool = False
    full: bool = False
    catalogue_pages: int = 0
    catalogue_seen: int = 0

    def recall(self, before: Sight | None) -> None:
        """Add what was in sight before."""
        if before is None:
            return
        self.titles = before.titles | self.titles
        for name, facet in before.facets.items():
            known = self.facets.setdefault(name, facet)
            known.subject = known.subject or facet.subject
        self.listed = before.listed | self.listed
        self.proposed = self.proposed or before.proposed
        self.catalogue_pages = self.catalogue_pages or before.catalogue_pages
        self.catalogue_seen = max(self.catalogue_seen, before.catalogue_seen)


class Reading:
    """A child's reading of its messages. What a run has shown it once it remembers, as a model with a larger window
    would."""

    def __init__(self, history: History) -> None:
        self._history = history
        self._seen: dict[str, Sight] = {}  # by the opening of the run

    def __call__(self, messages: Sequence[Mapping[str, Any]]) -> Sight:
        """The messages taken apart."""
        sight = Sight()
        asked: dict[str, Call] = {}
        for message in messages[1:]:
            content = str(message.get("content") or "")
            if message["role"] == "assistant":
                sight.turns += 1
                sight.full = sight.unproved = False
                for call in message.get("tool_calls") or ():
                    asked[call["id"]] = (call["function"]["name"], json.loads(call["function"]["arguments"]))
            elif message["role"] == "tool":
                self._answer(sight, *asked[message["tool_call_id"]], content)
            elif sight.turns == 0:
                self._opening(sight, content)
            self._notes(sight, content)
            if _WHERE in content:
                sight.standing = json.loads(content.rsplit(_WHERE, 1)[1].split("\n", 1)[0])
        sight.opening = str(messages[1]["content"]).split("HISTORY", 2)[1]
        sight.recall(self._seen.get(sight.opening))
        self._seen[sight.opening] = sight
        return sight

    def _opening(self, sight: Sight, content: str) -> None:
        sight.titles |= {_name(head): json.loads(text)["title"] for head, text in _blocks(content, "topic_id")}
        for head, text in _blocks(content, "facet_id"):
            topic = json.loads(re.findall(r'in ("[^"]*")', head)[0])
            self._member(sight, _name(head), topic, json.loads(text), ", incoming" in head)

    def _answer(self, sight: Sight, name: str, arguments: Arguments, content: str) -> None:
        head = json.loads(content.split("\n", 1)[0])
        code = str(head.get("error", ""))
        sight.full = sight.full or code == "context_full"
        if name == "repair_topics" and not code:
            sight.catalogue_pages, sight.catalogue_seen = head["pages"], head["page"]
            sight.titles |= {_name(block): json.loads(text)["title"] for block, text in _blocks(content, "topic_id")}
        elif name == "repair_members" and not code:
            sight.listed[arguments["topic_id"]] = (head["page"], head["pages"])
            for block, text in _blocks(content, "facet_id"):
                self._member(sight, _name(block), arguments["topic_id"], json.loads(text), "incoming" in block)
        elif name == "repair_coverage" and not code:
            for block, text in _blocks(content, "facet_id"):
                self._member(sight, _name(block), arguments["topic"], json.loads(text), "incoming" in block)
        elif name == "repair_propose":
            sight.refused = bool(code)
            given = [*arguments.get("drafts", ()), *arguments.get("redefinitions", ())]
            given += [arguments["merge"]] if "merge" in arguments else []
            sight.proposed = [words["title"] for words in given]
        elif name == "finish":
            sight.unproved = bool(code)
        elif name == "repair_read" and "remember" in arguments:
            sight.unnoted.discard((arguments["facet_id"], arguments["entry_id"]))
        elif name == "repair_read":
            self._text(sight, arguments, content)

    def _text(self, sight: Sight, arguments: Arguments, content: str) -> None:
        facet = sight.facets.get(arguments["facet_id"])
        for _, text in _blocks(content, "entry_id"):
            sight.unnoted.add((arguments["facet_id"], arguments["entry_id"]))
            segment = self._history.segment_in(text)
            if facet is not None and segment is not None:
                facet.subject = segment.subject

    def _notes(self, sight: Sight, content: str) -> None:
        """What the child noted of entries whose text is out of sight."""
        by_entry = {str(cite["entry_id"]): one for one in sight.facets.values() for cite in one.cites}
        for head, text in _blocks(content, "your note on entry_id"):
            named = self._history.named(text)
            if _name(head) in by_entry and named is not None:
                facet = by_entry[_name(head)]
                facet.subject = facet.subject or named[0]

    @staticmethod
    def _member(sight: Sight, facet_id: str, topic_id: str, words: Mapping[str, Any], incoming: bool) -> None:
        if facet_id not in sight.facets:
            sight.facets[facet_id] = Facet(facet_id, topic_id, words["title"], incoming, words.get("cites", ()))


def _blocks(content: str, kind: str) -> Iterator[tuple[str, str]]:
    """(head, text) of each block of this kind in the fences of a message."""
    for code, inside in _FENCE.findall(content):
        for part in re.split(rf"(?:^|\n)=== {code} ", inside)[1:]:
            head, _, text = part.partition("\n")
            if head.startswith(f"{kind} "):
                yield head.removeprefix(f"{kind} "), text


def _name(head: str) -> str:
    return str(json.JSONDecoder().raw_decode(head)[0])
