"""The entries that were found with the turns around them, in lines: what ranking looks at beside an entry.

Plain functions on an open connection; they read only.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from recall.index.filters import Filters


class Turn(NamedTuple):
    """One entry in its line. `line`: entries of one number stand side by side, in order.

    A tuple, for a search makes a thousand of them: a frozen dataclass took five times as long to make.
    """

    entry_no: int
    conversation_no: int
    seq: int
    role: str
    at: int | None
    chars: int
    line: int


def around(connection: sqlite3.Connection, filters: Filters, numbers: Iterable[int], reach: int) -> list[Turn]:
    """The entries with those up to `reach` places before and after each, where the filters let them in, in order."""
    spans = list(_spans(connection, numbers, reach))
    rows = connection.execute(
        f"""
        SELECT e.entry_no, e.conversation_no, e.seq, e.role, e.at, e.chars, span.key AS line
        FROM json_each(:spans) AS span
        CROSS JOIN entries AS e ON e.conversation_no = span.value ->> 0
                               AND e.seq BETWEEN span.value ->> 1 AND span.value ->> 2
        JOIN conversations AS c USING (conversation_no)
        WHERE e.chars > 0 AND {filters.entries()}
        ORDER BY span.key, e.seq
        """,
        filters.values() | {"spans": json.dumps(spans)},
    )
    return [Turn._make(row) for row in rows]


def _spans(connection: sqlite3.Connection, numbers: Iterable[int], reach: int) -> Iterator[Sequence[int]]:
    """(conversation, first seq, last seq) around the entries; spans that meet are one."""
    rows = connection.execute(
        """SELECT e.conversation_no, e.seq FROM json_each(?) AS chosen CROSS JOIN entries AS e
           ON e.entry_no = chosen.value ORDER BY e.conversation_no, e.seq""",
        (json.dumps(list(numbers)),),
    )
    span: list[int] = []
    for conversation_no, seq in rows:
        if span and span[0] == conversation_no and seq - reach <= span[2] + 1:
            span[2] = seq + reach
            continue
        if span:
            yield span
        span = [conversation_no, seq - reach, seq + reach]
    if span:
        yield span
