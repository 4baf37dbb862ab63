"""Where OMP and Pi keep their conversations, by the rules that the programs themselves follow.

A profile is a wall. `default` sees the default profile of every host; a named profile sees OMP's profile of that name
and nothing else (Pi has no profiles). `OMP_PROFILE` says which profile OMP itself runs in; it does not move the wall.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from recall.settings import Settings

DEFAULT = "default"
_PROFILE = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")


@dataclass(frozen=True, slots=True)
class Root:
    """A folder of a host's, as configured. `host` is "" where both programs were told to use the same folder."""

    host: str
    path: Path


def roots(settings: Settings) -> tuple[Root, ...]:
    """The folders to look in, whether they exist or not; each once."""
    found = [*_omp(settings), *(_pi(settings) if settings.profile == DEFAULT else ())]
    hosts: dict[Path, set[str]] = {}
    for root in found:
        hosts.setdefault(root.path, set()).add(root.host)
    return tuple(Root(next(iter(names)) if len(names) == 1 else "", path) for path, names in hosts.items())


def _omp(settings: Settings) -> Iterator[Root]:
    base = settings.home / settings.host_variables.get("PI_CONFIG_DIR", ".omp")
    if settings.profile == DEFAULT:
        agent = base / "agent"
        own = _agent_folder(settings)
        # In a profile OMP pays no heed to PI_CODING_AGENT_DIR; and what points into a profile is behind the wall.
        if own is not None and not _in_profile(settings) and not own.is_relative_to(base / "profiles"):
            agent = own
        data = (_xdg(settings) if agent == base / "agent" else None) or agent
    elif _PROFILE.fullmatch(settings.profile):
        agent = base / "profiles" / settings.profile / "agent"
        data = _xdg(settings, settings.profile) or agent
    else:  # no OMP profile can have this name
        return
    yield Root("omp", data / "sessions")
    yield Root("omp", data / "archive" / "sessions")


def _pi(settings: Settings) -> Iterator[Root]:
    own = _agent_folder(settings)
    profiles = settings.home / settings.host_variables.get("PI_CONFIG_DIR", ".omp") / "profiles"
    if own is None or own.is_relative_to(profiles):
        own = settings.home / ".pi" / "agent"
    yield Root("pi", own / "sessions")


def _agent_folder(settings: Settings) -> Path | None:
    value = settings.host_variables.get("PI_CODING_AGENT_DIR")
    if not value:
        return None
    path = Path(str(settings.home) + value[1:] if value == "~" or value.startswith("~/") else value)
    return path if path.is_absolute() else settings.home / path


def _in_profile(settings: Settings) -> bool:
    named = settings.host_variables.get("OMP_PROFILE", settings.host_variables.get("PI_PROFILE", "")).strip()
    return named not in ("", DEFAULT)


def _xdg(settings: Settings, profile: str | None = None) -> Path | None:
    value = settings.host_variables.get("XDG_DATA_HOME")
    if not value or not Path(value).is_absolute() or not sys.platform.startswith(("linux", "darwin")):
        return None
    folder = Path(value) / "omp"
    if profile is not None:
        folder = folder / "profiles" / profile
    return folder if folder.is_dir() else None
