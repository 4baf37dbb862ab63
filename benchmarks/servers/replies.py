"""Valid replies for the chat server, computed from nothing but the request: a model that reads and never understands.

It takes a request apart as a model sees it (the instructions' schema, the fenced blocks, their heads) and answers in
the form that is asked for: an analysis that cites shown entries word for word, a joining of parts, a shortlist, a
placement by shared words of titles. Equal requests get equal replies. With it the whole product runs through litellm
over real sockets, and what a test counts is what a provider would have been sent.

As a process: `python -m benchmarks.servers.replies --port 0 [--log FILE]` prints the port.
"""

from __future__ import annotations

import argparse
import json
import re
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.servers.chat_server import ChatServer

_FENCE = re.compile(r"<<<HISTORY ([0-9a-f]{16})\n(.*)\nHISTORY \1>>>\n", re.DOTALL)
_WORD = re.compile(r"\w{3,}")
_SCHEMA_LEAD = "It has to satisfy this JSON Schema:\n"
_QUOTE = 120
_FACETS = 3
_ENTRIES_A_FACET = 12
# How much of two titles has to be shared for one subject, and for a candidate.
_SAME = 0.6
_CLOSE = 0.2
_STATUSES = (("failed", ("error", "fail", "broke")), ("worked", ("passed", "works", "fixed")), ("open", ("?", "todo")))


@dataclass(frozen=True, slots=True)
class Shown:
    """One block of the fence: the words of its head, and its text."""

    head: str
    text: str

    @property
    def name(self) -> str:
        """The value of the head's first item: an entry's or a topic's id, a part's or a facet's number."""
        value = self.head.split(" ", 1)[1]
        if value.startswith('"'):
            return str(json.JSONDecoder().raw_decode(value)[0])
        return value.split(",")[0]


def answer(body: Mapping[str, Any]) -> str:
    """The reply to a request, as a `responder` of the chat server. It is no child: tools are answered with words."""
    if body.get("tools"):
        return "I have read it."
    blocks = shown(body)
    made = {
        "analysis": _analysis,
        "reduce": _joined,
        "shortlist": _shortlist,
        "placement": _placement,
        "rewrite": _rewrite,
        "retell": _retold,
    }
    return json.dumps(made[step(body)](blocks), ensure_ascii=False)


def step(body: Mapping[str, Any]) -> str:
    """Which step asks: the title of the schema, wherever in the request that stands."""
    asked = (body.get("response_format") or {}).get("json_schema")
    if asked is not None:
        return str(asked["schema"]["title"])
    return str(json.loads(str(body["messages"][0]["content"]).split(_SCHEMA_LEAD, 1)[1])["title"])


def shown(body: Mapping[str, Any]) -> list[Shown]:
    """The blocks in the fence of the last message."""
    found = _FENCE.search(str(body["messages"][-1]["content"]))
    if found is None:
        raise ValueError("the request shows no fenced history")
    code, inside = found.groups()
    parts = re.split(rf"(?:^|\n)=== {code} ", inside)[1:]
    return [Shown(*part.split("\n", 1)) for part in parts]


def _analysis(entries: Sequence[Shown]) -> dict[str, Any]:
    """A facet for each dozen entries, at most three, named by what opens it."""
    size = max(_ENTRIES_A_FACET, -(-len(entries) // _FACETS))
    groups = [entries[start : start + size] for start in range(0, len(entries), size)]
    facets = [_facet(group) for group in groups]
    return {"summary": "; ".join(facet["title"] for facet in facets), "facets": facets}


def _facet(entries: Sequence[Shown]) -> dict[str, Any]:
    opening = next((entry for entry in entries if ", role user" in entry.head), entries[0])
    closing = next((entry for entry in reversed(entries) if ", role assistant" in entry.head), entries[-1])
    title = _title(_quote(opening))
    cited = {entry.name: _quote(entry) for entry in (opening, closing)}
    words = dict.fromkeys(word.lower() for word in _WORD.findall(_quote(opening) + " " + _quote(closing)))
    return {
        "title": title,
        "description": f"{title} - {_quote(closing)}"[:500],
        "aliases": sorted(words, key=len)[-4:],
        "evidence": [{"entry_id": name, "quote": quote} for name, quote in cited.items()],
        "findings": [
            {
                "statement": _quote(closing),
                "status": _status(closing.text),
                "entry_id": closing.name,
                "quote": _quote(closing),
            }
        ],
    }


def _retold(facets: Sequence[Shown]) -> dict[str, Any]:
    """A card that names every facet it was made of."""
    titles = [str(json.loads(facet.text)["title"]) for facet in facets]
    return {"title": f"On {titles[0]}"[:100], "description": f"Told anew: {'; '.join(titles)}"[:500], "aliases": []}


def _quote(entry: Shown) -> str:
    """The beginning of the entry's first line with words in it."""
    line = next(line for line in entry.text.splitlines() if line.strip())
    return line.strip()[:_QUOTE].strip()


def _title(text: str) -> str:
    return " ".join(text.split())[:80].strip()


def _status(text: str) -> str:
    low = text.lower()
    return next((status for status, cues in _STATUSES if any(cue in low for cue in cues)), "found")


def _joined(parts: Sequence[Shown]) -> dict[str, Any]:
    """The parts' facets, those of one title made one, at most five; what is cited stands in a part."""
    analyses = [json.loads(part.text) for part in parts]
    by_title: dict[str, dict[str, Any]] = {}
    for facet in (facet for analysis in analyses for facet in analysis["facets"]):
        kept = by_title.setdefault(facet["title"], {**facet, "evidence": [], "findings": []})
        kept.pop("abandoned", None)
        kept["evidence"] = [*kept["evidence"], *facet["evidence"]][:3]
        kept["findings"] = [*kept["findings"], *facet["findings"]][:2]
    facets = list(by_title.values())[:5]
    return {"summary": "; ".join(facet["title"] for facet in facets) or "nothing", "facets": facets}


def _cards(blocks: Sequence[Shown], kind: str) -> dict[str, str]:
    """The titles of one kind of card, by name."""
    return {block.name: str(json.loads(block.text)["title"]) for block in blocks if block.head.startswith(kind)}


def _likeness(one: str, other: str) -> float:
    a, b = set(_WORD.findall(one.lower())), set(_WORD.findall(other.lower()))
    return len(a & b) / len(a | b) if a | b else 0.0


def _close(title: str, topics: Mapping[str, str]) -> list[str]:
    """The ids of the topics that come close, the best first."""
    near = sorted((-_likeness(title, other), topic_id) for topic_id, other in topics.items())
    return [topic_id for likeness, topic_id in near if -likeness >= _CLOSE][:3]


def _shortlist(blocks: Sequence[Shown]) -> dict[str, Any]:
    topics = _cards(blocks, "topic_id ")
    return {
        "facets": [
            {"facet": int(number), "candidates": _close(title, topics)}
            for number, title in _cards(blocks, "facet ").items()
        ]
    }


def _placement(blocks: Sequence[Shown]) -> dict[str, Any]:
    topics = _cards(blocks, "topic_id ")
    return {"facets": [_placed(int(n), title, topics) for n, title in _cards(blocks, "facet ").items()]}


def _rewrite(blocks: Sequence[Shown]) -> dict[str, Any]:
    """The longest word of each query, by itself."""
    words = [_WORD.findall(block.text) or [block.text.strip()] for block in blocks]
    return {"rewrites": [{"query": n, "queries": [max(some, key=len)]} for n, some in enumerate(words, 1)]}


def _placed(number: int, title: str, topics: Mapping[str, str]) -> dict[str, Any]:
    close = _close(title, topics)
    same = close[0] if close and _likeness(title, topics[close[0]]) >= _SAME else None
    return {
        "facet": number,
        "topic_id": same,
        "draft": None if same else number,
        "candidates": [topic_id for topic_id in close if topic_id != same],
        "reason": "the titles share most words" if same else "no title shares enough words",
    }


def main() -> None:
    """Serve until the process is ended."""
    parser = argparse.ArgumentParser(description="a chat-completions server on 127.0.0.1 whose replies are valid")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--log", type=Path, help="append each request here, as a JSON line")
    options = parser.parse_args()
    with ChatServer(responder=answer, log=options.log, port=options.port) as server:
        print(server.port, flush=True)
        threading.Event().wait()


if __name__ == "__main__":
    main()
