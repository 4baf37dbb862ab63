"""Folders as they are on disk: bound, renamed, linked, copied, without a marker, with a lost index."""

from __future__ import annotations

import contextlib
import os
import shutil
import threading
from pathlib import Path

import pytest

from recall.errors import ArgumentError
from recall.hosts import marker
from recall.hosts.place import git_group
from tests.projects.person import OMP, Person, a_repository, a_worktree


def test_a_folder_is_bound_with_a_marker_and_both_hosts_come_together(person: Person) -> None:
    app = person.folder("app")
    bound = person.done("project", "bind", app, "--name", "Heron")
    assert bound["name"] == "Heron"
    assert (app / marker.NAME).read_text().startswith("history-recall-project-v1: ")
    person.talks("pi000001", app, "gearbox")
    person.talks("omp00001", person.folder("app", "deep"), "gearbox", OMP, title="x")
    person.index()
    assert person.places() == {
        "pi000001": (bound["project_id"], "marker"),
        "omp00001": (bound["project_id"], "folder"),
    }
    again = person.done("project", "bind", app)
    assert (again["project_id"], again["created"]) == (bound["project_id"], False)


def test_what_ran_there_before_comes_in_when_the_folder_is_bound(person: Person) -> None:
    app = person.folder("app")
    person.talks("pi000001", app, "gearbox")
    person.talks("pi000002", person.folder("other"), "rudder")
    person.index()
    bound = person.done("project", "bind", app)
    assert bound["conversations"] == 1
    assert person.places()["pi000001"] == (bound["project_id"], "folder")
    assert person.places()["pi000002"] == (None, "none")


def test_a_renamed_folder_keeps_its_project_by_its_marker(person: Person) -> None:
    app = person.folder("app")
    bound = person.done("project", "bind", app)
    new = app.rename(app.parent / "renamed")
    person.talks("pi000001", new, "gearbox")
    person.index()
    assert person.places()["pi000001"] == (bound["project_id"], "marker")


def test_a_renamed_folder_without_its_marker_is_recognised_and_never_rebound_by_itself(person: Person) -> None:
    app = person.folder("app")
    (app / "engine.py").write_text("x")
    bound = person.done("project", "bind", app)
    person.talks("pi000001", app, "gearbox")
    person.index()
    new = app.rename(app.parent / "renamed")
    (new / marker.NAME).unlink()
    person.talks("pi000002", new, "rudder")
    person.index()
    assert person.places()["pi000002"] == (None, "none")
    hint = person.done("status", "--cwd", new)["project_hint"]
    assert hint["moved_from"]["project_id"] == bound["project_id"]
    assert hint["moved_from"]["conversations"] == 1
    rebound = person.done("project", "rebind", bound["project_id"], new)
    assert rebound["project_id"] == bound["project_id"]
    assert person.places()["pi000002"] == (None, "none")  # no conversation moves by it
    person.talks("pi000003", new / ".", "keel")
    person.index()
    assert person.places()["pi000003"][0] == bound["project_id"]


def test_a_link_and_the_folder_itself_are_one(person: Person) -> None:
    app, link = person.folder("app"), person.home / "work" / "link"
    link.symlink_to(app)
    bound = person.done("project", "bind", link, "--no-marker")
    assert not (app / marker.NAME).exists()
    person.talks("pi000001", app, "gearbox")
    person.talks("pi000002", link, "rudder")
    person.index()
    assert {place[0] for place in person.places().values()} == {bound["project_id"]}


def test_a_copy_with_its_marker_says_the_same_project(person: Person) -> None:
    app = person.folder("app")
    bound = person.done("project", "bind", app)
    copy = person.home / "work" / "copy"
    shutil.copytree(app, copy)
    person.talks("pi000001", copy, "gearbox")
    person.index()
    assert person.places()["pi000001"] == (bound["project_id"], "marker")


def test_the_marker_counts_in_the_folder_itself_only(person: Person) -> None:
    app = person.folder("app")
    (app / marker.NAME).write_text("history-recall-project-v1: 0e5a2c1e-6a0e-4a52-9a5e-0d4c3b2a1f00\n")
    person.talks("pi000001", person.folder("app", "deep"), "gearbox")
    person.index()
    assert person.places()["pi000001"] == (None, "none")


def test_a_lost_marker_leaves_the_folder(person: Person) -> None:
    app = person.folder("app")
    bound = person.done("project", "bind", app)
    (app / marker.NAME).unlink()
    person.talks("pi000001", app, "gearbox")
    person.index()
    assert person.places()["pi000001"] == (bound["project_id"], "folder")


def test_after_a_lost_index_the_marker_leads_to_the_same_id(person: Person) -> None:
    app = person.folder("app")
    bound = person.done("project", "bind", app)
    shutil.rmtree(person.database.parent)
    person.talks("pi000001", app, "gearbox")
    person.index()
    assert person.places()["pi000001"] == (bound["project_id"], "marker")
    again = person.done("project", "bind", app)
    assert (again["project_id"], again["created"]) == (bound["project_id"], False)


def test_lost_bindings_are_listed_with_their_folders_and_adopted(person: Person) -> None:
    app = person.folder("app")
    bound = person.done("project", "bind", app, "--no-marker")
    person.talks("pi000001", app, "gearbox")
    person.index()
    import sqlite3

    with sqlite3.connect(person.database) as connection:
        connection.execute("DELETE FROM bindings")
    connection.close()
    orphan = person.done("project", "adopt")["orphans"][0]
    assert (orphan["project_id"], orphan["conversations"]) == (bound["project_id"], 1)
    assert orphan["folders"] == [{"path": str(app), "conversations": 1}]
    assert person.done("project", "list")["projects"][0]["orphaned"]
    adopted = person.done("project", "adopt", bound["project_id"], app)
    assert adopted["project_id"] == bound["project_id"]
    assert person.done("project", "adopt")["orphans"] == []
    assert person.refused("project", "adopt", bound["project_id"], app) == "bind_refused"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "history-recall-project-v1: nonsense",
        "history-recall-project-v2: 0e5a2c1e-6a0e-4a52-9a5e-0d4c3b2a1f00\n",
        "history-recall-project-v1: 0e5a2c1e-6a0e-4a52-9a5e-0d4c3b2a1f00\nmore\n",
        "x" * 5000,
    ],
)
def test_anything_else_in_a_marker_means_not_bound_and_stays(person: Person, text: str) -> None:
    app = person.folder("app")
    (app / marker.NAME).write_text(text)
    assert marker.read(str(app)) is None
    assert person.refused("project", "bind", app) == "bind_refused"
    assert (app / marker.NAME).read_text() == text


@pytest.mark.parametrize("kind", ["link", "dangling", "pipe", "folder", "huge", "unreadable"])
def test_a_marker_that_is_no_file_of_ours_means_not_bound_and_stays(person: Person, kind: str) -> None:
    app, other = person.folder("app"), person.folder("other")
    bound = person.done("project", "bind", other)
    path = app / marker.NAME
    if kind == "link":
        path.symlink_to(other / marker.NAME)
    elif kind == "dangling":
        path.symlink_to(app / "nowhere")
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    elif kind == "huge":
        path.write_text((other / marker.NAME).read_text() + " " * 10_000_000)
    else:
        path.write_text((other / marker.NAME).read_text())
        path.chmod(0)
    before = path.lstat()
    person.talks("pi000001", app, "gearbox")
    person.index()
    if kind == "unreadable" and marker.read(str(app)) is not None:
        pytest.skip("this user reads everything")
    assert person.places() == {"pi000001": (None, "none")}
    assert person.refused("project", "bind", app) == "bind_refused"
    assert (path.lstat().st_ino, path.lstat().st_size) == (before.st_ino, before.st_size)
    assert not (app / "nowhere").exists()
    assert person.done("project", "bind", app, "--no-marker")["project_id"] != bound["project_id"]


def test_writers_of_a_marker_that_race_leave_one_and_never_a_piece(tmp_path: Path) -> None:
    """Many at once with a project each: one wins, the others are told, and who reads sees nothing or all of it."""
    uuids = [f"5f0c2c8e-2222-4222-8333-4444555566{n:02d}" for n in range(16)]
    for round_ in range(10):
        folder = tmp_path / str(round_)
        folder.mkdir()
        start = threading.Barrier(len(uuids) + 1)
        won: list[str] = []

        def write(uuid: str, folder: Path = folder, start: threading.Barrier = start, won: list[str] = won) -> None:
            start.wait()
            with contextlib.suppress(ArgumentError):
                marker.write(folder, uuid)
                won.append(uuid)

        threads = [threading.Thread(target=write, args=(uuid,)) for uuid in uuids]
        for thread in threads:
            thread.start()
        start.wait()
        seen = set()
        while any(thread.is_alive() for thread in threads):
            with contextlib.suppress(FileNotFoundError):
                seen.add((folder / marker.NAME).read_text())
        for thread in threads:
            thread.join()
        assert len(won) == 1
        assert [path.name for path in folder.iterdir()] == [marker.NAME]
        assert seen <= {f"history-recall-project-v1: {won[0]}\n"}


def test_the_marker_of_another_project_is_not_replaced(person: Person) -> None:
    app, other = person.folder("app"), person.folder("other")
    first = person.done("project", "bind", app)
    person.done("project", "bind", other)
    assert person.refused("project", "bind", other, "--project", first["project_id"]) == "bind_refused"
    assert person.refused("project", "rebind", first["project_id"], other) == "bind_refused"


def test_home_what_is_above_it_and_the_root_are_refused(person: Person) -> None:
    for folder in (person.home, person.home.parent, Path("/")):
        assert person.refused("project", "bind", folder) == "bind_refused"
        assert not (folder / marker.NAME).exists()
    assert person.refused("project", "bind", person.home / "nowhere") == "bind_refused"


def test_a_no_is_kept_for_thirty_days(person: Person) -> None:
    app = person.folder("app")
    person.talks("pi000001", app, "gearbox")
    person.index()
    assert person.done("status", "--cwd", app)["project_hint"]["conversations"] == 1
    assert "project_hint" in person.done("search", "gearbox", "--cwd", app)
    person.done("project", "decline", app)
    assert person.done("status", "--cwd", app)["project_hint"] is None
    assert "project_hint" not in person.done("search", "gearbox", "--cwd", app)
    import sqlite3

    with sqlite3.connect(person.database) as connection:
        connection.execute("UPDATE declines SET declined_at = declined_at - 31 * 86400000")
    connection.close()
    assert person.done("status", "--cwd", app)["project_hint"] is not None


def test_worktrees_are_one_group_and_clones_are_two(tmp_path: Path) -> None:
    one = a_repository(tmp_path / "one")
    tree = a_worktree(one, tmp_path / "tree")
    other = a_repository(tmp_path / "other")
    (one / "deep").mkdir()
    assert git_group(str(one)) == git_group(str(tree)) == git_group(str(one / "deep"))
    assert git_group(str(one)) != git_group(str(other))
    assert git_group(str(tmp_path)) is None


@pytest.mark.parametrize("kind", ["pipe", "empty", "nowhere", "folder", "loop", "unreadable", "binary", "huge"])
def test_what_git_cannot_be_asked_about_is_in_no_group(person: Person, kind: str) -> None:
    app = person.folder("app")
    git = app / ".git"
    if kind == "pipe":
        os.mkfifo(git)
    elif kind == "folder":
        git.mkdir()
    elif kind == "loop":
        git.symlink_to(git)
    else:
        content = {"nowhere": b"gitdir: ../nowhere/at/all\n", "binary": bytes(range(256)), "huge": b"gitdir: x" * 10**6}
        git.write_bytes(content.get(kind, b""))
        git.chmod(0 if kind == "unreadable" else 0o644)
    assert git_group(str(app)) is None
    person.talks("pi000001", app, "gearbox")
    person.index()
    assert person.places() == {"pi000001": (None, "none")}
    assert person.done("status", "--cwd", app)["current_project"] is None
    assert person.refused("search", "gearbox", "--project", "git:.", "--cwd", app) == "unknown_project"
    assert person.done("project", "bind", app)["git_group"] is None


def test_a_group_is_a_filter_and_a_project_only_when_it_is_bound(person: Person) -> None:
    one = a_repository(person.folder("one"))
    tree = a_worktree(one, person.folder("tree"))
    other = a_repository(person.folder("clone"))
    for identity, folder in (("pi000001", one), ("pi000002", tree), ("pi000003", other)):
        person.talks(identity, folder, "gearbox")
    person.index()
    assert {place[1] for place in person.places().values()} == {"none"}
    assert set(person.found("gearbox", "--project", f"git:{tree}")) == {"pi000001", "pi000002"}
    assert person.done("search", "gearbox", "--project", "git:.", "--cwd", other)["in_scope"] == 1
    bound = person.done("project", "bind", one)
    assert person.places()["pi000002"] == (bound["project_id"], "git")
    assert person.places()["pi000003"] == (None, "none")
    person.talks("pi000004", tree, "rudder")
    person.index()
    assert person.places()["pi000004"] == (bound["project_id"], "git")


def test_rebind_takes_the_marker_out_of_the_folder_that_was_left(person: Person) -> None:
    old, new = person.folder("old"), person.folder("new")
    bound = person.done("project", "bind", old, "--name", "Heron")
    done = person.done("project", "rebind", "Heron", new)
    assert (done["markers_removed"], done["markers_left"]) == ([str(old)], [])
    assert marker.read(str(old)) is None
    assert marker.read(str(new)) is not None
    person.talks("pi000001", old, "gearbox")
    person.talks("pi000002", new, "rudder")
    person.index()
    assert person.places() == {"pi000001": (None, "none"), "pi000002": (bound["project_id"], "marker")}
    # The same folder by another road keeps its marker, and what is another's is not touched.
    link = person.home / "work" / "link"
    link.symlink_to(new)
    assert person.done("project", "rebind", "Heron", link)["markers_removed"] == []
    assert marker.read(str(new)) is not None
    other = person.done("project", "bind", person.folder("third"), "--name", "Other")
    shutil.copy(person.folder("third") / marker.NAME, new / marker.NAME)
    assert person.done("project", "rebind", "Heron", person.folder("fourth"))["markers_removed"] == []
    assert person.done("project", "bind", new)["project_id"] == other["project_id"]


def test_a_name_that_the_project_of_a_folder_does_not_have_is_refused(person: Person) -> None:
    app = person.folder("app")
    person.done("project", "bind", app, "--name", "Heron", "--no-marker")
    for words in (["--name", "Stork"], ["--name", "Stork", "--no-marker"]):
        code, answer = person.run("project", "bind", app, *words)
        assert (code, answer["error"]["code"]) == (1, "bind_refused")
        assert "project rename" in answer["error"]["hint"]
    assert person.done("project", "bind", app, "--name", "heron")["created"] is False  # and now with its marker
    assert person.refused("project", "bind", app, "--name", "Stork") == "bind_refused"
    assert person.refused("project", "bind", app, "--name", "Stork", "--project", "Heron") == "usage"
    assert [one["name"] for one in person.done("project", "list")["projects"]] == ["Heron"]


def test_an_adopted_marker_makes_no_second_project_of_one_name(person: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    app, other = person.folder("a", "app"), person.folder("b", "app")
    uuids = ["5f0c2c8e-2222-4222-8333-4444555566d2", "5f0c2c8e-2222-4222-8333-4444555566d3"]
    for folder, uuid in zip((app, other), uuids, strict=True):
        marker.write(folder, uuid)
    person.talks("pi000001", app, "gearbox")
    person.talks("pi000002", other, "rudder")
    person.index()
    assert sorted(one["name"] for one in person.done("project", "list")["projects"]) == ["app", "app 2"]
    third = person.folder("c", "app")
    marker.write(third, uuids[0][:-1] + "4")
    assert person.refused("project", "bind", third, "--name", "app 2") == "name_taken"
    assert person.done("project", "bind", third)["name"] == "app 3"


def test_a_project_without_a_folder_is_said_to_have_none(person: Person, capsys: pytest.CaptureFixture[str]) -> None:
    from recall.surfaces.cli import main

    made = person.done("project", "create", "Heron")
    person.talks("pi000001", person.folder("app"), "gearbox")
    person.index()
    person.done("project", "move", "pi:pi000001", "Heron")
    capsys.readouterr()
    assert main(["project", "list"]) == 0
    shown = capsys.readouterr().out
    assert f"no folder leads to it: `project adopt {made['project_id']} FOLDER` binds one" in shown
    assert person.done("project", "adopt", "Heron", person.folder("app"))["conversations"] == 0
    main(["project", "list"])
    assert "no folder leads to it" not in capsys.readouterr().out


def test_nothing_is_offered_where_nothing_could_be_bound(person: Person) -> None:
    """A folder that is not there, on this machine or on another one, unless conversations that ran in it wait."""
    gone = person.folder("gone")
    person.talks("pi000001", gone, "gearbox")
    for cwd in (gone.with_name("nowhere"), "C:\\Work\\App", "/" + "a" * 5000, str(gone) + "\udcff"):
        assert person.done("status", "--cwd", cwd)["project_hint"] is None
        assert "project_hint" not in person.done("search", "gearbox", "--cwd", cwd)
    gone.rmdir()
    assert person.done("status", "--cwd", gone)["project_hint"] is None
    person.index()
    offer = person.done("status", "--cwd", gone)["project_hint"]
    assert "1 indexed conversation ran here" in offer["message"]
    assert person.done("project", "bind", gone)["conversations"] == 1


def test_a_relative_folder_is_that_of_the_asking(person: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    app = person.folder("app", "deep")
    bound = person.done("project", "bind", app)["project_id"]
    monkeypatch.chdir(app.parent)
    for cwd in ("deep", "./deep/", "../app/deep", f"~/{app.relative_to(person.home)}"):
        assert person.done("search", "gearbox", "--cwd", cwd)["project"] == bound
    monkeypatch.chdir(app)
    assert person.done("search", "gearbox", "--cwd", ".")["project"] == bound
    assert person.done("project", "bind", "--cwd", ".")["project_id"] == bound
