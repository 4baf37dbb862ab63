"""Gemini CLI: a JSONL file for each chat, in which a later line can replace an earlier one or take lines back.

A message that is appended again under its id replaces what stood there; `$rewindTo` drops a message and all that
follows; `$set` changes what the first line said, or says what the messages are from there on: that is how a chat is
taken up again, and how a compression leaves a summary, with the latest turns under new ids. The directory stands in no
chat: the folder is named by a project whose path a file of the host's gives. Facts of the format:
packages/core/src/services of the public repository, and chats of version 0.61.
"""

from __future__ import annotations

import functools
import itertools
import json
import os
import shlex
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

from recall.errors import SourceError
from recall.hosts import header, walk
from recall.hosts.content import as_list
from recall.hosts.gemini_text import CONTEXT, RESULT, SUMMARY, reading, words_of
from recall.hosts.header import Head
from recall.hosts.host import Resumable
from recall.hosts.jsonl import Lines
from recall.hosts.log_host import Glance, LogHost
from recall.hosts.notes import Notes
from recall.hosts.parse import BadLine, Decoded
from recall.hosts.paths import open_source
from recall.hosts.records import About, Records, text_in
from recall.hosts.roots import DEFAULT, folder
from recall.hosts.saying import Redacting
from recall.hosts.text import META, Reading, Record
from recall.hosts.times import to_ms
from recall.settings import Settings
from recall.types import Entry, Facts, Mark, Position, SourceRef

_CHATS = "chats"
_PATTERNS = (("*", _CHATS, "session-*.jsonl"), ("*", _CHATS, "*", "*.jsonl"))
_SPOKEN = ("user", "gemini")
_AFTER_SUMMARY = "Got it. Thanks for the additional context!"  # what the model is made to say to it


class GeminiGlance:
    """The first line, as later ones change it."""

    def __init__(self, source: SourceRef) -> None:
        self.entries = 0
        self.subagent = source.sidechain
        self._path = Path(source.path)
        self._meta: dict[str, object] = {}

    @property
    def known(self) -> bool:
        return "sessionId" in self._meta

    def take(self, value: object, number: int) -> None:
        if not isinstance(value, dict):
            return
        changes = value.get("$set")
        if isinstance(changes, dict):
            self._meta.update({key: changes[key] for key in ("summary", "directories") if key in changes})
        elif "sessionId" in value and "type" not in value:
            first = ("sessionId", "projectHash", "startTime", "kind", "summary")
            self._meta.update({key: value[key] for key in first if key in value and key not in self._meta})
        elif value.get("type") in _SPOKEN:
            self.entries += 1

    def head(self) -> Head:
        if not self.known:
            raise header.invalid("no line of it names a session")
        identity = header.identity_of(self._meta["sessionId"], "its first line")
        subagent = self.subagent or self._meta.get("kind") == "subagent"
        above = self._path.parent.name if self._path.parent.parent.name == _CHATS else None
        return Head(
            identity=identity,
            version=1,
            started_at=to_ms(self._meta.get("startTime")),
            cwd=directory(self._path, self._meta.get("projectHash")),
            title=text_in(self._meta, "summary"),
            parent=above if subagent else None,
            sidechain=subagent,
        )


def directory(path: Path, project_hash: object) -> str | None:
    """Where a chat was held, from what the host keeps beside its chats; None where that does not say."""
    chats = next((one for one in path.parents if one.name == _CHATS), None)
    if chats is None:
        return None
    said = (_small(chats.parent / ".project_root") or "").strip()
    if os.path.isabs(said) and "\n" not in said:
        return said
    return _registered(chats.parent.parent.parent / "projects.json", chats.parent.name, project_hash)


def _small(path: Path) -> str | None:
    """A file of the host's beside its chats; None where it is not there, or is no plain text file."""
    try:
        with open_source(SourceRef("", str(path))) as file:
            return file.read(1 << 20).decode("utf-8")
    except (SourceError, OSError, UnicodeDecodeError):
        return None


def _registered(registry: Path, slug: str, project_hash: object) -> str | None:
    try:
        status = os.stat(registry)
    except OSError:
        return None
    for folder_path, name in _registry(str(registry), status.st_mtime_ns):
        if name == slug or sha256(folder_path.encode()).hexdigest() == project_hash:
            return folder_path
    return None


@functools.lru_cache(maxsize=4)
def _registry(path: str, _mtime_ns: int) -> tuple[tuple[str, str], ...]:
    try:
        value = json.loads(_small(Path(path)) or "{}")
    except (ValueError, RecursionError):
        return ()
    projects = value.get("projects") if isinstance(value, dict) else None
    found = projects.items() if isinstance(projects, dict) else ()
    return tuple((folder_path, name) for folder_path, name in found if isinstance(name, str))


class GeminiRecords(Records):
    """The lines of one chat, each where it stands; `last` is the line that a message's id stands in last."""

    def __init__(self, notes: Notes, redactor: Redacting, source: SourceRef, last: dict[str, int]) -> None:
        self._glance = GeminiGlance(source)
        super().__init__(notes, redactor, subagent=source.sidechain)
        self._last = last
        self._line = 0
        self._places: dict[str, int] = {}  # a message's id -> the first entry of it
        self._said: dict[tuple[str, str], str] = {}  # who said what -> the message's id
        self._left_out: list[tuple[int, int]] = []  # entries of messages that were there and are not among the latest

    def head(self) -> Head:
        head = self._glance.head()
        self.subagent = head.sidechain
        return head

    def take(self, value: object, place: Position, digest: str) -> Iterator[Entry]:
        begun = self._glance.known
        self._glance.take(value, place.line)
        self._line = place.line
        return super().take(value, place, digest) if begun or not self._glance.known else iter(())

    def split(self, record: dict[str, object]) -> list[dict[str, object]]:
        """A message holds the calls that it made together with what they answered."""
        changes = record.get("$set")
        if isinstance(changes, dict) and isinstance(changes.get("messages"), list):
            return [record, *self._messages_are([one for one in changes["messages"] if isinstance(one, dict)])]
        if isinstance(identity := record.get("id"), str):
            self._said[words_of(record)] = identity
        results = [
            {"id": f"{record.get('id')}.{number}", "timestamp": call.get("timestamp"), "type": "gemini", RESULT: call}
            for number, call in enumerate(as_list(record.get("toolCalls")), 1)
            if isinstance(call, dict) and ("result" in call or "resultDisplay" in call)
        ]
        if not self._replaced(record):
            return [record, *results]
        return [record]

    def _messages_are(self, messages: list[dict[str, object]]) -> list[dict[str, object]]:
        """Those that stand in no line of their own, as records. The others, but for copies, are left out from here."""
        kept, new = set(), []
        for number, message in enumerate(messages):
            words, identity = words_of(message), message.get("id")
            following = messages[number + 1] if number + 1 < len(messages) else {}
            known = identity if identity in self._places else self._said.get(words)
            if known is not None:
                kept.add(known)
            elif (
                isinstance(identity, str)
                and words[1]
                and identity not in self._last
                and words[1] != _AFTER_SUMMARY
                and not words[1].startswith(CONTEXT)
            ):
                self._said[words] = identity
                new.append({**message, SUMMARY: words[0] == "user" and words_of(following)[1] == _AFTER_SUMMARY})
        starts = [*sorted(self._places.items(), key=lambda one: one[1]), ("", len(self.tree))]
        self._left_out = [
            (start, end) for (identity, start), (_, end) in itertools.pairwise(starts) if identity not in kept
        ]
        return new

    def outcome(self) -> tuple[tuple[frozenset[Mark], ...], Facts]:
        for start, end in self._left_out:
            self.tree.also(start, end, "compacted")
        return super().outcome()

    def about(self, record: Record) -> About:
        given = record.get("id")
        host_id = given if isinstance(given, str) and given and not self._replaced(record) else None
        return About(
            host_id=host_id,
            times=(record.get("timestamp"),),
            more={"id": given, "to": record.get("$rewindTo")},
        )

    def read(self, record: Record) -> Reading:
        if self._replaced(record):
            return Reading("replaced", "system", marks=META)
        return reading(record)

    def added(self, about: About, found: Reading) -> None:
        seq = len(self.tree) - 1
        identity, target = about.more.get("id"), about.more.get("to")
        if isinstance(target, str) and target in self._places:
            first = self._places[target]
            self.tree.also(first, seq, "rewound")
            self._places = {name: at for name, at in self._places.items() if at < first}
        elif isinstance(identity, str):
            self._places.setdefault(identity, seq)

    def _replaced(self, record: Record) -> bool:
        identity = record.get("id")
        return isinstance(identity, str) and self._last.get(identity, 0) > self._line


class Gemini(LogHost):
    """Gemini CLI."""

    name = "gemini"
    title_words = (b'"$set"',)

    def roots(self, settings: Settings) -> Iterator[Path]:
        if settings.profile == DEFAULT:
            yield folder(settings, "GEMINI_CLI_HOME") / ".gemini" / "tmp"

    def files(self, root: Path, notes: Notes) -> Iterator[walk.Found]:
        for found in walk.matching(root, _PATTERNS, notes):
            yield walk.Found(found.path, found.status, self.parent_of(root, Path(found.path)))

    def covers(self, root: Path, path: Path) -> bool:
        return walk.matches(root, path, _PATTERNS)

    def parent_of(self, root: Path, path: Path) -> str | None:
        """A subagent lies in a folder of its chat's id; the name of the chat's file holds the beginning of it only."""
        return str(path.parent) if path.parent.parent.name == _CHATS else None

    def glance(self, source: SourceRef) -> Glance:
        return GeminiGlance(source)

    def survey(self, source: SourceRef) -> object:
        """In which line each message stands last."""
        last: dict[str, int] = {}
        file, _, limit = self.opened(source)
        with file:
            for line in Lines(file, limit):
                try:
                    value = Decoded(line.raw).value()
                except BadLine:
                    continue
                if isinstance(value, dict) and isinstance(identity := value.get("id"), str):
                    last[identity] = line.number
        return last

    def records(self, source: SourceRef, notes: Notes, redactor: Redacting, survey: object) -> Records:
        return GeminiRecords(notes, redactor, source, survey if isinstance(survey, dict) else {})

    def reading(self, record: Record) -> Reading:
        return reading(record)

    def recognises(self, value: object) -> bool:
        return isinstance(value, dict) and "sessionId" in value and "projectHash" in value

    def resume(self, conversation: Resumable) -> str | None:
        """It finds a chat only from the directory that it ran in."""
        if conversation.sidechain:
            return None
        command = f"gemini --resume {shlex.quote(conversation.identity)}"
        return f"cd {shlex.quote(conversation.cwd)} && {command}" if conversation.cwd else command
