"""The one place that reads the environment and config.toml.

Everything else gets a frozen `Settings`. Relative paths are made absolute once, here.
"""

from __future__ import annotations

import os
import platform
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import platformdirs

from recall import folders
from recall.errors import ArgumentError

APPLICATION = "history-recall"
OFFLINE = "offline"
HOST = "host"  # the model of the program that we run in
# Names that litellm takes without a provider before them: how they begin, and whose they are. Any other needs one: a
# wrong guess would ask the user's consent for somebody else.
BARE_NAMES = (("gpt-", "openai"), ("o1", "openai"), ("o3", "openai"), ("o4", "openai"), ("claude-", "anthropic"))
PREFIX = "HISTORY_RECALL_"
_URL = re.compile(r"https?://[^/?#\s]+", re.IGNORECASE)
_HALF = re.compile("[\ud800-\udfff]")
_NUMBERS = {
    "batch_sessions": (2, 1, 100_000),
    "batch_calls": (12, 0, 1_000_000),
    "daily_calls": (200, 0, 1_000_000),
    "concurrency": (3, 1, 32),
}
# What config.toml may set: a cap that is misspelt there must not be taken as none.
_NAMES = (
    *("db", "profile", "model", "api_base", "repair", "disabled", "current", "cwd", *_NUMBERS),
    *("projects_infer_mentions", "projects_agent_scope"),
)
_REPAIR = ("always", "due", "never")
SCOPES = ("project", "prefer", "all")  # the narrowest first
# What the hosts themselves read to find their stores (hosts.md A1).
_HOST_VARIABLES = (
    *("PI_CONFIG_DIR", "PI_CODING_AGENT_DIR", "OMP_PROFILE", "PI_PROFILE", "XDG_DATA_HOME"),
    *("CLAUDE_CONFIG_DIR", "CODEX_HOME", "HERMES_HOME", "OPENCODE_DB", "GEMINI_CLI_HOME", "XDG_CONFIG_HOME"),
)

_SECRET_NAMES = ("_API_KEY", "_TOKEN", "_KEY")
_SECRET_CHARS = 8  # what is shorter is a word that says nothing


@dataclass(frozen=True, slots=True)
class Settings:
    """What the user set, checked. `current` is (host, host's conversation id) of the running conversation."""

    home: Path
    database: Path
    profile: str
    model: str
    api_base: str | None
    repair: str
    batch_sessions: int
    batch_calls: int
    daily_calls: int
    concurrency: int
    disabled: bool
    current: tuple[str, str] | None
    cwd: str | None
    host_variables: Mapping[str, str]
    infer_mentions: bool = True
    agent_scope: str = "all"

    @property
    def offline(self) -> bool:
        """True where the built-in analyser is the model: nothing is sent, nothing is capped."""
        return self.model == OFFLINE

    def as_overrides(self) -> dict[str, str]:
        """What the caller said of itself, for another process that loads settings from the same environment."""
        said = {"profile": self.profile, "cwd": self.cwd, "current": ":".join(self.current) if self.current else None}
        return {name: value for name, value in said.items() if value is not None}


def load(environment: Mapping[str, str] | None = None, overrides: Mapping[str, str] | None = None) -> Settings:
    """Settings from `overrides` (command line), then the environment, then config.toml, then the defaults.

    Raises ArgumentError `usage` naming the variable and what it takes.
    """
    given = os.environ if environment is None else environment
    env = _printable(given)
    home = Path(os.path.abspath(os.path.expanduser(env.get("HOME") or "~")))
    values = _config(env, home) | {
        key[len(PREFIX) :].lower(): value for key, value in env.items() if key.startswith(PREFIX) and value != ""
    }
    values |= _printable(overrides or {})
    numbers = {name: _number(name, values.get(name), *limits) for name, limits in _NUMBERS.items()}
    repair = values.get("repair", "due")
    if repair not in _REPAIR:
        raise ArgumentError("usage", f"{PREFIX}REPAIR is {repair!r}", f"use one of {', '.join(_REPAIR)}")
    return Settings(
        home=home,
        database=_absolute(values["db"]) if values.get("db") else _data_folder(env, home) / "index.db",
        profile=_profile(values.get("profile", "default")),
        model=_model(values.get("model", OFFLINE)),
        api_base=_api_base(values.get("api_base")) or _provider_base(env, values.get("model", OFFLINE)),
        repair=repair,
        disabled=values.get("disabled") == "1",
        current=_current(values.get("current")),
        cwd=_cwd(values.get("cwd"), home),
        host_variables={name: env[name] for name in _HOST_VARIABLES if env.get(name)},
        infer_mentions=_switch("projects_infer_mentions", values.get("projects_infer_mentions", "1")),
        agent_scope=_agent_scope(values.get("projects_agent_scope", "all")),
        **numbers,
    )


def _cwd(value: str | None, home: Path) -> str | None:
    """The caller's folder: a relative one, as a person types it, once at the start; another machine's as it is."""
    if not value or folders.parse(value) is not None:
        return value or None
    return os.path.abspath(home / value[2:] if value == "~" or value.startswith("~/") else value)


def _printable(given: Mapping[str, str]) -> dict[str, str]:
    """The system gives bytes that are no UTF-8 as half surrogate pairs, which can be neither stored nor sent."""
    return {name: _HALF.sub("\ufffd", value) for name, value in given.items()}


def secrets_in_environment(environment: Mapping[str, str] | None = None) -> tuple[str, ...]:
    """The values of the variables that are named as keys are, the longest first: none may be shown or kept."""
    env = os.environ if environment is None else environment
    named = {value.strip() for name, value in env.items() if name.upper().endswith(_SECRET_NAMES)}
    return tuple(sorted((value for value in named if len(value) >= _SECRET_CHARS), key=len, reverse=True))


def _folder(env: Mapping[str, str], home: Path, kind: str) -> Path:
    # platformdirs reads the process environment; the one that was given has to win where the XDG variables rule.
    if platform.system() not in ("Windows", "Darwin"):
        variable, default = {"data": ("XDG_DATA_HOME", ".local/share"), "config": ("XDG_CONFIG_HOME", ".config")}[kind]
        base = env.get(variable) or ""
        return (Path(base) if os.path.isabs(base) else home / default) / APPLICATION
    finder = platformdirs.user_data_path if kind == "data" else platformdirs.user_config_path
    return finder(APPLICATION, appauthor=False)


def _data_folder(env: Mapping[str, str], home: Path) -> Path:
    return _folder(env, home, "data")


def _config(env: Mapping[str, str], home: Path) -> dict[str, str]:
    path = _folder(env, home, "config") / "config.toml"
    try:
        if not path.is_file():
            return {}
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        message = f"{path} cannot be read: {error.strerror}"
        raise ArgumentError("usage", message, "check its permissions, or remove it") from error
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        raise ArgumentError("usage", f"{path} cannot be read as TOML: {error}", "mend or remove the file") from error
    flat: dict[str, str] = {}
    inner = [
        (f"{name}_{key}", value)
        for name, part in table.items()
        if isinstance(part, dict)
        for key, value in part.items()
    ]
    for key, value in [*table.items(), *inner]:
        key = key.replace(".", "_")
        if key not in _NAMES and not isinstance(value, dict):
            message = f"{path}: {key!r} is no setting"
            raise ArgumentError("usage", message, f"the settings are {', '.join(_NAMES)}")
        if isinstance(value, bool):
            flat[key] = "1" if value else "0"
        elif isinstance(value, str | int):
            flat[key] = str(value)
        elif not isinstance(value, dict):
            message = f"{path}: {key} must be a string, a number or a boolean"
            raise ArgumentError("usage", message, "see docs/settings.md")
    return flat


def _model(name: str) -> str:
    """A litellm model string. Without a provider only what litellm itself knows by its first letters."""
    if name in (OFFLINE, HOST) or "/" in name or name.startswith(tuple(start for start, _ in BARE_NAMES)):
        return name
    hint = "use offline, or PROVIDER/MODEL as litellm writes it, for example openai/gpt-4o-mini"
    raise ArgumentError("usage", f"{PREFIX}MODEL is {name!r}, which names no provider", hint)


def _api_base(address: str | None) -> str | None:
    """Without a scheme it would be no address of this machine to us, and consent would be asked for to stay here.

    The error does not repeat it: a password may stand in it.
    """
    if address and not _URL.match(address):
        hint = "use a whole address, for example http://127.0.0.1:8080/v1"
        raise ArgumentError("usage", f"{PREFIX}API_BASE does not begin with http:// or https:// and a host", hint)
    return address


def _provider_base(env: Mapping[str, str], model: str) -> str | None:
    """The base that litellm would take from the environment by itself: named here, so that consent names it too."""
    provider = (model.partition("/")[0] if "/" in model else "openai").upper()
    return next((env[name] for end in ("API_BASE", "BASE_URL") if env.get(name := f"{provider}_{end}")), None)


def _number(name: str, text: str | None, default: int, low: int, high: int) -> int:
    if text is None:
        return default
    try:
        value = int(text, 10)
    except ValueError:
        value = low - 1
    if not low <= value <= high:
        raise ArgumentError("usage", f"{PREFIX}{name.upper()} is {text!r}", f"use a whole number from {low} to {high}")
    return value


def _profile(name: str) -> str:
    if not name or len(name) > 64 or any(c.isspace() or c in "/\\:\x00" for c in name):
        hint = "use 1 to 64 characters without spaces, slashes, backslashes or colons"
        raise ArgumentError("usage", f"{PREFIX}PROFILE is {name!r}", hint)
    return name


def _current(value: str | None) -> tuple[str, str] | None:
    if not value:
        return None
    host, colon, identity = value.partition(":")
    if not colon or not host or not identity:
        raise ArgumentError("usage", f"{PREFIX}CURRENT is {value!r}", "use HOST:ID, for example pi:5f0c2c8e")
    return host, identity


def _switch(name: str, text: str) -> bool:
    values = {"1": True, "on": True, "true": True, "0": False, "off": False, "false": False}
    if text.lower() not in values:
        raise ArgumentError("usage", f"{PREFIX}{name.upper()} is {text!r}", "use 1 or 0")
    return values[text.lower()]


def _agent_scope(value: str) -> str:
    if value not in SCOPES:
        raise ArgumentError("usage", f"{PREFIX}PROJECTS_AGENT_SCOPE is {value!r}", f"use one of {', '.join(SCOPES)}")
    return value


def _absolute(path: str) -> Path:
    if "\x00" in path:
        raise ArgumentError("usage", f"{PREFIX}DB holds a NUL character", "give a path")
    return Path(os.path.abspath(os.path.expanduser(path)))
