"""What an index run came to: the `index` answer, as it fills up."""

from __future__ import annotations

from recall.curation import Curated
from recall.errors import RecallError
from recall.repairing import Maintained


class Report:
    """The `index` answer of contract.md, as it fills up."""

    def __init__(self, requested: int) -> None:
        self.requested = requested
        self.completed: list[Curated] = []
        self.skipped: list[tuple[str, RecallError]] = []
        self.failed: list[tuple[str, RecallError]] = []
        self.aborted: RecallError | None = None
        self.maintained: Maintained | None = None
        self.left = 0

    def as_json(self, calls: int) -> dict[str, object]:
        redactions: dict[str, int] = {}
        for one in self.completed:
            for kind, number in one.redactions.items():
                redactions[kind] = redactions.get(kind, 0) + number
        return {
            "requested": self.requested,
            "completed": [_completed(one) for one in self.completed],
            "skipped": [{"source": source, "code": e.code, "message": e.message} for source, e in self.skipped],
            "failed": [
                {"source": source, "code": e.code, "message": e.message, "counts_as_attempt": e.counts_as_attempt}
                for source, e in self.failed
            ],
            "calls": calls,
            "redactions": dict(sorted(redactions.items())),
            "aborted": None if self.aborted is None else _aborted(self.aborted),
            "left": self.left,
            "maintenance": None if self.maintained is None else maintained(self.maintained),
            "job_id": None,
        }


def _completed(one: Curated) -> dict[str, object]:
    published = one.published
    return {
        "conversation_id": one.conversation_id,
        "source": one.source.name,
        "unchanged": published is None,
        "calls": one.calls,
        "facets": published.facets if published else 0,
        "topics": one.topics,
        "repair": one.repair.as_json(),
        "warnings": [{"code": w.code, "line": w.line, "message": w.message} for w in one.warnings],
    }


def maintained(one: Maintained) -> dict[str, object]:
    """What topic repair alone came to."""
    return {"repair": one.report.as_json(), "topics": one.changed.joined_with({}), "left": one.left}


def _aborted(error: RecallError) -> dict[str, object]:
    return {"code": error.code, "message": error.message, "hint": error.hint}
