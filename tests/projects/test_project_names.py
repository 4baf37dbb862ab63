"""What a project may be called, whoever names it: a person, a folder, a host's record, a bundle."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall import assigning, project_names
from recall.hosts.host import HostProject
from tests.projects.person import Person, a_repository

ODD = {
    "esc\x1b[31mred": "esc [31mred",
    "new\nline\r\n": "new line",
    "rtl\u202eevil": "rtl evil",
    "zero\u200bwidth\ufeff": "zero width",
    "none": "project none",
    "NONE": "project NONE",
    "p_abcdefghijkl": "project p_abcdefghijkl",
    "git:x": "project git:x",
    ".": "project .",
    " ": "project",
    "\u200d\u0301": "project",
    "x" * 10_000: "x" * 94,
    "cafe\u0301": "caf\u00e9",
    "\U0001f468\u200d\U0001f469\u200d\U0001f467": "\U0001f468\u200d\U0001f469\u200d\U0001f467",
    "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645": "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
}


@pytest.mark.parametrize("name", sorted(ODD))
def test_a_name_that_nobody_chose_is_made_to_fit(name: str) -> None:
    assert project_names.proper(name) == ODD[name]


@given(st.text())
def test_whatever_it_was_it_fits_and_stays(name: str) -> None:
    proper = project_names.proper(name)
    assert project_names.fits(proper)
    assert project_names.proper(proper) == proper == project_names.spelled(proper)
    spelled = project_names.spelled(name)
    if project_names.fits(spelled) and len(spelled) <= 94:
        assert proper == spelled


@pytest.mark.parametrize(
    "name", [name for name in sorted(ODD) if name not in (ODD[name], "new\nline\r\n", "cafe\u0301")]
)
def test_a_person_is_told_that_it_does_not_fit(person: Person, name: str) -> None:
    code, answer = person.run("project", "create", "--", name)
    assert (code, answer["error"]["code"]) == (2, "usage")
    assert len(json.dumps(answer)) < 1500  # it is not said back at its whole length
    person.done("project", "create", "heron")
    assert person.refused("project", "rename", "heron", "--", name) == "usage"
    assert person.refused("search", "x", "--project", name) in ("unknown_project", "usage", "no_project")


@pytest.mark.parametrize(
    "name", ["esc\x1b[31mred", "new\nline", "rtl\u202eevil", "none", "p_abc", "git:x", " ", "x" * 200]
)
def test_a_folder_of_that_name_is_bound_under_one_that_fits(person: Person, name: str) -> None:
    folder = person.folder("app") / name
    folder.mkdir()
    bound = person.done("project", "bind", folder)
    assert bound["name"] == ODD.get(name, project_names.proper(name))
    person.talks("pi000001", folder, "gearbox")
    person.index()
    assert person.places()["pi000001"][0] == bound["project_id"]
    for project in (bound["name"], bound["project_id"]):
        assert person.found("gearbox", "--project", project) == ["pi000001"]
    assert person.done("search", "gearbox", "--cwd", folder)["project"] == bound["project_id"]


def test_a_marker_that_is_adopted_by_indexing_makes_one_that_fits(person: Person) -> None:
    folder = person.folder("app") / "none"
    folder.mkdir()
    (folder / ".history-recall-id").write_text("history-recall-project-v1: 0e5a2c1e-6a0e-4a52-9a5e-0d4c3b2a1f00\n")
    person.talks("pi000001", folder, "gearbox")
    person.index()
    assert person.rows("SELECT name FROM projects") == [("project none",)]


def test_a_record_of_a_host_and_a_bundle_too(person: Person, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    record = HostProject("hermes", "h1", "evil\x1b]0;title\x07\u202e", (str(person.folder("app")),))
    monkeypatch.setattr(assigning, "project_records", lambda settings, host: [record])
    person.talks("pi000001", person.folder("app"), "gearbox")
    person.index()
    person.done("project", "assign", "--from-host", "hermes")
    assert person.rows("SELECT name FROM projects") == [("evil ]0;title",)]
    person.done("export", "--output", tmp_path / "bundle.json")
    document = json.loads((tmp_path / "bundle.json").read_text())
    text = json.dumps(document).replace("evil ]0;title", "evil\\u001b]0;title\\u202e\\nmore")
    (tmp_path / "bundle.json").write_text(text)
    person.monkeypatch.setenv("HISTORY_RECALL_DB", str(tmp_path / "else" / "index.db"))
    person.database = tmp_path / "else" / "index.db"
    person.done("import", tmp_path / "bundle.json")
    assert person.rows("SELECT name FROM projects") == [("evil ]0;title more",)]


def test_a_group_is_named_by_a_folder_that_is_there(person: Person) -> None:
    one = a_repository(person.folder("one"))
    assert person.done("search", "x", "--project", "git:.", "--cwd", one)["scope"] == "project"
    assert person.refused("search", "x", "--project", "git:nowhere", "--cwd", one) == "unknown_project"


def test_one_name_in_two_spellings_is_one(person: Person) -> None:
    person.done("project", "create", "cafe\u0301")
    assert person.refused("project", "create", "CAF\u00c9") == "name_taken"
    assert person.done("search", "x", "--project", "Cafe\u0301")["scope"] == "project"


def test_a_folder_whose_name_is_no_text_is_refused_by_that(person: Person) -> None:
    folder = bytes(person.folder("app")) + b"/bad\xff"
    Path(folder.decode("utf-8", "surrogateescape")).mkdir()
    code, answer = person.run("project", "bind", folder.decode("utf-8", "surrogateescape"))
    assert (code, answer["error"]["code"]) == (1, "bind_refused")
    assert "no text in UTF-8" in answer["error"]["message"]
