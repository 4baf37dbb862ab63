"""What is found afterwards: each way to come to a project's folder, or to lose it, and then a search there.

Asked by command and by an agent's tool that is kept to its project, and read by the agent: all three agree.
"""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from recall.hosts import marker
from recall.run import Cancellation
from recall.surfaces import tool_calls
from tests.projects.person import OMP, Person, a_repository, a_worktree

ABOUT = "gearbox"


def by_tool(name: str, cwd: Path | str, **arguments: object) -> dict[str, Any]:
    answer = tool_calls.call(f"history_recall_{name}", arguments, {"cwd": str(cwd)}, lambda _: None, Cancellation())
    return dict(answer.document)


def searched(person: Person, cwd: Path | str, project: str | None) -> list[str]:
    """The hosts' ids of what is found in the project of a folder, which has to be this one (None: none is current)."""
    words = ("search", ABOUT, "--scope", "project", "--cwd", cwd)
    answer = person.done(*words)
    with person.monkeypatch.context() as patch:
        patch.setenv("HISTORY_RECALL_PROJECTS_AGENT_SCOPE", "project")
        told = by_tool("search", cwd, queries=[ABOUT])
        browsed = by_tool("browse", cwd)
        reads = [by_tool("read", cwd, conversation_id=one["conversation_id"]) for one in told["conversations"]]
        shown = by_tool("project", cwd, action="show")["projects"]
    assert answer["project"] == told["project"] == browsed["project"] == project
    if project is None:
        assert answer["reason"] == told["reason"] == "no_project"
        assert answer["conversations"] == told["conversations"] == browsed["entries"] == shown == []
        return []
    found = [one["host_conversation_id"] for one in answer["conversations"]]
    assert [one["host_conversation_id"] for one in told["conversations"]] == found
    assert {one["tier"] for one in answer["conversations"]} <= {"project"}
    assert answer["in_scope"] == told["in_scope"] == len(found)
    assert all("fragments" in read for read in reads)
    assert [one["project_id"] for one in shown] == [project]
    named = person.found(ABOUT, "--project", project)
    assert sorted(named) == sorted(found)
    listed = person.done("conversations", "--cwd", cwd, "--project", ".", "--state", "indexed")["conversations"]
    assert sorted(one["host_conversation_id"] for one in listed) == sorted(found)
    brief = person.done("brief", "--cwd", cwd)
    assert (brief["project"], bool(brief["tiers"]["project"])) == (project, bool(found))
    return sorted(found)


def bound(person: Person, folder: Path | str, *options: str) -> str:
    return str(person.done("project", "bind", folder, *options)["project_id"])


@pytest.fixture(autouse=True)
def elsewhere(person: Person) -> None:
    """A project beside, and a conversation in none, about the same."""
    bound(person, person.folder("beside"))
    person.talks("beside01", person.folder("beside"), ABOUT)
    person.talks("nowhere1", person.folder("free"), ABOUT)


def test_two_hosts_come_together_in_one_folder(person: Person) -> None:
    app = person.folder("app")
    project = bound(person, app)
    person.talks("pi000001", app, ABOUT)
    person.talks("omp00001", person.folder("app", "deep"), ABOUT, OMP, title="x")
    person.index()
    assert searched(person, app, project) == ["omp00001", "pi000001"]
    assert searched(person, app / "deep", project) == ["omp00001", "pi000001"]
    assert searched(person, person.folder("free"), None) == []


def test_a_folder_that_was_renamed_with_its_marker(person: Person) -> None:
    app = person.folder("app")
    project = bound(person, app)
    person.talks("pi000001", app, ABOUT)
    person.index()
    new = app.rename(app.with_name("renamed"))
    assert searched(person, new, project) == ["pi000001"]  # before anything ran there
    person.talks("pi000002", new, ABOUT)
    person.index()
    assert searched(person, new, project) == ["pi000001", "pi000002"]
    assert searched(person, new / "deep", None) == []  # a marker counts in the folder itself
    person.done("project", "rebind", project, new)
    assert searched(person, new / "deep", project) == ["pi000001", "pi000002"]


def test_a_folder_that_was_renamed_without_a_marker_is_nobodys_until_it_is_bound_again(person: Person) -> None:
    app = person.folder("app")
    (app / "engine.py").write_text("x")
    project = bound(person, app, "--no-marker")
    person.talks("pi000001", app, ABOUT)
    person.index()
    new = app.rename(app.with_name("renamed"))
    assert searched(person, new, None) == []
    for hint in (
        person.done("search", ABOUT, "--cwd", new)["project_hint"],
        by_tool("search", new, queries=[ABOUT])["project_hint"],
    ):
        assert (hint["moved_from"]["project_id"], hint["moved_from"]["conversations"]) == (project, 1)
    person.done("project", "rebind", project, new, "--no-marker")
    person.talks("pi000002", new, ABOUT)
    person.index()
    assert searched(person, new, project) == ["pi000001", "pi000002"]
    assert searched(person, app, None) == []  # the old place leads nowhere now


def test_a_folder_that_is_opened_through_a_link(person: Person) -> None:
    app, link = person.folder("app"), person.home / "work" / "link"
    project = bound(person, app, "--no-marker")
    link.symlink_to(app)
    person.talks("pi000001", app, ABOUT)
    person.talks("pi000002", link, ABOUT)
    person.index()
    for folder in (app, link, link / "deep", f"{link}/", f"{app}/../link/./"):
        assert searched(person, folder, project) == ["pi000001", "pi000002"], folder


def test_a_folder_that_was_copied_with_its_marker(person: Person) -> None:
    app = person.folder("app")
    project = bound(person, app)
    person.talks("pi000001", app, ABOUT)
    person.index()
    copy = app.with_name("copy")
    shutil.copytree(app, copy)
    person.talks("pi000002", copy, ABOUT)
    person.index()
    assert searched(person, copy, project) == searched(person, app, project) == ["pi000001", "pi000002"]


def test_a_folder_whose_marker_was_deleted(person: Person) -> None:
    app = person.folder("app")
    project = bound(person, app)
    person.talks("pi000001", app, ABOUT)
    person.index()
    (app / marker.NAME).unlink()
    person.talks("pi000002", app, ABOUT)
    person.index()
    assert searched(person, app, project) == ["pi000001", "pi000002"]


def test_after_the_index_was_lost(person: Person) -> None:
    app = person.folder("app")
    project = bound(person, app)
    person.talks("pi000001", app, ABOUT)
    person.index()
    shutil.rmtree(person.database.parent)
    assert searched(person, app, None) == []
    person.index()  # the marker is what is left of the project, and leads to the same id
    assert searched(person, app, project) == ["pi000001"]


def test_after_the_bindings_were_lost(person: Person) -> None:
    app = person.folder("app")
    project = bound(person, app, "--no-marker")
    person.talks("pi000001", app, ABOUT)
    person.index()
    with closing(sqlite3.connect(person.database)) as connection:
        connection.execute("DELETE FROM bindings")
        connection.commit()
    assert searched(person, app, None) == []
    assert person.found(ABOUT, "--project", project) == ["pi000001"]  # it is in its project all the same
    (orphan,) = [one for one in person.done("project", "adopt")["orphans"] if one["project_id"] == project]
    person.done("project", "adopt", project, orphan["folders"][0]["path"])
    assert searched(person, app, project) == ["pi000001"]


def test_worktrees_of_one_repository_and_a_second_clone(person: Person) -> None:
    one = a_repository(person.folder("one"))
    tree, clone = a_worktree(one, person.folder("tree")), a_repository(person.folder("clone"))
    for identity, folder in (("pi000001", one), ("pi000002", tree / "deep"), ("pi000003", clone)):
        Path(folder).mkdir(exist_ok=True)
        person.talks(identity, folder, ABOUT)
    person.index()
    for folder, expected in ((one, {"pi000001", "pi000002"}), (tree, {"pi000001", "pi000002"}), (clone, {"pi000003"})):
        assert searched(person, folder, None) == []  # a repository is no project
        assert set(person.found(ABOUT, "--project", "git:.", "--cwd", folder)) == expected
        told = by_tool("search", folder, queries=[ABOUT], project="git:.")
        assert {row["host_conversation_id"] for row in told["conversations"]} == expected
        assert told["project"].startswith("git:")
    project = bound(person, one)
    assert searched(person, tree, project) == ["pi000001", "pi000002"]
    assert searched(person, clone, None) == []
    other = bound(person, clone)
    assert searched(person, clone, other) == ["pi000003"]
    assert searched(person, one, project) == ["pi000001", "pi000002"]


def test_paths_of_a_windows_machine(person: Person) -> None:
    """Of a machine that is not this one: compared as text, without case, and never looked at."""
    for identity, folder in (
        ("pi000001", "C:\\Code\\App"),
        ("pi000002", "c:/code/APP/src"),
        ("pi000003", "C:\\code\\App-old"),
        ("pi000004", "D:\\Code\\App"),
        ("pi000005", "\\\\Server\\Share\\app"),
    ):
        person.talks(identity, folder, ABOUT)
    person.index()
    app, share = bound(person, "C:\\code\\app"), bound(person, "\\\\server\\share\\app\\")
    for folder in ("c:\\CODE\\app", "C:/Code/App/src/deep", "\\\\?\\C:\\code\\app", "C:\\code\\x\\..\\app\\"):
        assert searched(person, folder, app) == ["pi000001", "pi000002"], folder
    assert searched(person, "//server/share/app", None) == []  # two slashes are a POSIX path
    assert searched(person, "\\\\SERVER\\share\\App\\src", share) == ["pi000005"]
    for folder in ("C:\\code\\App-old", "D:\\Code\\App", "C:\\code", "/C:/code/app"):
        assert searched(person, folder, None) == [], folder


def test_the_longest_bound_folder_wins(person: Person) -> None:
    outer, inner = person.folder("mono"), person.folder("mono", "pkg")
    first, second = bound(person, outer, "--no-marker"), bound(person, inner, "--no-marker")
    for identity, folder in (("pi000001", outer), ("pi000002", inner), ("pi000003", person.folder("mono", "pkg-old"))):
        person.talks(identity, folder, ABOUT)
    person.index()
    assert searched(person, outer / "other", first) == ["pi000001", "pi000003"]
    assert searched(person, inner / "src", second) == ["pi000002"]


def test_an_archived_project_keeps_what_it_holds(person: Person) -> None:
    app = person.folder("app")
    project = bound(person, app)
    person.talks("pi000001", app, ABOUT)
    person.index()
    person.done("project", "archive", project)
    assert searched(person, app, project) == ["pi000001"]
