"""Answers about host programs, as a person reads them."""

from __future__ import annotations

from collections.abc import Iterable

from recall.counting import count
from recall.surfaces.render.plain import Answer, Renderers
from recall.surfaces.terminal import one_line

_LINE = 160  # what a person wrote in a configuration is shorter; a package of ours has a line of 30,000 characters


def _list(answer: Answer) -> Iterable[str]:
    for row in answer["hosts"]:
        package = ("outdated: install again" if row["outdated"] else "installed") if row["installed"] else "-"
        program = one_line(row["program"] or "program not found")
        package += ", brief" if row["brief"] else ""
        counts = f"{count(row['conversations'], 'conversation'):>19}, {row['indexed']} indexed"
        if row["unreadable"]:
            counts += f", {count(row['unreadable'], 'file')} that cannot be read"
        yield f"{row['host']:<12} {package:<16} {counts}  {program}"
    for warning in answer["warnings"]:
        yield f"note: {one_line(warning['message'])}"


def _install(answer: Answer) -> Iterable[str]:
    verbs = {
        "create": "write",
        "change": "change",
        "unchanged": "is as it should be:",
        "by_hand": "left, set up by hand:",
    }
    for row in answer["files"]:
        yield f"{verbs[row['action']]} {one_line(row['path'])}"
        for line in row["added"]:
            shown = one_line(line)
            yield f"  + {shown if len(shown) <= _LINE else shown[: _LINE - 1] + '…'}"
    if answer["dry_run"]:
        yield "nothing was written"
    else:
        host = answer["host"]
        yield f"{host} has it from its next start on; `history-recall hosts uninstall {host}` takes it out"


def _uninstall(answer: Answer) -> Iterable[str]:
    words = {"entry_removed": "our entry taken out of", "left": "changed since, left:", "gone": "was gone:"}
    for row in answer["files"]:
        yield f"{words.get(row['action'], row['action'])} {one_line(row['path'])}"
    if not answer["files"]:
        yield "nothing was installed"


RENDERERS: Renderers = {
    "hosts list": _list,
    "hosts install": _install,
    "hosts uninstall": _uninstall,
}
