"""Codex: rollouts, a JSONL file for each thread, archived ones in a folder of their own, old ones packed with zstd.

A fork begins with a copy of its parent's lines, its session_meta among them: the first one is the truth. Nothing is
taken back from the file; a roll-back is an event that says how many turns it undid. Facts of the format: what 0.171
writes, and the public codex-rs/rollout and codex-rs/protocol of openai/codex.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from recall.hosts import codex_text, header, packed, walk
from recall.hosts.codex_text import Known
from recall.hosts.content import texts
from recall.hosts.header import Head
from recall.hosts.host import Resumable
from recall.hosts.jsonl import Lines
from recall.hosts.log_host import Glance, LogHost
from recall.hosts.notes import Notes
from recall.hosts.parse import BadLine, Decoded
from recall.hosts.records import About, Records, text_in
from recall.hosts.roots import DEFAULT, folder
from recall.hosts.saying import Redacting
from recall.hosts.text import Reading, Record
from recall.hosts.times import to_ms
from recall.settings import Settings
from recall.types import Entry, Position, SourceRef

ARCHIVE = "archived_sessions"
_PATTERNS = tuple(
    (*folders, name) for folders in ((), ("*", "*", "*")) for name in ("rollout-*.jsonl", "rollout-*.jsonl.zst")
)
_CALL = re.compile(rb'"call_id"\s*:\s*"([^"\\]{1,200})"')


class CodexGlance:
    """The first session_meta, and the newest name of the thread."""

    def __init__(self, source: SourceRef) -> None:
        self.entries = 0
        self._archived = Path(source.path).parent.name == ARCHIVE
        self._meta: Record | None = None
        self._title: str | None = None

    @property
    def known(self) -> bool:
        return self._meta is not None

    def take(self, value: object, number: int) -> None:
        if not isinstance(value, dict):
            if self._meta is None:
                raise header.invalid("its first record is no session_meta")
            return
        if self._meta is None:
            self._meta = _meta(value)
            return
        payload = value.get("payload")
        self.entries += value.get("type") not in (None, "session_meta")
        if isinstance(payload, dict) and payload.get("type") == "thread_name_updated":
            self._title = text_in(payload, "thread_name") or self._title

    def head(self) -> Head:
        if self._meta is None:
            raise header.invalid("it has no session_meta")
        meta = self._meta
        source = meta.get("source")
        spawned = _spawned(source)
        parent = text_in(meta, "parent_thread_id") or text_in(spawned, "parent_thread_id")
        return Head(
            identity=header.identity_of(meta.get("id"), "its session_meta"),
            version=1,
            started_at=to_ms(meta.get("timestamp")),
            cwd=text_in(meta, "cwd"),
            title=self._title,
            parent=parent or text_in(meta, "forked_from_id"),
            sidechain=isinstance(source, dict) and "subagent" in source,
            archived=self._archived,
            host_version=text_in(meta, "cli_version"),
        )


def _meta(value: Record) -> Record:
    """The payload of a session_meta; the first versions wrote it bare. Raises SourceError `invalid_source`."""
    payload = value.get("payload")
    if value.get("type") == "session_meta" and isinstance(payload, dict):
        return payload
    if "type" not in value and "id" in value and "timestamp" in value:
        return value
    raise header.invalid("its first record is no session_meta")


def _spawned(source: object) -> Record:
    subagent = source.get("subagent") if isinstance(source, dict) else None
    spawn = subagent.get("thread_spawn") if isinstance(subagent, dict) else None
    return spawn if isinstance(spawn, dict) else {}


class CodexRecords(Records):
    """The lines behind the first session_meta: one after the other, none names a parent."""

    def __init__(self, notes: Notes, redactor: Redacting, glance: CodexGlance, known: Known) -> None:
        super().__init__(notes, redactor)
        self._glance = glance
        self._known = known
        self._turns: list[int] = []

    def head(self) -> Head:
        head = self._glance.head()
        self.subagent = head.sidechain
        return head

    def take(self, value: object, place: Position, digest: str) -> Iterator[Entry]:
        begun = self._glance.known
        self._glance.take(value, place.line)
        return super().take(value, place, digest) if begun else iter(())

    def about(self, record: Record) -> About:
        payload = record.get("payload", record)
        given = payload.get("id") if isinstance(payload, dict) and record.get("type") != "session_meta" else None
        undone = payload.get("num_turns") if isinstance(payload, dict) else None
        return About(
            host_id=given if isinstance(given, str) and given else None,
            times=(record.get("timestamp"),),
            more={"undone": undone},
        )

    def read(self, record: Record) -> Reading:
        return codex_text.reading(record, self._known)

    def added(self, about: About, found: Reading) -> None:
        seq = len(self.tree) - 1
        if found.kind == "compaction":
            self.tree.compaction(seq)
        elif found.kind == "thread_rolled_back":
            self._undo(about.more.get("undone"), seq)
        elif found.role == "user" and not found.marks:
            self._turns.append(seq)

    def _undo(self, turns: object, end: int) -> None:
        """The last turns are taken back: what the person said last so many times, and all that followed."""
        if not isinstance(turns, int) or isinstance(turns, bool) or turns < 1 or not self._turns:
            return
        first = self._turns[-min(turns, len(self._turns))]
        self.tree.also(first, end, "rolled_back")
        del self._turns[-turns:]


class Codex(LogHost):
    """Codex."""

    name = "codex"
    title_words = (b'"thread_name_updated"',)

    def roots(self, settings: Settings) -> Iterator[Path]:
        if settings.profile == DEFAULT:
            home = folder(settings, "CODEX_HOME", ".codex")
            yield home / "sessions"
            yield home / ARCHIVE

    def files(self, root: Path, notes: Notes) -> Iterator[walk.Found]:
        return walk.matching(root, _PATTERNS, notes)

    def covers(self, root: Path, path: Path) -> bool:
        return walk.matches(root, path, _PATTERNS)

    def parent_of(self, root: Path, path: Path) -> str | None:
        return None  # it stands in the session_meta

    def opened(self, source: SourceRef) -> tuple[BinaryIO, os.stat_result, int]:
        return packed.opened(source) if source.path.endswith(walk.PACKED) else super().opened(source)

    def glance(self, source: SourceRef) -> Glance:
        return CodexGlance(source)

    def survey(self, source: SourceRef) -> object:
        """Which texts and which results stand in response items: events that tell of the same say nothing new."""
        known = Known()
        file, _, limit = self.opened(source)
        with file:
            for line in Lines(file, limit):
                if b'"response_item"' not in line.raw[:400]:
                    continue
                if b'_output"' in line.raw[:600]:
                    if (call := _CALL.search(line.raw)) is not None:
                        known.answered.add(call[1].decode("utf-8", "replace"))
                elif b'"message"' in line.raw[:600]:
                    _remember(line.raw, known)
        return known

    def records(self, source: SourceRef, notes: Notes, redactor: Redacting, survey: object) -> Records:
        known = survey if isinstance(survey, Known) else Known()
        return CodexRecords(notes, redactor, CodexGlance(source), known)

    def reading(self, record: Record) -> Reading:
        return codex_text.reading(record, Known())

    def recognises(self, value: object) -> bool:
        if not isinstance(value, dict):
            return False
        bare = "type" not in value and "instructions" in value and "timestamp" in value
        return bare or (value.get("type") == "session_meta" and isinstance(value.get("payload"), dict))

    def resume(self, conversation: Resumable) -> str | None:
        return None if conversation.sidechain else f"codex resume {shlex.quote(conversation.identity)}"


def _remember(raw: bytes | bytearray, known: Known) -> None:
    try:
        value = Decoded(raw).value()
    except BadLine:
        return
    payload = value.get("payload") if isinstance(value, dict) else None
    if isinstance(payload, dict) and payload.get("type") == "message":
        known.said.add(codex_text.digest("\n".join(texts(payload.get("content")))))
