"""Topics and the conversations in them, as they are browsed: counted once, ordered by last activity.

Plain functions on an open connection; they read only. A window keeps conversations with an entry inside it, and what
is counted and called latest follows.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass

from recall.index import parts
from recall.index.topics import joined_aliases
from recall.shown import safe
from recall.timewindow import ALWAYS, Window


@dataclass(frozen=True, slots=True)
class Within:
    """A project, by number or by its git group; `only` its conversations, or these first. Without both: everything."""

    project_no: int | None = None
    group: str | None = None
    only: bool = False

    def tier(self, row: str) -> str:
        """The SQL of a conversation's tier: 0 this project, 1 none, 2 another; 0 for all where there is no project."""
        if self.project_no is None and self.group is None:
            return "(0 + 0)"  # a bare number would be a column where it is ordered by
        own = f"{row}.git_group IS :group" if self.group is not None else f"{row}.project_no IS :project"
        return f"CASE WHEN {own} THEN 0 WHEN {row}.project_no IS NULL THEN 1 ELSE 2 END"

    def condition(self, row: str) -> str:
        """The SQL of what is let in."""
        return f"({self.tier(row)}) = 0" if self.only else "1"


EVERYWHERE = Within()

# (conversation, first and last activity that counts): of the whole conversation, or of its entries in the window.
_WHOLE = """
SELECT conversation_no, coalesce(started_at, last_active_at) AS first_at, last_active_at AS last_at
FROM conversations WHERE profile_no = :profile
"""
_INSIDE = """
SELECT e.conversation_no, min(e.at) AS first_at, max(e.at) AS last_at
FROM entries AS e JOIN conversations AS c USING (conversation_no)
WHERE c.profile_no = :profile AND e.at >= :start AND e.at < :end
GROUP BY e.conversation_no
"""


def _active(window: Window) -> str:
    return _INSIDE if window else _WHOLE


def _values(profile_no: int, window: Window, without: int | None, within: Within) -> dict[str, object]:
    return {
        "project": within.project_no,
        "group": within.group,
        "profile": profile_no,
        "start": -(1 << 62) if window.start is None else window.start,
        "end": 1 << 62 if window.end is None else window.end,
        "without": without,
    }


def topics(
    connection: sqlite3.Connection,
    profile_no: int,
    window: Window,
    without: int | None,
    within: Within,
    first: int,
    limit: int,
) -> list[sqlite3.Row]:
    """Live topics with a conversation in the window, by tier, last activity first, from `first` on."""
    return connection.execute(
        f"""
        WITH active AS ({_active(window)}),
        inside AS (
            SELECT DISTINCT m.topic_no, f.conversation_no, a.first_at, a.last_at, {within.tier("c")} AS tier
            FROM memberships AS m
            JOIN facets AS f USING (facet_no)
            JOIN active AS a USING (conversation_no)
            JOIN conversations AS c USING (conversation_no)
            WHERE f.conversation_no IS NOT :without AND {within.condition("c")}
        )
        SELECT t.*, count(*) AS conversations, min(i.first_at) AS first_at, max(i.last_at) AS last_at
        FROM inside AS i JOIN topics AS t USING (topic_no)
        WHERE t.profile_no = :profile AND t.state = 'live'
        GROUP BY t.topic_no
        ORDER BY min(i.tier), last_at IS NULL, last_at DESC, t.topic_no
        LIMIT :limit OFFSET :first
        """,
        _values(profile_no, window, without, within) | {"first": first, "limit": limit},
    ).fetchall()


def conversations(
    connection: sqlite3.Connection,
    profile_no: int,
    topic_no: int,
    window: Window,
    without: int | None,
    within: Within,
    first: int,
    limit: int,
) -> list[sqlite3.Row]:
    """The conversations of a topic with an entry in the window, by tier, last activity first, from `first` on."""
    return connection.execute(
        f"""
        WITH active AS ({_active(window)})
        SELECT c.*, a.first_at, a.last_at
        FROM active AS a JOIN conversations AS c USING (conversation_no)
        WHERE c.conversation_no IS NOT :without AND {within.condition("c")} AND c.conversation_no IN (
            SELECT f.conversation_no FROM memberships AS m JOIN facets AS f USING (facet_no)
            WHERE m.topic_no = :topic)
        ORDER BY {within.tier("c")}, a.last_at IS NULL, a.last_at DESC, c.conversation_no
        LIMIT :limit OFFSET :first
        """,
        _values(profile_no, window, without, within) | {"topic": topic_no, "first": first, "limit": limit},
    ).fetchall()


def in_scope(connection: sqlite3.Connection, profile_no: int, without: int | None, within: Within) -> int:
    """How many conversations browsing covers."""
    sql = f"""SELECT count(*) FROM conversations AS c
              WHERE c.profile_no = :profile AND c.conversation_no IS NOT :without AND {within.condition("c")}"""
    return int(connection.execute(sql, _values(profile_no, ALWAYS, without, within)).fetchone()[0])


def untimed(
    connection: sqlite3.Connection,
    profile_no: int,
    topic_no: int | None,
    without: int | None,
    within: Within,
    most: int,
) -> int:
    """How many entries have no time and so stand in no window, of a topic's conversations or of all; `most` at most."""
    sql = f"""
        SELECT count(*) FROM (
            SELECT 1 FROM entries AS e JOIN conversations AS c USING (conversation_no)
            WHERE e.at IS NULL AND e.chars > 0 AND c.profile_no = :profile
              AND c.conversation_no IS NOT :without AND {within.condition("c")}
              AND (:topic IS NULL OR c.conversation_no IN (
                  SELECT f.conversation_no FROM memberships AS m JOIN facets AS f USING (facet_no)
                  WHERE m.topic_no = :topic))
            LIMIT :most)
        """
    values = _values(profile_no, ALWAYS, without, within) | {"topic": topic_no, "most": most}
    return int(connection.execute(sql, values).fetchone()[0])


def any_conversation(connection: sqlite3.Connection, profile_no: int) -> bool:
    """Whether anything is indexed in the profile."""
    row = connection.execute("SELECT 1 FROM conversations WHERE profile_no = ? LIMIT 1", (profile_no,)).fetchone()
    return row is not None


def topic(connection: sqlite3.Connection, profile_no: int, topic_id: str) -> sqlite3.Row | None:
    """A topic by its id, whatever its state; an id that was merged away leads to the topic that took it in."""
    row: sqlite3.Row | None = connection.execute(
        """
        WITH RECURSIVE into_topic (topic_no, merged_into) AS (
            SELECT topic_no, merged_into FROM topics WHERE profile_no = ? AND topic_id = ?
            UNION
            SELECT t.topic_no, t.merged_into FROM into_topic AS i JOIN topics AS t ON t.topic_no = i.merged_into
        )
        SELECT t.* FROM into_topic AS i JOIN topics AS t USING (topic_no) WHERE i.merged_into IS NULL
        """,
        (profile_no, topic_id),
    ).fetchone()
    return row


@dataclass(frozen=True, slots=True)
class Words:
    """What a topic is called, said to be about, and also called."""

    title: str
    description: str
    aliases: tuple[str, ...]


def words_within(connection: sqlite3.Connection, topic_no: int, within: Within) -> Words | None:
    """A topic in the words of one project, where conversations beyond it had a part in its own; else None.

    A topic is of the whole profile, and its words are of any conversation that was ever in it.
    """
    if not within.only:
        return None
    values: dict[str, object] = {"topic": topic_no, "project": within.project_no, "group": within.group}
    if not parts.holding(connection, [topic_no], f"NOT {within.condition('c')}", values):
        return None
    rows = connection.execute(
        f"""SELECT f.title, f.description, f.aliases, c.rules_version
            FROM memberships AS m JOIN facets AS f USING (facet_no) JOIN conversations AS c USING (conversation_no)
            WHERE m.topic_no = :topic AND {within.condition("c")} ORDER BY m.placed_at, f.facet_no""",
        values,
    ).fetchall()
    if not rows:
        return Words("(of another project)", "", ())
    titles = [safe(row["title"], row["rules_version"]) for row in rows]
    others = [safe(word, row["rules_version"]) for row in rows for word in json.loads(row["aliases"])]
    aliases = json.loads(joined_aliases(titles[0], [*titles[1:], *others]))
    return Words(titles[0], safe(rows[0]["description"], rows[0]["rules_version"]), tuple(aliases))


def heirs(connection: sqlite3.Connection, topic_no: int) -> list[str]:
    """Where the facets of a topic were moved to, each once, the latest first."""
    rows = connection.execute(
        """SELECT json_extract(after, '$.topic_id') AS heir FROM topic_events
           WHERE topic_no = ? AND kind = 'moved' GROUP BY heir ORDER BY max(event_no) DESC""",
        (topic_no,),
    )
    return [row["heir"] for row in rows if row["heir"] is not None]


def memberships(connection: sqlite3.Connection, conversation_no: int, topic_no: int) -> list[sqlite3.Row]:
    """The facets of a conversation that are in a topic, in order."""
    return connection.execute(
        """SELECT f.facet_no, f.facet_id, f.title, f.description, m.reason, t.topic_id
           FROM facets AS f JOIN memberships AS m USING (facet_no) JOIN topics AS t USING (topic_no)
           WHERE f.conversation_no = ? AND m.topic_no = ? ORDER BY f.ordinal""",
        (conversation_no, topic_no),
    ).fetchall()


def evidence(connection: sqlite3.Connection, facet_nos: Iterable[int]) -> list[sqlite3.Row]:
    """What the facets cite, in order; with the marks that the entries have now (none: no longer there)."""
    return connection.execute(
        """SELECT v.facet_no, v.entry_id, v.sha256, e.marks
           FROM json_each(?) AS chosen
           JOIN evidence AS v ON v.facet_no = chosen.value
           JOIN facets AS f ON f.facet_no = v.facet_no
           LEFT JOIN entries AS e ON e.conversation_no = f.conversation_no AND e.entry_id = v.entry_id
           ORDER BY v.facet_no, v.ordinal""",
        (json.dumps(list(facet_nos)),),
    ).fetchall()


def findings(connection: sqlite3.Connection, facet_nos: Iterable[int]) -> list[sqlite3.Row]:
    """What was claimed in the facets, in order."""
    return connection.execute(
        """SELECT n.facet_no, n.statement, n.status, n.entry_id, n.sha256, n.quote, n.start
           FROM json_each(?) AS chosen JOIN findings AS n ON n.facet_no = chosen.value
           ORDER BY n.facet_no, n.ordinal""",
        (json.dumps(list(facet_nos)),),
    ).fetchall()


def events(
    connection: sqlite3.Connection, profile_no: int, topic_no: int, within: Within, first: int, limit: int
) -> list[sqlite3.Row]:
    """The life of a topic and of those merged into it, oldest first, from `first` on. Within one project what its
    conversations brought about: what else happened is told in the words of others.
    """
    return connection.execute(
        f"""
        WITH RECURSIVE family (topic_no) AS (
            SELECT :topic
            UNION
            SELECT t.topic_no FROM family AS f JOIN topics AS t ON t.merged_into = f.topic_no
        )
        SELECT v.*, t.topic_id, c.conversation_id
        FROM family AS f JOIN topics AS t USING (topic_no) JOIN topic_events AS v USING (topic_no)
        LEFT JOIN conversations AS c ON c.conversation_no = v.conversation_no
        WHERE t.profile_no = :profile AND {within.condition("c")}
        ORDER BY v.event_no LIMIT :limit OFFSET :first
        """,
        {
            "topic": topic_no,
            "profile": profile_no,
            "project": within.project_no,
            "group": within.group,
            "first": first,
            "limit": limit,
        },
    ).fetchall()
