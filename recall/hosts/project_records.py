"""What hosts themselves know of projects: Hermes keeps them with their folders, OpenCode with their conversations.

A host that knows projects has a row in `READERS`. Records are only read, and only say what the host says; they come to
something when the user takes them over (`project assign --from-host`). A host without records, or whose records are
not there, has none, which is no error.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from recall.hosts import host_projects
from recall.hosts.host import HostProject
from recall.settings import Settings

__all__ = ["READERS", "HostProject", "project_records"]


# Host -> what reads its records; [] where its store is not there. Raises SourceError for a store that cannot be read.
READERS: dict[str, Callable[[Settings], Sequence[HostProject]]] = dict(host_projects.READERS)


def project_records(settings: Settings, host: str) -> tuple[HostProject, ...]:
    """The records of a host, in the order of their ids. Raises SourceError where its store cannot be read."""
    reader = READERS.get(host)
    return tuple(sorted(reader(settings), key=lambda record: record.host_project_id)) if reader else ()
