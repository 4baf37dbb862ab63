"""Settling where a conversation belongs when it is first published, inside the publishing transaction.

What the user decided meanwhile is read here and not before, so that a move made while a run was under way holds.
"""

from __future__ import annotations

import sqlite3
from dataclasses import replace

from recall.index import lineage, projects
from recall.index.attribution import Attribution, Seen, attribute
from recall.types import Header, SourceRef

_UNNAMED = "project"


def is_new(connection: sqlite3.Connection, profile_no: int, header: Header) -> bool:
    """Whether nothing of the conversation is published yet."""
    row = connection.execute(
        "SELECT 1 FROM conversations WHERE profile_no = ? AND host = ? AND host_conversation_id = ?",
        (profile_no, header.host, header.host_conversation_id),
    ).fetchone()
    return row is None


def settle(
    connection: sqlite3.Connection,
    profile_no: int,
    conversation_no: int,
    header: Header,
    source: SourceRef,
    seen: Seen,
    now: int,
) -> Attribution:
    """Put a new conversation where it belongs, and with it what goes on from it."""
    found = _found(connection, profile_no, header, source, seen)
    if found.adopts is not None:
        name = projects.free_name(
            seen.folders[0].name if seen.folders else _UNNAMED, projects.all_of(connection, profile_no)
        )
        adopted = projects.create(connection, profile_no, name, found.adopts, now)
        found = replace(found, project_no=adopted.project_no)
    lineage.put(connection, [conversation_no], found.project_no, found.why)
    if found.project_no is not None or found.why == "moved":
        rest = lineage.whole(connection, profile_no, header.host, conversation_no)
        rest += lineage.delegates(connection, profile_no, header.host, rest)
        others = [number for number in rest if number != conversation_no]
        lineage.put(connection, others, found.project_no, "inherited", unless="moved")
    return found


def project_of(
    connection: sqlite3.Connection, profile_no: int, header: Header, source: SourceRef, seen: Seen
) -> str | None:
    """The id of the project that a conversation is in, or would be in if it were published now."""
    row = connection.execute(
        """SELECT p.project_id FROM conversations AS c LEFT JOIN projects AS p USING (project_no)
           WHERE c.profile_no = ? AND c.host = ? AND c.host_conversation_id = ?""",
        (profile_no, header.host, header.host_conversation_id),
    ).fetchone()
    if row is not None:
        return None if row["project_id"] is None else str(row["project_id"])
    found = _found(connection, profile_no, header, source, seen)
    if found.adopts is not None:
        return projects.project_id_of(found.adopts)
    return None if found.project_no is None else projects.by_number(connection, found.project_no).project_id


def _found(
    connection: sqlite3.Connection, profile_no: int, header: Header, source: SourceRef, seen: Seen
) -> Attribution:
    origins = (header.continues, header.parent, source.parent_path)
    whole = replace(
        seen,
        decided=projects.decided(connection, profile_no, header.host, header.host_conversation_id),
        followed=lineage.followed(connection, profile_no, header.host, origins),
    )
    return attribute(whole, projects.known(connection, profile_no))
