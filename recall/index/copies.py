"""Which other conversations hold copies of entries: forks and resets begin with what was said before them.

Plain functions on an open connection; they read only.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence

from recall.index.filters import same_record

_COPIES = f"""
WITH chosen AS MATERIALIZED (SELECT value AS conversation_no FROM json_each(:chosen)),
mine AS (SELECT e.* FROM entries AS e JOIN chosen USING (conversation_no) WHERE e.chars > 0),
-- Of forks the header tells; their host may have written every record anew.
forks AS MATERIALIZED (
    SELECT f.conversation_no, c.conversation_no AS origin FROM chosen
    JOIN conversations AS c USING (conversation_no)
    JOIN conversations AS f ON f.profile_no = c.profile_no AND f.host = c.host AND f.sidechain = 0
     AND f.parent IN (c.host_conversation_id, c.source)),
held (conversation_no, entry_no) AS (
    SELECT e.conversation_no, e.entry_no FROM mine JOIN entries AS e ON {same_record("e", "mine")}
    UNION
    SELECT e.conversation_no, e.entry_no FROM forks
    JOIN entries AS o ON o.conversation_no = forks.origin AND o.chars > 0
    JOIN entries AS e ON e.conversation_no = forks.conversation_no AND e.role = o.role AND e.text = o.text)
SELECT c.conversation_id, c.host, c.host_conversation_id, count(*) AS entries
FROM held JOIN conversations AS c USING (conversation_no)
WHERE c.profile_no = :profile AND c.conversation_no NOT IN (SELECT conversation_no FROM chosen)
GROUP BY c.conversation_no ORDER BY entries DESC, c.conversation_no
"""


def of(connection: sqlite3.Connection, profile_no: int, numbers: Sequence[int]) -> list[sqlite3.Row]:
    """(conversation_id, host, host_conversation_id, entries) of the other conversations of the profile that hold some
    of the entries of these, the fullest first.
    """
    return connection.execute(_COPIES, {"profile": profile_no, "chosen": json.dumps(list(numbers))}).fetchall()
