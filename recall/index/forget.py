"""Taking everything that was made of a conversation out of the index, inside one open transaction.

Entries with their words in the text index, placeholders, facets with evidence and findings, memberships, summaries,
cached replies, what jobs answered, events' payloads, and the topics' own words: those of a topic that the conversation
had a part in come from what is left in it, and an emptied one keeps its id and nothing else. Where a word that only
the forgotten conversation had still stands in a row, that row's text goes as well.
"""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from recall.index import audits, frequencies, fulltext, topics, words

# Replies that can speak of more than their own source: the catalogue of topics was in the question, or originals were.
_OWN_KINDS = ("analysis", "map", "reduce", "final", "rewrite")
# Where words of one conversation can stand in rows of others: (table, key, column, what takes its place).
_TEXTS = (
    ("topic_events", "event_no", "reason", ""),
    ("topic_events", "event_no", "before", "{}"),
    ("topic_events", "event_no", "after", "{}"),
    ("topic_events", "event_no", "evidence", "[]"),
    ("memberships", "facet_no", "reason", ""),
    ("queue", "rowid", "message", ""),
    ("jobs", "job_no", "answer", ""),
)


@dataclass
class Erased:
    """What went: rows by layer. `distinct` are words that no other entry of the index has, `shared` how many others."""

    rows: Counter[str] = field(default_factory=Counter)
    topics: list[str] = field(default_factory=list)
    distinct: set[str] = field(default_factory=set)
    shared: int = 0
    proved: bool = False


def erase(connection: sqlite3.Connection, profile_no: int, numbers: Sequence[int], now: int) -> Erased:
    """Take the conversations out. The caller has written their tombstones."""
    chosen = json.dumps(list(numbers))
    done = Erased()
    had = words.of_entries(connection, numbers)
    before = words.documents(connection, profile_no, had)
    touched = _touched(connection, profile_no, chosen)
    _erase_text_index(connection, profile_no, numbers, chosen)
    done.rows += _erase_rows(connection, profile_no, chosen)
    frequencies.clear(connection, profile_no)
    words.compact(connection, profile_no)
    after = words.documents(connection, profile_no, had)
    done.proved = all(after[word] == before[word] - count for word, count in had.items())
    done.distinct = {word for word in had if not _elsewhere(connection, word)}
    done.shared = len(had) - len(done.distinct)
    for topic_no in touched:
        done.topics.append(_retell(connection, topic_no, now))
    audits.queue(connection, profile_no, done.topics, now)  # a repair looks at what was made of them
    done.rows["scrubbed"] = _scrub(connection, profile_no, done.distinct)
    fulltext.refresh_topics(connection, profile_no)
    words.compact(connection, profile_no)
    return done


def _touched(connection: sqlite3.Connection, profile_no: int, chosen: str) -> list[int]:
    """The topics that the conversations have or had a part in, with those that were merged with them."""
    rows = connection.execute(
        """
        WITH RECURSIVE parts (topic_no) AS (
            SELECT m.topic_no FROM memberships AS m JOIN facets AS f USING (facet_no)
            WHERE f.conversation_no IN (SELECT value FROM json_each(:chosen))
            UNION
            SELECT topic_no FROM topic_events WHERE conversation_no IN (SELECT value FROM json_each(:chosen))
            UNION
            SELECT v.topic_no FROM topic_events AS v JOIN facets AS f
              ON f.conversation_no IN (SELECT value FROM json_each(:chosen))
             AND (instr(v.before, f.title) OR instr(v.after, f.title))
            UNION
            SELECT t.topic_no FROM parts AS p JOIN topics AS t ON t.merged_into = p.topic_no
            UNION
            SELECT t.merged_into FROM parts AS p JOIN topics AS t USING (topic_no) WHERE t.merged_into IS NOT NULL
        )
        SELECT topic_no FROM parts JOIN topics USING (topic_no) WHERE profile_no = :profile ORDER BY topic_no
        """,
        {"chosen": chosen, "profile": profile_no},
    )
    return [row[0] for row in rows]


def _erase_text_index(connection: sqlite3.Connection, profile_no: int, numbers: Sequence[int], chosen: str) -> None:
    rows = connection.execute(
        "SELECT entry_no FROM entries WHERE conversation_no IN (SELECT value FROM json_each(?)) ORDER BY entry_no",
        (chosen,),
    )
    fulltext.remove_entries(connection, profile_no, [row[0] for row in rows])
    for number in numbers:
        fulltext.remove_curated(connection, profile_no, number)


def _erase_rows(connection: sqlite3.Connection, profile_no: int, chosen: str) -> Counter[str]:
    values = {"chosen": chosen, "profile": profile_no}
    those = "conversation_no IN (SELECT value FROM json_each(:chosen))"
    facets = f"facet_no IN (SELECT facet_no FROM facets WHERE {those})"
    sources = f"source IN (SELECT source FROM conversations WHERE {those})"
    counts: Counter[str] = Counter()
    for table, condition in (
        ("supersessions", f"older_{those} OR newer_{those}"),
        ("memberships", facets),
        ("evidence", facets),
        ("findings", facets),
        ("facets", those),
        ("topic_events", those),
        ("placeholders", those),
        ("entries", those),
        ("queue", f"profile_no = :profile AND {sources}"),
        ("model_cache", f"profile_no = :profile AND ({sources} OR kind NOT IN {_OWN_KINDS})"),
    ):
        counts[table] = connection.execute(f"DELETE FROM {table} WHERE {condition}", values).rowcount
    connection.execute(f"UPDATE ledger SET source = NULL WHERE profile_no = :profile AND {sources}", values)
    connection.execute(
        f"""DELETE FROM decisions WHERE profile_no = :profile AND EXISTS (
              SELECT 1 FROM conversations AS c WHERE c.{those} AND c.host = decisions.host
              AND c.host_conversation_id = decisions.host_conversation_id)""",
        values,
    )
    connection.execute(
        f"""UPDATE jobs SET answer = NULL WHERE profile_no = :profile AND EXISTS (
              SELECT 1 FROM conversations AS c WHERE c.{those} AND instr(jobs.answer, c.conversation_id))""",
        values,
    )
    counts["conversations"] = connection.execute(f"DELETE FROM conversations WHERE {those}", values).rowcount
    return counts


def _elsewhere(connection: sqlite3.Connection, word: str) -> bool:
    """Whether another entry has the word, in this profile or in another one of the file."""
    profiles = connection.execute("SELECT profile_no FROM text_indexes").fetchall()
    return any(words.documents(connection, row[0], [word])[word] for row in profiles)


def _retell(connection: sqlite3.Connection, topic_no: int, now: int) -> str:
    """Give a topic the words of the facets that are left in it; its events keep what happened, not in which words."""
    title, description, aliases = topics.words_of_facets(connection, topic_no)
    topic = connection.execute("SELECT topic_id, state FROM topics WHERE topic_no = ?", (topic_no,)).fetchone()
    members = "SELECT EXISTS (SELECT 1 FROM memberships WHERE topic_no = ?)"
    peopled = connection.execute(members, (topic_no,)).fetchone()[0]
    state = topic["state"] if peopled or topic["state"] == "merged" else "retired"
    connection.execute(
        """UPDATE topics SET title = ?, description = ?, aliases = ?, state = ?, version = version + 1, changed_at = ?
           WHERE topic_no = ?""",
        (title, description, aliases, state, now, topic_no),
    )
    connection.execute(
        """UPDATE topic_events SET reason = '', before = '{}', after = '{}', evidence = '[]', proof = NULL
           WHERE topic_no = ?""",
        (topic_no,),
    )
    connection.execute(
        """INSERT INTO topic_events (topic_no, conversation_no, at, kind, reason, before, after)
           VALUES (?, NULL, ?, ?, 'a conversation was forgotten', '{}', '{}')""",
        (topic_no, now, "retired" if state == "retired" else "redefined"),
    )
    return str(topic["topic_id"])


def _scrub(connection: sqlite3.Connection, profile_no: int, distinct: set[str]) -> int:
    """Empty the text of rows in which a word still stands that only the forgotten conversation had."""
    scrubbed = 0
    for table, key, column, empty in _TEXTS:
        rows = connection.execute(f'SELECT "{key}", "{column}" FROM {table} WHERE "{column}" <> ?', (empty,)).fetchall()
        held = [(empty, row[0]) for row in rows if not distinct.isdisjoint(words.of_text(row[1]))]
        connection.executemany(f'UPDATE {table} SET "{column}" = ? WHERE "{key}" = ?', held)
        scrubbed += len(held)
    rows = connection.execute("SELECT key, reply FROM model_cache WHERE profile_no = ?", (profile_no,)).fetchall()
    held_keys = [(profile_no, row[0]) for row in rows if not distinct.isdisjoint(words.of_text(row[1]))]
    connection.executemany("DELETE FROM model_cache WHERE profile_no = ? AND key = ?", held_keys)
    return scrubbed + len(held_keys)
