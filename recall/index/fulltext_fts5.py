"""The text index in FTS5."""

from __future__ import annotations


def tables(number: int) -> tuple[str, ...]:
    """The statements that make a profile's views, index tables and vocabularies."""
    return (
        f"""
        CREATE VIEW text_{number}_view AS
        SELECT e.entry_no AS entry_no, segment_body(e.text) AS body, segment_whole(e.text) AS whole,
               scope_words(e.role, e.marks, e.at, e.conversation_no) AS scope
        FROM entries AS e JOIN conversations AS c USING (conversation_no)
        WHERE c.profile_no = {number} AND e.text <> ''
        """,
        f"""
        CREATE VIRTUAL TABLE text_{number} USING fts5(
            body, whole, scope, content='text_{number}_view', content_rowid='entry_no', tokenize='ascii')
        """,
        f"CREATE VIRTUAL TABLE text_{number}_words USING fts5vocab('text_{number}', 'row')",
        f"""
        CREATE VIEW curated_{number}_view AS
        SELECT curated_no, segment_body(text) AS body, segment_whole(text) AS whole
        FROM curated_texts WHERE profile_no = {number}
        """,
        f"""
        CREATE VIRTUAL TABLE curated_{number} USING fts5(
            body, whole, content='curated_{number}_view', content_rowid='curated_no', tokenize='ascii')
        """,
    )
