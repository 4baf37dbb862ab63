"""The first lines of an OMP or Pi log: the title slot, the header, and which of the two programs wrote it.

A header is a record of type `session` with an id; without one a file is no conversation, and none is invented for it.
OMP puts a title slot in front, a line that it rewrites in place; a title there is newer than any other.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from recall.errors import SourceError
from recall.hosts.text import Record
from recall.hosts.times import to_ms
from recall.redact import redact_text
from recall.types import Header

SLOT_START = b'{"type":"title"'
MAX_TITLE = 500

_ID = re.compile(r"[^\s\x00-\x1f\x7f]{1,200}")
_VERSION = re.compile(r"[0-9A-Za-z.+_-]{1,40}", re.ASCII)
_OMP_HEADER = {"title", "titleSource", "additionalDirectories", "previousSessionFiles", "providerPromptCacheKey"}
_OMP_TYPES = {
    "title",
    "model_usage",
    "service_tier_change",
    "reset_boundary",
    "ttsr_injection",
    "credential_pin",
    "session_init",
    "mode_change",
    "title_change",
}
_OMP_CUSTOM = {
    "tool_execution_start",
    "session_exit",
    "user_todo_edit",
    "vibe-session-lifecycle",
    "autoresearch-control",
}
_TITLES = {"title_change": "title", "session_info": "name"}


@dataclass(frozen=True, slots=True)
class Head:
    """What a log says of itself, unredacted; it leaves this package only as a `Header`, whose words these are."""

    identity: str
    version: int
    started_at: int | None
    cwd: str | None
    title: str | None
    parent: str | None = None
    sidechain: bool = False
    continues: str | None = None
    automation: bool = False
    archived: bool = False
    host_version: str | None = None

    def shown(self, host: str, redact: Callable[[str, str], str]) -> Header:
        """The header as others see it. `redact` takes the text and where it stands."""

        def text(value: str | None, field: str) -> str | None:
            return redact(value, f"header:{field}") if value else None

        title = text(self.title, "title")
        version = self.host_version
        return Header(
            host=host,
            host_conversation_id=self.identity,
            version=self.version,
            started_at=self.started_at,
            cwd=text(self.cwd, "cwd"),
            title=title[:MAX_TITLE] if title else None,
            parent=text(self.parent, "parent"),
            sidechain=self.sidechain,
            continues=text(self.continues, "continues"),
            automation=self.automation,
            archived=self.archived,
            host_version=version if version and _VERSION.fullmatch(version) else None,
        )


def identity_of(value: object, what: str) -> str:
    """An id as an identity: printable, without white space, no secret. Raises SourceError `invalid_source`."""
    if not isinstance(value, str) or not _ID.fullmatch(value):
        raise invalid(f"{what} has no usable id")
    if redact_text(value) != value:
        raise invalid(f"the id in {what} looks like a secret")
    return value


def head(record: object) -> Head:
    """The header. Raises SourceError `invalid_source` for anything else."""
    if not isinstance(record, dict) or record.get("type") != "session":
        raise invalid("its first record is no session header")
    version = record.get("version")
    return Head(
        identity=identity_of(record.get("id"), "its session header"),
        version=version if isinstance(version, int) and not isinstance(version, bool) and 0 <= version < 1000 else 1,
        started_at=to_ms(record.get("timestamp")),
        cwd=_text(record.get("cwd")),
        title=_text(record.get("title")),
        parent=_text(record.get("parentSession")) or _text(record.get("branchedFrom")),
    )


def invalid(reason: str) -> SourceError:
    """A file that is no conversation of its host; it is never indexed under an invented id."""
    return SourceError("invalid_source", f"invalid header: {reason}", "only logs with a valid header are indexed")


def empty() -> SourceError:
    """A file without a single entry."""
    return SourceError("source_empty", "the conversation holds no entries yet", "nothing to index")


def slot_title(record: Record) -> str | None:
    """The title in a slot; an empty one says nothing."""
    return _text(record.get("title"))


def title_in(record: Record) -> str | None:
    """The title that an entry gives the conversation, if it does."""
    kind = record.get("type")
    key = _TITLES.get(kind) if isinstance(kind, str) else None
    return _text(record.get(key)) if key else None


def is_omp(record: object) -> bool:
    """Whether only OMP writes such a record."""
    if not isinstance(record, dict):
        return False
    kind = record.get("type")
    if kind == "session":
        return not _OMP_HEADER.isdisjoint(record)
    if kind == "model_change":
        return "model" in record
    if kind == "thinking_level_change":
        return "configured" in record
    if kind == "custom":
        return record.get("customType") in _OMP_CUSTOM if isinstance(record.get("customType"), str) else False
    return isinstance(kind, str) and kind in _OMP_TYPES


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value.strip() else None
