"""What was said and found after a finding: where the answer to an open one can stand.

Plain functions on an open connection; they read only.
"""

from __future__ import annotations

import sqlite3

MOST = 40  # entries, and findings, that are looked at


def findings(connection: sqlite3.Connection, open_one: sqlite3.Row) -> list[str]:
    """What later findings of the same topic and project say, the next ones first. A row has the columns of its
    conversation, `topic_no`, `at` and `seq`.
    """
    rows = connection.execute(
        """SELECT n.statement, n.quote FROM memberships AS m JOIN facets AS f USING (facet_no)
           JOIN findings AS n USING (facet_no) JOIN conversations AS c USING (conversation_no)
           JOIN entries AS e ON e.conversation_no = c.conversation_no AND e.entry_id = n.entry_id
           WHERE m.topic_no = :topic AND n.status NOT IN ('open', 'superseded') AND c.project_no IS :project
             AND instr(' ' || e.marks || ' ', ' abandoned_branch ') = 0
             AND (e.at > :at OR (c.conversation_no = :conversation AND e.seq > :seq))
           ORDER BY e.at, e.seq LIMIT :most""",
        _values(open_one) | {"topic": open_one["topic_no"], "project": open_one["project_no"]},
    )
    return [text for row in rows for text in (row["statement"], row["quote"])]


def entries(connection: sqlite3.Connection, open_one: sqlite3.Row) -> list[str]:
    """What was said next in the same conversation."""
    rows = connection.execute(
        """SELECT text FROM entries WHERE conversation_no = :conversation AND seq > :seq
           AND role IN ('user', 'assistant') AND instr(' ' || marks || ' ', ' active ') > 0
           ORDER BY seq LIMIT :most""",
        _values(open_one),
    )
    return [row["text"] for row in rows]


def reply(connection: sqlite3.Connection, open_one: sqlite3.Row) -> str:
    """What the one who was asked said next in the same conversation; empty where they said nothing."""
    row = connection.execute(
        """SELECT e.text FROM entries AS e JOIN entries AS q USING (conversation_no)
           WHERE e.conversation_no = :conversation AND q.seq = :seq AND e.seq > q.seq AND e.role <> q.role
             AND e.role IN ('user', 'assistant') AND q.role IN ('user', 'assistant')
             AND instr(' ' || e.marks || ' ', ' active ') > 0 AND e.text <> ''
           ORDER BY e.seq LIMIT 1""",
        _values(open_one),
    ).fetchone()
    return "" if row is None else str(row["text"])


def _values(row: sqlite3.Row) -> dict[str, object]:
    return {"conversation": row["conversation_no"], "at": row["at"], "seq": row["seq"], "most": MOST}
