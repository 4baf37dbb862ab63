"""Where OMP and Pi keep their conversations, by the rules that the programs themselves follow.

A profile is a wall. `default` sees the default profile of every host; a named profile sees the profile of that name of
a host that has profiles, and nothing else. `OMP_PROFILE` says which one OMP itself runs in; it does not move the wall.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

from recall.settings import Settings

DEFAULT = "default"
PROFILE = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")


def folder(settings: Settings, variable: str, *default: str) -> Path:
    """The folder that a host's variable names, `~` expanded, or the default below HOME."""
    value = settings.host_variables.get(variable)
    if not value:
        return settings.home.joinpath(*default)
    path = Path(str(settings.home) + value[1:] if value == "~" or value.startswith("~/") else value)
    return path if path.is_absolute() else settings.home / path


def omp_agent(settings: Settings) -> Path:
    """The folder of OMP's settings and extensions."""
    base = settings.home / settings.host_variables.get("PI_CONFIG_DIR", ".omp")
    if settings.profile != DEFAULT:
        return base / "profiles" / settings.profile / "agent"
    own = _agent_folder(settings)
    # In a profile OMP pays no heed to PI_CODING_AGENT_DIR; and what points into a profile is behind the wall.
    if own is not None and not _in_profile(settings) and not own.is_relative_to(base / "profiles"):
        return own
    return base / "agent"


def pi_agent(settings: Settings) -> Path:
    """The folder of Pi's settings and extensions."""
    own = _agent_folder(settings)
    profiles = settings.home / settings.host_variables.get("PI_CONFIG_DIR", ".omp") / "profiles"
    return settings.home / ".pi" / "agent" if own is None or own.is_relative_to(profiles) else own


def omp(settings: Settings) -> Iterator[Path]:
    """Its folders, whether they exist or not."""
    base = settings.home / settings.host_variables.get("PI_CONFIG_DIR", ".omp")
    agent = omp_agent(settings)
    if settings.profile == DEFAULT:
        data = (_xdg(settings) if agent == base / "agent" else None) or agent
    elif PROFILE.fullmatch(settings.profile):
        data = _xdg(settings, settings.profile) or agent
    else:  # no OMP profile can have this name
        return
    yield data / "sessions"
    yield data / "archive" / "sessions"


def pi(settings: Settings) -> Iterator[Path]:
    """Its folder; Pi has no profiles."""
    if settings.profile != DEFAULT:
        return
    yield pi_agent(settings) / "sessions"


def _agent_folder(settings: Settings) -> Path | None:
    named = settings.host_variables.get("PI_CODING_AGENT_DIR")
    return folder(settings, "PI_CODING_AGENT_DIR") if named else None


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
