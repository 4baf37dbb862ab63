"""Moving: the user's word, by command and by tool, before, during and after an index run."""

from __future__ import annotations

import json

import pytest

from recall import moving
from recall.run import Cancellation, Progress
from recall.scope import ANYWHERE
from recall.surfaces import tool_calls
from tests.indexing import shapes
from tests.indexing.product import Log
from tests.projects.person import OMP, Person


def call(name: str, **arguments: object) -> dict[str, object]:
    answered = tool_calls.call(name, arguments, {}, lambda _: None, Cancellation())
    assert not answered.is_error, answered.document
    return dict(answered.document)


def two(person: Person) -> tuple[str, str]:
    """Projects P and Q, bound to folders p and q."""
    p = person.done("project", "bind", person.folder("p"), "--name", "Pine")
    q = person.done("project", "bind", person.folder("q"), "--name", "Quince")
    return p["project_id"], q["project_id"]


def test_by_command_and_by_tool_and_searched_in_both(person: Person) -> None:
    p, q = two(person)
    person.talks("pi000001", person.folder("p"), "gearbox")
    person.index()
    assert person.found("gearbox", "--project", p) == ["pi000001"]
    moved = person.done("project", "move", "pi:pi000001", q)
    assert (moved["project"], moved["previous"], moved["moved"]) == (q, p, 1)
    assert person.found("gearbox", "--project", p) == []
    assert person.found("gearbox", "--project", q) == ["pi000001"]
    back = call("history_recall_move", conversation_id=moved["conversation_id"], project_id=p)
    assert back["previous"] == q
    assert person.places()["pi000001"] == (p, "moved")
    out = call("history_recall_move", conversation_id=moved["conversation_id"], project_id="")
    assert out["project"] is None
    assert person.places()["pi000001"] == (None, "moved")


def test_nothing_overwrites_it(person: Person) -> None:
    _p, q = two(person)
    path = person.talks("pi000001", person.folder("p"), "gearbox")
    person.index()
    person.done("project", "move", "pi:pi000001", q)
    person.done("index", path, "--force")
    assert person.places()["pi000001"] == (q, "moved")
    person.done("project", "move", "pi:pi000001", "")
    person.done("project", "bind", person.folder("p"))
    person.done("rebuild")
    person.index()
    assert person.places()["pi000001"] == (None, "moved")
    assert person.rows("SELECT count(*) FROM ledger") == [(0,)]


def test_before_it_is_indexed_also_the_running_one(person: Person) -> None:
    p, q = two(person)
    person.talks("pi000001", person.folder("p"), "gearbox")
    moved = person.done("project", "move", "pi:pi000001", q)
    assert (moved["indexed"], moved["project"], moved["previous"]) == (False, q, p)
    again = person.done("project", "move", moved["conversation_id"], q)  # by the id that it will have
    assert (again["host_conversation_id"], again["previous"]) == ("pi000001", q)
    assert person.done("conversations", "--project", q)["conversations"][0]["why_project"] == "moved"
    running = person.done("project", "move", "current", q, "--current", "pi:pi000002")
    assert running["host_conversation_id"] == "pi000002"
    person.talks("pi000002", person.folder("p"), "rudder")
    person.index()
    ids = dict(person.rows("SELECT host_conversation_id, conversation_id FROM conversations"))
    assert ids == {"pi000001": moved["conversation_id"], "pi000002": running["conversation_id"]}
    assert person.places() == {"pi000001": (q, "moved"), "pi000002": (q, "moved")}
    assert person.done("status", "--current", "pi:pi000002", "--cwd", person.folder("p"))["current_project"] == {
        "project_id": q,
        "name": "Quince",
    }


def test_every_move_is_answered_in_the_shape_of_the_contract(person: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    """By command and by tool, of an indexed one, of one that is not, of the running one before it is."""
    p, q = two(person)
    person.talks("pi000001", person.folder("p"), "gearbox")
    person.index()
    person.talks("pi000002", person.folder("p"), "gearbox")
    for name in ("pi:pi000001", "pi:pi000002", "current"):
        answer = person.done("project", "move", name, q, "--current", "pi:pi000009", "--cwd", person.folder("p"))
        shapes.check(["project", "move", name, q], 0, answer, [])
        assert answer["previous"] == p
    monkeypatch.setenv("HISTORY_RECALL_PROJECTS_AGENT_SCOPE", "project")
    overrides = {"cwd": str(person.folder("p")), "current": "pi:pi000008"}
    arguments = {"conversation_id": "current", "project_id": ""}
    # An agent may take its own conversation out of its project, also before it is indexed.
    out = tool_calls.call("history_recall_move", arguments, overrides, lambda _: None, Cancellation()).document
    shapes.check(["project", "move", "current", ""], 0, out, [])
    assert (out["project"], out["previous"]) == (None, p)
    again = tool_calls.call("history_recall_move", arguments, overrides, lambda _: None, Cancellation()).document
    assert again["error"]["code"] == "scope_forbidden"  # type: ignore[index]


def test_racing_an_index_run_it_ends_where_it_was_moved(person: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    """The move is made after the conversation was read and analysed, before it is published."""
    _, q = two(person)
    path = person.talks("pi000001", person.folder("p"), "gearbox")
    from recall import curation, settings
    from recall.surfaces.session import Session

    original = curation.Curator._confirm_source

    def moved_meanwhile(self: curation.Curator, reading: object) -> None:
        session = Session(settings.load())
        moving.move(session.run(), ANYWHERE, "pi:pi000001", q)
        session.close()
        original(self, reading)  # type: ignore[arg-type]

    monkeypatch.setattr(curation.Curator, "_confirm_source", moved_meanwhile)
    person.done("index", path)
    assert person.places()["pi000001"] == (q, "moved")
    monkeypatch.setattr(curation.Curator, "_confirm_source", original)
    person.done("project", "move", "pi:pi000001", "")
    monkeypatch.setattr(curation.Curator, "_confirm_source", moved_meanwhile)
    person.done("index", path, "--force")
    assert person.places()["pi000001"] == (q, "moved")


def test_a_fork_inherits_and_is_moved_apart(person: Person) -> None:
    p, q = two(person)
    person.talks("pi000001", person.folder("p"), "gearbox")
    person.index()
    person.done("project", "move", "pi:pi000001", q)
    person.talks("fork0001", person.folder("p"), "rudder", parentSession="pi000001")
    person.index()
    assert person.places()["fork0001"] == (q, "inherited")
    person.done("project", "move", "pi:pi000001", p)
    assert person.places()["fork0001"] == (q, "inherited")


def test_a_continuation_moves_along_and_so_does_what_was_indexed_before_it(person: Person) -> None:
    _p, q = two(person)
    person.talks("pi000001", person.folder("p"), "gearbox")
    person.talks("pi000002", person.folder("p"), "rudder")
    person.index()
    import sqlite3

    with sqlite3.connect(person.database) as connection:  # what Hermes' reader says of a compaction
        connection.execute("UPDATE conversations SET continues = 'pi000001' WHERE host_conversation_id = 'pi000002'")
    connection.close()
    moved = person.done("project", "move", "pi:pi000002", q)
    assert moved["moved"] == 2
    assert set(person.places().values()) == {(q, "moved")}


def test_subagents_move_along(person: Person) -> None:
    _, q = two(person)
    path = person.talks("pi000001", person.folder("p"), "gearbox")
    below = Log("sub00001", str(person.folder("p"))).talk([("Look at the rudder", "The rudder is bent.")])
    folder = path.with_suffix("")
    folder.mkdir()
    (folder / "sub.jsonl").write_bytes(below.bytes())
    person.index()
    person.done("project", "move", "pi:pi000001", q)
    assert person.places()["sub00001"] == (q, "inherited")


def test_what_is_unknown_is_named(person: Person) -> None:
    person.talks("pi000001", person.folder("p"), "gearbox")
    person.index()
    code, answer = person.run("project", "move", "pi:pi000001", "p_nosuchthing0")
    assert code == 1
    assert answer["error"]["code"] == "unknown_project"
    assert "p_nosuchthing0" in json.dumps(answer)
    assert person.refused("project", "move", "pi:unheard", "") == "not_found"
    assert person.refused("project", "move", "current", "") == "not_found"


def test_with_cwd_says_what_became_of_it(person: Person) -> None:
    _, q = two(person)
    person.talks("pi000001", person.folder("p"), "gearbox")
    person.talks("omp00001", person.folder("p"), "mast", OMP, title="x")
    person.index()
    folder = str(person.folder("q"))
    asked = person.done("project", "move", "pi:pi000001", q, "--with-cwd")["cwd"]
    assert (asked["switched"], asked["code"], asked["folder"]) == (False, "unsupported", folder)
    asked = person.done("project", "move", "omp:omp00001", q, "--with-cwd")["cwd"]
    assert (asked["switched"], asked["code"]) == (False, "inside_only")
    assert f"`/move {folder}`" in asked["message"]
    q_folder = person.folder("q")
    for file in q_folder.iterdir():
        file.unlink()
    q_folder.rmdir()
    gone = person.done("project", "move", "pi:pi000001", q, "--with-cwd")
    assert (gone["project"], gone["cwd"]["code"]) == (q, "folder_missing")


def test_a_project_with_conversations_is_not_deleted(person: Person) -> None:
    p, q = two(person)
    person.talks("pi000001", person.folder("p"), "gearbox")
    person.index()
    assert person.refused("project", "delete", p) == "project_not_empty"
    person.done("project", "archive", p)
    assert person.found("gearbox", "--project", p) == ["pi000001"]
    person.done("project", "move", "pi:pi000001", q)
    person.done("project", "delete", p)
    assert person.refused("search", "gearbox", "--project", p) == "unknown_project"


def test_names(person: Person) -> None:
    made = person.done("project", "create", "Heron")
    assert made["project_id"].startswith("p_")
    assert len(made["project_id"]) == 14
    assert person.refused("project", "create", "heron") == "name_taken"
    assert person.done("project", "rename", "Heron", "Stork")["project_id"] == made["project_id"]
    assert person.refused("search", "x", "--project", "Heron") == "unknown_project"
    for odd in ("", "  ", ".", "none", "None", "git:.", "p_x", "x" * 101, "a\x1b]0;x\x07", "a\u202eb", "a\x9bb"):
        assert person.refused("project", "create", odd) == "usage", odd
        assert person.refused("project", "rename", "Stork", odd) == "usage", odd
    for fine in ("x'; DROP TABLE projects; --", "..", "项目 👩‍💻", "%s {0} \\n", '"'):
        one = person.done("project", "create", fine)
        assert person.done("project", "rename", fine, f"{fine} 2")["project_id"] == one["project_id"]
        assert person.done("search", "x", "--project", f"{fine} 2")["project"] == one["project_id"]
        assert person.done("project", "delete", f"{fine} 2")["deleted"]


def test_an_agent_binds_only_with_the_users_yes(person: Person) -> None:
    app = person.folder("app")
    overrides = {"cwd": str(app)}

    def project(**arguments: object) -> tool_calls.ToolAnswer:
        return tool_calls.call("history_recall_project", arguments, overrides, _nobody, Cancellation())

    asked = project(action="bind")
    assert asked.is_error
    assert asked.document["error"]["code"] == "confirmation_required"  # type: ignore[index]
    token = asked.document["error"]["data"]["token"]  # type: ignore[index]
    overrides["cwd"] = str(other := person.folder("other"))
    for wrong in (token, "yes"):  # a yes is for the folder that was asked about
        assert project(action="bind", confirm=wrong).document["error"]["code"] == "confirmation_required"  # type: ignore[index]
    assert not list(app.iterdir()) + list(other.iterdir())
    overrides["cwd"] = str(app)
    assert project(action="bind", confirm=token, name="Heron").document["name"] == "Heron"
    assert [file.name for file in app.iterdir()] == [".history-recall-id"]
    assert project(action="show").document["current_project"]
    assert "until" in project(action="decline").document


def _nobody(progress: Progress) -> None:
    """No one is watching."""


@pytest.mark.parametrize("action", ["bind", "decline"])
def test_an_agent_without_a_folder_binds_none(person: Person, action: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder comes from the caller; where the process happens to run is nobody's project."""
    monkeypatch.chdir(person.folder("app"))
    answered = tool_calls.call("history_recall_project", {"action": action}, {}, _nobody, Cancellation())
    assert (answered.is_error, answered.document["error"]["code"]) == (True, "no_project")  # type: ignore[index]
    assert not list(person.folder("app").iterdir())


@pytest.mark.parametrize(
    "current", ["nohost:x", "pi:a\nb", "pi:a b", "pi:" + "a" * 201, "pi:ghp_" + "Zx9Kq2Lm8Rt4Vb7Nc1Ws6Yd3Hf5Jg0Pa9Q4e"]
)
def test_what_no_conversation_can_be_called_is_not_kept_as_moved(person: Person, current: str) -> None:
    two(person)
    assert person.refused("project", "move", "current", "Quince", "--current", current) == "not_found"
    assert person.rows("SELECT count(*) FROM decisions") == [(0,)]
