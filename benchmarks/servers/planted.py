"""A provider for a generated history: a model that reads what it is shown and knows what was planted.

It takes a request apart as a model sees it. Analysis makes a facet of each planted word, with quotes from the entries
that carry it; placement files a facet by the name in its title, as `Faults` says; repair is the scripted child's.

As a process: `python -m benchmarks.servers.planted --conversations N [--subjects N] [--faults all] [--child careful]
[--log FILE]` prints the port.
"""

from __future__ import annotations

import argparse
import json
import re
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.faults import Faults
from benchmarks.generated import TOKEN, History, Segment
from benchmarks.servers import replies
from benchmarks.servers.careless import CHILDREN
from benchmarks.servers.chat_server import ChatServer
from benchmarks.servers.child import Child
from benchmarks.servers.replies import Shown
from benchmarks.servers.script import Turn

BYTES_A_TOKEN = 3  # what this server counts as a token
_CODE = re.compile(r"\bE\d{4}\b")
_QUOTE = 160
_LONG = 7_000  # characters
_PAUSE = 0.05  # seconds before each piece of a reply


class Planted:
    """A responder of the chat server."""

    def __init__(self, history: History, faults: Faults, child: Child) -> None:
        self._history = history
        self._faults = faults
        self._child = child

    def __call__(self, body: Mapping[str, Any]) -> Turn:
        """The answer to a request, with the tokens of both counted."""
        if body.get("tools"):
            turn = self._child(body)
        else:
            # A long request takes its time, as a model's would: what can go side by side is then under way together.
            slow = len(str(body["messages"][-1]["content"])) > _LONG
            turn = Turn(text=self._reply(body), piece=400, pause=_PAUSE if slow else 0.0)
        sent = len(json.dumps(body["messages"], ensure_ascii=False).encode())
        written = len(turn.text.encode()) + sum(len(call.arguments) for call in turn.calls)
        return turn.counted(sent // BYTES_A_TOKEN, written // BYTES_A_TOKEN)

    def _reply(self, body: Mapping[str, Any]) -> str:
        step = replies.step(body)
        if step == "reduce":
            return replies.answer(body)
        blocks = replies.shown(body)
        made = {"analysis": self._analysis, "shortlist": self._shortlist, "placement": self._placement}
        return json.dumps(made[step](blocks), ensure_ascii=False)

    def _analysis(self, entries: Sequence[Shown]) -> dict[str, Any]:
        groups: dict[str, list[Shown]] = {}
        for entry in entries:
            found = TOKEN.search(entry.text)
            if found is not None:
                groups.setdefault(found[0], []).append(entry)
        facets = [self._facet(token, group) for token, group in groups.items()]
        return {"summary": "; ".join(facet["title"] for facet in facets) or "nothing", "facets": facets[:5]}

    def _facet(self, token: str, entries: Sequence[Shown]) -> dict[str, Any]:
        text = " ".join(entry.text for entry in entries)
        named = self._history.named(text)
        subject = named[0] if named is not None else None
        name = "something" if subject is None else subject.former if subject.former in text.lower() else subject.name
        code = _CODE.search(text)
        quotes = [{"entry_id": entry.name, "quote": _quote(entry)} for entry in (entries[0], entries[-1])]
        identifiers = [word for word in (subject.identifiers if subject is not None else ()) if word in text]
        last = quotes[-1]
        return {
            "title": f"{name} {token}: {code[0] if code else 'a remark'}",
            "description": _quote(entries[min(1, len(entries) - 1)]),
            "aliases": [*identifiers, *([code[0]] if code else [])],
            "evidence": quotes[:1] if len(entries) == 1 else quotes,
            "findings": [{"statement": last["quote"], "status": "decided", **last}],
        }

    def _shortlist(self, blocks: Sequence[Shown]) -> dict[str, Any]:
        topics = _titles(blocks, "topic_id ")
        found = {number: self._wanted(title, topics) for number, title in _titles(blocks, "facet ").items()}
        return {"facets": [{"facet": int(number), "candidates": ids[:3]} for number, ids in found.items()]}

    def _placement(self, blocks: Sequence[Shown]) -> dict[str, Any]:
        topics = _titles(blocks, "topic_id ")
        placed: list[dict[str, Any]] = []
        for number, title in _titles(blocks, "facet ").items():
            ids = self._wanted(title, topics)
            reason = "the same component" if ids else "no topic is about this component"
            choice = {"topic_id": ids[0] if ids else None, "draft": None if ids else int(number)}
            placed.append({"facet": int(number), **choice, "candidates": [], "reason": reason})
        return {"facets": placed}

    def _wanted(self, title: str, topics: Mapping[str, str]) -> list[str]:
        """The topics that a facet goes into: those of the subject that it is filed under, if they are its own half."""
        segment = self._history.segment_in(title)
        if segment is None:  # a remark that was added later
            named = self._history.named(title)
            return [name for name, other in topics.items() if named and self._is(other, named[0].number)]
        filed = self._faults.filed_as(segment)
        found = [name for name, other in topics.items() if self._is(other, filed.number)]
        return [name for name in found if filed is not segment.subject or self._together(segment, topics[name])]

    def _is(self, title: str, subject: int) -> bool:
        named = self._history.named(title)
        return named is not None and named[0].number == subject

    def _together(self, segment: Segment, title: str) -> bool:
        founder = self._history.segment_in(title)
        return founder is None or self._faults.together(segment, founder)


def _titles(blocks: Sequence[Shown], kind: str) -> dict[str, str]:
    """The titles of one kind of card, by name."""
    return {block.name: str(json.loads(block.text)["title"]) for block in blocks if block.head.startswith(kind)}


def _quote(entry: Shown) -> str:
    """The beginning of the entry's first line with the planted word in it."""
    line = next(line for line in entry.text.splitlines() if TOKEN.search(line))
    return line.strip()[:_QUOTE].strip()


def main() -> None:
    """Serve until the process is ended."""
    parser = argparse.ArgumentParser(description="a provider on 127.0.0.1 for a generated history")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--conversations", type=int, required=True)
    parser.add_argument("--subjects", type=int, default=4)
    parser.add_argument("--faults", choices=("none", "slips", "all"), default="none", help="what placement does wrong")
    parser.add_argument("--child", choices=sorted(CHILDREN), default="careful")
    parser.add_argument("--log", type=Path, help="append each request here, as a JSON line")
    options = parser.parse_args()
    history = History(options.conversations, subjects=options.subjects)
    responder = Planted(history, Faults(history, options.faults), CHILDREN[options.child](history))
    with ChatServer(responder=responder, log=options.log, port=options.port, keep=False) as server:
        print(server.port, flush=True)
        threading.Event().wait()


if __name__ == "__main__":
    main()
