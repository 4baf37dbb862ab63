"""The rows of the operations table that put the slash command and the tools into host programs."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

from recall.errors import ArgumentError
from recall.hosts.names import HOSTS
from recall.settings import Settings
from recall.surfaces.operations import Answer, Arguments, Operation, Parameter
from recall.surfaces.session import Session

if TYPE_CHECKING:
    from recall.hosts.installed import Journal, Planned


def _journal(settings: Settings, host: str) -> Journal:
    from recall.hosts.installed import Journal

    return Journal(settings.database.parent / "hosts", host)


def _list(session: Session, _arguments: Arguments) -> Answer:
    from recall import conversations
    from recall.surfaces import host_packages

    found, warnings = conversations.rows(session.settings, session.for_reading())
    coverage = conversations.coverage(found)
    hosts = []
    said = [{"code": one.code, "message": one.message} for one in warnings]
    for host in HOSTS:
        program = shutil.which(host_packages.PROGRAMS[host])
        counted = coverage.get(host, {})
        unread = sum(row.host == host and row.is_unread for row in found)
        journal = _journal(session.settings, host)
        try:
            brief, outdated = journal.brief, journal.exists and _outdated(session.settings, host, journal)
        except ArgumentError as error:  # what was written cannot be told; the other hosts can
            said.append({"code": error.code, "message": f"{host}: {error.message}"})
            brief, outdated = False, True
        hosts.append(
            {
                "host": host,
                "program": program,
                "installed": journal.exists,
                "outdated": outdated,
                "brief": brief,
                "conversations": sum(counted.values()) - unread,
                "indexed": counted.get("indexed", 0),
                "unreadable": unread,
            }
        )
    return {"hosts": hosts, "warnings": said}


def _outdated(settings: Settings, host: str, journal: Journal) -> bool:
    from recall.hosts import installed
    from recall.surfaces import host_packages

    try:
        planned = installed.plan(host_packages.writes(host, settings, brief=journal.brief), journal)
    except ArgumentError:
        return True  # installing again says which file is in the way
    return any(one.action not in ("unchanged", "by_hand") for one in planned)


def _install(session: Session, arguments: Arguments) -> Answer:
    from recall.hosts import installed
    from recall.surfaces import host_packages, mcp_stdio

    host = str(arguments["host"])
    brief = bool(arguments.get("brief"))
    if brief and host not in host_packages.BRIEFED:
        message = f"{host} has no place where a brief can begin a conversation"
        known = ", ".join(host_packages.BRIEFED)
        raise ArgumentError("usage", message, f"hosts that have: {known}; nothing was written")
    if host in host_packages.SERVED_OVER_MCP:
        mcp_stdio.require_sdk()  # the host would start a server that ends at once; Codex would not start at all
    journal = _journal(session.settings, host)
    planned = installed.plan(host_packages.writes(host, session.settings, brief=brief), journal)
    if not arguments.get("dry_run"):
        installed.install(planned, journal, brief=brief)
    return {
        "host": host,
        "brief": brief,
        "dry_run": bool(arguments.get("dry_run")),
        "command": host_packages.command(),
        "files": [_file(one) for one in planned],
    }


def _file(planned: Planned) -> dict[str, object]:
    after = "" if planned.after is None else planned.after.decode("utf-8", "replace")
    before = "" if planned.before is None else planned.before.decode("utf-8", "replace")
    kept = set(before.splitlines())
    added = [line for line in after.splitlines() if line not in kept] if planned.action == "change" else []
    return {
        "path": str(planned.write.path),
        "action": planned.action,
        "bytes": len(planned.after or b""),
        "added": added,
    }


def _uninstall(session: Session, arguments: Arguments) -> Answer:
    from recall.hosts import installed
    from recall.surfaces import host_packages

    host = str(arguments["host"])
    files = installed.uninstall(host_packages.writes(host, session.settings), _journal(session.settings, host))
    return {"host": host, "files": files}


_HOST = Parameter("host", "The program.", positional=True, required=True, choices=HOSTS)

OPERATIONS: tuple[Operation, ...] = (
    Operation("hosts list", "Say which host programs are there, and which have the tools.", _list),
    Operation(
        "hosts install",
        "Put the slash command and the tools into a host program; say what is written.",
        _install,
        (
            _HOST,
            Parameter("brief", "Begin each new conversation there with what `brief` says; off without it.", "flag"),
            Parameter("dry_run", "Say what would be written, and write nothing.", "flag"),
        ),
    ),
    Operation(
        "hosts uninstall",
        "Take the slash command and the tools out of a host program; everything is as it was.",
        _uninstall,
        (_HOST,),
    ),
)
