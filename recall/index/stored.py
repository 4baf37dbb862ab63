"""What the index holds of conversations, for listings, for status and for deciding whether a source changed.

Reads only; plain functions on an open connection.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass

from recall.index.publish import facet_id
from recall.types import Facet, Fingerprint


@dataclass(frozen=True, slots=True)
class Stored:
    """One indexed conversation: what says whether its source changed since, and what an append goes on from."""

    conversation_no: int
    conversation_id: str
    host: str
    host_conversation_id: str
    source: str
    title: str | None
    cwd: str | None
    content_sha256: str
    content_bytes: int
    size: int
    mtime_ns: int
    device: int
    inode: int
    rules_version: int
    reader_version: int
    model: str
    extractive: bool
    last_active_at: int | None
    project_no: int | None
    why_project: str
    git_group: str | None
    cuts: tuple[tuple[str, int], ...]

    def same_file(self, size: int, mtime_ns: int, device: int, inode: int) -> bool:
        """True where a listing has no reason to think that the source changed."""
        return (size, mtime_ns, device, inode) == (self.size, self.mtime_ns, self.device, self.inode)


def by_identity(connection: sqlite3.Connection, profile_no: int, host: str, identity: str) -> Stored | None:
    """The conversation with that host's id, wherever its source was last seen."""
    row = connection.execute(
        "SELECT * FROM conversations WHERE profile_no = ? AND host = ? AND host_conversation_id = ?",
        (profile_no, host, identity),
    ).fetchone()
    return None if row is None else _stored(row)


def digests(connection: sqlite3.Connection, profile_no: int, host: str, identity: str) -> frozenset[str]:
    """The hashes of the records that are indexed of a conversation."""
    rows = connection.execute(
        """SELECT e.sha256 FROM entries AS e JOIN conversations AS c USING (conversation_no)
           WHERE c.profile_no = ? AND c.host = ? AND c.host_conversation_id = ?""",
        (profile_no, host, identity),
    )
    return frozenset(row[0] for row in rows)


def all_of(connection: sqlite3.Connection, profile_no: int) -> list[Stored]:
    """All indexed conversations of a profile, newest activity first."""
    rows = connection.execute(
        "SELECT * FROM conversations WHERE profile_no = ? ORDER BY last_active_at DESC, conversation_no", (profile_no,)
    )
    return [_stored(row) for row in rows]


def placeholders(connection: sqlite3.Connection, conversation_no: int) -> dict[str, int]:
    """Where each redacted secret first stood -> its number, as given at the first indexing."""
    rows = connection.execute("SELECT location, number FROM placeholders WHERE conversation_no = ?", (conversation_no,))
    return {row["location"]: row["number"] for row in rows}


def remember_file(connection: sqlite3.Connection, conversation_no: int, source: str, file: Fingerprint) -> None:
    """Note where unchanged contents stand now (another time, inode or path), so that listings stay quiet about it."""
    connection.execute(
        """UPDATE conversations SET source = ?, size = ?, mtime_ns = ?, device = ?, inode = ?
           WHERE conversation_no = ?""",
        (source, file.size, file.mtime_ns, file.device, file.inode, conversation_no),
    )


def settled_facets(connection: sqlite3.Connection, conversation_no: int) -> frozenset[str]:
    """Ids of the conversation's facets that have a topic: the same facet keeps it and needs no placing."""
    rows = connection.execute(
        """SELECT f.facet_id FROM facets f JOIN memberships m ON m.facet_no = f.facet_no
           WHERE f.conversation_no = ?""",
        (conversation_no,),
    )
    return frozenset(row["facet_id"] for row in rows)


def needs_placing(conversation_id: str, facets: tuple[Facet, ...], settled: frozenset[str]) -> tuple[int, ...]:
    """Indices of the facets that have no topic yet."""
    return tuple(i for i, facet in enumerate(facets) if facet_id(conversation_id, facet) not in settled)


def authorised_paths(connection: sqlite3.Connection, profile_no: int) -> list[tuple[str, str]]:
    """(path, 'file' or 'folder') of what the user authorised outside the hosts' own roots."""
    rows = connection.execute(
        "SELECT path, kind FROM authorised_paths WHERE profile_no = ? ORDER BY path", (profile_no,)
    )
    return [(row["path"], row["kind"]) for row in rows]


def counts(connection: sqlite3.Connection, profile_no: int) -> Mapping[str, int]:
    """How many conversations, entries, facets, findings and live topics the profile has."""
    row = connection.execute(
        """SELECT
             (SELECT count(*) FROM conversations WHERE profile_no = :p) AS conversations,
             (SELECT count(*) FROM entries e JOIN conversations c ON c.conversation_no = e.conversation_no
               WHERE c.profile_no = :p) AS entries,
             (SELECT count(*) FROM facets f JOIN conversations c ON c.conversation_no = f.conversation_no
               WHERE c.profile_no = :p) AS facets,
             (SELECT count(*) FROM findings n JOIN facets f ON f.facet_no = n.facet_no
               JOIN conversations c ON c.conversation_no = f.conversation_no WHERE c.profile_no = :p) AS findings,
             (SELECT count(*) FROM topics WHERE profile_no = :p AND state = 'live') AS topics""",
        {"p": profile_no},
    ).fetchone()
    return {key: row[key] for key in row.keys()}  # noqa: SIM118 - a Row iterates over values, not keys


def redactions(connection: sqlite3.Connection, profile_no: int) -> dict[str, int]:
    """How many secrets of which kind were redacted in what is indexed."""
    total: dict[str, int] = {}
    for row in connection.execute("SELECT redactions FROM conversations WHERE profile_no = ?", (profile_no,)):
        for kind, number in json.loads(row["redactions"]).items():
            total[kind] = total.get(kind, 0) + number
    return dict(sorted(total.items()))


def skipped_lines(connection: sqlite3.Connection, profile_no: int) -> dict[str, int]:
    """Warnings of what is indexed: code -> how many."""
    total: dict[str, int] = {}
    for row in connection.execute("SELECT warnings FROM conversations WHERE profile_no = ?", (profile_no,)):
        for warning in json.loads(row["warnings"]):
            total[warning["code"]] = total.get(warning["code"], 0) + 1
    return dict(sorted(total.items()))


def _stored(row: sqlite3.Row) -> Stored:
    return Stored(
        conversation_no=row["conversation_no"],
        conversation_id=row["conversation_id"],
        host=row["host"],
        host_conversation_id=row["host_conversation_id"],
        source=row["source"],
        title=row["title"],
        cwd=row["cwd"],
        content_sha256=row["content_sha256"],
        content_bytes=row["content_bytes"],
        size=row["size"],
        mtime_ns=row["mtime_ns"],
        device=row["device"],
        inode=row["inode"],
        rules_version=row["rules_version"],
        reader_version=row["reader_version"],
        model=row["model"],
        extractive=bool(row["extractive"]),
        last_active_at=row["last_active_at"],
        project_no=row["project_no"],
        why_project=row["why_project"],
        git_group=row["git_group"],
        cuts=tuple((entry, end) for entry, end in json.loads(row["cuts"])),
    )
