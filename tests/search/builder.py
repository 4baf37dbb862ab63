"""Rows in the real schema for the tests of searching, reading and browsing: no reader, no model, no publication."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from recall.hashing import derived_id, sha256_text
from recall.index import fulltext
from recall.index.database import Database

PROFILE = "default"
DAY = 86_400_000
START = 1_772_442_000_000  # 2026-03-02T09:00:00Z


@dataclass
class Turn:
    """One entry to be."""

    text: str
    role: str = "user"
    at: int | None = None
    entry_id: str | None = None
    parent: str | None = None
    marks: str = "active"
    sha256: str | None = None
    kind: str = "message"


@dataclass
class Index:
    """An index file under construction. `engine` None: the best of this SQLite."""

    path: Path
    engine: str | None = None
    profile: str = PROFILE
    database: Database = field(init=False)
    number: int = field(init=False)

    def __post_init__(self) -> None:
        self.database = Database.open(self.path)
        with self.database.write() as connection:
            connection.execute("INSERT INTO profiles (name, created_at) VALUES (?, 0)", (self.profile,))
            self.number = connection.execute(
                "SELECT profile_no FROM profiles WHERE name = ?", (self.profile,)
            ).fetchone()[0]
            fulltext.create(connection, self.number, self.engine)

    def conversation(
        self, turns: Sequence[Turn | str], name: str = "one", *, started: int = START, **columns: object
    ) -> int:
        """Publish a conversation; returns its number. Entry ids are e0, e1, ... where none are given."""
        row: dict[str, object] = {
            "conversation_id": derived_id("c", self.profile, name),
            "profile_no": self.number,
            "host": "pi",
            "host_conversation_id": name,
            "source": f"/nowhere/{name}.jsonl",
            "title": f"About {name}",
            "started_at": started,
            "last_active_at": started + len(turns) * 60_000,
            "content_sha256": sha256_text(name),
            "summary": "",
            "facts": "{}",
            "cuts": "[]",
            "warnings": "[]",
            "redactions": "{}",
            "model": "offline",
            "rules_version": 1_000,
        }
        zeros = ("content_bytes", "size", "mtime_ns", "device", "inode", "reader_version", "extractive", "published_at")
        row = row | dict.fromkeys(zeros, 0) | columns
        with self.database.write() as connection:
            sql = f"INSERT INTO conversations ({', '.join(row)}) VALUES ({', '.join(':' + key for key in row)})"
            conversation_no = connection.execute(sql, row).lastrowid
            assert conversation_no is not None
            numbers = []
            parent: str | None = None
            for seq, given in enumerate(turns):
                turn = Turn(given) if isinstance(given, str) else given
                entry_id = turn.entry_id or f"e{seq}"
                numbers.append(
                    connection.execute(
                        """INSERT INTO entries (conversation_no, seq, entry_id, parent_id, line, offset, length, sha256,
                                                kind, role, at, marks, chars, text)
                           VALUES (?, ?, ?, ?, ?, 0, 0, ?, ?, ?, ?, ?, ?, ?)""",
                        (
                            conversation_no,
                            seq,
                            entry_id,
                            turn.parent or parent,
                            seq + 2,
                            turn.sha256 or sha256_text(f"{name}/{entry_id}/{turn.text}"),
                            turn.kind,
                            turn.role,
                            started + seq * 60_000 if turn.at is None else turn.at,
                            turn.marks,
                            len(turn.text),
                            turn.text,
                        ),
                    ).lastrowid
                )
                parent = entry_id
            fulltext.add_entries(connection, self.number, [n for n in numbers if n is not None])
            connection.execute("UPDATE profiles SET generation = generation + 1 WHERE profile_no = ?", (self.number,))
        return conversation_no

    def facet(
        self,
        conversation_no: int,
        title: str,
        cites: Sequence[str],
        *,
        description: str = "",
        aliases: Sequence[str] = (),
        findings: Sequence[tuple[str, str, str]] = (),
        topic_no: int | None = None,
    ) -> int:
        """Add a facet that cites entries; findings are (statement, status, entry id)."""
        listed = json.dumps(aliases)
        with self.database.write() as connection:
            facet_no = connection.execute(
                "INSERT INTO facets (facet_id, conversation_no, ordinal, title, description, aliases)"
                " VALUES (?, ?, 0, ?, ?, ?)",
                (derived_id("f", str(conversation_no), title), conversation_no, title, description, listed),
            ).lastrowid
            assert facet_no is not None
            for place, entry_id in enumerate(cites):
                connection.execute(
                    """INSERT INTO evidence SELECT ?, ?, entry_id, sha256, '', 0, 0 FROM entries
                       WHERE conversation_no = ? AND entry_id = ?""",
                    (facet_no, place, conversation_no, entry_id),
                )
            for place, (statement, status, entry_id) in enumerate(findings):
                connection.execute(
                    """INSERT INTO findings
                           (facet_no, ordinal, statement, status, entry_id, sha256, quote, start, length)
                       SELECT ?, ?, ?, ?, entry_id, sha256, '', 0, 0 FROM entries
                       WHERE conversation_no = ? AND entry_id = ?""",
                    (facet_no, place, statement, status, conversation_no, entry_id),
                )
            if topic_no is not None:
                connection.execute(
                    "INSERT INTO memberships VALUES (?, ?, 'same subject', '[]', 0)", (facet_no, topic_no)
                )
            fulltext.add_curated(connection, self.number, conversation_no)
        return facet_no

    def topic(self, title: str, description: str = "", aliases: Sequence[str] = (), **columns: object) -> int:
        """Add a topic; returns its number. Its id is t_<title>."""
        row: dict[str, object] = {
            "topic_id": f"t_{title.lower()}",
            "profile_no": self.number,
            "title": title,
            "description": description,
            "aliases": json.dumps(aliases),
            "extractive": 0,
            "created_at": START,
            "changed_at": START,
        } | columns
        with self.database.write() as connection:
            sql = f"INSERT INTO topics ({', '.join(row)}) VALUES ({', '.join(':' + key for key in row)})"
            topic_no = connection.execute(sql, row).lastrowid
            assert topic_no is not None
            fulltext.refresh_topics(connection, self.number)
        return topic_no


def millis(text: str) -> int:
    """A time with a zone as UTC milliseconds."""
    return round(datetime.fromisoformat(text).timestamp() * 1000)
