"""How topics change when facets come and go: created, joined, left, redefined, retired, revived, each with an event.

Called inside the publishing transaction only. A topic's id never changes and is never used again; its text evolves:
the title of each facet that joins becomes an alias, and a topic that holds only the incoming conversation follows
its new facets. Old titles stay as aliases.
"""

from __future__ import annotations

import itertools
import json
import sqlite3
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from recall.errors import StateError
from recall.hashing import derived_id
from recall.index import parts
from recall.types import Draft, Facet, TopicCard

MAX_ALIASES = 24
GONE = "(forgotten)"  # the title of a topic that nothing is left of


@dataclass
class Tally:
    """What a publication did to topics, for its report: topic ids, each once."""

    created: list[str] = field(default_factory=list)
    updated: list[str] = field(default_factory=list)
    retired: list[str] = field(default_factory=list)

    def as_json(self) -> dict[str, list[str]]:
        updated = [t for t in dict.fromkeys(self.updated) if t not in self.created and t not in self.retired]
        return {"created": self.created, "updated": updated, "merged": [], "moved": [], "retired": self.retired}


def cards(connection: sqlite3.Connection, profile_no: int, topic_id: str | None = None) -> list[TopicCard]:
    """The whole live catalogue, oldest topic first, so that the pages before a new topic stay the same; or one."""
    rows = connection.execute(
        """SELECT t.topic_id, t.version, t.title, t.description, t.aliases, count(m.facet_no) AS members,
                  max(c.last_active_at) AS last_at,
                  coalesce(group_concat(f.title || ' ' || f.aliases, ' '), '') AS terms
           FROM topics t
           LEFT JOIN memberships m ON m.topic_no = t.topic_no
           LEFT JOIN facets f ON f.facet_no = m.facet_no
           LEFT JOIN conversations c ON c.conversation_no = f.conversation_no
           WHERE t.profile_no = ?1 AND t.state = 'live' AND (?2 IS NULL OR t.topic_id = ?2)
           GROUP BY t.topic_no ORDER BY t.topic_no""",
        (profile_no, topic_id),
    )
    return [
        TopicCard(
            topic_id=row["topic_id"],
            version=row["version"],
            title=row["title"],
            description=row["description"],
            aliases=tuple(json.loads(row["aliases"])),
            members=row["members"],
            last_at=row["last_at"],
            terms=row["terms"],
        )
        for row in rows
    ]


def beyond(connection: sqlite3.Connection, profile_no: int, allowed: Collection[str], unplaced: str) -> frozenset[str]:
    """Ids of the live topics in which a conversation of a project that is not among these has or had a part;
    `unplaced` stands for what is in none.
    """
    rows = connection.execute(
        "SELECT topic_no, topic_id FROM topics WHERE profile_no = ? AND state = 'live'", (profile_no,)
    )
    ids = {row["topic_no"]: str(row["topic_id"]) for row in rows}
    condition = """coalesce((SELECT p.project_id FROM projects AS p WHERE p.project_no = c.project_no), :unplaced)
                   NOT IN (SELECT value FROM json_each(:allowed))"""
    values = {"unplaced": unplaced, "allowed": json.dumps(sorted(allowed))}
    return frozenset(ids[number] for number in parts.holding(connection, ids, condition, values))


def check_versions(connection: sqlite3.Connection, profile_no: int, versions: Mapping[str, int]) -> None:
    """Raise StateError `topic_state_changed` where a topic that the plan touches is not as the plan saw it."""
    for topic_id, version in versions.items():
        row = connection.execute(
            "SELECT version, state FROM topics WHERE profile_no = ? AND topic_id = ?", (profile_no, topic_id)
        ).fetchone()
        if row is None or row["version"] != version or row["state"] != "live":
            message = f"Topic {topic_id} changed while the conversation was being placed; nothing was published"
            raise StateError("topic_state_changed", message, "run the command again", {"topic_id": topic_id})


def check_complete(connection: sqlite3.Connection, profile_no: int, seen: Collection[str]) -> None:
    """Raise StateError `topic_state_changed` where there is a live topic that the plan was not compared with."""
    rows = connection.execute("SELECT topic_id FROM topics WHERE profile_no = ? AND state = 'live'", (profile_no,))
    for row in rows:
        if row["topic_id"] not in seen:
            message = f"Topic {row['topic_id']} came while the conversation was being placed; nothing was published"
            data = {"topic_id": row["topic_id"]}
            raise StateError("topic_state_changed", message, "run the command again", data)


class TopicWriter:
    """Writes the topic changes of one publication. `conversation` is the incoming one, by its number and its id."""

    def __init__(
        self, connection: sqlite3.Connection, profile_no: int, conversation: tuple[int, str], now: int
    ) -> None:
        self._connection = connection
        self._profile_no = profile_no
        self._conversation_no, self._conversation_id = conversation
        self._now = now
        self._void: dict[str, set[str]] = {}  # topic id -> aliases of facets that are no more, or are other ones now
        self.tally = Tally()

    def create(self, draft: Draft, *, extractive: bool) -> str:
        """A new topic from a draft; returns its id."""
        topic_id = mint(self._connection, self._conversation_id, draft.title)
        after = {"title": draft.title, "description": draft.description, "aliases": list(draft.aliases)}
        number = self._connection.execute(
            """INSERT INTO topics
                 (topic_id, profile_no, title, description, aliases, extractive, created_at, changed_at)
               VALUES (?, ?, ?, ?, ?, ?, ?, ?)""",
            (
                topic_id,
                self._profile_no,
                draft.title,
                draft.description,
                joined_aliases(draft.title, draft.aliases),
                int(extractive),
                self._now,
                self._now,
            ),
        ).lastrowid
        self._event(int(number or 0), "created", "no topic of the catalogue covered it", {}, after)
        self.tally.created.append(topic_id)
        return topic_id

    def join(self, topic_id: str, facet_no: int, facet: Facet, reason: str, candidates: Sequence[str]) -> None:
        """Put a facet into a topic; its title becomes an alias of the topic."""
        topic = self._topic(topic_id)
        self._connection.execute(
            "INSERT INTO memberships (facet_no, topic_no, reason, candidates, placed_at) VALUES (?, ?, ?, ?, ?)",
            (facet_no, topic["topic_no"], reason, json.dumps(list(candidates)), self._now),
        )
        if topic_id in self.tally.created:
            return
        aliases = joined_aliases(topic["title"], [*json.loads(topic["aliases"]), facet.title])
        self._change(topic["topic_no"], aliases=aliases)
        self._event(topic["topic_no"], "joined", reason, {}, {"facet": facet.title})
        self.tally.updated.append(topic_id)

    def leave(self, facet_no: int, title: str, aliases: Sequence[str]) -> None:
        """Take a facet that is no more out of its topic."""
        topic = self._topic_of(facet_no)
        if topic is None:
            return
        self._connection.execute("DELETE FROM memberships WHERE facet_no = ?", (facet_no,))
        self._change(topic["topic_no"])
        self._event(topic["topic_no"], "left", "its conversation was analysed again", {"facet": title}, {})
        self._touched(topic["topic_id"], aliases)

    def stay(self, facet_no: int, aliases: Sequence[str], *, changed: bool) -> str | None:
        """The topic of a facet that it had before. `changed`: by other words now; `aliases` are the old ones."""
        topic = self._topic_of(facet_no)
        if topic is None:
            return None
        if changed:
            self._change(topic["topic_no"])
            self._touched(topic["topic_id"], aliases)
        return str(topic["topic_id"])

    def settle(self, facets: Mapping[str, Sequence[Facet]], *, extractive: bool) -> None:
        """After all joins and leaves: retire emptied topics; let a topic of this conversation alone follow its facets.

        `facets`: topic id -> the incoming facets in it, in order.
        """
        for topic_id in dict.fromkeys(self.tally.updated):
            topic = self._topic(topic_id)
            members, foreign = self._members(topic["topic_no"])
            if members == 0:
                self._connection.execute("UPDATE topics SET state = 'retired' WHERE topic_no = ?", (topic["topic_no"],))
                self._event(topic["topic_no"], "retired", "its last facet left", {"title": topic["title"]}, {})
                self.tally.retired.append(topic_id)
            elif foreign == 0 and facets.get(topic_id):
                self._follow(topic, facets[topic_id], extractive=extractive)

    def _follow(self, topic: sqlite3.Row, facets: Sequence[Facet], *, extractive: bool) -> None:
        """Old titles stay as aliases; what facets brought that are no more goes, for it can stand nowhere any more."""
        facet = facets[0]
        before = {"title": topic["title"], "description": topic["description"]}
        void = self._void.get(topic["topic_id"], set())
        kept = [alias for alias in json.loads(topic["aliases"]) if alias.casefold() not in void]
        own = [word for one in facets for word in (one.title, *one.aliases)]
        aliases = joined_aliases(facet.title, [topic["title"], *kept, *own])
        if (topic["title"], topic["description"], topic["aliases"]) == (facet.title, facet.description, aliases):
            return
        self._connection.execute(
            "UPDATE topics SET title = ?, description = ?, aliases = ?, extractive = ? WHERE topic_no = ?",
            (facet.title, facet.description, aliases, int(extractive), topic["topic_no"]),
        )
        after = {"title": facet.title, "description": facet.description}
        if after != before:
            self._event(topic["topic_no"], "redefined", "its only conversation was analysed again", before, after)

    def _touched(self, topic_id: str, aliases: Sequence[str]) -> None:
        self._void.setdefault(topic_id, set()).update(alias.casefold() for alias in aliases)
        self.tally.updated.append(topic_id)

    def _topic_of(self, facet_no: int) -> sqlite3.Row | None:
        row: sqlite3.Row | None = self._connection.execute(
            "SELECT t.* FROM memberships m JOIN topics t ON t.topic_no = m.topic_no WHERE m.facet_no = ?", (facet_no,)
        ).fetchone()
        return row

    def _members(self, topic_no: int) -> tuple[int, int]:
        """(facets in the topic, those of other conversations)."""
        row = self._connection.execute(
            """SELECT count(*) AS members, coalesce(sum(f.conversation_no <> ?), 0) AS foreign_members
               FROM memberships m JOIN facets f ON f.facet_no = m.facet_no WHERE m.topic_no = ?""",
            (self._conversation_no, topic_no),
        ).fetchone()
        return row["members"], row["foreign_members"]

    def _topic(self, topic_id: str) -> sqlite3.Row:
        row: sqlite3.Row = self._connection.execute(
            "SELECT * FROM topics WHERE profile_no = ? AND topic_id = ?", (self._profile_no, topic_id)
        ).fetchone()
        return row

    def _change(self, topic_no: int, aliases: str | None = None) -> None:
        self._connection.execute(
            """UPDATE topics SET version = version + 1, changed_at = ?, aliases = coalesce(?, aliases)
               WHERE topic_no = ?""",
            (self._now, aliases, topic_no),
        )

    def _event(
        self, topic_no: int, kind: str, reason: str, before: Mapping[str, object], after: Mapping[str, object]
    ) -> None:
        self._connection.execute(
            """INSERT INTO topic_events (topic_no, conversation_no, at, kind, reason, before, after)
               VALUES (?, ?, ?, ?, ?, ?, ?)""",
            (
                topic_no,
                self._conversation_no,
                self._now,
                kind,
                reason,
                json.dumps(before, ensure_ascii=False),
                json.dumps(after, ensure_ascii=False),
            ),
        )


def came_back(connection: sqlite3.Connection, topic_no: int, now: int) -> None:
    """A retired topic has facets again: live, by their words; what its own words were may be of what is still gone."""
    title, description, aliases = words_of_facets(connection, topic_no)
    connection.execute(
        """UPDATE topics SET title = ?, description = ?, aliases = ?, state = 'live', version = version + 1,
             changed_at = ? WHERE topic_no = ?""",
        (title, description, aliases, now, topic_no),
    )
    connection.execute(
        """INSERT INTO topic_events (topic_no, conversation_no, at, kind, reason, before, after)
           VALUES (?, NULL, ?, 'revived', 'a conversation that was in it is here again', '{}', ?)""",
        (topic_no, now, json.dumps({"title": title, "description": description}, ensure_ascii=False)),
    )


def took_in(
    connection: sqlite3.Connection, topic_no: int, conversation_no: int, facet: str, reason: str, now: int
) -> None:
    """A facet came into a live topic from elsewhere: as where one is placed in it, its title becomes an alias."""
    topic = connection.execute("SELECT title, aliases FROM topics WHERE topic_no = ?", (topic_no,)).fetchone()
    aliases = joined_aliases(topic["title"], [*json.loads(topic["aliases"]), facet])
    connection.execute(
        "UPDATE topics SET version = version + 1, changed_at = ?, aliases = ? WHERE topic_no = ?",
        (now, aliases, topic_no),
    )
    connection.execute(
        """INSERT INTO topic_events (topic_no, conversation_no, at, kind, reason, before, after)
           VALUES (?, ?, ?, 'joined', ?, '{}', ?)""",
        (topic_no, conversation_no, now, reason, json.dumps({"facet": facet}, ensure_ascii=False)),
    )


def words_of_facets(connection: sqlite3.Connection, topic_no: int) -> tuple[str, str, str]:
    """Title, description and aliases (JSON) that a topic has from its facets alone; its first facet names it."""
    rows = connection.execute(
        """SELECT f.title, f.description, f.aliases FROM memberships AS m JOIN facets AS f USING (facet_no)
           WHERE m.topic_no = ? ORDER BY m.placed_at, f.facet_no""",
        (topic_no,),
    ).fetchall()
    if not rows:
        return GONE, "", "[]"
    names = [word for row in rows for word in (row["title"], *json.loads(row["aliases"]))]
    return rows[0]["title"], rows[0]["description"], joined_aliases(rows[0]["title"], names)


def mint(connection: sqlite3.Connection, *parts: str) -> str:
    """An id that no topic ever had. The same for the same parts in the same index: what a model is shown of a
    publication before it is made must be what it will be.
    """
    for number in itertools.count():
        topic_id = derived_id("t", *parts, str(number))
        if connection.execute("SELECT 1 FROM topics WHERE topic_id = ?", (topic_id,)).fetchone() is None:
            return topic_id
    raise AssertionError("count has no end")


def joined_aliases(title: str, aliases: Iterable[str]) -> str:
    """At most 24, each once whatever its case, never the title itself. The newest give way to the oldest."""
    seen = {title.casefold()}
    kept: list[str] = []
    for alias in aliases:
        if alias and alias.casefold() not in seen and len(kept) < MAX_ALIASES:
            seen.add(alias.casefold())
            kept.append(alias)
    return json.dumps(kept, ensure_ascii=False)
