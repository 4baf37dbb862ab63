"""What the repair step of a run came to, as the run reports it.

`none` is the state of a run that had no publication, and so no such step: nobody shall take it for `nothing`, a repair
that looked and found nothing to mend.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

RepairState = Literal["done", "nothing", "not_due", "deferred", "skipped", "unsupported", "none"]


@dataclass(frozen=True, slots=True)
class RepairReport:
    """The end state, the sources that were bad before the run, and how much was audited and proved."""

    state: RepairState
    deferred: tuple[tuple[str, str], ...] = ()
    audited: int = 0
    receipts: int = 0

    def as_json(self) -> dict[str, object]:
        return {
            "state": self.state,
            "deferred": [{"conversation_id": c, "code": code} for c, code in self.deferred],
            "audited": self.audited,
            "receipts": self.receipts,
        }


NO_REPAIR = RepairReport("none")
