"""The facets of topics as repair sees them: their words, and what they cite, with hash and length.

Plain functions on an open connection; they read only. Members come in the order of their ids, which nothing but
what they are decides. Lengths are code points of the stored text.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from recall.hashing import canonical_json, sha256_text
from recall.plans import Receipt


@dataclass(frozen=True, slots=True)
class Cited:
    """An entry that a facet cites. `stands`: the index holds that entry under that hash; `chars` is 0 where not."""

    entry_id: str
    sha256: str
    chars: int
    stands: bool


@dataclass(frozen=True, slots=True)
class Member:
    """A facet in its topic. Numbers are those of the database and are shown to nobody.

    `sha256` is the digest of what the facet says and cites.
    """

    facet_no: int
    facet_id: str
    conversation_no: int
    conversation_id: str
    topic_id: str
    title: str
    description: str
    aliases: tuple[str, ...]
    reason: str
    candidates: tuple[str, ...]
    cited: tuple[Cited, ...]
    sha256: str


_SELECT = """
SELECT f.facet_no, f.facet_id, f.conversation_no, c.conversation_id, t.topic_id, f.title, f.description, f.aliases,
       m.reason, m.candidates
FROM memberships AS m
JOIN facets AS f USING (facet_no)
JOIN topics AS t USING (topic_no)
JOIN conversations AS c USING (conversation_no)
WHERE t.profile_no = :profile AND {condition}
ORDER BY f.facet_id
"""
_CITED = """
SELECT v.facet_no, v.entry_id, v.sha256, e.sha256 AS now, e.chars
FROM json_each(?) AS chosen
JOIN evidence AS v ON v.facet_no = chosen.value
JOIN facets AS f ON f.facet_no = v.facet_no
LEFT JOIN entries AS e ON e.conversation_no = f.conversation_no AND e.entry_id = v.entry_id
ORDER BY v.facet_no, v.ordinal
"""


def of_topic(connection: sqlite3.Connection, profile_no: int, topic_id: str) -> tuple[Member, ...]:
    """The members of a topic."""
    return _members(connection, profile_no, "t.topic_id = :value", topic_id)


def of_conversation(connection: sqlite3.Connection, profile_no: int, conversation_id: str) -> tuple[Member, ...]:
    """The members that are facets of a conversation."""
    return _members(connection, profile_no, "c.conversation_id = :value", conversation_id)


def one(connection: sqlite3.Connection, profile_no: int, facet_id: str) -> Member | None:
    """A facet in its topic."""
    found = _members(connection, profile_no, "f.facet_id = :value", facet_id)
    return found[0] if found else None


def any_but(connection: sqlite3.Connection, profile_no: int, conversations: Collection[str]) -> bool:
    """Whether there is a facet of another conversation than these."""
    row = connection.execute(
        """SELECT 1 FROM facets AS f JOIN conversations AS c USING (conversation_no)
           WHERE c.profile_no = ? AND c.conversation_id NOT IN (SELECT value FROM json_each(?)) LIMIT 1""",
        (profile_no, json.dumps(list(conversations))),
    ).fetchone()
    return row is not None


def entry_text(connection: sqlite3.Connection, conversation_no: int, entry_id: str) -> sqlite3.Row | None:
    """`text`, `sha256` and the conversation's `rules_version` of a stored entry."""
    row: sqlite3.Row | None = connection.execute(
        """SELECT e.text, e.sha256, c.rules_version FROM entries AS e JOIN conversations AS c USING (conversation_no)
           WHERE e.conversation_no = ? AND e.entry_id = ?""",
        (conversation_no, entry_id),
    ).fetchone()
    return row


def earlier_receipts(connection: sqlite3.Connection, facet_no: int) -> tuple[Receipt, ...]:
    """What published runs delivered of a facet's entries."""
    rows = connection.execute(
        """SELECT f.facet_id, r.facet_sha256, r.entry_id, r.sha256, r.chars
           FROM receipts AS r JOIN facets AS f USING (facet_no) WHERE r.facet_no = ? ORDER BY r.entry_id""",
        (facet_no,),
    )
    return tuple(Receipt(*tuple(row)) for row in rows)


def _members(connection: sqlite3.Connection, profile_no: int, condition: str, value: str) -> tuple[Member, ...]:
    rows = connection.execute(_SELECT.format(condition=condition), {"profile": profile_no, "value": value}).fetchall()
    cited = _cited(connection, [row["facet_no"] for row in rows])
    return tuple(_member(row, cited.get(row["facet_no"], ())) for row in rows)


def _member(row: sqlite3.Row, cited: tuple[Cited, ...]) -> Member:
    aliases = json.loads(row["aliases"])
    entries = [[one.entry_id, one.sha256] for one in cited]
    return Member(
        facet_no=row["facet_no"],
        facet_id=row["facet_id"],
        conversation_no=row["conversation_no"],
        conversation_id=row["conversation_id"],
        topic_id=row["topic_id"],
        title=row["title"],
        description=row["description"],
        aliases=tuple(aliases),
        reason=row["reason"],
        candidates=tuple(json.loads(row["candidates"])),
        cited=cited,
        sha256=sha256_text(canonical_json([row["facet_id"], row["title"], row["description"], aliases, entries])),
    )


def _cited(connection: sqlite3.Connection, facets: Sequence[int]) -> dict[int, tuple[Cited, ...]]:
    """By facet: each entry once, in the order of the evidence."""
    found: dict[int, dict[str, Cited]] = {}
    for row in connection.execute(_CITED, (json.dumps(list(facets)),)):
        stands = row["now"] == row["sha256"]
        one = Cited(row["entry_id"], row["sha256"], row["chars"] if stands else 0, stands)
        found.setdefault(row["facet_no"], {}).setdefault(row["entry_id"], one)
    return {facet: tuple(entries.values()) for facet, entries in found.items()}
