"""The text index of a profile: made, filled, emptied, checked and built again.

Owns two FTS tables a profile. `text_<n>` is external content over the profile's entries, cut by the registered
segmenting functions; `curated_<n>` is the same over `curated_texts` (summaries, facets, findings, topics).
Plain functions on an open connection; they never commit. Which engine holds the tables stands in `text_indexes`.
Rows leave the index before their content changes or goes: the old words are needed to take them out.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Sequence
from types import ModuleType

from recall import labels, segment
from recall.errors import StateError
from recall.index import fulltext_fts4, fulltext_fts5

_ENGINES: dict[str, ModuleType] = {"fts5": fulltext_fts5, "fts4": fulltext_fts4}
SCOPE = "\uff1d"  # begins every word of the scope column; no word of a text begins with it


def register(connection: sqlite3.Connection) -> None:
    """Give the connection the segmenting functions that the views of the text index call, and FTS4's ranking."""
    connection.create_function("segment_body", 1, segment.body, deterministic=True)
    connection.create_function("segment_whole", 1, segment.whole, deterministic=True)
    connection.create_function("segment_body", 2, lambda text, role: columns(text, role)[0], deterministic=True)
    connection.create_function("segment_whole", 2, lambda text, role: columns(text, role)[1], deterministic=True)
    connection.create_function("scope_words", 4, scope_words, deterministic=True)
    connection.create_function("rank_fts4", 1, fulltext_fts4.rank, deterministic=True)


def columns(text: str, role: str) -> tuple[str, str]:
    """The words of an entry for the columns `body` and `whole`: those of its labels are the reader's and stay out."""
    # Piece by piece: a covered copy of a whole long text would be as large as the text.
    return segment.joined(
        segment.both(labels.blank(piece, "user" if place and role == "tool" else role))
        for place, piece in enumerate(segment.pieces(text))
    )


def scope_words(role: str, marks: str, at: int | None, conversation_no: int) -> str:
    """The words of the scope column: what a search may narrow by inside the index, beside its exact filters in SQL."""
    words = [role, f"c{conversation_no}", *marks.split()]
    if at is not None:
        words.append(f"m{month(at)}")
    return " ".join(SCOPE + word.replace("_", "") for word in words)


def month(at: int) -> int:
    """The month of a time in UTC milliseconds, counted from year 0 (proleptic Gregorian, any year)."""
    days = at // 86_400_000 + 719_468  # days since 0000-03-01, so that the leap day is the last of its year
    era, day = divmod(days, 146_097)
    year = (day - day // 1460 + day // 36_524 - day // 146_096) // 365
    of_year = day - (365 * year + year // 4 - year // 100)
    return (era * 400 + year) * 12 + (5 * of_year + 2) // 153 + 2


def available() -> str:
    """The best engine of this SQLite."""
    probe = sqlite3.connect(":memory:")
    try:
        probe.execute("CREATE VIRTUAL TABLE probe USING fts5(text)")
    except sqlite3.OperationalError:
        return "fts4"
    finally:
        probe.close()
    return "fts5"


def create(connection: sqlite3.Connection, profile_no: int, engine: str | None = None) -> None:
    """Make the text index of a profile and record its engine and the version of the segmenting rules."""
    chosen = engine or available()
    for statement in _ENGINES[chosen].tables(profile_no):
        connection.execute(statement)
    connection.execute(
        "INSERT INTO text_indexes (profile_no, engine, segment_version) VALUES (?, ?, ?)",
        (profile_no, chosen, segment.SEGMENT_VERSION),
    )


def engine_of(connection: sqlite3.Connection, profile_no: int) -> str:
    """Which engine holds the profile's index. Raises StateError where other rules than ours filled it."""
    row = connection.execute(
        "SELECT engine, segment_version FROM text_indexes WHERE profile_no = ?", (profile_no,)
    ).fetchone()
    if row is None:
        raise StateError(
            "index_damaged", "The profile has no text index", "run `history-recall doctor --rebuild-text-index`"
        )
    if row["segment_version"] != segment.SEGMENT_VERSION:
        message = f"The text index was made by word rules {row['segment_version']}, these are {segment.SEGMENT_VERSION}"
        hint = "run `history-recall doctor --rebuild-text-index`: it is made again from stored text, nothing is lost"
        raise StateError("unsupported_index", message, hint)
    return str(row["engine"])


def recorded_engine(connection: sqlite3.Connection, profile_no: int) -> str | None:
    """The engine that the profile's index was made with, whatever its state. None where there is no index."""
    row = connection.execute("SELECT engine FROM text_indexes WHERE profile_no = ?", (profile_no,)).fetchone()
    return None if row is None else str(row["engine"])


def add_entries(
    connection: sqlite3.Connection, profile_no: int, entry_nos: range | Sequence[int], staged: str | None = None
) -> None:
    """Index rows of `entries` that are already inserted.

    `staged` names a TEMP table (seq, body, whole) with the words of exactly these entries, cut before the
    transaction began with `columns`; without it they are cut here.
    """
    engine_of(connection, profile_no)
    table = f"text_{profile_no}"
    if staged is None:
        source = f"""
            SELECT v.rowid, v.body, v.whole, v.scope
            FROM json_each(?) AS chosen CROSS JOIN {table}_view AS v ON v.rowid = chosen.value
        """
    else:
        source = f"""
            SELECT e.entry_no, s.body, s.whole, scope_words(e.role, e.marks, e.at, e.conversation_no)
            FROM json_each(?) AS chosen
            CROSS JOIN entries AS e ON e.entry_no = chosen.value
            JOIN {staged} AS s ON s.seq = e.seq
            WHERE e.text <> ''
        """
    connection.execute(f"INSERT INTO {table} (rowid, body, whole, scope) {source}", (json.dumps(list(entry_nos)),))


def remove_entries(connection: sqlite3.Connection, profile_no: int, entry_nos: range | Sequence[int]) -> None:
    """Take entries out of the index. Before their rows are changed or deleted."""
    engine = _ENGINES[engine_of(connection, profile_no)]
    connection.execute(engine.remove(f"text_{profile_no}", "body, whole, scope"), (json.dumps(list(entry_nos)),))


_CURATED = """
INSERT INTO curated_texts (profile_no, conversation_no, kind, owner_no, text)
SELECT :profile, conversation_no, 'summary', conversation_no, summary
FROM conversations WHERE conversation_no = :conversation AND summary <> ''
UNION ALL
SELECT :profile, conversation_no, 'facet', facet_no, title || char(10) || description
FROM facets WHERE conversation_no = :conversation
UNION ALL
SELECT :profile, conversation_no, 'aliases', facet_no, (SELECT group_concat(value, char(10)) FROM json_each(aliases))
FROM facets WHERE conversation_no = :conversation AND aliases <> '[]'
UNION ALL
SELECT :profile, f.conversation_no, 'finding', n.finding_no, n.statement
FROM findings AS n JOIN facets AS f USING (facet_no) JOIN conversations AS c USING (conversation_no)
WHERE f.conversation_no = :conversation AND NOT c.extractive
"""
_TOPIC_TEXT = """
SELECT topic_no, title || char(10)
       || coalesce((SELECT group_concat(value, char(10)) FROM json_each(topics.aliases)), '') AS text
FROM topics WHERE profile_no = :profile AND state = 'live'
"""
_STALE_TOPICS = f"""
SELECT t.curated_no FROM curated_texts AS t
LEFT JOIN ({_TOPIC_TEXT}) AS now ON now.topic_no = t.owner_no
WHERE t.profile_no = :profile AND t.kind = 'topic' AND t.text IS NOT now.text
"""
_NEW_TOPICS = f"""
INSERT INTO curated_texts (profile_no, conversation_no, kind, owner_no, text)
SELECT :profile, NULL, 'topic', now.topic_no, now.text FROM ({_TOPIC_TEXT}) AS now
WHERE NOT EXISTS (SELECT 1 FROM curated_texts AS t
                  WHERE t.profile_no = :profile AND t.kind = 'topic' AND t.owner_no = now.topic_no)
"""


def add_curated(connection: sqlite3.Connection, profile_no: int, conversation_no: int) -> None:
    """Index what analysis wrote of a conversation, replacing what was there, and every topic whose text changed."""
    remove_curated(connection, profile_no, conversation_no)
    _insert_curated(connection, profile_no, _CURATED, {"profile": profile_no, "conversation": conversation_no})
    refresh_topics(connection, profile_no)


def remove_curated(connection: sqlite3.Connection, profile_no: int, conversation_no: int) -> None:
    """Take a conversation's curated text out of the index."""
    found = connection.execute(
        "SELECT curated_no FROM curated_texts WHERE profile_no = ? AND conversation_no = ?",
        (profile_no, conversation_no),
    )
    _drop_curated(connection, profile_no, [row["curated_no"] for row in found])


def refresh_topics(connection: sqlite3.Connection, profile_no: int) -> None:
    """Index topics by the titles and aliases that they have now; those that are no longer live leave."""
    found = connection.execute(_STALE_TOPICS, {"profile": profile_no})
    _drop_curated(connection, profile_no, [row["curated_no"] for row in found])
    _insert_curated(connection, profile_no, _NEW_TOPICS, {"profile": profile_no})


def _insert_curated(connection: sqlite3.Connection, profile_no: int, insert: str, values: dict[str, int]) -> None:
    last = connection.execute("SELECT coalesce(max(curated_no), 0) FROM curated_texts").fetchone()[0]
    connection.execute(insert, values)
    table = f"curated_{profile_no}"
    connection.execute(
        f"INSERT INTO {table} (rowid, body, whole) SELECT rowid, body, whole FROM {table}_view WHERE rowid > ?", (last,)
    )


def _drop_curated(connection: sqlite3.Connection, profile_no: int, numbers: Sequence[int]) -> None:
    if not numbers:
        return
    engine = _ENGINES[engine_of(connection, profile_no)]
    chosen = (json.dumps(list(numbers)),)
    connection.execute(engine.remove(f"curated_{profile_no}", "body, whole"), chosen)
    connection.execute("DELETE FROM curated_texts WHERE curated_no IN (SELECT value FROM json_each(?))", chosen)


def check(connection: sqlite3.Connection, profile_no: int) -> list[str]:
    """What is wrong with the profile's text index, in words; [] where it is healthy. Inside a writing transaction."""
    return _problems(connection, profile_no, lambda engine, table: connection.execute(engine.integrity(table)))


def look(connection: sqlite3.Connection, profile_no: int) -> list[str]:
    """The same by reading alone, which takes no lock from anybody: damage shows, words of the wrong row do not."""
    return _problems(connection, profile_no, lambda engine, table: _read_all(connection, engine, table))


def _problems(
    connection: sqlite3.Connection, profile_no: int, examine: Callable[[ModuleType, str], object]
) -> list[str]:
    try:
        engine = _ENGINES[engine_of(connection, profile_no)]
    except StateError as error:
        return [error.message]
    problems: list[str] = []
    for name in ("text", "curated"):
        table = f"{name}_{profile_no}"
        try:
            examine(engine, table)
            if (said := engine.broken(connection, table, ["a"])) is not None:
                raise sqlite3.DatabaseError(said)
            problems += _try_match(connection, engine, table, scoped=name == "text")
        except sqlite3.DatabaseError as error:
            problems.append(f"The text index {table} is damaged: {error}")
    return problems


def _read_all(connection: sqlite3.Connection, engine: ModuleType, table: str) -> None:
    """Go through every word of an index table. sqlite3.DatabaseError where that cannot be done to the end."""
    connection.execute(engine.vocabulary(table))
    try:
        found = connection.execute(engine.occurrences(table)).fetchone()[0] or 0
    finally:
        connection.execute(f"DROP TABLE temp.{table}_seen")
    expected = engine.recorded(connection, table)
    if expected is not None and found != expected:
        raise sqlite3.DatabaseError(f"{found} of {expected} words can be read")


def _try_match(connection: sqlite3.Connection, engine: ModuleType, table: str, *, scoped: bool) -> list[str]:
    """A real, ranked query for a word that has to be there: the first and the last row by their own first word."""
    for order in ("ASC", "DESC"):
        row = connection.execute(
            f"SELECT rowid, body FROM {table}_view WHERE body <> '' ORDER BY rowid {order} LIMIT 1"
        ).fetchone()
        if row is None:
            continue
        word = row["body"].split(" ", 1)[0]
        found = connection.execute(
            f"SELECT {engine.score(table, scoped=scoped)} FROM {table} WHERE {table} MATCH ? AND rowid = ?",
            (f'"{word}"', row["rowid"]),
        ).fetchone()
        if found is None:
            return [f"The text index {table} does not find row {row['rowid']} by its first word"]
    return []


def rebuild(connection: sqlite3.Connection, profile_no: int) -> None:
    """Make the profile's text index again from stored text, whatever state it is in."""
    row = connection.execute("SELECT engine FROM text_indexes WHERE profile_no = ?", (profile_no,)).fetchone()
    engine = _ENGINES[row["engine"] if row is not None else available()]
    for name in ("text", "curated"):
        _drop(connection, engine, f"{name}_{profile_no}")
    for kept in ("frequent_words", "text_indexes"):
        connection.execute(f"DELETE FROM {kept} WHERE profile_no = ?", (profile_no,))
    create(connection, profile_no)
    for table, columns in ((f"text_{profile_no}", "body, whole, scope"), (f"curated_{profile_no}", "body, whole")):
        connection.execute(f"INSERT INTO {table} (rowid, {columns}) SELECT rowid, {columns} FROM {table}_view")
    refresh_topics(connection, profile_no)


def _drop(connection: sqlite3.Connection, engine: ModuleType, table: str) -> None:
    """Drop an index table with its view. A table too damaged to open is emptied into shape first."""
    connection.execute(f"DROP TABLE IF EXISTS {table}_words")
    try:
        connection.execute(f"DROP TABLE IF EXISTS {table}")
    except sqlite3.DatabaseError:
        for statement in engine.empty(table):
            connection.execute(statement)
        connection.execute(f"DROP TABLE IF EXISTS {table}")
    connection.execute(f"DROP VIEW IF EXISTS {table}_view")
