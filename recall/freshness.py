"""Whether a source has to be indexed at all, and whether it may: its contents against what the index holds."""

from __future__ import annotations

import os
from dataclasses import dataclass

from recall.counting import count
from recall.errors import RecallError, SourceError
from recall.hosts.reading import fingerprint, open_log, probe, reader_version
from recall.index import stored, tombstones
from recall.index.database import Database
from recall.index.stored import Stored
from recall.redact import RULES_VERSION, Redactor
from recall.settings import OFFLINE, Settings
from recall.types import Fingerprint, SourceRef
from recall.wholes import above


@dataclass(frozen=True, slots=True)
class Standing:
    """How a source stands to the index.

    `before` is what is indexed of its conversation; `unchanged` the same where nothing is to be done.
    `touched`: the same contents, but time, inode or path are new. `above`: the host's ids of what it is a part of.
    """

    host_conversation_id: str
    before: Stored | None
    fingerprint: Fingerprint
    unchanged: Stored | None
    touched: bool
    above: frozenset[str]


def stand(database: Database, profile_no: int, source: SourceRef, settings: Settings, *, force: bool) -> Standing:
    """Compare by content hash. Reads the source once, writes nothing.

    Raises SourceError: what the reader raises for a source that cannot be read, and `duplicate_conversation`
    where the conversation was indexed from another file that is still there and holds at least as much; `forgotten`.
    """
    header = probe(source)
    part_of = above(source, header)
    with database.read() as connection:
        tombstones.confirm(connection, profile_no, header.host, header.host_conversation_id, part_of)
        before = stored.by_identity(connection, profile_no, source.host, header.host_conversation_id)
    now = fingerprint(source, prefix_bytes=before.content_bytes if before else None)
    if before is None:
        return Standing(header.host_conversation_id, None, now.fingerprint, None, touched=False, above=part_of)
    same = now.fingerprint.content_sha256 == before.content_sha256
    elsewhere = before.source != source.name and os.path.exists(before.source)
    if elsewhere and not _is_superset(now.prefix_sha256, before, same):
        raise _duplicate(source, before, not_held(database, profile_no, source, before))
    file = now.fingerprint
    touched = before.source != source.name or not before.same_file(file.size, file.mtime_ns, file.device, file.inode)
    unchanged = before if same and not force and _as_good(before, settings) else None
    return Standing(header.host_conversation_id, before, file, unchanged, touched, part_of)


def not_held(database: Database, profile_no: int, source: SourceRef, before: Stored) -> int:
    """How many entries of a source with text are in no record of the conversation that its id belongs to.

    Reads the source once. Raises SourceError.
    """
    with open_log(source, Redactor()) as log:
        own = {entry.sha256 for entry in log.entries() if entry.text}
    with database.read() as connection:
        return len(own - stored.digests(connection, profile_no, before.host, before.host_conversation_id))


def refused_apart(
    database: Database, profile_no: int, source: SourceRef, before: Stored, settings: Settings
) -> RecallError | None:
    """How a second file is refused that has entries of its own; None of any other. An exact copy is not parsed."""
    try:
        if fingerprint(source).fingerprint.content_sha256 != before.content_sha256:
            stand(database, profile_no, source, settings, force=False)
    except SourceError as error:
        return error if is_apart(error) else None
    return None


def is_apart(error: RecallError) -> bool:
    """Whether a source was refused as a second file that has entries of its own."""
    return error.code == "duplicate_conversation" and bool(error.data.get("entries_not_indexed"))


def _duplicate(source: SourceRef, before: Stored, more: int) -> SourceError:
    data = {"indexed_from": before.source, "entries_not_indexed": more}
    if not more:
        message = f"{source.name} holds a conversation that is indexed from {before.source}, and not more of it"
        hint = "index that file instead; a copy that goes on from it would count"
        return SourceError("duplicate_conversation", message, hint, data)
    entries = count(more, "entry")
    message = (
        f"{source.name} and {before.source} both say that they are {before.host}:{before.host_conversation_id}, but "
        f"{entries} of the first {'is' if more == 1 else 'are'} not in the second: only the second is indexed"
    )
    hint = "to have both, give a copy of the first another id in its first record and add it with `sources add`"
    return SourceError("duplicate_conversation", message, hint, data)


def stands(database: Database, profile_no: int, source: SourceRef, standing: Standing) -> bool:
    """Whether the index holds of the conversation what it held before. Another run may have been faster."""
    with database.read() as connection:
        now = stored.by_identity(connection, profile_no, source.host, standing.host_conversation_id)
    return now == standing.before


def _is_superset(prefix_sha256: str | None, before: Stored, same: bool) -> bool:
    return prefix_sha256 == before.content_sha256 and not same


def _as_good(before: Stored, settings: Settings) -> bool:
    """What is stored is as good as what this run would make of the same contents.

    The extractive analysis gives way to a model's, never the other way round; other rules of redaction or reading
    mean reading again.
    """
    replaced = before.extractive and settings.model != OFFLINE
    return (
        before.rules_version == RULES_VERSION and before.reader_version == reader_version(before.host) and not replaced
    )
