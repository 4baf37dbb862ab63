"""Which project a conversation belongs to when it is first indexed: a pure function of what was seen and what is known.

The best reason wins: the user moved it; it follows the conversation that it came from; a marker in its folder; a bound
folder, the longest that holds it; a record of its host that was taken over; a bound repository; one project that the
user named. Otherwise none. Nothing here reads a file or a row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from recall.folders import Folder

Why = Literal["moved", "inherited", "marker", "folder", "host", "git", "mention", "none"]


@dataclass(frozen=True, slots=True)
class FolderBinding:
    """A bound folder by its key; `folds`: its file system does not tell case apart, and the key is folded."""

    key: str
    folds: bool
    project_no: int


@dataclass(frozen=True, slots=True)
class Known:
    """What a profile knows of projects, all by numbers. `records`: (host, the host's project id) -> project."""

    markers: Mapping[str, int] = field(default_factory=dict)
    folders: Sequence[FolderBinding] = ()
    groups: Mapping[str, int] = field(default_factory=dict)
    records: Mapping[tuple[str, str], int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Belonging:
    """Where something was put, by whom: a number, or None for no project."""

    project_no: int | None


@dataclass(frozen=True, slots=True)
class Seen:
    """What was seen of a conversation.

    `decided` is the user's move, `followed` the conversation it came from; None where there is no such thing.
    `records` are the host's project ids that claim it, the closest first; `mentioned` the projects the user named.
    """

    folders: Sequence[Folder] = ()
    marker: str | None = None
    git_group: str | None = None
    host: str = ""
    records: Sequence[str] = ()
    mentioned: frozenset[int] = frozenset()
    decided: Belonging | None = None
    followed: Belonging | None = None


NOTHING_SEEN = Seen()


@dataclass(frozen=True, slots=True)
class Attribution:
    """The project and the reason. `adopts`: a marker that no project has yet; its project is to be made."""

    project_no: int | None
    why: Why
    adopts: str | None = None


NONE = Attribution(None, "none")


def attribute(seen: Seen, known: Known) -> Attribution:
    """Where a conversation belongs, and why."""
    if seen.decided is not None:
        return Attribution(seen.decided.project_no, "moved")
    if seen.followed is not None:
        return Attribution(seen.followed.project_no, "inherited")
    if seen.marker is not None:
        number = known.markers.get(seen.marker)
        return Attribution(number, "marker", seen.marker if number is None else None)
    signs: tuple[tuple[Why, int | None], ...] = (
        ("folder", _by_folder(seen.folders, known.folders)),
        ("host", _by_record(seen, known)),
        ("git", known.groups.get(seen.git_group) if seen.git_group else None),
        ("mention", next(iter(seen.mentioned)) if len(seen.mentioned) == 1 else None),
    )
    for why, found in signs:
        if found is not None:
            return Attribution(found, why)
    return NONE


def _by_folder(folders: Sequence[Folder], bound: Sequence[FolderBinding]) -> int | None:
    """The longest bound folder that holds one of them."""
    best: tuple[int, int] | None = None
    tables = {folds: {b.key: b.project_no for b in bound if b.folds == folds} for folds in (False, True)}
    for folder in folders:
        for folds, table in tables.items():
            for place, key in enumerate(folder.lineage(folds=folds)):
                depth = len(folder.parts) - place
                if key in table and (best is None or depth > best[0]):
                    best = (depth, table[key])
    return best[1] if best is not None else None


def _by_record(seen: Seen, known: Known) -> int | None:
    return next((n for r in seen.records if (n := known.records.get((seen.host, r))) is not None), None)
