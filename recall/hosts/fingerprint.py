"""The fingerprint of a log alone, at the speed of the hash: what says whether it has to be read at all."""

from __future__ import annotations

import os
from typing import NamedTuple

from recall.hosts import header
from recall.hosts.jsonl import Content, Line, Lines, is_blank
from recall.hosts.parse import BadLine, Decoded
from recall.hosts.paths import MAX_BYTES, open_source, unreadable
from recall.types import Fingerprint, SourceRef


class Standing(NamedTuple):
    """A fingerprint, and the content hash at the byte count that was asked about (None where there is less)."""

    fingerprint: Fingerprint
    prefix_sha256: str | None


def fingerprint(source: SourceRef, *, prefix_bytes: int | None = None) -> Standing:
    """The same fingerprint that reading the log gives. Raises SourceError."""
    content = Content(prefix_bytes)
    with open_source(source) as file:
        status = os.fstat(file.fileno())
        try:
            for line in Lines(file, min(status.st_size, MAX_BYTES)):
                if _counts(line):
                    content.add(line.raw, ended=line.ended)
        except OSError as error:
            raise unreadable(error) from error
    return Standing(of_status(status, content), content.prefix_sha256)


def of_status(status: os.stat_result, content: Content) -> Fingerprint:
    """A fingerprint from what the open descriptor said at the start and from what was read."""
    return Fingerprint(
        content_sha256=content.sha256(),
        content_bytes=content.size,
        size=status.st_size,
        mtime_ns=status.st_mtime_ns,
        device=status.st_dev,
        inode=status.st_ino,
    )


def _counts(line: Line) -> bool:
    """Whether a line is content: neither the title slot nor a tail that is not complete."""
    if (line.ended and line.number > 1) or is_blank(line.raw):
        return True
    try:
        value = Decoded(line.raw).value()
    except BadLine:
        return line.ended and not (line.number == 1 and line.raw.startswith(header.SLOT_START))
    if line.number == 1 and isinstance(value, dict) and value.get("type") == "title":
        return False
    return line.ended or isinstance(value, dict)
