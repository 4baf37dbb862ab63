"""What index runs came to, or would come to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from recall.counting import count
from recall.surfaces.render.plain import Answer, Renderers, mapping, size
from recall.surfaces.render.upkeep import repaired
from recall.surfaces.terminal import one_line

_WARNINGS_SHOWN = 5


def indexed(answer: Answer) -> Iterable[str]:
    """What a run came to."""
    if "would_send" in answer:
        yield from _dry_run(answer)
        return
    if answer.get("state") == "running":
        yield one_line(answer["message"])
        return
    for done in answer["completed"]:
        if done["unchanged"]:
            yield f"unchanged  {done['conversation_id']}  {one_line(done['source'])}"
            continue
        topics = done["topics"]
        new, updated = len(topics["created"]), len(topics["updated"])
        found = f"{count(done['facets'], 'facet')}, {count(new, 'new topic')}, {count(updated, 'topic')} updated"
        yield f"indexed    {done['conversation_id']}  {found}  {one_line(done['source'])}"
        yield from repaired(done["repair"], topics)
        yield from _source_warnings(done["warnings"])
    for row in answer["skipped"]:
        yield f"skipped    {one_line(row['source'])}: {one_line(row['message'])} ({row['code']})"
    if not any(answer.get(what) for what in ("completed", "skipped", "failed", "aborted", "left")):
        yield "Nothing is new or changed; `history-recall conversations` lists what there is"
    wall = answer["aborted"]
    for row in answer["failed"]:
        if wall is None or row["code"] != wall["code"]:
            yield f"failed     {one_line(row['source'])}: {one_line(row['message'])} ({row['code']})"
    if wall:
        yield f"stopped    {one_line(wall['message'])} ({wall['code']})"
        if wall["hint"]:
            yield f"           {one_line(wall['hint'])}"
    if answer.get("maintenance"):
        yield from repaired(answer["maintenance"]["repair"], answer["maintenance"]["topics"])
    totals = [count(len(answer["completed"]), "conversation"), count(answer["calls"], "model call")]
    totals.append(f"redacted: {mapping(answer['redactions'])}")
    yield ", ".join(totals)
    if answer.get("left"):
        yield f"{answer['left']} still queued" + ("" if wall else "; run index-all again to go on")


def _source_warnings(warnings: Sequence[Mapping[str, Any]]) -> Iterable[str]:
    for warning in warnings[:_WARNINGS_SHOWN]:
        line = f"line {warning['line']}: " if warning["line"] else ""
        yield f"           {line}{one_line(warning['message'])} ({warning['code']})"
    if len(warnings) > _WARNINGS_SHOWN:
        yield f"           and {count(len(warnings) - _WARNINGS_SHOWN, 'more warning')}"


def _dry_run(answer: Answer) -> Iterable[str]:
    would = answer["would_send"]
    yield f"{count(answer['sources'], 'conversation')} would be indexed with {one_line(would['model'])}"
    if not would["calls"]:
        yield "nothing would be sent"
    else:
        least = would["at_least"]
        what = f"{count(would['calls'], 'request')}, {size(would['bytes'])}"
        if not would["exact"]:
            what = f"at least {count(least['calls'], 'request')}, {size(least['bytes'])}; at most {what}"
        yield f"would send {what}, to {one_line(would['endpoint'])}"
        yield from _run_cap(answer["run_cap"], would["calls"])
    yield f"would redact: {mapping(answer['redactions'])}"
    for row in answer["failed"]:
        yield f"cannot be read: {one_line(row['source'])}: {one_line(row['message'])} ({row['code']})"


def _run_cap(cap: Mapping[str, Any] | None, calls: int) -> Iterable[str]:
    """Where one run stops, and what follows from that for so many requests."""
    if cap is None:
        return
    stops = f"a run stops at {count(cap['calls'], 'request')}"
    if calls <= cap["calls"]:
        yield stops
        return
    if cap["runs"]:
        stops += f": so many take up to {count(cap['runs'], 'run')}, and the same command again goes on"
    yield f"{stops}; HISTORY_RECALL_BATCH_CALLS, or --calls of index-all, sets another number"


RENDERERS: Renderers = {
    "index": indexed,
    "index-all": indexed,
}
