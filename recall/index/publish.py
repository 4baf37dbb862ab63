"""The one transaction that makes a run's results visible: all of it, or none.

The only writer of conversations, entries, facets and memberships. Takes the open writing transaction, checks what the
plan relied on (lease, identity, topic versions), then writes entries and text index, facets with evidence and findings,
memberships, topics and events, bumps the generation and drops the job. Rows that did not change are not touched.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from recall.hashing import derived_id
from recall.index import audits, belonging, fulltext, jobs, successions, topics
from recall.index.attribution import NOTHING_SEEN, Seen
from recall.types import Analysis, Facet, Outline, Placement, SourceRef


@dataclass(frozen=True, slots=True)
class Publication:
    """Everything that one run found out about one conversation.

    `placement.placed` covers exactly the facets whose index is in `placed_facets`; the others are facets that the
    conversation had before, which keep their topic. `seen` says where it belongs if it is indexed for the first time.
    """

    profile_no: int
    conversation_id: str
    source: SourceRef
    outline: Outline
    analysis: Analysis
    placed_facets: tuple[int, ...]
    placement: Placement
    placeholders: Mapping[str, int]
    redactions: Mapping[str, int]
    rules_version: int
    reader_version: int
    now: int
    seen: Seen = NOTHING_SEEN


@dataclass(frozen=True, slots=True)
class Published:
    """What became visible: the number of facets, and the topic ids by what happened to them."""

    conversation_id: str
    facets: int
    topics: Mapping[str, Sequence[str]]


def facet_id(conversation_id: str, facet: Facet) -> str:
    """The same title on the same evidence in the same conversation is the same facet."""
    return derived_id("f", conversation_id, facet.title.casefold(), *sorted(e.entry_id for e in facet.evidence))


def publish(connection: sqlite3.Connection, plan: Publication) -> Published:
    """Write a publication inside the open transaction. Raises StateError `topic_state_changed`; writes nothing then."""
    topics.check_versions(connection, plan.profile_no, plan.placement.versions)
    header = plan.outline.header
    first = belonging.is_new(connection, plan.profile_no, header)
    number = _write_conversation(connection, plan)
    if first:
        belonging.settle(connection, plan.profile_no, number, header, plan.source, plan.seen, plan.now)
    fulltext.remove_curated(connection, plan.profile_no, number)
    _write_entries(connection, plan.profile_no, number)
    _write_placeholders(connection, number, plan.placeholders)
    changed = _write_topics(connection, plan, number)
    successions.write(connection, number, plan.placement.successions, plan.now)
    fulltext.add_curated(connection, plan.profile_no, number)
    jobs.drop(connection, plan.profile_no, plan.source.name)
    bump_generation(connection, plan.profile_no)
    return Published(plan.conversation_id, len(plan.analysis.facets), changed)


def rehearse(connection: sqlite3.Connection, plan: Publication) -> Published:
    """What `publish` would make of facets and topics, without entries and text index: for a transaction that is
    rolled back. The ids of new topics are those that they will get.
    """
    topics.check_versions(connection, plan.profile_no, plan.placement.versions)
    number = _write_conversation(connection, plan)
    return Published(plan.conversation_id, len(plan.analysis.facets), _write_topics(connection, plan, number))


def bump_generation(connection: sqlite3.Connection, profile_no: int) -> None:
    """Every change that an answer could show moves the generation; cursors of the one before are stale."""
    connection.execute("UPDATE profiles SET generation = generation + 1 WHERE profile_no = ?", (profile_no,))


def _write_conversation(connection: sqlite3.Connection, plan: Publication) -> int:
    header, facts, print_ = plan.outline.header, plan.outline.facts, plan.outline.fingerprint
    row = {
        "conversation_id": plan.conversation_id,
        "profile_no": plan.profile_no,
        "host": header.host,
        "host_conversation_id": header.host_conversation_id,
        "source": plan.source.name,
        "parent": header.parent,
        "continues": header.continues,
        "git_group": plan.seen.git_group,
        "sidechain": int(header.sidechain),
        "automation": int(header.automation),
        "archived": int(header.archived),
        "host_version": header.host_version,
        "title": header.title,
        "cwd": header.cwd,
        "started_at": header.started_at,
        "last_active_at": facts.last_at if facts.last_at is not None else header.started_at,
        "content_sha256": print_.content_sha256,
        "content_bytes": print_.content_bytes,
        "size": print_.size,
        "mtime_ns": print_.mtime_ns,
        "device": print_.device,
        "inode": print_.inode,
        "rules_version": plan.rules_version,
        "reader_version": plan.reader_version,
        "model": plan.analysis.model,
        "extractive": int(plan.analysis.extractive),
        "summary": plan.analysis.summary,
        "facts": json.dumps(asdict(facts), ensure_ascii=False),
        "cuts": json.dumps(plan.analysis.cuts),
        "warnings": json.dumps([asdict(w) for w in plan.outline.warnings], ensure_ascii=False),
        "redactions": json.dumps(plan.redactions),
        "published_at": plan.now,
    }
    columns = ", ".join(row)
    values = ", ".join(f":{name}" for name in row)
    kept = {"conversation_id", "profile_no", "host", "host_conversation_id", "git_group"}
    changes = ", ".join(f"{name} = excluded.{name}" for name in row if name not in kept)
    changes += ", git_group = coalesce(excluded.git_group, git_group)"  # the folder may be gone since
    connection.execute(
        f"""INSERT INTO conversations ({columns}) VALUES ({values})
            ON CONFLICT (profile_no, host, host_conversation_id) DO UPDATE SET {changes}""",
        row,
    )
    found = connection.execute(
        "SELECT conversation_no FROM conversations WHERE conversation_id = ?", (plan.conversation_id,)
    ).fetchone()
    return int(found["conversation_no"])


_CHANGED = """
SELECT e.entry_no FROM entries e LEFT JOIN temp.staged_entries s ON s.entry_id = e.entry_id
WHERE e.conversation_no = ? AND (s.entry_id IS NULL
   OR s.sha256 <> e.sha256 OR s.text <> e.text OR s.marks <> e.marks OR s.role <> e.role OR s.kind <> e.kind
   OR s.at IS NOT e.at OR s.tool IS NOT e.tool OR s.parent_id IS NOT e.parent_id
   OR s.turn IS NOT e.turn)
"""
_MOVED = """
SELECT e.entry_no, s.seq, s.line, s.offset, s.length
FROM entries e JOIN temp.staged_entries s ON s.entry_id = e.entry_id
WHERE e.conversation_no = ?
  AND (s.seq <> e.seq OR s.line <> e.line OR s.offset <> e.offset OR s.length <> e.length)
"""
_ADD = """
INSERT INTO entries (conversation_no, seq, entry_id, parent_id, line, offset, length, sha256, kind, role, tool, at,
                     turn, marks, chars, text)
SELECT ?, s.seq, s.entry_id, s.parent_id, s.line, s.offset, s.length, s.sha256, s.kind, s.role, s.tool, s.at,
       s.turn, s.marks, s.chars, s.text
FROM temp.staged_entries s
WHERE NOT EXISTS (SELECT 1 FROM entries e WHERE e.conversation_no = ? AND e.entry_id = s.entry_id)
ORDER BY s.seq
"""


def _write_entries(connection: sqlite3.Connection, profile_no: int, number: int) -> None:
    """Bring the stored entries to what is staged: drop what changed, move what only moved, add what is new."""
    gone = [row["entry_no"] for row in connection.execute(_CHANGED, (number,))]
    fulltext.remove_entries(connection, profile_no, gone)
    connection.executemany("DELETE FROM entries WHERE entry_no = ?", [(entry,) for entry in gone])
    moved = [tuple(row) for row in connection.execute(_MOVED, (number,))]
    # Two steps, since the order is unique: first out of the way, then to the new places.
    connection.executemany("UPDATE entries SET seq = -1 - seq WHERE entry_no = ?", [(m[0],) for m in moved])
    connection.executemany(
        "UPDATE entries SET seq = ?, line = ?, offset = ?, length = ? WHERE entry_no = ?",
        [(*m[1:], m[0]) for m in moved],
    )
    last = connection.execute("SELECT coalesce(max(entry_no), 0) FROM entries").fetchone()[0]
    connection.execute(_ADD, (number, number))
    new = connection.execute(
        "SELECT entry_no FROM entries WHERE conversation_no = ? AND entry_no > ? ORDER BY entry_no", (number, last)
    )
    fulltext.add_entries(connection, profile_no, [row["entry_no"] for row in new], staged="temp.staged_entries")


def _write_placeholders(connection: sqlite3.Connection, number: int, placeholders: Mapping[str, int]) -> None:
    connection.execute("DELETE FROM placeholders WHERE conversation_no = ?", (number,))
    connection.executemany(
        "INSERT INTO placeholders (conversation_no, location, number) VALUES (?, ?, ?)",
        [(number, location, value) for location, value in placeholders.items()],
    )


def _write_topics(connection: sqlite3.Connection, plan: Publication, number: int) -> Mapping[str, Sequence[str]]:
    writer = topics.TopicWriter(connection, plan.profile_no, (number, plan.conversation_id), plan.now)
    _write_facets(connection, plan, number, writer)
    changed = writer.tally.as_json()
    audits.touched(connection, plan.profile_no, [*changed["created"], *changed["updated"]])
    return changed


def _write_facets(connection: sqlite3.Connection, plan: Publication, number: int, writer: topics.TopicWriter) -> None:
    facets = plan.analysis.facets
    ids = [facet_id(plan.conversation_id, facet) for facet in facets]
    rows = connection.execute("SELECT * FROM facets WHERE conversation_no = ?", (number,))
    stored = {row["facet_id"]: row for row in rows}
    for old_id, row in stored.items():
        _delete_evidence(connection, row["facet_no"])
        if old_id not in ids:
            writer.leave(row["facet_no"], row["title"], json.loads(row["aliases"]))
            connection.execute("DELETE FROM facets WHERE facet_no = ?", (row["facet_no"],))
    drafts = [writer.create(draft, extractive=plan.analysis.extractive) for draft in plan.placement.drafts]
    placed = dict(zip(plan.placed_facets, plan.placement.placed, strict=True))
    inside: dict[str, list[Facet]] = {}
    for ordinal, (identity, facet) in enumerate(zip(ids, facets, strict=True)):
        facet_no = _write_facet(connection, number, ordinal, identity, facet)
        if ordinal in placed:
            place = placed[ordinal]
            topic_id = place.topic_id if place.topic_id is not None else drafts[place.draft or 0]
            writer.join(topic_id, facet_no, facet, place.reason, place.candidates)
            inside.setdefault(topic_id, []).append(facet)
        elif (had := stored.get(identity)) is not None:
            words = (had["title"], had["description"], json.loads(had["aliases"]))
            changed = words != (facet.title, facet.description, list(facet.aliases))
            topic = writer.stay(facet_no, words[2], changed=changed)
            if topic is not None:
                inside.setdefault(topic, []).append(facet)
    writer.settle(inside, extractive=plan.analysis.extractive)


def _write_facet(connection: sqlite3.Connection, number: int, ordinal: int, identity: str, facet: Facet) -> int:
    row = connection.execute(
        """INSERT INTO facets (facet_id, conversation_no, ordinal, title, description, aliases)
           VALUES (?, ?, ?, ?, ?, ?)
           ON CONFLICT (conversation_no, facet_id) DO UPDATE
           SET ordinal = excluded.ordinal, title = excluded.title, description = excluded.description,
               aliases = excluded.aliases
           RETURNING facet_no""",
        (identity, number, ordinal, facet.title, facet.description, json.dumps(facet.aliases, ensure_ascii=False)),
    ).fetchone()
    facet_no = int(row["facet_no"])
    connection.executemany(
        "INSERT INTO evidence (facet_no, ordinal, entry_id, sha256, quote, start, length) VALUES (?, ?, ?, ?, ?, ?, ?)",
        [(facet_no, place, e.entry_id, e.sha256, e.quote, e.start, e.length) for place, e in enumerate(facet.evidence)],
    )
    connection.executemany(
        """INSERT INTO findings (facet_no, ordinal, statement, status, entry_id, sha256, quote, start, length)
           VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)""",
        [
            (facet_no, place, f.statement, f.status, e.entry_id, e.sha256, e.quote, e.start, e.length)
            for place, f in enumerate(facet.findings)
            for e in [f.evidence]
        ],
    )
    return facet_no


def _delete_evidence(connection: sqlite3.Connection, facet_no: int) -> None:
    connection.execute("DELETE FROM evidence WHERE facet_no = ?", (facet_no,))
    connection.execute("DELETE FROM findings WHERE facet_no = ?", (facet_no,))
