"""Answers about projects as a person reads them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from recall.counting import count
from recall.surfaces.render.plain import Answer, Renderers
from recall.surfaces.terminal import one_line


def _list(answer: Answer) -> Iterable[str]:
    for row in answer["projects"]:
        marks = (" (current)" if row["project_id"] == answer["current_project"] else "") + (
            " (archived)" if row["archived"] else _without_folder(row) if not row["bindings"] else ""
        )
        yield f"{row['project_id']}  {one_line(row['name'])}  {_held(row['conversations'])}{marks}"
        for bound in row["bindings"]:
            yield f"    {bound['kind']:<7} {one_line(bound['path'])}"
    if not answer["projects"]:
        yield "No projects yet: `history-recall project bind` makes the folder you are in one"
    yield f"{_held(answer['without_project'])} in no project"
    for group in answer["git_groups"]:
        yield f"    {one_line(group['project'])}  {_held(group['conversations'])}"


def _without_folder(row: Mapping[str, Any]) -> str:
    return f" (no folder leads to it: `project adopt {row['project_id']} FOLDER` binds one)"


def _named(answer: Answer) -> Iterable[str]:
    yield f"{answer['project_id']}  {one_line(answer['name'])}"


def _renamed(answer: Answer) -> Iterable[str]:
    yield f"{answer['project_id']}  {one_line(answer['previous'])} is now {one_line(answer['name'])}"


def _bound(answer: Answer) -> Iterable[str]:
    marker = "with a marker file" if answer["marker"] else "without a marker file"
    yield f"{one_line(answer['folder'])} belongs to {answer['project_id']} {one_line(answer['name'])}, {marker}"
    if answer["conversations"]:
        yield f"{_held(answer['conversations'])} that ran there came with it"
    for path in answer.get("markers_removed", ()):
        yield f"its marker file in {one_line(path)} was removed"
    for path in answer.get("markers_left", ()):
        yield f"its marker file in {one_line(path)} could not be removed; what runs there still belongs to the project"


def _adopted(answer: Answer) -> Iterable[str]:
    if "orphans" not in answer:
        yield from _bound(answer)
        return
    for row in answer["orphans"]:
        yield f"{row['project_id']}  {one_line(row['name'])}  {_held(row['conversations'])}"
        for folder in row["folders"]:
            yield f"    {one_line(folder['path'])}  {_held(folder['conversations'])}"
    if not answer["orphans"]:
        yield "Every project that has conversations has a binding"


def _moved(answer: Answer) -> Iterable[str]:
    by_host = f"{answer['host']}:{one_line(answer['host_conversation_id'])}"
    what = answer["conversation_id"] if answer["indexed"] else by_host
    where = f"in {answer['project']} {one_line(answer['project_name'])}" if answer["project"] else "in no project"
    later = "" if answer["indexed"] else "; it holds when the conversation is indexed"
    yield f"{what} is now {where}{later}"
    if answer["moved"] > 1:
        yield f"{answer['moved'] - 1} more moved with it"
    if answer["cwd"] is not None:
        yield one_line(answer["cwd"]["message"])


def _declined(answer: Answer) -> Iterable[str]:
    yield f"{one_line(answer['folder'])} will not be offered before {answer['until'][:10]}"


def _archived(answer: Answer) -> Iterable[str]:
    what = "is archived" if answer["archived"] else "is out of the archive"
    yield f"{answer['project_id']} {one_line(answer['name'])} {what}; it has {_held(answer['conversations'])}"


def _assigned(answer: Answer) -> Iterable[str]:
    would = "would be " if answer["dry_run"] else ""
    for row in answer["projects"]:
        new = "" if row["project_id"] else " (new)" if answer["dry_run"] else ""
        yield f"{row['project_id'] or '-'}  {one_line(row['name'])}{new}  {_held(len(row['conversations']))}"
        for path in row["folders"]:
            yield f"    folder  {one_line(path)}"
    yield f"{_held(answer['assigned'])} {would}assigned; {_held(len(answer['unplaced']))} left where they are"
    if answer["message"]:
        yield one_line(answer["message"])
    if answer["journal"]:
        yield f"backup   {one_line(answer['backup'])}"
        yield f"undo it: history-recall project revert {one_line(answer['journal'])}"


def _reverted(answer: Answer) -> Iterable[str]:
    yield f"{_held(answer['reverted'])} put back"
    if answer["kept"]:
        yield f"{_held(len(answer['kept']))} changed since then and stayed"


def _deleted(answer: Answer) -> Iterable[str]:
    yield f"{answer['project_id']} {one_line(answer['name'])} is deleted"


def _held(number: int) -> str:
    return count(number, "conversation")


RENDERERS: Renderers = {
    "project list": _list,
    "project create": _named,
    "project rename": _renamed,
    "project bind": _bound,
    "project move": _moved,
    "project rebind": _bound,
    "project adopt": _adopted,
    "project decline": _declined,
    "project archive": _archived,
    "project assign": _assigned,
    "project revert": _reverted,
    "project delete": _deleted,
}
