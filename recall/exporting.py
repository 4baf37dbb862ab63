"""Export: a topic or a conversation as cited Markdown or JSON, or the whole profile as a bundle for another machine.

A conversation comes with its transcript: the entries of its active branch as `read` shows them, each with its id.
"""

from __future__ import annotations

import errno
import json
import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from recall import browser
from recall.browser import BrowseRequest
from recall.bundle import FORMAT, TABLES, VERSION, Table, redacted
from recall.errors import ArgumentError, RecallError, StateError
from recall.index import catalogue, reads
from recall.index.database import Database, profile_number
from recall.index.file import SCHEMA_VERSION
from recall.redact import RULES_VERSION
from recall.scope import Here
from recall.shown import safe
from recall.timewindow import iso

_PAGE = 50


def export(
    database: Database,
    profile: str,
    here: Here,
    what: str | None,
    form: str,
    output: str | None,
    *,
    transcript: bool = True,
) -> dict[str, object]:
    """The `export` answer: the text, or where it was written. `transcript`: with that of a conversation.

    Raises ArgumentError `not_found`, `usage`.
    """
    with database.read() as connection:
        number = profile_number(connection, profile)
        if number is None:
            raise ArgumentError("not_found", f"Nothing is indexed in profile {profile!r}", "run index-all first")
        if what is None and form == "json":
            kind, text = "profile", json.dumps(bundle(connection, number, profile), ensure_ascii=False, indent=1)
        else:
            row = None if what is None else reads.conversation(connection, number, what, None)
            kind, topics = _chosen(database, connection, number, profile, here, what, row)
            shown: Any = topics
            if row is not None and kind == "conversation":
                shown = _introduced(row, topics) | ({"transcript": _transcript(connection, row)} if transcript else {})
            text = _markdown(shown) if form == "md" else json.dumps(shown, ensure_ascii=False, indent=1)
    written = None if output is None else _write(output, text)
    return {
        "kind": kind,
        "format": form,
        "output": written,
        "characters": len(text),
        "text": text if written is None else None,
    }


def bundle(connection: sqlite3.Connection, profile_no: int, profile: str) -> dict[str, object]:
    """The whole profile; see `recall.bundle`."""
    old = connection.execute(
        "SELECT 1 FROM conversations WHERE profile_no = ? AND rules_version < ? LIMIT 1", (profile_no, RULES_VERSION)
    ).fetchone()
    return {
        "format": FORMAT,
        "version": VERSION,
        "schema": SCHEMA_VERSION,
        "profile": profile,
        "generation": reads.generation(connection, profile_no),
        "tables": {table.name: _rows(connection, profile_no, table, again=old is not None) for table in TABLES},
    }


def _rows(connection: sqlite3.Connection, profile_no: int, table: Table, *, again: bool) -> dict[str, object]:
    columns = [row["name"] for row in connection.execute(f"PRAGMA table_info({table.name})")]
    kept = [name for name in columns if name != "profile_no"]
    texts = {kept.index(name) for name in table.texts} if again else set()
    rows = connection.execute(
        f"SELECT {', '.join(kept)} FROM {table.name} AS x WHERE {table.where} ORDER BY {table.key or 'rowid'}",
        {"profile": profile_no},
    )
    return {
        "columns": kept,
        "rows": [[redacted(kept[n], v) if n in texts else v for n, v in enumerate(row)] for row in rows],
    }


def _chosen(
    database: Database,
    connection: sqlite3.Connection,
    profile_no: int,
    profile: str,
    here: Here,
    what: str | None,
    row: sqlite3.Row | None,
) -> tuple[str, list[dict[str, Any]]]:
    """The topics with their conversations: one, those of one conversation (`row`), or all."""
    if what is None:
        every = list(_pages(database, profile, here, None))
        return "profile", [_topic(database, profile, here, topic["topic_id"]) for topic in every]
    if catalogue.topic(connection, profile_no, what) is not None:
        return "topic", [_topic(database, profile, here, what)]
    if row is None:
        message = f"There is no topic or conversation {what!r} in this profile"
        raise ArgumentError("not_found", message, "`browse` and `conversations` list them")
    ids = connection.execute(
        """SELECT DISTINCT t.topic_id FROM facets AS f JOIN memberships AS m USING (facet_no)
           JOIN topics AS t USING (topic_no) WHERE f.conversation_no = ? ORDER BY t.topic_no""",
        (row["conversation_no"],),
    ).fetchall()
    topics = [_topic(database, profile, here, found["topic_id"]) for found in ids]
    for topic in topics:
        topic["conversations"] = [c for c in topic["conversations"] if c["conversation_id"] == row["conversation_id"]]
    return "conversation", topics


def _topic(database: Database, profile: str, here: Here, topic_id: str) -> dict[str, Any]:
    answer = browser.browse(database, profile, BrowseRequest(topic_id, limit=1, scope="all"), here.current, here=here)
    head: Any = answer["topic"]
    return {**head, "conversations": list(_pages(database, profile, here, topic_id))}


def _pages(database: Database, profile: str, here: Here, topic_id: str | None) -> Iterator[dict[str, Any]]:
    cursor: str | None = None
    while True:
        request = BrowseRequest(topic_id, limit=_PAGE, cursor=cursor, scope="all")
        answer: Mapping[str, Any] = browser.browse(database, profile, request, here.current, here=here)
        yield from answer["entries"]
        cursor = answer["next_cursor"]
        if cursor is None:
            return


def _introduced(row: sqlite3.Row, topics: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """A conversation with its topics."""
    return {
        "conversation_id": row["conversation_id"],
        "host": row["host"],
        "host_conversation_id": row["host_conversation_id"],
        "title": safe(row["title"] or "", row["rules_version"]) or None,
        "started_at": iso(row["started_at"]),
        "last_active_at": iso(row["last_active_at"]),
        "topics": topics,
    }


def _transcript(connection: sqlite3.Connection, row: sqlite3.Row) -> list[dict[str, Any]]:
    """What was said on the active branch, as it may be shown."""
    return [
        {
            "entry_id": entry["entry_id"],
            "sha256": entry["sha256"],
            "role": entry["role"],
            "timestamp": iso(entry["at"]),
            "status": entry["marks"].split(),
            "text": safe(reads.text(connection, entry["entry_no"]), row["rules_version"]),
        }
        for entry in reads.active_entries(connection, row["conversation_no"])
    ]


def _markdown(shown: Sequence[Mapping[str, Any]] | Mapping[str, Any]) -> str:
    """Topics, or a conversation with its topics and, where it is there, its transcript."""
    if not isinstance(shown, Mapping):
        return _told(shown)
    identity = shown["conversation_id"]
    day = (shown["last_active_at"] or "unknown")[:10]
    lines = [f"# {_plain(shown['title'] or '(untitled)')} ({identity}, {day})", ""]
    parts = ["\n".join(lines), _told(shown["topics"])]
    if "transcript" in shown:
        parts.append("\n".join(["# Transcript", "", *_spoken(identity, shown["transcript"])]))
    return "\n".join(part for part in parts if part)


def _spoken(conversation_id: str, entries: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Each entry under its id. Its text is quoted line by line: what is written in it stays inside of it."""
    for entry in entries:
        marks = [mark for mark in entry["status"] if mark != "active"]
        about = ", ".join([entry["role"], entry["timestamp"] or "at an unknown time", *marks])
        yield f"## [{conversation_id}/{entry['entry_id']}] {about}"
        yield ""
        yield from (f"> {line}".rstrip() for line in entry["text"].splitlines())
        yield ""


def _told(topics: Iterable[Mapping[str, Any]]) -> str:
    lines: list[str] = []
    for topic in topics:
        lines += [f"# {_plain(topic['title'])} ({topic['topic_id']})", ""]
        for conversation in topic["conversations"]:
            day = (conversation["last_active_at"] or "unknown")[:10]
            name = _plain(conversation["title"] or "(untitled)")
            lines += [f"## {name} ({conversation['conversation_id']}, {day})", "", _plain(conversation["summary"]), ""]
            for membership in conversation["memberships"]:
                lines += [f"### {_plain(membership['facet'])}", "", _plain(membership["description"]), ""]
                for finding in membership["findings"]:
                    lines += _finding(conversation["conversation_id"], finding)
                cited = ", ".join(f"{conversation['conversation_id']}/{e['entry_id']}" for e in membership["evidence"])
                lines += [f"Evidence: {cited}", ""]
    return "\n".join(lines)


def _finding(conversation_id: str, finding: Mapping[str, Any]) -> list[str]:
    where = f"[{conversation_id}/{finding['entry_id']}]"
    lines = [f"- **{finding['status']}**: {_plain(finding['statement'])} {where}", f"  > {_plain(finding['quote'])}"]
    if by := finding["superseded_by"]:
        lines.append(f"  superseded by {_plain(by['statement'])} [{by['conversation_id']}/{by['entry_id']}]")
    return [*lines, ""]


def _plain(text: str) -> str:
    return " ".join(text.split())


def _write(output: str, text: str) -> str:
    """Write a new file whole, or none."""
    path = Path(os.path.abspath(os.path.expanduser(output)))
    try:
        descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    except OSError as error:
        raise _unwritten(path, error) from error
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text + "\n")
            file.flush()
            os.fsync(file.fileno())
    except BaseException as error:
        path.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise _unwritten(path, error) from error
        raise
    return str(path)


def _unwritten(path: Path, error: OSError) -> RecallError:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return StateError("disk_full", f"No space left while writing {path}; it was removed again", "free some space")
    return ArgumentError("usage", f"{path} cannot be written: {error.strerror}", "name a new file")
