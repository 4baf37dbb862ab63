"""Reading a source, whichever host it is of: what everything above this floor uses.

    with open_log(source, redactor) as log:
        for entry in log.entries():    # in order, redacted, without marks
            ...
        outline = log.outline()        # header, marks by seq, facts, fingerprint, warnings

Everything raises SourceError for a source that cannot be read. Nothing is ever written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from recall.hosts.host import Listed, Log, Resumable, Standing
from recall.hosts.saying import Redacting
from recall.hosts.table import host_named
from recall.redact import redact_text
from recall.types import Header, Position, SourceRef

__all__ = [
    "Listed",
    "Log",
    "Resumable",
    "Standing",
    "fingerprint",
    "missing",
    "open_log",
    "probe",
    "read_record",
    "reader_version",
    "resume",
]


def open_log(
    source: SourceRef,
    redactor: Redacting,
    *,
    prefix_bytes: int | None = None,
    cancelled: Callable[[], bool] = lambda: False,
) -> Log:
    """A reading of the source, to be entered with `with`."""
    return host_named(source.host).open(source, redactor, prefix_bytes=prefix_bytes, cancelled=cancelled)


def fingerprint(source: SourceRef, *, prefix_bytes: int | None = None) -> Standing:
    """The same fingerprint that reading the source gives: what says whether it has to be read at all."""
    return host_named(source.host).fingerprint(source, prefix_bytes=prefix_bytes)


def probe(source: SourceRef, redact: Callable[[str], str] = redact_text) -> Header:
    """The header with the newest title in sight. Raises SourceError, `invalid_source` and `source_empty` among it."""
    found = host_named(source.host).look(source, redact)
    if found.problem is not None:
        raise found.problem
    if found.header is None:
        raise TypeError("a source without a problem has a header")
    return found.header


def read_record(
    source: SourceRef, position: Position, digest: str, redactor: Redacting, *, entry_id: str | None = None
) -> dict[str, object]:
    """The redacted original at a position. Raises SourceError `stale_evidence` where another stands there now."""
    return host_named(source.host).record(source, position, digest, redactor, entry_id=entry_id)


def missing(source: SourceRef, wanted: Iterable[tuple[str, Position, str]]) -> frozenset[str]:
    """Of the entries (id, place, hash) those that do not stand in the source any more."""
    return host_named(source.host).missing(source, iter(wanted))


def reader_version(host: str) -> int:
    """What was read under another version of this host's reader is read again."""
    return host_named(host).reader_version


def resume(host: str, conversation: Resumable) -> str | None:
    """The host's own command that opens the conversation, None where it has none."""
    return host_named(host).resume(conversation)
