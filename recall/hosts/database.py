"""Whether a file is a SQLite database."""

from __future__ import annotations

from recall.hosts.paths import open_source
from recall.types import SourceRef

_MAGIC = b"SQLite format 3\x00"


def is_database(path: str) -> bool:
    """By its first bytes. Raises SourceError where it cannot be opened."""
    with open_source(SourceRef("", path)) as file:
        return file.read(len(_MAGIC)) == _MAGIC
