"""The way without the text index: a bounded walk through the stored text for what stands there letter for letter."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from recall import labels, segment
from recall.index.filters import Filters
from recall.index.matches import POOL, Matches

ENTRIES = 20_000  # that are looked at, newest first


def _plainly(text: str, role: str) -> str:
    return segment.plain(labels.blank(text, role))


def entries(connection: sqlite3.Connection, filters: Filters, needles: Sequence[str]) -> Matches:
    """Entries, newest first, that hold the most of the needles as they stand (case aside; an accent alone as it is)."""
    connection.create_function("plainly", 2, _plainly, deterministic=True)
    connection.create_function("unlabelled", 2, labels.blank, deterministic=True)
    folded = [segment.plain(needle).strip() for needle in needles]
    holds = [f"(instr({'plain' if f else 'typed'}, :needle{i}) > 0)" for i, f in enumerate(folded)]
    values: dict[str, object] = filters.values() | {"most": ENTRIES, "pool": POOL}
    values |= {f"needle{i}": f or needle for i, (f, needle) in enumerate(zip(folded, needles, strict=True))}
    looked_at = f"""
        SELECT e.entry_no, e.text, e.role FROM entries AS e JOIN conversations AS c USING (conversation_no)
        WHERE e.text <> '' AND {filters.entries()} ORDER BY e.entry_no DESC LIMIT :most
    """
    plain = "plainly(text, role)" if any(folded) else "''"
    typed = "unlabelled(text, role)" if not all(folded) else "''"
    rows = connection.execute(
        f"""
        WITH read AS MATERIALIZED (SELECT entry_no, {" + ".join(holds) or "0"} AS held FROM (
            SELECT entry_no, {plain} AS plain, {typed} AS typed FROM ({looked_at}) LIMIT -1 OFFSET 0))
        SELECT entry_no FROM read WHERE held > 0 AND held = (SELECT max(held) FROM read)
        ORDER BY entry_no DESC LIMIT :pool
        """,
        values,
    ).fetchall()
    reached = connection.execute(f"SELECT count(*) FROM ({looked_at})", values).fetchone()[0]
    return Matches({row[0]: 1.0 / (place + 1) for place, row in enumerate(rows)}, reached >= ENTRIES)
