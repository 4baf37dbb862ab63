"""Rows of the rules of scope, of moving and of what each failure answers, each where it could go wrong."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from recall.run import Cancellation
from recall.surfaces import tool_calls
from tests.hosts.stores import T0, hermes_database, hermes_said, insert
from tests.indexing.product import Log
from tests.projects.person import Person, a_repository, a_worktree


@pytest.fixture
def two(person: Person) -> tuple[str, str]:
    """Projects P and Q, bound to folders p and q."""
    p = person.done("project", "bind", person.folder("p"), "--name", "Pine")
    q = person.done("project", "bind", person.folder("q"), "--name", "Quince")
    return p["project_id"], q["project_id"]


def says(person: Person, identity: str, folder: str, *turns: tuple[str, str]) -> None:
    person.write(Log(identity, str(person.folder(folder))).talk(turns))


def mentions(person: Person, identity: str, folder: str) -> None:
    """A conversation about other things, with one word of the gearbox."""
    filler = " ".join(f"Line {number} is about sails, ropes and the weather." for number in range(40))
    says(person, identity, folder, ("What else?", f"{filler} {identity} saw a gearbox. {filler}"))


def hermes_session(home: Path, identity: str, **row: object) -> None:
    """One more session in Hermes' own database, which is made where it is not there."""
    path = home / ".hermes" / "state.db"
    with closing(sqlite3.connect(path) if path.exists() else hermes_database(path)) as connection:
        insert(connection, "sessions", **({"id": identity, "source": "cli", "started_at": T0} | row))
        hermes_said(connection, identity, "user", f"Why does the gearbox of {identity} fail?")
        hermes_said(connection, identity, "assistant", f"The gearbox of {identity} fails for want of oil.")
        connection.commit()


# --- search scope -----------------------------------------------------------------------------------------------


def test_the_project_is_chosen_before_anything_is_cut(person: Person, two: tuple[str, str]) -> None:
    """In Q more and better entries than a query keeps, so that the weak one in P is not found beside them."""
    many = [(f"Gearbox failure {n}?", f"The gearbox failure {n} is a gearbox without oil.") for n in range(130)]
    says(person, "inq00001", "q", *many)
    rope = [(f"Rope for sail {n}?", f"Rope {n} holds sail {n} in the weather of day {n}. " * 20) for n in range(60)]
    said = [*rope[:17], ("And then?", f"{rope[0][1]} The gearbox hums. {rope[1][1]}"), *rope[17:]]
    says(person, "inp00001", "p", *said)
    person.index()
    assert person.found("gearbox failure", "--limit", "50") == ["inq00001"]  # else what follows proves nothing
    answer = person.done("search", "gearbox failure", "--limit", "1", "--project", two[0])
    assert [one["host_conversation_id"] for one in answer["conversations"]] == ["inp00001"]
    assert answer["in_scope"] == 1


@pytest.mark.parametrize("query", ["%", "*", "%%", "_"])
def test_what_is_looked_for_letter_for_letter_stays_in_the_project(
    person: Person, two: tuple[str, str], query: str
) -> None:
    for identity, folder in (("inp00001", "p"), ("inq00001", "q")):
        says(person, identity, folder, ("How full is it?", "It is 40 %, or 40 %%, and * or _ stand for anything."))
    person.index()
    everywhere = person.done("search", query)["conversations"]
    assert sorted(one["host_conversation_id"] for one in everywhere) == ["inp00001", "inq00001"]
    assert everywhere[0]["entries"][0]["found_by"] == ["literal"]
    for project, identity in zip(two, ("inp00001", "inq00001"), strict=True):
        assert person.found(query, "--project", project) == [identity]


def test_without_a_known_folder_no_project_is_current(
    person: Person, two: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither the folder of the process nor the one project there is a conversation in is guessed."""
    person.talks("inp00001", person.folder("p"), "gearbox")
    hermes_session(person.home, "nowhere")
    person.index()
    assert person.places() == {"inp00001": (two[0], "marker"), "nowhere": (None, "none")}
    monkeypatch.chdir(person.folder("p"))
    for here in ((), ("--current", "hermes:nowhere"), ("--current", "hermes:not-indexed")):
        answer = person.done("search", "gearbox", "--scope", "project", *here)
        assert (answer["conversations"], answer["in_scope"]) == ([], 0)
        assert (answer["scope"], answer["project"], answer["reason"]) == ("project", None, "no_project")


def test_browsing_a_project_with_the_running_conversation_alone(person: Person, two: tuple[str, str]) -> None:
    person.talks("inp00001", person.folder("p"), "gearbox")
    person.talks("inq00001", person.folder("q"), "gearbox")
    person.index()
    answer = person.done("browse", "--scope", "project", "--current", "pi:inp00001")
    assert (answer["entries"], answer["in_scope"], answer["project"]) == ([], 0, two[0])
    assert answer["message"] == "There are no other conversations in this project"
    assert person.done("browse", "--scope", "project", "--cwd", person.folder("p"))["in_scope"] == 1


def test_of_a_project_that_holds_nothing_nobody_speaks_of_others(person: Person, two: tuple[str, str]) -> None:
    person.talks("inp00001", person.folder("p"), "gearbox")
    person.index()
    for command in (("conversations",), ("search", "gearbox"), ("browse",)):
        answer = person.done(*command, "--project", two[1])
        assert (answer["in_scope"], answer["message"].rstrip(".")) == (0, "There are no conversations in this project")
    running = ("--project", two[0], "--current", "pi:inp00001")
    assert person.done("search", "gearbox", *running)["message"] == "There are no other conversations in this project."


def test_of_five_places_one_is_for_a_better_hit_from_elsewhere(person: Person, two: tuple[str, str]) -> None:
    for number in range(9):
        mentions(person, f"inp0000{number}", "p")
    for number in range(3):
        person.talks(f"inq0000{number}", person.folder("q"), "gearbox")
    person.index()
    best = person.done("search", "gearbox", "--scope", "all", "--limit", "3")["conversations"]
    assert {one["project"] for one in best} == {two[1]}
    shown = person.done("search", "gearbox", "--cwd", person.folder("p"), "--limit", "5")["conversations"]
    assert [one["tier"] for one in shown] == ["project"] * 4 + ["other"]
    assert shown[4]["conversation_id"] == best[0]["conversation_id"]


# --- where a project comes from, and moving ---------------------------------------------------------------------


def test_a_link_made_later_leads_to_the_bound_folder(person: Person) -> None:
    app = person.folder("app")
    bound = person.done("project", "bind", app, "--no-marker")
    link = person.home / "work" / "link"
    link.symlink_to(app)
    person.talks("pi000001", link, "gearbox")
    person.index()
    assert person.rows("SELECT cwd FROM conversations") == [(str(link),)]
    assert person.places() == {"pi000001": (bound["project_id"], "folder")}


@pytest.mark.parametrize("host", ["pi", "hermes"])
def test_a_folder_that_is_gone_stops_no_move(person: Person, two: tuple[str, str], host: str) -> None:
    p, q = two
    cwd = str(person.folder("p"))
    if host == "pi":
        person.talks("one", cwd, "gearbox")
    else:
        hermes_session(person.home, "one", cwd=cwd)
    person.index()
    person.folder("q").rename(person.home / "elsewhere")
    before = person.rows("SELECT * FROM entries")
    moved = person.done("project", "move", f"{host}:one", q, "--with-cwd")
    assert (moved["project"], moved["previous"], moved["moved"]) == (q, p, 1)
    assert (moved["cwd"]["switched"], moved["cwd"]["code"]) == (False, "folder_missing")
    assert person.places() == {"one": (q, "moved")}
    assert person.rows("SELECT cwd FROM conversations") == [(cwd,)]
    assert person.rows("SELECT * FROM entries") == before
    assert person.found("gearbox", "--project", q) == ["one"]


def test_what_comes_from_a_moved_conversation_is_where_that_one_is(person: Person, two: tuple[str, str]) -> None:
    """A continuation, a branch and a reset that are indexed after the move, all run in the folder of P."""
    p, q = two
    cwd = str(person.folder("p"))
    hermes_session(person.home, "root", cwd=cwd, end_reason="compression")
    person.index()
    assert person.places() == {"root": (p, "marker")}
    person.done("project", "move", "hermes:root", q)
    hermes_session(person.home, "goes-on", cwd=cwd, parent_session_id="root")
    hermes_session(person.home, "branch", cwd=cwd, parent_session_id="root", model_config='{"_branched_from": "root"}')
    hermes_session(person.home, "reset", cwd=cwd, parent_session_id="root", model_config='{"_reset_from": "root"}')
    hermes_session(person.home, "other", cwd=cwd)
    person.index()
    came = dict.fromkeys(("goes-on", "branch", "reset"), (q, "inherited"))
    assert person.places() == {"root": (q, "moved"), "other": (p, "marker")} | came


@pytest.mark.parametrize("project", ["Quince", ""])
def test_what_was_indexed_before_its_conversation_goes_where_that_was_put(
    person: Person, two: tuple[str, str], project: str
) -> None:
    """Subagents of subagents as well, and also out of every project; what the user moved by itself stays."""
    cwd = str(person.folder("p"))
    for identity, of in (("child", "root"), ("grandchild", "child"), ("other", "root")):
        session = {"parent_session_id": of, "model_config": f'{{"_delegate_from": "{of}"}}'}
        hermes_session(person.home, identity, cwd=cwd, **session)
    person.index()
    assert {place for place, _ in person.places().values()} == {two[0]}
    person.done("project", "move", "hermes:other", two[0])
    person.done("project", "move", "hermes:root", project, "--current", "hermes:root")
    hermes_session(person.home, "root", cwd=cwd)
    person.index()
    number = two[1] if project else None
    came = dict.fromkeys(("child", "grandchild"), (number, "inherited"))
    assert person.places() == came | {"root": (number, "moved"), "other": (two[0], "moved")}
    person.done("project", "move", "hermes:root", two[0])
    person.done("project", "move", "hermes:root", project)
    assert person.places() == came | {"root": (number, "moved"), "other": (two[0], "moved")}


def test_pages_of_before_a_move_are_not_gone_on_with(person: Person, two: tuple[str, str]) -> None:
    """What stood on the next page may be elsewhere now."""
    for number in range(3):
        person.talks(f"inp0000{number}", person.folder("p"), "gearbox")
    person.index()
    asked = ("search", "gearbox", "--project", two[0], "--limit", "1")
    cursor = person.done(*asked)["next_cursor"]
    assert person.done(*asked, "--cursor", cursor)["conversations"]
    person.done("project", "move", "pi:inp00001", two[1])
    assert person.refused(*asked, "--cursor", cursor) == "stale_cursor"


def test_who_ran_in_a_nearer_folder_is_not_brought_into_the_project_of_one_above(person: Person) -> None:
    inner, outer = person.folder("mono", "pkg"), person.folder("mono")
    person.talks("pi000001", inner, "gearbox")
    person.talks("pi000002", outer, "gearbox")
    person.index()
    package = person.done("project", "create", "Package")["project_id"]
    person.done("project", "rebind", package, inner, "--no-marker")  # which moves nobody
    whole = person.done("project", "bind", outer, "--no-marker")
    assert whole["conversations"] == 1
    assert person.places() == {"pi000001": (None, "none"), "pi000002": (whole["project_id"], "folder")}


def test_a_name_is_that_of_the_live_project(person: Person, two: tuple[str, str]) -> None:
    person.done("project", "archive", "Pine")
    assert person.done("search", "x", "--project", "Pine")["project"] == two[0]  # nobody else is called so
    other = person.done("project", "create", "Pine")["project_id"]
    assert person.done("search", "x", "--project", "Pine")["project"] == other
    assert person.refused("project", "archive", two[0], "--undo") == "name_taken"


def test_a_worktree_that_is_bound_as_another_project_takes_the_repository_from_none(person: Person) -> None:
    one = a_repository(person.folder("one"))
    tree, third = a_worktree(one, person.folder("tree")), a_worktree(one, person.folder("third"))
    first = person.done("project", "bind", one, "--no-marker")
    second = person.done("project", "bind", tree, "--no-marker")
    assert (first["git_group"] is None, second["git_group"]) == (False, None)
    for identity, folder in (("pi000001", one), ("pi000002", tree), ("pi000003", third)):
        person.talks(identity, folder, "gearbox")
    person.index()
    assert {name: project for name, (project, _) in person.places().items()} == {
        "pi000001": first["project_id"],
        "pi000002": second["project_id"],
        "pi000003": first["project_id"],
    }


def test_a_fork_that_names_the_log_of_a_conversation_in_no_project_is_in_none(
    person: Person, two: tuple[str, str]
) -> None:
    """Pi names the file that it forked; that it was moved out of every project is a place as well."""
    path = person.talks("inp00001", person.folder("p"), "gearbox")
    person.index()
    person.done("project", "move", "pi:inp00001", "")
    person.talks("fork0001", person.folder("p"), "rudder", parentSession=str(path))
    person.index()
    assert person.places()["fork0001"] == (None, "inherited")


def test_without_the_hosts_own_records_the_repository_still_tells(person: Person) -> None:
    one = a_repository(person.folder("one"))
    bound = person.done("project", "bind", one)
    hermes_session(person.home, "tree", cwd=str(a_worktree(one, person.folder("tree"))))
    hermes_session(person.home, "clone", cwd=str(a_repository(person.folder("clone"))))
    assert not (person.home / ".hermes" / "projects.db").exists()
    person.index()
    assert person.done("conversations")["warnings"] == []
    assert person.places() == {"tree": (bound["project_id"], "git"), "clone": (None, "none")}


def test_a_host_without_its_database_is_named_and_no_more(person: Person) -> None:
    person.talks("pi000001", person.folder("app"), "gearbox")
    person.index()
    before = (person.done("conversations"), person.done("search", "gearbox"), person.done("status")["coverage"])
    (person.home / ".hermes").mkdir()
    listed, found, coverage = person.done("conversations"), person.done("search", "gearbox"), person.done("status")
    (warning,) = listed.pop("warnings")
    assert warning["code"] == "database_missing"
    assert "hermes" in warning["message"]
    assert listed == {name: value for name, value in before[0].items() if name != "warnings"}
    assert found == before[1]
    assert coverage["coverage"] == before[2]
    person.index()


def test_an_offer_stands_beside_what_history_says(person: Person) -> None:
    """As an agent's program reads it: outside of the fence, and never in what was said."""
    app = person.folder("app")
    person.talks("pi000001", app, "gearbox")
    person.index()
    for name, arguments in (("search", {"queries": ["gearbox"]}), ("browse", {}), ("conversations", {})):
        answer = tool_calls.call(f"history_recall_{name}", arguments, {"cwd": str(app)}, lambda _: None, Cancellation())
        offer = answer.document["project_hint"]["message"]  # type: ignore[index]
        history, _, outside = answer.text.rpartition(">>>")
        assert offer in outside
        assert offer not in history
    identity = person.rows("SELECT conversation_id FROM conversations")[0][0]
    read = tool_calls.call(
        "history_recall_read", {"conversation_id": identity}, {"cwd": str(app)}, lambda _: None, Cancellation()
    )
    assert "project_hint" not in read.document


def test_a_move_asks_no_model_and_writes_one_thing(person: Person, two: tuple[str, str]) -> None:
    person.talks("inp00001", person.folder("p"), "gearbox")
    person.talks("inp00002", person.folder("p"), "rudder")
    person.index()

    def everything_else() -> dict[str, list[tuple[object, ...]]]:
        tables = person.rows("SELECT name FROM sqlite_master WHERE type = 'table' AND sql LIKE '%STRICT%'")
        kept = {name for (name,) in tables} - {"conversations", "decisions", "profiles"}
        rows = {name: person.rows(f"SELECT * FROM {name}") for name in sorted(kept)}
        columns = [row[1] for row in person.rows("PRAGMA table_info(conversations)")]
        told = ", ".join(column for column in columns if column not in ("project_no", "why_project"))
        return rows | {"conversations": person.rows(f"SELECT {told} FROM conversations")}

    before = everything_else()
    assert {"ledger", "model_cache", "facets", "evidence", "memberships", "topics"} <= before.keys()
    person.done("project", "move", "pi:inp00001", two[1])
    assert everything_else() == before
    assert person.places() == {"inp00001": (two[1], "moved"), "inp00002": (two[0], "marker")}
