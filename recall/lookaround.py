"""What is seen around a conversation that says which project it belongs to: its folder, its host's records, names."""

from __future__ import annotations

from collections.abc import Sequence

from recall import mentions
from recall.errors import SourceError
from recall.folders import Folder, parse
from recall.hosts.place import place_of
from recall.hosts.project_records import HostProject, project_records
from recall.index import projects
from recall.index.attribution import Seen
from recall.index.staging import Staging
from recall.run import Run
from recall.types import Header


class LookAround:
    """Looks around each conversation of one run; a host's records are read once."""

    def __init__(self, run: Run, profile_no: int) -> None:
        self._run = run
        self._profile_no = profile_no
        self._records: dict[str, Sequence[HostProject]] = {}

    def seen(self, header: Header, staging: Staging) -> Seen:
        """All that attribution asks, but what only the publishing transaction knows."""
        place = place_of(header.cwd)
        claims = claiming(self._of_host(header.host), header.host_conversation_id, place.folders)
        return Seen(
            folders=place.folders,
            marker=place.marker,
            git_group=place.git_group,
            host=header.host,
            records=claims,
            mentioned=self._mentioned(header, staging),
        )

    def _of_host(self, host: str) -> Sequence[HostProject]:
        if host not in self._records:
            try:
                self._records[host] = project_records(self._run.settings, host)
            except SourceError:  # attribution goes on without them; `project assign` says what is wrong
                self._records[host] = ()
        return self._records[host]

    def _mentioned(self, header: Header, staging: Staging) -> frozenset[int]:
        """In a subagent's conversation the words of the user are its parent's."""
        if not self._run.settings.infer_mentions or header.sidechain:
            return frozenset()
        with self._run.database.read() as connection:
            every = projects.all_of(connection, self._profile_no)
        names = {project.name: project.project_no for project in every if not project.archived}
        return mentions.mentioned(staging.said(), names) if names else frozenset()


def claiming(records: Sequence[HostProject], identity: str, folders: Sequence[Folder]) -> tuple[str, ...]:
    """The host's project ids that claim a conversation: those that name it, then by folder, the longest first."""
    by_name = [record.host_project_id for record in records if identity in record.conversations]
    by_folder: list[tuple[int, str]] = []
    for record in records:
        inside = [
            len(bound.parts) for bound in map(parse, record.folders) if bound and any(f.is_in(bound) for f in folders)
        ]
        if inside:
            by_folder.append((-max(inside), record.host_project_id))
    return tuple(dict.fromkeys([*by_name, *(identity for _, identity in sorted(by_folder))]))
