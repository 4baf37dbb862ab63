"""Which conversations had a part in the words of a topic: those in it, and those that its life tells of.

A topic is of the whole profile, and its title and aliases stay when the conversation that brought them has left it or
was moved to another project. Topics that were merged into one brought theirs too; what a repair did names facets.
Plain functions that read only.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping

# `chosen` are topics; `family` each of them with those that were merged into it; `parts` the conversations of each.
_PARTS = """
WITH RECURSIVE
merged AS MATERIALIZED (SELECT topic_no, merged_into FROM topics WHERE merged_into IS NOT NULL),
family (about, topic_no) AS (
    SELECT topic_no, topic_no FROM topics WHERE topic_no IN ({chosen})
    UNION
    SELECT y.about, g.topic_no FROM family AS y JOIN merged AS g ON g.merged_into = y.topic_no),
told AS MATERIALIZED (
    SELECT y.about, v.conversation_no, v.before, v.after, v.evidence
    FROM family AS y JOIN topic_events AS v USING (topic_no)),
named (about, facet_id) AS (
    SELECT about, read.value ->> 'facet_id' FROM told JOIN json_each(told.evidence) AS read
    UNION SELECT about, before ->> 'facet_id' FROM told WHERE before ->> 'facet_id' IS NOT NULL
    UNION SELECT about, after ->> 'facet_id' FROM told WHERE after ->> 'facet_id' IS NOT NULL),
parts (about, conversation_no) AS (
    SELECT y.about, f.conversation_no
    FROM family AS y JOIN memberships AS m USING (topic_no) JOIN facets AS f USING (facet_no)
    UNION SELECT about, conversation_no FROM told
    UNION SELECT n.about, f.conversation_no FROM named AS n JOIN facets AS f USING (facet_id))
SELECT DISTINCT about FROM parts JOIN conversations AS c USING (conversation_no) WHERE {condition}
"""


def holding(
    connection: sqlite3.Connection, topic_nos: Iterable[int], condition: str, values: Mapping[str, object]
) -> frozenset[int]:
    """Those of the topics in whose words a conversation `c` of that condition had a part."""
    sql = _PARTS.format(chosen="SELECT value FROM json_each(:chosen)", condition=condition)
    rows = connection.execute(sql, {**values, "chosen": json.dumps(list(topic_nos))})
    return frozenset(row[0] for row in rows)
