"""The words of the contract as frozen values.

Data runs one way: source -> conversation -> chunks -> analysis -> placement -> plan -> publication. What crosses a
border between two floors is one of these values; none of them knows where it is stored or who made it.
Times are UTC milliseconds since the epoch, or None where the log gives no usable time. Offsets and lengths of
text are Unicode code points; offsets and lengths of records are bytes of the source.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Role = Literal["user", "assistant", "tool", "summary", "system"]
Mark = Literal[
    "active",
    "abandoned_branch",
    "compacted",
    "rewound",
    "rolled_back",
    "sidechain",
    "meta",
    "synthetic",
    "before_reset",
]
FindingStatus = Literal["decided", "worked", "failed", "found", "open", "superseded"]

ROLES: tuple[Role, ...] = ("user", "assistant", "tool", "summary", "system")
# Of a source, as it is listed.
STATES: tuple[str, ...] = (
    "new",
    "indexed",
    "changed",
    "grown",
    "queued",
    "empty",
    "invalid",
    "too_large",
    "gone",
    "unreadable",
    "forgotten",
)
FINDING_STATUSES: tuple[FindingStatus, ...] = ("decided", "worked", "failed", "found", "open", "superseded")


@dataclass(frozen=True, slots=True)
class Position:
    """Where a record stands in its source: line number from 1, byte offset from 0, byte length without the LF."""

    line: int
    offset: int
    length: int


@dataclass(frozen=True, slots=True)
class Entry:
    """One original record, its text already redacted.

    `sha256` is over the raw bytes of the line without its LF and one CR. `marks` is complete only once the whole
    source was read (the tree decides what is active); see `Outline`.
    `text` is empty for records that carry nothing a person said or saw (model changes, usage, labels ...).
    `turn` is the id of the entry that begins the message, where this one is a further block of it.
    """

    seq: int
    entry_id: str
    parent_id: str | None
    position: Position
    sha256: str
    kind: str
    role: Role
    at: int | None
    text: str
    tool: str | None = None
    marks: frozenset[Mark] = frozenset()
    turn: str | None = None


@dataclass(frozen=True, slots=True)
class SourceWarning:
    """Something skipped or odd in a source: a stable code, the line (0: the whole source), a sentence."""

    code: str
    line: int
    message: str


@dataclass(frozen=True, slots=True)
class Header:
    """What a source says of itself. `host_conversation_id` is the identity; title and cwd are for display, redacted.

    `parent`: what it was forked or reset from, or whose subagent it is: the host's id or a path.
    `continues`: the host's id of the conversation that it goes on with after a compaction, where the host gave it a new
    id then: to a person the two are one.
    `automation`: no person started it, a timetable did. `archived`: the host put it aside. `host_version` is that of
    the program that wrote it, where it says so.
    """

    host: str
    host_conversation_id: str
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


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """What proves that a source is unchanged.

    `content_sha256` is over the bytes of all complete lines outside the title slot, `content_bytes` their number.
    `size`, `mtime_ns`, `device`, `inode` are what a listing compares without reading.
    """

    content_sha256: str
    content_bytes: int
    size: int
    mtime_ns: int
    device: int
    inode: int


@dataclass(frozen=True, slots=True)
class Window:
    """A span of activity: a gap of more than 30 minutes starts a new one."""

    first_at: int
    last_at: int
    entries: int


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of a conversation without a model."""

    entries: int
    by_role: Mapping[str, int]
    by_mark: Mapping[str, int]
    branches: int
    windows: tuple[Window, ...]
    first_at: int | None
    last_at: int | None
    tools: Mapping[str, int]
    graph_damaged: bool


@dataclass(frozen=True, slots=True)
class Outline:
    """What is known once the last line was read: header, marks of every entry by `seq`, facts, fingerprint, warnings.

    `prefix_sha256` is the content hash at the byte count the caller asked about (the previous publication's
    `content_bytes`), or None when the source is shorter: equal to the stored hash means that it only grew.
    """

    header: Header
    marks: tuple[frozenset[Mark], ...]
    facts: Facts
    fingerprint: Fingerprint
    warnings: tuple[SourceWarning, ...]
    prefix_sha256: str | None = None


@dataclass(frozen=True, slots=True)
class SourceRef:
    """One authorised log: its host, and the resolved path of the file.

    `conversation` is the host's id of one conversation in a database that holds many, None for a file that holds one.
    `name` is how a user, the queue and the index call the source: the path, or `host:id`.
    """

    host: str
    path: str
    sidechain: bool = False
    parent_path: str | None = None
    conversation: str | None = None

    @property
    def name(self) -> str:
        return self.path if self.conversation is None else f"{self.host}:{self.conversation}"


# --- analysis ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Evidence:
    """A quote that stands in an entry. `start`/`length` point into the entry's redacted text."""

    entry_id: str
    sha256: str
    quote: str
    start: int
    length: int


@dataclass(frozen=True, slots=True)
class Finding:
    """One claim with its status and the words that carry it."""

    statement: str
    status: FindingStatus
    evidence: Evidence


@dataclass(frozen=True, slots=True)
class Facet:
    """One discussion scope inside a conversation. Navigation, never evidence.

    `abandoned`: every entry it cites stands on a branch that was given up.
    """

    title: str
    description: str
    aliases: tuple[str, ...]
    evidence: tuple[Evidence, ...]
    findings: tuple[Finding, ...] = ()
    abandoned: bool = False


@dataclass(frozen=True, slots=True)
class Analysis:
    """What the analysis of one conversation came to, every quote verified by the host.

    `extractive` is true when the built-in analyser made it. `cuts` are where its chunks ended
    ((entry id, end offset in the text)): an append goes on from them, so that old chunks come from the cache.
    """

    summary: str
    facets: tuple[Facet, ...]
    extractive: bool
    model: str
    cuts: tuple[tuple[str, int], ...] = ()
    dropped: Mapping[str, int] = field(default_factory=dict)


# --- placement --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class TopicCard:
    """A topic as placement sees it. `terms` is text of its members (facet titles and aliases), for weighing overlap."""

    topic_id: str
    version: int
    title: str
    description: str
    aliases: tuple[str, ...]
    members: int
    last_at: int | None
    terms: str = ""


@dataclass(frozen=True, slots=True)
class Draft:
    """A topic to be created, from facets that agree."""

    title: str
    description: str
    aliases: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class StoredFinding:
    """A finding of another conversation, about a topic. `at` is the time of its entry."""

    conversation_no: int
    topic_id: str
    statement: str
    status: str
    entry_id: str
    start: int
    quote: str
    at: int | None


@dataclass(frozen=True, slots=True)
class Succession:
    """A pair of findings of which one replaces the other, both quotes verified: an own one, and a stored one.

    Which is the older is a question of time and not of the claim. `facet` is its index among those that were placed.
    """

    facet: int
    entry_id: str
    start: int
    quote: str
    stored: StoredFinding
    stored_quote: str


@dataclass(frozen=True, slots=True)
class Placed:
    """Where one facet goes: an existing topic or a draft (index into `Placement.drafts`); exactly one of the two."""

    facet: int
    topic_id: str | None
    draft: int | None
    reason: str
    candidates: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Placement:
    """Where all facets of one conversation go. `versions` are those of the topics that were seen and chosen.

    `uncompared`: pairs of findings for which there was no room in the question which of two replaces the other.
    """

    placed: tuple[Placed, ...]
    drafts: tuple[Draft, ...]
    versions: Mapping[str, int]
    successions: tuple[Succession, ...] = ()
    uncompared: int = 0
