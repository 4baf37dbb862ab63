"""What hosts themselves know of projects: Hermes keeps them with their folders, OpenCode with their conversations.

A host that knows projects has a row in `READERS`. Records are only read, and only say what the host says; they come to
something when the user takes them over (`project assign --from-host`). A host without records, or whose records are
not there, has none, which is no error.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from recall.settings import Settings


@dataclass(frozen=True, slots=True)
class HostProject:
    """One project as its host records it.

    `host_project_id` is the host's own id, stable there. `folders` are absolute paths as the host writes them.
    `conversations` are ids of the host's conversations that the record names one by one; where it names none, a
    conversation belongs by its folder.
    """

    host: str
    host_project_id: str
    name: str
    folders: tuple[str, ...] = ()
    conversations: frozenset[str] = frozenset()


# Host -> what reads its records; [] where its store is not there. Raises SourceError for a store that cannot be read.
READERS: dict[str, Callable[[Settings], Sequence[HostProject]]] = {}

# Host -> its public call that switches a conversation's directory: (settings, the host's conversation id, folder) ->
# {"switched": bool, "code": str or None, "message": str}. A host without one cannot.
SWITCHERS: dict[str, Callable[[Settings, str, str], dict[str, object]]] = {}


def project_records(settings: Settings, host: str) -> tuple[HostProject, ...]:
    """The records of a host, in the order of their ids. Raises SourceError where its store cannot be read."""
    reader = READERS.get(host)
    return tuple(sorted(reader(settings), key=lambda record: record.host_project_id)) if reader else ()
