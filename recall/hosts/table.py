"""The hosts that are read, where they keep what, and which of them wrote a file."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from pathlib import Path

from recall.errors import SourceError
from recall.hosts import database
from recall.hosts.claude_code import ClaudeCode
from recall.hosts.codex import Codex
from recall.hosts.database_host import DatabaseHost
from recall.hosts.gemini import Gemini
from recall.hosts.hermes import Hermes
from recall.hosts.host import Host
from recall.hosts.jsonl import Lines
from recall.hosts.log_host import LogHost
from recall.hosts.names import HOSTS
from recall.hosts.opencode import OpenCode
from recall.hosts.parse import BadLine, Decoded
from recall.hosts.paths import open_source
from recall.hosts.pi import Omp, Pi
from recall.settings import Settings
from recall.types import SourceRef

LOG_HOSTS: tuple[LogHost, ...] = (Omp(), Pi(), ClaudeCode(), Codex(), Gemini())
DATABASE_HOSTS: tuple[DatabaseHost, ...] = (Hermes(), OpenCode())
_ALL: tuple[Host, ...] = (*LOG_HOSTS, *DATABASE_HOSTS)
_BY_NAME: dict[str, Host] = {host.name: host for host in _ALL}
if tuple(_BY_NAME) != HOSTS:
    raise ImportError("recall/hosts/names.py does not name the hosts of this table")
_START = 64 * 1024
_FIRST_LINE = 1 << 20


@dataclass(frozen=True, slots=True)
class Root:
    """A folder or a database of a host's, as configured. Without a host two programs were told to use the same one."""

    host: str
    path: Path


def host_named(name: str) -> Host:
    """The host of a source. Raises SourceError `unsupported_source` for a name that is none (an older index)."""
    found = _BY_NAME.get(name)
    if found is None:
        raise SourceError("unsupported_source", f"{name} is no host that can be read", f"hosts: {', '.join(HOSTS)}")
    return found


def roots(settings: Settings) -> tuple[Root, ...]:
    """Where all hosts keep their conversations, whether it exists or not; each place once."""
    names: dict[Path, list[str]] = {}
    for host in _ALL:
        for path in host.roots(settings):
            names.setdefault(path, []).append(host.name)
    return tuple(Root(hosts[0] if len(hosts) == 1 else "", path) for path, hosts in names.items())


def log_host_of(path: str) -> LogHost:
    """The host that wrote a log, by its first records; Pi where none recognises it. Raises SourceError."""
    found: LogHost = Pi()
    with open_source(SourceRef("", path)) as file:
        for line in Lines(file, _FIRST_LINE):
            if line.offset > _START:
                break
            try:
                value = Decoded(line.raw).value()
            except BadLine:
                continue
            for host in LOG_HOSTS:
                if host.recognises(value):
                    if host.sure:
                        return host
                    found = host
    return found


def database_host_of(path: str) -> Host:
    """The host whose database this is, by its tables. Raises SourceError `unsupported_source` for any other."""

    def work(connection: sqlite3.Connection) -> DatabaseHost | None:
        return next((host for host in DATABASE_HOSTS if host.recognises(connection)), None)

    found = database.ask(path, work)
    if found is None:
        message = "the file is a database of no host that is read"
        raise SourceError("unsupported_source", message, "see docs/hosts.md")
    return found
