"""A scripted repair child with the judgement of the careful one and worse manners.

It ends before it has read, proposes and ends at once, checks with receipts that it made up, leaves out pages, forges
ids, calls a thing twice, writes text where a call is due; and gives up early.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from typing import Any

from benchmarks.generated import History
from benchmarks.servers.child import Careful, Child, finish, reads, turn_of
from benchmarks.servers.script import Turn
from benchmarks.servers.sight import Call, Sight


class Careless(Careful):
    """One lapse a run, chosen by what the run is about; told of it, it does better once and then gives up. Asked the
    very same again by a later run, it takes care."""

    LAPSES = ("unread", "receipt", "end_page", "blind", "forged", "words", "twice")

    def __init__(self, history: History) -> None:
        super().__init__(history)
        self._asked: set[str] = set()

    def calls(self, sight: Sight) -> list[Call]:
        lapse = self.LAPSES[self._dice(sight) % len(self.LAPSES)]
        standing = sight.standing
        pending = standing.get("proposal_id")
        if sight.turns > 12:
            return [finish(None, "this takes too long")]
        if sight.turns == 0:
            if lapse == "unread":
                return [finish(None, "all looks well")]
            if lapse == "forged":
                return [finish("pr_aaaaaaaaaaaa", "surely it holds")]
            if lapse == "twice":
                read = reads(standing)[:1]
                return read * 2 or [finish(None, "nothing to read")]
        if pending and not sight.unproved:
            if lapse == "blind" and sight.turns < 4:
                return [finish(pending, "it will be right")]
            if lapse == "receipt" and standing.get("to_check") and sight.turns < 5:
                return [(name, {**said, "receipt_id": "rc_aaaaaaaaaaaa"}) for name, said in self.checks(sight)]
            if lapse == "end_page" and not standing.get("to_check") and not standing.get("to_read"):
                return [finish(pending, "the rest will be alike")]
        return super().calls(sight)

    def __call__(self, body: Mapping[str, Any]) -> Turn:
        sight = self.look(body["messages"])
        question = hashlib.sha256(str(body["messages"]).encode()).hexdigest()
        if question in self._asked:
            return turn_of(super().calls(sight))
        self._asked.add(question)
        if self.LAPSES[self._dice(sight) % len(self.LAPSES)] == "words" and sight.turns == 1:
            return Turn(text="I have read everything and nothing is wrong.")
        return turn_of(self.calls(sight))

    @staticmethod
    def _dice(sight: Sight) -> int:
        """The same all through a run, another in the next."""
        return int.from_bytes(hashlib.sha256(sight.opening.encode()).digest()[:4], "big")


CHILDREN: Mapping[str, Callable[[History], Child]] = {"careful": Careful, "careless": Careless}
