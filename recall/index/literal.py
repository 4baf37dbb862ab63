"""The way without the text index: a bounded walk through the stored text for what stands there letter for letter."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence

from recall import labels, segment
from recall.index.filters import Filters
from recall.index.matches import POOL, Matches

ENTRIES = 20_000  # that are looked at, newest first
_AT_ONCE = 100  # whose texts are in memory together


def entries(connection: sqlite3.Connection, filters: Filters, needles: Sequence[str]) -> Matches:
    """Entries, newest first, that hold the most of the needles as they stand (case aside; an accent alone as it is).

    The walk ends where as many as are kept hold all of them: no older one comes before these.
    """
    folded = [segment.plain(needle).strip() for needle in needles]
    plain = [needle for needle in folded if needle]
    typed = [needle for f, needle in zip(folded, needles, strict=True) if not f]
    best: list[int] = []
    most = walked = 0
    for entry_no, text in _newest(connection, filters):
        walked += 1
        held = sum(needle in text for needle in typed)
        if plain:
            compared = segment.plain(text)
            held += sum(needle in compared for needle in plain)
        if held > most:
            best, most = [], held
        if held == most > 0 and len(best) < POOL:
            best.append(entry_no)
            if len(best) == POOL and most == len(needles):
                return Matches(_by_place(best), bounded=True)
    return Matches(_by_place(best), walked >= ENTRIES)


def _by_place(numbers: Sequence[int]) -> dict[int, float]:
    return {entry_no: 1.0 / (place + 1) for place, entry_no in enumerate(numbers)}


def _newest(connection: sqlite3.Connection, filters: Filters) -> Iterator[tuple[int, str]]:
    """The newest ENTRIES that pass with their texts, the reader's labels covered. No text is read before it is asked
    for.
    """
    # From the entries on, in their order, unless the filters leave few conversations of many.
    few = filters.conversation_no is not None or filters.chooses_conversations
    numbers = connection.execute(
        f"""
        SELECT e.entry_no FROM entries AS e {"" if few else "CROSS"} JOIN conversations AS c USING (conversation_no)
        WHERE e.chars > 0 AND {filters.entries()} ORDER BY e.entry_no DESC LIMIT :most
        """,
        filters.values() | {"most": ENTRIES},
    )
    while some := [row[0] for row in numbers.fetchmany(_AT_ONCE)]:
        for row in connection.execute(
            """
            SELECT e.entry_no, e.text, e.role FROM json_each(?) AS chosen
            CROSS JOIN entries AS e ON e.entry_no = chosen.value ORDER BY chosen.key
            """,
            (json.dumps(some),),
        ):
            yield row[0], labels.blank(row[1], row[2])
