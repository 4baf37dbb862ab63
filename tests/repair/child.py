"""A careful child by script: it reads what it is told to read, covers and checks what it proposed, and ends.

It works from the messages alone, as a model does. `proposal` is what it proposes once the audit is read; hooks let a
test do one thing wrong.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from recall.models.turns import ToolCall, TurnRequest
from repair.context import NOW

WHERE = "Where you are: "
Made = tuple[str, Mapping[str, Any]]
Proposal = Mapping[str, Any] | Callable[[TurnRequest], Mapping[str, Any]]


def standing(request: TurnRequest) -> Mapping[str, Any]:
    """Where the run is, as the last message says."""
    assert WHERE in str(request.messages[-1]["content"]), request.messages[-1]
    line = str(request.messages[-1]["content"]).rsplit(WHERE, 1)[1].split("\n", 1)[0]
    return dict(json.loads(line))


def answers(request: TurnRequest) -> list[tuple[str, Mapping[str, Any], Mapping[str, Any]]]:
    """(tool, arguments, head of the answer) of every call in sight."""
    made: dict[str, tuple[str, str]] = {}
    found = []
    for message in request.messages:
        for call in cast("Sequence[Mapping[str, Any]]", message.get("tool_calls") or ()):
            made[call["id"]] = (call["function"]["name"], call["function"]["arguments"])
        if message["role"] == "tool":
            name, arguments = made[str(message["tool_call_id"])]
            head = json.loads(str(message["content"]).split("\n", 1)[0])
            found.append((name, json.loads(arguments), head))
    return found


def facet(request: TurnRequest, title: str) -> str:
    """The id of the facet of this title that the opening shows."""
    for head, text in re.findall(r"=== [0-9a-f]{16} (facet_id .*)\n(.*)", str(request.messages[0]["content"])):
        if json.loads(text)["title"] == title:
            return str(json.loads(head.split(" ", 1)[1].split(",")[0]))
    raise AssertionError(f"the opening shows no facet {title!r}")


def errors(request: TurnRequest) -> list[str]:
    """The codes of the errors in the last turn."""
    last = max(n for n, message in enumerate(request.messages) if message["role"] == "assistant")
    heads = [str(m["content"]).split("\n", 1)[0] for m in request.messages[last + 1 :] if m["role"] == "tool"]
    return [json.loads(head)["error"] for head in heads if "error" in json.loads(head)]


@dataclass
class Child:
    """`change(turn number, calls)` may alter what is called; the turns that were asked for are kept."""

    proposal: Proposal | None = None
    fits: Callable[[str], bool] = lambda facet_id: True
    change: Callable[[int, list[Made]], Sequence[Made] | str] = lambda number, made: made
    requests: list[TurnRequest] = field(default_factory=list)

    def turn(self, request: TurnRequest) -> str | Sequence[ToolCall]:
        self.requests.append(request)
        made = self.change(len(self.requests), self._next(request))
        if isinstance(made, str):
            return made
        return [ToolCall(f"call_{n}", name, json.dumps(arguments)) for n, (name, arguments) in enumerate(made)]

    def _next(self, request: TurnRequest) -> list[Made]:
        where = standing(request)
        if where["proposal_id"]:
            made = self._checks(where) + _reads(where) + _pages(where)
            done = {"proposal_id": where["proposal_id"], "reason": "all of it was read and fits"}
            return made[:32] or [("finish", done)]
        if where["to_read"]:
            return _reads(where)[:32]
        if self.proposal is not None and not any(name == "repair_propose" for name, _, _ in answers(request)):
            return [("repair_propose", self.proposal(request) if callable(self.proposal) else self.proposal)]
        return [("finish", {"proposal_id": None, "reason": "all is as it should be"})]

    def _checks(self, where: Mapping[str, Any]) -> list[Made]:
        return [
            (
                "repair_check",
                {
                    "page_id": one["page_id"],
                    "receipt_id": one["receipt_id"],
                    "fits": self.fits(one["facet_id"]),
                    "reason": "as I read it",
                },
            )
            for one in where["to_check"]
        ]


def _reads(where: Mapping[str, Any]) -> list[Made]:
    return [
        ("repair_read", {k: one[k] for k in ("facet_id", "entry_id", "offset")} | {"max_chars": 12_000})
        for one in where["to_read"]
    ]


def _pages(where: Mapping[str, Any]) -> list[Made]:
    return [("repair_coverage", {"topic": one["topic"], "page": n}) for one in where["to_cover"] for n in one["pages"]]


@dataclass
class Literal:
    """A child that can only copy: it makes the one call that stands behind `Now call:`, and proposes once.

    So a small model works. `wide`: it makes the others of the list in the same turn, as it is told.
    """

    proposal: Mapping[str, Any] | None = None
    wide: bool = False
    requests: list[TurnRequest] = field(default_factory=list)

    def turn(self, request: TurnRequest) -> Sequence[ToolCall]:
        self.requests.append(request)
        line = str(request.messages[-1]["content"]).rsplit(f"\n{NOW} ", 1)[1]
        name, _, rest = line.partition(" ")
        arguments, end = json.JSONDecoder().raw_decode(rest)
        if "else repair_propose" in rest and self.proposal is not None:
            return [ToolCall("call_1", "repair_propose", json.dumps(self.proposal))]
        made = [arguments]
        if self.wide and "others of " in rest[end:]:
            made = self._all(name, rest[end:].rsplit(" ", 1)[1], standing(request), arguments)
        return [ToolCall(f"call_{n}", name, json.dumps(self._said(name, one))) for n, one in enumerate(made, start=1)]

    @staticmethod
    def _all(name: str, kind: str, where: Mapping[str, Any], first: Mapping[str, Any]) -> list[dict[str, Any]]:
        listed = where[kind]
        if kind == "to_cover":
            return [{"topic": one["topic"], "page": page} for one in listed for page in one["pages"]]
        return [{key: one.get(key, value) for key, value in first.items()} for one in listed]

    @staticmethod
    def _said(name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        return {**arguments, "fits": True, "reason": "it fits"} if name == "repair_check" else dict(arguments)
