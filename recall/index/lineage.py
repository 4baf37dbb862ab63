"""Which conversations are one to a person: what goes on after a compaction, and the subagents of each.

Forks and resets are conversations of their own; they only begin in the project of what they came from.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Sequence

from recall.index import projects, reads
from recall.index.attribution import Belonging

# UNION, not UNION ALL: a circle ends where it meets itself.
_WHOLE = """
WITH RECURSIVE one (conversation_no, host_conversation_id, continues) AS (
    SELECT conversation_no, host_conversation_id, continues FROM conversations WHERE conversation_no = :number
    UNION
    SELECT c.conversation_no, c.host_conversation_id, c.continues FROM one JOIN conversations AS c
      ON c.profile_no = :profile AND c.host = :host
     AND (c.continues = one.host_conversation_id OR c.host_conversation_id = one.continues)
)
SELECT conversation_no FROM one
"""
_DELEGATES = """
WITH RECURSIVE below (conversation_no, host_conversation_id, source) AS (
    SELECT conversation_no, host_conversation_id, source FROM conversations
    WHERE conversation_no IN (SELECT value FROM json_each(:chosen))
    UNION
    SELECT c.conversation_no, c.host_conversation_id, c.source FROM below JOIN conversations AS c
      ON c.profile_no = :profile AND c.host = :host AND c.sidechain = 1
     AND (c.parent = below.host_conversation_id OR c.parent = below.source
          OR instr(c.source, substr(below.source, 1, length(below.source) - 6) || '/') = 1)
)
SELECT conversation_no FROM below WHERE conversation_no NOT IN (SELECT value FROM json_each(:chosen))
"""


def whole(connection: sqlite3.Connection, profile_no: int, host: str, conversation_no: int) -> list[int]:
    """The conversation with all that goes on from it and all that it goes on from."""
    values = {"number": conversation_no, "profile": profile_no, "host": host}
    return sorted(row[0] for row in connection.execute(_WHOLE, values))


def identities(connection: sqlite3.Connection, numbers: Sequence[int]) -> list[str]:
    """The hosts' ids of conversations, and of those that they go on from, indexed or not."""
    rows = connection.execute(
        """SELECT host_conversation_id, continues FROM conversations
           WHERE conversation_no IN (SELECT value FROM json_each(?)) ORDER BY conversation_no""",
        (json.dumps(list(numbers)),),
    )
    return list(dict.fromkeys(name for row in rows for name in row if name))


def delegates(connection: sqlite3.Connection, profile_no: int, host: str, numbers: Sequence[int]) -> list[int]:
    """The subagents' conversations below these."""
    values = {"chosen": json.dumps(list(numbers)), "profile": profile_no, "host": host}
    return sorted(row[0] for row in connection.execute(_DELEGATES, values))


def followed(
    connection: sqlite3.Connection, profile_no: int, host: str, names: Iterable[str | None]
) -> Belonging | None:
    """Where the conversation is that one came from, if that says anything: it is in a project, or was put in none.

    `names`: what it goes on from, what it was forked from, whose subagent it is; ids of the host, or paths.
    """
    for name in filter(None, names):
        decided = projects.decided(connection, profile_no, host, name)
        if decided is not None:
            return decided
        row = reads.conversation(connection, profile_no, name, None)
        if row is not None and row["host"] == host and (row["project_no"] is not None or row["why_project"] == "moved"):
            return Belonging(row["project_no"])
    return None


def put(
    connection: sqlite3.Connection, numbers: Sequence[int], project_no: int | None, why: str, *, unless: str = ""
) -> None:
    """Put conversations into a project, or out of all; those with the reason `unless` stay where they are."""
    connection.execute(
        """UPDATE conversations SET project_no = ?, why_project = ?
           WHERE conversation_no IN (SELECT value FROM json_each(?)) AND why_project <> ?""",
        (project_no, why, json.dumps(list(numbers)), unless),
    )
