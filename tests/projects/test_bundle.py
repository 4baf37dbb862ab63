"""Export and import: the same ids, nothing twice, conflicts named, and the same answers to the same searches."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from recall.surfaces.cli import main
from tests.indexing.product import Log
from tests.projects.person import Person
from tests.shared import ROOT

THINGS = ("gearbox", "rudder", "keel", "mast", "anchor", "winch", "compass", "bilge", "galley", "tiller")
ASKED = [f"{first} {second}" for first in THINGS for second in ("fails", "oil", "why", "want", "engine")]


def filled(person: Person) -> None:
    person.done("project", "bind", person.folder("app"), "--name", "Heron")
    for number, thing in enumerate(THINGS):
        folder = person.folder("app" if number % 2 else "other")
        turns = [
            (f"Why does the {thing} fail?", f"The cause was found: the {thing} fails for want of oil."),
            (f"Then oil the {thing}.", f"Done: the {thing} of boat {number} is oiled and it works."),
        ]
        person.write(Log(f"{number}{thing[:3]}0001", str(folder)).talk(turns))
    person.index()


def answers(person: Person) -> list[str]:
    assert len(ASKED) == 50
    for query in ASKED:
        person.done("search", query)
    return person.printed[-50:]


def test_an_empty_profile_gives_the_same_answers_byte_for_byte(
    person: Person, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled(person)
    before = answers(person)
    topics = person.done("browse", "--limit", "50")
    done = person.done("export", "--output", tmp_path / "bundle.json")
    assert (done["kind"], done["text"]) == ("profile", None)
    assert (tmp_path / "bundle.json").stat().st_mode & 0o777 == 0o600
    monkeypatch.setenv("HISTORY_RECALL_DB", str(tmp_path / "elsewhere" / "index.db"))
    taken = person.done("import", tmp_path / "bundle.json")
    assert (taken["imported"], taken["conflicts"]) == (len(THINGS), [])
    assert answers(person) == before
    assert person.done("browse", "--limit", "50") == topics
    assert person.done("doctor", "--deep")["ok"]
    again = person.done("import", tmp_path / "bundle.json")
    assert (again["imported"], again["unchanged"]) == (0, len(THINGS))
    assert answers(person) != []
    assert person.done("project", "list")["projects"][0]["name"] == "Heron"


def test_conflicts_are_named_and_what_is_here_stays(person: Person, tmp_path: Path) -> None:
    filled(person)
    bundle = tmp_path / "bundle.json"
    person.done("export", "--output", bundle)
    person.done("forget", "pi:0gea0001")
    document = json.loads(bundle.read_text())
    rows = document["tables"]["conversations"]
    place = rows["columns"].index("content_sha256")
    rows["rows"][1][place] = "0" * 64
    bundle.write_text(json.dumps(document))
    taken = person.done("import", bundle)
    assert taken["imported"] == 0
    assert {c["reason"] for c in taken["conflicts"]} == {
        "you had it forgotten here",
        "it is indexed here in another state",
    }
    assert person.found("gearbox") == []


def test_a_topic_comes_back_with_the_conversation_that_it_was_retired_for(person: Person, tmp_path: Path) -> None:
    person.talks("pi000001", person.folder("app"), "gearbox")
    poem = [("Write a sonnet on lanterns in autumn.", "Lanterns glow, leaves drift: fourteen lines, rhymed.")]
    person.write(Log("pi000002", str(person.folder("app"))).talk(poem))
    person.index()
    person.done("export", "--output", tmp_path / "bundle.json")
    listed = {one["topic_id"]: one["title"] for one in person.done("browse")["entries"]}
    counted = person.done("status")["topics"]
    person.done("forget", "pi:pi000001")
    person.done("forget", "pi:pi000001", "--unforget")
    (gone,) = listed.keys() - {one["topic_id"] for one in person.done("browse")["entries"]}
    assert person.done("import", tmp_path / "bundle.json")["imported"] == 1
    assert {one["topic_id"]: one["title"] for one in person.done("browse")["entries"]} == listed
    assert person.done("status")["topics"] == counted
    assert person.rows(
        "SELECT kind FROM topic_events JOIN topics USING (topic_no) WHERE topic_id = ? ORDER BY event_no", gone
    )[-2:] == [("retired",), ("revived",)]
    assert person.found("gearbox") == ["pi000001"]
    indexed = "SELECT topic_id FROM topics JOIN curated_texts ON owner_no = topic_no WHERE kind = 'topic'"
    assert (gone,) in person.rows(indexed)
    assert person.done("doctor", "--deep")["ok"]


@pytest.mark.parametrize(
    "damage",
    [
        lambda d: d | {"schema": 1},
        lambda d: d | {"format": "x"},
        lambda d: d | {"tables": {}},
        lambda d: d | {"tables": d["tables"] | {"entries": {"columns": ["text; DROP"], "rows": []}}},
        lambda d: d | {"tables": d["tables"] | {"findings": {"columns": ["finding_no"], "rows": [[1]]}}},
    ],
)
def test_what_is_no_bundle_is_refused_whole(person: Person, tmp_path: Path, damage: object) -> None:
    person.talks("pi000001", person.folder("app"), "gearbox")
    person.index()
    person.done("export", "--output", tmp_path / "good.json")
    bad = tmp_path / "bad.json"
    bad.write_text(json.dumps(damage(json.loads((tmp_path / "good.json").read_text()))))  # type: ignore[operator]
    assert person.refused("import", bad) == "invalid_bundle"
    _, answer = person.run("import", tmp_path / "nowhere.json")
    assert answer["error"]["code"] == "invalid_bundle"
    assert f"there is no file {tmp_path / 'nowhere.json'}" in answer["error"]["message"]
    assert "export it again" not in answer["error"]["hint"]
    assert person.rows("SELECT count(*) FROM conversations") == [(1,)]


def test_a_topic_and_a_conversation_are_cited(person: Person) -> None:
    filled(person)
    topic = person.done("browse")["entries"][0]["topic_id"]
    text = person.done("export", topic)["text"]
    assert topic in text
    assert "Evidence: c_" in text
    conversation = person.done("search", "gearbox")["conversations"][0]["conversation_id"]
    exported = json.loads(person.done("export", conversation, "--format", "json")["text"])
    assert {c["conversation_id"] for t in exported["topics"] for c in t["conversations"]} == {conversation}
    assert person.refused("export", "t_nosuchthing0") == "not_found"


def test_a_conversation_comes_with_its_transcript_and_every_entry_has_its_id(person: Person) -> None:
    secret = "ghp_" + "a1B2" * 9
    said = [
        ("Why does the keel crack?\n# No heading", f"For want of oil.\n```\nexport TOKEN={secret}\n```"),
        ("Then oil it.", "The keel is oiled."),
    ]
    person.write(Log("keel0001", str(person.folder("app"))).talk(said))
    person.index()
    name = person.done("conversations")["conversations"][0]["conversation_id"]
    entries = [one["entry_id"] for one in person.done("read", name)["fragments"]]
    text = person.done("export", name)["text"]
    lines = text[text.index("# Transcript") :].splitlines()
    assert [line.split("]")[0] for line in lines if line.startswith("## ")] == [f"## [{name}/{one}" for one in entries]
    assert [line for line in lines if line.startswith("#") and line.split(" ")[0] != "##"] == ["# Transcript"]
    assert "> # No heading" in lines
    assert secret not in text
    assert "[REDACTED:" in text
    whole = json.loads(person.done("export", name, "--format", "json")["text"])
    assert [one["entry_id"] for one in whole["transcript"]] == entries
    assert whole["topics"][0]["conversations"][0]["conversation_id"] == name
    for form in ("md", "json"):
        short = person.done("export", name, "--format", form, "--no-transcript")["text"]
        assert "oil it" not in short
        assert name in short


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs a limit on the size of files")
def test_an_export_that_cannot_be_finished_leaves_no_piece(person: Person, tmp_path: Path) -> None:
    import resource

    filled(person)
    target = tmp_path / "bundle.json"

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (40_000, 40_000))

    line = [sys.executable, "-m", "recall", "export", "--output", str(target), "--json"]
    ran = subprocess.run(line, cwd=ROOT, capture_output=True, check=False, preexec_fn=limited)
    assert ran.returncode != 0
    assert "cannot be written" in json.loads(ran.stdout)["error"]["message"]
    assert not target.exists()
    assert person.done("export", "--output", target)["characters"] > 40_000


def test_what_came_without_its_source_has_no_command_to_go_on_with_it(
    person: Person, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    person.talks("pi000001", person.folder("app"), "gearbox")
    log = person.talks("pi000002", person.folder("app"), "rudder")
    person.index()
    here = person.done("search", "gearbox")["conversations"]
    assert all(one["resume"] for one in here)
    person.done("export", "--output", tmp_path / "bundle.json")
    log.unlink()
    checks = {one["name"]: one for one in person.done("doctor")["checks"]}
    assert checks["hosts"]["detail"] == "1 source of pi, 1 indexed conversation whose source cannot be read here"
    person.monkeypatch.setenv("HISTORY_RECALL_DB", str(tmp_path / "elsewhere" / "index.db"))
    person.done("import", tmp_path / "bundle.json")
    (person.home / ".pi").rename(tmp_path / "another machine")

    for name in ("pi:pi000001", "pi:pi000002"):
        page = person.done("read", name)
        assert (page["source_state"], page["resume"]) == ("gone", None)
    assert {one["resume"] for one in person.done("search", "gearbox")["conversations"]} == {None}
    checks = {one["name"]: one for one in person.done("doctor")["checks"]}
    assert (checks["hosts"]["ok"], checks["hosts"]["detail"]) == (
        None,
        "2 indexed conversations whose source cannot be read here",
    )
    assert main(["read", "pi:pi000001"]) == 0
    assert "go on with it" not in capsys.readouterr().out
