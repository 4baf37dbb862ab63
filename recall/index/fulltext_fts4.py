"""The text index in FTS4, for SQLite builds without FTS5."""

from __future__ import annotations


def tables(number: int) -> tuple[str, ...]:
    """The statements that make a profile's views, index tables and vocabularies."""
    return (
        f"""
        CREATE VIEW text_{number}_view AS
        SELECT e.entry_no AS rowid, segment_body(e.text) AS body, segment_whole(e.text) AS whole,
               scope_words(e.role, e.marks, e.at, e.conversation_no) AS scope
        FROM entries AS e JOIN conversations AS c USING (conversation_no)
        WHERE c.profile_no = {number} AND e.text <> ''
        """,
        f"""
        CREATE VIRTUAL TABLE text_{number} USING fts4(
            content="text_{number}_view", body, whole, scope, tokenize=simple)
        """,
        f"CREATE VIRTUAL TABLE text_{number}_words USING fts4aux(text_{number})",
        f"""
        CREATE VIEW curated_{number}_view AS
        SELECT curated_no AS rowid, segment_body(text) AS body, segment_whole(text) AS whole
        FROM curated_texts WHERE profile_no = {number}
        """,
        f"""
        CREATE VIRTUAL TABLE curated_{number} USING fts4(
            content="curated_{number}_view", body, whole, tokenize=simple)
        """,
    )
