"""What a bulk change did to projects, kept beside the index so that it can be undone exactly.

A journal is a JSON file (0600) in `<index>.journals/`, written whole and synced before the change commits. It holds
ids, names and folders, and no text of a conversation.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from recall.errors import ArgumentError
from recall.timewindow import iso

VERSION = 1


@dataclass(frozen=True, slots=True)
class Change:
    """One conversation: project id and reason before and after (no project: None)."""

    conversation_id: str
    before: tuple[str | None, str]
    after: tuple[str | None, str]


@dataclass(frozen=True, slots=True)
class Journal:
    """One run. `bindings` are (kind, key, project id) of those that were added; generations are the profile's."""

    profile: str
    at: int
    created: tuple[str, ...]
    bindings: tuple[tuple[str, str, str], ...]
    changes: tuple[Change, ...]
    generation_before: int
    generation_after: int


def new_paths(database: Path, now: int) -> tuple[Path, Path]:
    """Where the journal and the backup of a run go; the folders are made, 0700."""
    stamp = (iso(now) or "unknown").replace(":", "-")[:19] + "-" + os.urandom(3).hex()
    found = []
    for kind, ending in (("journals", "json"), ("backups", "db")):
        folder = folder_of(database, kind)
        folder.mkdir(mode=0o700, exist_ok=True)
        found.append(folder / f"{stamp}.{ending}")
    return found[0], found[1]


def folder_of(database: Path, kind: str) -> Path:
    """The folder beside the index: `journals` or `backups`."""
    return database.with_name(f"{database.name}.{kind}")


def backups(database: Path) -> list[Path]:
    """The backups that are there."""
    folder = folder_of(database, "backups")
    return sorted(folder.glob("*.db")) if folder.is_dir() else []


def write(path: Path, journal: Journal) -> None:
    """Write a journal whole, and to the disk."""
    fresh = path.with_suffix(".new")
    with os.fdopen(os.open(fresh, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w", encoding="utf-8") as file:
        json.dump({"version": VERSION, **asdict(journal)}, file, ensure_ascii=False, indent=1)
        file.flush()
        os.fsync(file.fileno())
    os.replace(fresh, path)


def read(argument: str, database: Path) -> tuple[Path, Journal]:
    """The journal that a user names, by its path or its name. Raises ArgumentError `not_found`."""
    given = Path(argument).expanduser()
    for path in (given, folder_of(database, "journals") / given.name):
        if path.is_file():
            try:
                return path, _journal(json.loads(path.read_text(encoding="utf-8")))
            except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
                raise ArgumentError("not_found", f"{path} is no journal of ours", "see `project assign`") from error
    raise ArgumentError("not_found", f"There is no journal {argument!r}", "`project assign` names it")


def _journal(value: dict[str, Any]) -> Journal:
    if value["version"] != VERSION:
        raise ValueError(value["version"])
    changes = tuple(
        Change(_word(c["conversation_id"]), _side(c["before"]), _side(c["after"])) for c in value["changes"]
    )
    bindings = tuple((_word(kind), _word(key), _word(project_id)) for kind, key, project_id in value["bindings"])
    numbers = (_count(value["generation_before"]), _count(value["generation_after"]))
    created = tuple(map(_word, value["created"]))
    return Journal(_word(value["profile"]), _count(value["at"]), created, bindings, changes, *numbers)


def _side(value: Any) -> tuple[str | None, str]:
    project, why = value
    return None if project is None else _word(project), _word(why)


def _word(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(value)
    value.encode("utf-8")  # ValueError for what no database takes
    return value


def _count(value: Any) -> int:
    if type(value) is not int or not 0 <= value < 2**53:
        raise ValueError(value)
    return value
