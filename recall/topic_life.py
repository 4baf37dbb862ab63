"""The life of a topic in words: each event as a sentence, beside what was before and after, and what proves it."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from typing import Any

from recall.timewindow import iso

_OWN = ("facet", "topic_id")
_SAYS = {
    "created": "Created",
    "left": "A facet left",
    "moved": "A facet moved",
    "joined": "A facet joined",
    "redefined": "Redefined",
    "revived": "Revived",
}


def event(row: sqlite3.Row, *, named: bool = True) -> dict[str, object]:
    """One event, as `browse TOPIC --history` shows it. `proof` is the digest of a repair's proof, else None.

    `named`: with what the topic was called and why; not where that may be in the words of conversations that are out of
    scope.
    """
    before, after, reason = json.loads(row["before"]), json.loads(row["after"]), str(row["reason"])
    if not named:
        reason = ""
        before, after = ({name: held[name] for name in _OWN if name in held} for held in (before, after))
    return {
        "at": iso(row["at"]),
        "kind": row["kind"],
        "topic_id": row["topic_id"],
        "conversation_id": row["conversation_id"],
        "reason": reason,
        "words": sentence(row["kind"], reason, before, after),
        "before": before,
        "after": after,
        "evidence": json.loads(row["evidence"]),
        "proof": row["proof"],
    }


def sentence(kind: str, reason: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> str:
    """An event in words, with its reason."""
    said = _said(kind, before, after)
    return f"{said}. {reason}" if reason else f"{said}."


def _said(kind: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> str:
    facet = after.get("facet") or before.get("facet")
    if not before and not after:  # forgotten with the conversation that it told of
        return f"{_SAYS.get(kind, kind.capitalize())}"
    if kind == "moved":
        return (
            f'A facet moved to {after["topic_id"]}: "{facet}"' if "topic_id" in after else f'A facet moved: "{facet}"'
        )
    if kind == "joined":
        return (f"A facet came from {before['topic_id']}" if before else "A facet joined") + f': "{facet}"'
    if kind == "merged":
        return _merged(before, after)
    if kind == "retired":
        heirs = after.get("topics")
        rest = f"its facets went to {', '.join(heirs)}" if heirs else "nothing is left in it"
        return f"Retired: {rest}" + (f' (it was "{before["title"]}")' if before.get("title") else "")
    return _SAYS.get(kind, kind.capitalize()) + _named(facet, before.get("title"), after.get("title"))


def _merged(before: Mapping[str, Any], after: Mapping[str, Any]) -> str:
    if "topics" in before:
        titles = " and ".join(f'"{words["title"]}"' for words in before["topics"])
        return f'Merged: {titles} are now "{after["title"]}"'
    where = f" into {after['topic_id']}" if "topic_id" in after else ""
    return f'Merged{where}: "{before["title"]}"' if before.get("title") else f"Merged{where}"


def _named(facet: str | None, old: str | None, new: str | None) -> str:
    if facet:
        return f': "{facet}"'
    if old and new and old != new:
        return f': "{old}" is now "{new}"'
    return f' as "{new or old}"' if new or old else ""
