"""Claude Code: one content block a line, in trees by `parentUuid`, a file for each conversation and each subagent.

There is no header: a file is named by the conversation's id, and its records say the rest. A compaction begins a chain
of its own, which is tied to what it compacted by `logicalParentUuid`. A fork copies lines, with their uuids. Facts of
the format: what the programs 1.0 to 2.1 write, and the Agent SDK's own reader.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from recall.hosts import claude_text, header, walk
from recall.hosts.header import Head
from recall.hosts.host import Resumable
from recall.hosts.log_host import Glance, LogHost
from recall.hosts.notes import Notes
from recall.hosts.records import SIDECHAIN, About, Records, text_in
from recall.hosts.roots import DEFAULT, folder
from recall.hosts.saying import Redacting
from recall.hosts.text import META, Reading, Record
from recall.hosts.times import to_ms
from recall.settings import Settings
from recall.types import Entry, Position, SourceRef

_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_PATTERNS = (("*", "*.jsonl"), ("*", "*", "subagents", "**", "agent-*.jsonl"))
_SPOKEN = ("user", "assistant")
_KINDS = {*_SPOKEN, "system", "attachment", "progress", "summary", "queue-operation", "file-history-snapshot"}
_SUMMARIES = 20


class ClaudeGlance:
    """Which conversation a file is, and its newest title: the person's, then the program's, then an old summary."""

    def __init__(self, source: SourceRef, seen: Callable[[str], bool] | None = None) -> None:
        self.entries = 0
        self.agent = walk.stem(source.path) if walk.stem(source.path).startswith("agent-") else None
        self.subagent = source.sidechain or self.agent is not None
        self._stem = walk.stem(source.path)
        self._ids: set[str] | None = set() if seen is None else None
        self._seen = seen or (lambda uuid: uuid in (self._ids or ()))
        self._session: str | None = None
        self._first: dict[str, object] = {}
        self._titles: dict[str, str] = {}
        self._summaries: list[tuple[object, str]] = []

    @property
    def known(self) -> bool:
        return self._session is not None and "cwd" in self._first

    def take(self, value: object, number: int) -> None:
        if not isinstance(value, dict):
            return
        kind = value.get("type")
        if self._ids is not None and isinstance(uuid := value.get("uuid"), str):
            self._ids.add(uuid)
        if self._session is None and isinstance(session := value.get("sessionId"), str):
            self._session = session
        for key in ("cwd", "version", "timestamp"):
            if key not in self._first and isinstance(given := value.get(key), str):
                self._first[key] = given
        self.entries += kind in _SPOKEN
        if kind == "summary" and isinstance(summary := value.get("summary"), str):
            self._summaries = [*self._summaries[1 - _SUMMARIES :], (value.get("leafUuid"), summary)]
        elif kind in ("custom-title", "ai-title") and (title := text_in(value, "customTitle", "aiTitle")):
            self._titles[str(kind)] = title

    def head(self) -> Head:
        if self._session is None and not self.entries:
            if self._summaries or self._first:
                raise header.empty()
            raise header.invalid("no record of it names a conversation")
        if not self.entries:
            raise header.empty()
        session = header.identity_of(self._session, "its first record")
        cwd, version = self._first.get("cwd"), self._first.get("version")
        return Head(
            identity=self._identity(session),
            version=1,
            started_at=to_ms(self._first.get("timestamp")),
            cwd=cwd if isinstance(cwd, str) else None,
            title=self._title(),
            parent=session if self.subagent else None,
            sidechain=self.subagent,
            host_version=version if isinstance(version, str) else None,
        )

    def _identity(self, session: str) -> str:
        """The name of the file where it is an id: a fork holds copied records that still name what they are from."""
        if self.subagent:
            return header.identity_of(f"{session}/{self.agent or self._stem}", "its name")
        return self._stem if _UUID.fullmatch(self._stem) else session

    def _title(self) -> str | None:
        here = (summary for leaf, summary in reversed(self._summaries) if isinstance(leaf, str) and self._seen(leaf))
        return self._titles.get("custom-title") or self._titles.get("ai-title") or next(here, None)


class ClaudeRecords(Records):
    """The lines of one file."""

    def __init__(self, notes: Notes, redactor: Redacting, source: SourceRef) -> None:
        self._glance = ClaudeGlance(source, lambda uuid: self.tree.known(uuid))
        super().__init__(notes, redactor, subagent=self._glance.subagent)
        self._tools: dict[str, str] = {}  # calls that wait for their result -> the tool
        self._leaf_uuid: str | None = None
        self._last_seq = -1

    def head(self) -> Head:
        return self._glance.head()

    def take(self, value: object, place: Position, digest: str) -> Iterator[Entry]:
        self._glance.take(value, place.line)
        return super().take(value, place, digest)

    def about(self, record: Record) -> About:
        uuid, kind = record.get("uuid"), record.get("type")
        host_id = uuid if isinstance(uuid, str) and uuid else None
        aside = record.get("isSidechain") is True and not self.subagent
        parent = record.get("parentUuid") or record.get("logicalParentUuid")
        if not isinstance(parent, str):
            # A compaction that does not say what it compacted, and the first record of a subagent in the same file.
            parent = self._leaf_uuid if aside or record.get("subtype") == "compact_boundary" else None
        message = record.get("message")
        given = message.get("id") if kind == "assistant" and isinstance(message, dict) else None
        block_of = given if isinstance(given, str) and given else None
        more = {"spoken": kind in _SPOKEN and not aside, "uuid": host_id}
        if record.get("subtype") == "compact_boundary":
            more["kept"] = _kept(record.get("compactMetadata"))
        again = block_of is not None and self.begun(block_of)
        return About(
            host_id=host_id,
            parent=parent,
            rooted=host_id is not None,
            beside=host_id is None,
            follows=again or aside or kind not in _SPOKEN or not claude_text.is_chosen(record),
            message=block_of,
            times=(record.get("timestamp"),),
            more=more,
        )

    def read(self, record: Record) -> Reading:
        found = claude_text.reading(record, self._tools)
        return replace(found, marks=found.marks | SIDECHAIN) if record.get("isSidechain") is True else found

    def added(self, about: About, found: Reading) -> None:
        seq = len(self.tree) - 1
        if about.more.get("spoken") and not found.marks & META:
            self.tree.lead(seq)
            uuid = about.more.get("uuid")
            self._leaf_uuid = uuid if isinstance(uuid, str) else self._leaf_uuid
        if "kept" in about.more:
            kept = about.more["kept"]
            self.tree.compaction(kept if isinstance(kept, str) else seq)


def _kept(metadata: object) -> str | None:
    """The first record that a compaction left as it was, where it left any."""
    segment = metadata.get("preservedSegment") if isinstance(metadata, dict) else None
    head = segment.get("headUuid") if isinstance(segment, dict) else None
    return head if isinstance(head, str) else None


class ClaudeCode(LogHost):
    """Claude Code."""

    name = "claude-code"
    title_words = (b'"custom-title"', b'"ai-title"', b'"summary"')

    def roots(self, settings: Settings) -> Iterator[Path]:
        if settings.profile == DEFAULT:
            yield folder(settings, "CLAUDE_CONFIG_DIR", ".claude") / "projects"

    def files(self, root: Path, notes: Notes) -> Iterator[walk.Found]:
        for found in walk.matching(root, _PATTERNS, notes):
            yield walk.Found(found.path, found.status, self.parent_of(root, Path(found.path)))

    def covers(self, root: Path, path: Path) -> bool:
        return walk.matches(root, path, _PATTERNS)

    def parent_of(self, root: Path, path: Path) -> str | None:
        parts = path.relative_to(root).parts
        return str(root / parts[0] / (parts[1] + walk.SUFFIX)) if len(parts) > 2 else None

    def glance(self, source: SourceRef) -> Glance:
        return ClaudeGlance(source)

    def records(self, source: SourceRef, notes: Notes, redactor: Redacting, survey: object) -> Records:
        return ClaudeRecords(notes, redactor, source)

    def reading(self, record: Record) -> Reading:
        return claude_text.reading(record, {})

    def recognises(self, value: object) -> bool:
        if not isinstance(value, dict) or value.get("type") not in _KINDS:
            return False
        return "parentUuid" in value or "leafUuid" in value or "snapshot" in value or "sessionId" in value

    def resume(self, conversation: Resumable) -> str | None:
        """It finds a conversation only from the directory that it ran in."""
        if conversation.sidechain:
            return None
        command = f"claude --resume {shlex.quote(conversation.identity)}"
        return f"cd {shlex.quote(conversation.cwd)} && {command}" if conversation.cwd else command
