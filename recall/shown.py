"""What every answer that shows history has in common: which text is safe to show, where it may be cut, how a
conversation introduces itself.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Sequence

from recall import cut
from recall.redact import RULES_VERSION, redact_text
from recall.timewindow import iso

SourceState = Callable[[sqlite3.Row], str]  # a row of `conversations` -> ok grown changed gone unreadable
Resume = Callable[[sqlite3.Row], str | None]
# ... and entry ids, and marks that hide an entry -> those that were edited, or are hidden now; None: it cannot be read
Lost = Callable[[sqlite3.Row, Sequence[str], frozenset[str]], frozenset[str] | None]
Belongs = Callable[[sqlite3.Row], dict[str, object]]  # ... -> its project, tier and why, as an answer gives them


def safe(text: str, rules_version: int) -> str:
    """Stored text as it may be shown: what was indexed under older rules goes through the present ones first."""
    return text if rules_version >= RULES_VERSION else redact_text(text)


def state_by_stat(row: sqlite3.Row) -> str:
    """The state of a source that is a file, without reading it: what a listing would say."""
    try:
        found = os.stat(row["source"])
    except (FileNotFoundError, NotADirectoryError):
        return "gone"
    except (OSError, ValueError):
        return "unreadable"
    return state_of(row, found.st_size, found.st_mtime_ns, found.st_dev, found.st_ino)


def state_of(row: sqlite3.Row, size: int, mtime_ns: int, device: int, inode: int) -> str:
    """The state of a source that looks like this now."""
    if (size, mtime_ns, device, inode) == (row["size"], row["mtime_ns"], row["device"], row["inode"]):
        return "ok"
    return "grown" if size > row["size"] else "changed"


def piece_end(text: str, start: int, room: int) -> int:
    """Where a piece of at most `room` characters from `start` ends: between characters, never without progress."""
    end = start + room
    if end >= len(text):
        return len(text)
    while end > start and not cut.may_cut(text, end):
        end -= 1
    return end if end > start else start + room


def introduce(
    row: sqlite3.Row, source_state: SourceState, resume: Resume, belongs: Belongs | None = None
) -> dict[str, object]:
    """The head of a conversation in `search` and `browse`."""
    title = row["title"]
    state = source_state(row)
    return {
        "conversation_id": row["conversation_id"],
        "host": row["host"],
        "host_conversation_id": row["host_conversation_id"],
        "link": f"history-recall read {row['conversation_id']}",
        "title": None if title is None else safe(title, row["rules_version"]),
        **(belongs or no_project)(row),
        "started_at": iso(row["started_at"]),
        "last_active_at": iso(row["last_active_at"]),
        "source_state": state,
        "resume": resumed(row, state, resume),
    }


def resumed(row: sqlite3.Row, state: str, resume: Resume) -> str | None:
    """The command that goes on with a conversation; none where its source is not here: the host has nothing to open."""
    return None if state == "gone" else resume(row)


def no_project(_row: sqlite3.Row) -> dict[str, object]:
    """Nobody asked which project a conversation belongs to."""
    return {"project": None, "project_name": None, "tier": "none", "why_project": "none"}


def no_resume(_row: sqlite3.Row) -> str | None:
    """No host said how to go on with a conversation."""
    return None
