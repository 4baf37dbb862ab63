"""Bundles that somebody else wrote: refused whole, or taken in without what does not hold."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from recall import bundle_rules
from recall.bundle import TABLES
from recall.counting import count
from recall.hashing import derived_id
from recall.surfaces.cli import main
from tests.indexing.product import Log
from tests.projects.person import OMP, Person

Document = dict[str, Any]
ODD: list[Any] = [
    None, True, -1, 1.5, float("nan"), 2**63, 10**30, [], {}, "", "-x", "--help", "a\nb", "a\0b", "\ud800", "x'; DROP",
    "../../etc", "[1]", "{}", "null", "[" * 200_000, "\x1b]0;x\x07", "c_aaaaaaaaaaaa", "NaN", '{"a": NaN}',
]  # fmt: skip


@pytest.fixture
def document(person: Person, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Document:
    """What a machine with two projects exports. Afterwards the person is at another machine."""
    for name in ("app", "site"):
        person.done("project", "bind", person.folder(name))
    person.talks("pi000001", person.folder("app"), "gearbox")
    person.talks("omp00001", person.folder("site"), "rudder", OMP, title="On rudders")
    poem = [("Write a sonnet on lanterns in autumn.", "Lanterns glow, leaves drift: fourteen lines, rhymed.")]
    person.write(Log("pi000002", str(person.folder("app"))).talk(poem))
    person.index()
    person.done("project", "move", "pi:pi000002", "site")
    person.done("export", "--output", tmp_path / "bundle.json")
    monkeypatch.setenv("HISTORY_RECALL_DB", str(tmp_path / "elsewhere" / "index.db"))
    person.database = tmp_path / "elsewhere" / "index.db"
    exported: Document = json.loads((tmp_path / "bundle.json").read_text())
    return exported


def written(document: Document, tmp_path: Path) -> Path:
    path = tmp_path / "given.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


def cells(document: Document, table: str, column: str) -> tuple[list[list[Any]], int]:
    held = document["tables"][table]
    return held["rows"], held["columns"].index(column)


def put(document: Document, table: str, column: str, value: Any, row: int = 0) -> Document:
    changed: Document = json.loads(json.dumps(document))
    rows, place = cells(changed, table, column)
    rows[row][place] = value
    return changed


def first(document: Document, table: str, row: int = 0) -> Any:
    """The number of a row."""
    return document["tables"][table]["rows"][row][0]


def every_answer(person: Person) -> None:
    """Whatever shows what was taken in works."""
    for words in (
        ["status"], ["conversations"], ["browse"], ["search", "gearbox fails"], ["brief"], ["project", "list"],
        ["export", "--format", "md"], ["doctor", "--deep"],
    ):  # fmt: skip
        answer = person.done(*words)
        assert answer.get("ok", True), answer
    for topic in person.done("browse")["entries"]:
        person.done("browse", topic["topic_id"])
        person.done("browse", topic["topic_id"], "--history")
    for one in person.done("search", "gearbox fails")["conversations"]:
        person.done("read", one["conversation_id"])


def test_there_is_a_rule_for_every_cell(document: Document) -> None:
    for table in TABLES:
        assert sorted(bundle_rules.RULES[table.name]) == sorted(document["tables"][table.name]["columns"])


@pytest.mark.parametrize("table", [table.name for table in TABLES])
def test_an_odd_value_is_refused(person: Person, document: Document, tmp_path: Path, table: str) -> None:
    for column, rule in bundle_rules.RULES[table].items():
        for value in ODD:
            if document["tables"][table]["rows"] and not rule(value):
                bad = put(document, table, column, value)
                assert person.refused("import", written(bad, tmp_path)) == "invalid_bundle", (column, value)
    assert person.done("status")["conversations"] == 0


@pytest.mark.parametrize("value", [value for value in ODD if isinstance(value, str)])
def test_an_odd_text_does_no_harm_wherever_it_may_stand(
    person: Person, document: Document, tmp_path: Path, value: str
) -> None:
    for table, rules in bundle_rules.RULES.items():
        free = [column for column, rule in rules.items() if rule(value) and rule("any text") and rule("'")]
        for column in free if document["tables"][table]["rows"] else ():
            if (table, column) not in (
                ("bindings", "key"),
                ("conversations", "source"),
            ):  # these have to lead somewhere
                document = put(document, table, column, value)
    assert person.done("import", written(document, tmp_path))["imported"] == 3
    every_answer(person)


@pytest.mark.parametrize("table", ["conversations", "decisions"])
@pytest.mark.parametrize("identity", ["--dangerously-skip-permissions", "-c", "a b", "x\n", "", "ghp_" + "a1B2" * 9])
def test_no_id_that_a_command_line_could_misread(
    person: Person, document: Document, tmp_path: Path, table: str, identity: str
) -> None:
    bad = put(document, table, "host_conversation_id", identity)
    assert person.refused("import", written(bad, tmp_path)) == "invalid_bundle"


@pytest.mark.parametrize(
    "source", ["-rf", "relative/x.jsonl", "/", "//server/share/x", "\\\\server\\share\\x", "hermes:x"]
)
def test_no_source_that_no_host_has(person: Person, document: Document, tmp_path: Path, source: str) -> None:
    bad = put(document, "conversations", "source", source)
    assert person.refused("import", written(bad, tmp_path)) == "invalid_bundle"


def test_a_log_that_calls_itself_an_option_has_no_command_to_resume_it(person: Person) -> None:
    folder = person.home / ".claude" / "projects" / "-work"
    folder.mkdir(parents=True)
    record: Document = {"type": "user", "uuid": "u1", "sessionId": "--version", "timestamp": "2026-11-02T09:00:01.000Z"}
    record |= {"cwd": "-c", "message": {"role": "user", "content": "Why does the gearbox fail?"}}
    (folder / "7b1c2d3e.jsonl").write_text(json.dumps(record) + "\n")
    person.index()
    (found,) = person.done("search", "gearbox")["conversations"]
    assert (found["host_conversation_id"], found["resume"]) == ("--version", None)
    record |= {"sessionId": "7b1c2d3e", "uuid": "u2"}
    (folder / "7b1c2d3e.jsonl").write_text(json.dumps(record) + "\n")
    person.index()
    commands = {one["resume"] for one in person.done("search", "gearbox")["conversations"]}
    assert shlex.split((commands - {None}).pop()) == ["claude", "--resume", "7b1c2d3e"]


def shorten(document: Document, table: str) -> Document:
    rows, place = cells(document, table, "quote")
    for row in rows:
        row[place] = "words that nobody said"
    return document


def other_hash(document: Document, table: str) -> Document:
    rows, place = cells(document, table, "sha256")
    for row in rows:
        row[place] = "0" * 64
    return document


@pytest.mark.parametrize("damage", [shorten, other_hash])
def test_a_quote_that_does_not_stand_in_its_entry_is_left_out_and_named(
    person: Person, document: Document, tmp_path: Path, damage: Callable[[Document, str], Document]
) -> None:
    quotes = len(document["tables"]["findings"]["rows"])
    assert quotes
    done = person.done("import", written(damage(document, "findings"), tmp_path))
    assert done["imported"] == 3
    assert sum(int(c["reason"].split()[0]) for c in done["conflicts"]) == quotes
    assert person.rows("SELECT count(*) FROM findings") == [(0,)]
    every_answer(person)


def test_a_facet_without_evidence_goes_and_a_topic_without_a_facet_does_not_live(
    person: Person, document: Document, tmp_path: Path
) -> None:
    topics = len(document["tables"]["topics"]["rows"])
    done = person.done("import", written(shorten(document, "evidence"), tmp_path))
    assert {c["name"] for c in done["conflicts"]} == {
        row[0] for row in person.rows("SELECT conversation_id FROM conversations")
    }
    assert person.rows("SELECT count(*) FROM facets") == [(0,)]
    assert person.done("status")["topics"] == 0
    assert person.rows("SELECT count(*) FROM topics WHERE state = 'retired'") == [(topics,)]
    assert person.found("gearbox") == ["pi000001"]
    every_answer(person)


def test_a_place_that_is_a_little_off_is_mended(person: Person, document: Document, tmp_path: Path) -> None:
    rows, place = cells(document, "evidence", "start")
    for row in rows:
        row[place] += 1
    assert person.done("import", written(document, tmp_path))["conflicts"] == []
    every_answer(person)


def test_what_is_not_redacted_is_redacted_and_its_quotes_follow(
    person: Person, document: Document, tmp_path: Path
) -> None:
    secret = "ghp_" + "a1B2" * 9
    rows, place = cells(document, "entries", "text")
    for row in rows:
        row[place] = f"export TOKEN={secret}\n{row[place]}"
    for table, column in (("topics", "aliases"), ("facets", "aliases"), ("topic_events", "after")):
        rows, place = cells(document, table, column)
        for row in rows:
            held = json.loads(row[place])
            row[place] = json.dumps([*held, secret] if isinstance(held, list) else held | {"title": f'"{secret}'})
    rows, place = cells(document, "projects", "name")
    rows[0][place] = secret
    assert person.done("import", written(document, tmp_path))["conflicts"] == []
    every_answer(person)
    for path in person.database.parent.iterdir():
        assert not path.is_file() or secret.encode() not in path.read_bytes()


@pytest.mark.parametrize(
    "damage",
    [
        lambda d: d | {"generation": 2**62},
        lambda d: d | {"generation": True},
        lambda d: d | {"generation": -1},
        lambda d: d | {"schema": [0] * 100_000},
        lambda d: d["tables"]["topics"]["columns"].append("topic_id") or d,
        lambda d: d["tables"]["topics"]["rows"].append(d["tables"]["topics"]["rows"][0]) or d,
        lambda d: d["tables"]["conversations"]["rows"].append(d["tables"]["conversations"]["rows"][0]) or d,
        lambda d: put(put(d, "topics", "state", "merged"), "topics", "merged_into", first(d, "topics")),
        lambda d: put(put(d, "topics", "state", "merged"), "topics", "merged_into", first(d, "topics", 1)),
        lambda d: put(d, "projects", "project_id", "p_aaaaaaaaaaaa"),
        lambda d: put(put(d, "topic_events", "kind", "merged"), "topic_events", "before", '{"topics": [1]}'),
        lambda d: put(d, "bindings", "key", "posix:"),
        lambda d: put(d, "topics", "title", "T" * 2001),
        lambda d: put(d, "facets", "aliases", json.dumps(["x"] * 201)),
        lambda d: put(d, "findings", "statement", "S" * 20_001),
        lambda d: put(d, "entries", "conversation_no", 10_000) and put(d, "entries", "seq", 0, 1),
    ],
)  # fmt: skip
def test_rows_that_cannot_be_are_refused_whole(
    person: Person, document: Document, tmp_path: Path, damage: Callable[[Document], Document]
) -> None:
    code, answer = person.run("import", written(damage(document), tmp_path))
    assert (code, answer["error"]["code"]) == (1, "invalid_bundle")
    assert len(answer["error"]["message"]) < 300
    assert not person.database.exists() or person.done("status")["conversations"] == 0


def test_only_a_file_is_read(person: Person, document: Document, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for path in (pipe, tmp_path, Path("/dev/zero")):
        assert person.refused("import", path) == "invalid_bundle"
    deep = tmp_path / "deep.json"
    deep.write_text("[" * 500_000)
    assert person.refused("import", deep) == "invalid_bundle"


def test_a_home_folder_of_another_machine_is_not_bound_here(person: Person, document: Document, tmp_path: Path) -> None:
    above = [person.home, person.home.parent, Path(person.home.anchor) / person.home.parts[1]]
    for number, folder in enumerate(above):
        bad = put(document, "bindings", "key", f"posix:{folder}")
        monkeyed = tmp_path / f"b{number}" / "index.db"
        person.monkeypatch.setenv("HISTORY_RECALL_DB", str(monkeyed))
        done = person.done("import", written(bad, tmp_path))
        assert [c["reason"] for c in done["conflicts"]] == [
            "it is the home folder here, or above it, and cannot be bound"
        ]


def test_what_is_here_differently_is_named_and_stays(person: Person, document: Document, tmp_path: Path) -> None:
    person.done("project", "create", "site")
    (person.folder("app") / ".history-recall-id").unlink()
    mine = person.done("project", "bind", person.folder("app"), "--no-marker", "--project", "site")
    person.done("project", "move", "pi:pi000002", "")
    done = person.done("import", written(document, tmp_path))
    reasons = [c["reason"] for c in done["conflicts"]]
    assert any("leads to another project here" in reason for reason in reasons)
    assert any("you moved it to another place here" in reason for reason in reasons)
    assert any("another project here has its name" in reason for reason in reasons)
    names = [one["name"] for one in person.done("project", "list")["projects"]]
    assert sorted(names) == ["app", "site", "site 2"]
    assert mine["project_id"] in {one["project_id"] for one in person.done("project", "list")["projects"]}


def test_ids_of_another_profile_stay_there(
    person: Person, document: Document, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = written(document, tmp_path)
    assert person.done("import", given)["imported"] == 3
    done = person.done("import", given, "--profile", "other")
    assert done["imported"] == 0
    assert {c["reason"] for c in done["conflicts"]} == {"profile 'default' of this index has the id"}
    assert {c["profile"] for c in done["conflicts"]} == {"default"}
    kinds = [c["kind"] for c in done["conflicts"]]
    topics = len(document["tables"]["topics"]["rows"])
    assert (kinds.count("conversation"), kinds.count("topic"), len(kinds)) == (3, topics, 3 + topics)
    assert all(c["name"].startswith(c["kind"][0] + "_") for c in done["conflicts"])
    capsys.readouterr()
    assert main(["import", str(given), "--profile", "other"]) == 0
    told = capsys.readouterr().out
    assert told.count("profile 'default' of this index holds") == 1
    assert f"3 conversations and {count(topics, 'topic')}" in told or f"{count(topics, 'topic')} and 3 conv" in told
    assert "c_" not in told
    assert len(told.splitlines()) == 3
    assert person.done("status", "--profile", "other")["conversations"] == 0
    every_answer(person)


def test_words_of_a_forgotten_conversation_do_not_come_back_by_a_topic(
    person: Person, document: Document, tmp_path: Path
) -> None:
    for table, column in (("topics", "title"), ("topics", "description"), ("topic_events", "reason")):
        rows, place = cells(document, table, column)
        for row in rows:
            row[place] = "zanzibarium"
    given = written(document, tmp_path)
    person.done("import", given)
    assert "zanzibarium" in person.done("browse")["entries"][0]["title"]
    for name in ("pi:pi000001", "pi:pi000002", "omp:omp00001"):
        person.done("forget", name)
    done = person.done("import", given)
    assert (done["imported"], {c["reason"] for c in done["conflicts"]}) == (0, {"you had it forgotten here"})
    for path in person.database.parent.iterdir():
        assert not path.is_file() or b"zanzibarium" not in path.read_bytes()
    fresh = tmp_path / "fresh" / "index.db"  # where the topics were never
    person.monkeypatch.setenv("HISTORY_RECALL_DB", str(fresh))
    for name in ("pi000001", "pi000002"):
        person.done("forget", f"pi:{name}")
    assert person.done("import", given)["imported"] == 1
    titles = [one["title"] for one in person.done("browse")["entries"]]
    assert "zanzibarium" not in fresh.read_bytes().decode("latin-1") or "zanzibarium" in titles
    gone = person.done("export", "--format", "json")["text"]
    events = [row for row in json.loads(gone)["tables"]["topics"]["rows"] if "(forgotten)" in row]
    assert events
    every_answer(person)


def test_a_generation_never_goes_back(person: Person, document: Document, tmp_path: Path) -> None:
    given = written(document, tmp_path)
    person.done("import", given)
    assert person.done("status")["revision"] == document["generation"]
    for number in range(document["generation"] + 3):
        person.done("project", "move", "pi:pi000001", "site" if number % 2 else "app")
    cursor = person.done("browse", "--limit", "1")["next_cursor"]
    for name in ("pi:pi000001", "pi:pi000002", "omp:omp00001"):
        person.done("forget", name)
        person.done("forget", name, "--unforget")
    before = person.done("status")["revision"]
    person.done("import", given)
    assert person.done("status")["revision"] > before
    assert person.refused("browse", "--limit", "1", "--cursor", cursor) == "stale_cursor"


def test_a_topic_that_is_here_takes_in_what_comes_as_a_publication_does(
    person: Person, document: Document, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows, place = cells(document, "memberships", "topic_no")
    for row in rows:  # all in one topic
        row[place] = document["tables"]["topics"]["rows"][0][0]
    early = json.loads(json.dumps(document))
    keep = early["tables"]["conversations"]["rows"][:1]
    early["tables"]["conversations"]["rows"] = keep
    person.done("import", written(early, tmp_path))
    (topic,) = person.done("browse")["entries"]
    (before,) = person.rows("SELECT version, aliases FROM topics WHERE topic_id = ?", topic["topic_id"])
    done = person.done("import", written(document, tmp_path))
    assert (done["imported"], done["unchanged"], done["conflicts"]) == (2, 1, [])
    (after,) = person.rows("SELECT version, aliases FROM topics WHERE topic_id = ?", topic["topic_id"])
    new = person.rows(
        """SELECT f.title FROM facets AS f JOIN conversations AS c USING (conversation_no)
           WHERE c.conversation_id <> ?""",
        keep[0][early["tables"]["conversations"]["columns"].index("conversation_id")],
    )
    assert after[0] == before[0] + len(new)
    assert {row[0] for row in new} <= {topic["title"], *json.loads(after[1])}
    life = person.done("browse", topic["topic_id"], "--history")["entries"]
    assert [one["kind"] for one in life][-len(new) :] == ["joined"] * len(new)
    assert {one["after"]["facet"] for one in life[-len(new) :]} == {row[0] for row in new}
    every_answer(person)


def superseded(document: Document, older: int, newer: int) -> Document:
    """A claim that the first finding of one conversation was replaced by that of another."""

    def claimed(conversation: int) -> list[Any]:
        tables = document["tables"]
        rows, place = cells(document, "facets", "conversation_no")
        facets = [row[tables["facets"]["columns"].index("facet_no")] for row in rows if row[place] == conversation]
        found, at = cells(document, "findings", "facet_no")
        (finding, *_) = [row for row in found if row[at] in facets]
        held = dict(zip(tables["findings"]["columns"], finding, strict=True))
        return [conversation, held["entry_id"], held["start"], held["quote"]]

    document["tables"]["supersessions"]["rows"] = [[*claimed(older), *claimed(newer), 1_800_000_000_000]]
    return document


def test_a_claim_of_supersession_counts_where_it_holds(
    person: Person, document: Document, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows, place = cells(document, "memberships", "topic_no")
    for row in rows:
        row[place] = document["tables"]["topics"]["rows"][0][0]
    rows, place = cells(document, "conversations", "project_no")
    for row in rows:
        row[place] = rows[0][place]
    names, at = cells(document, "conversations", "host_conversation_id")
    number = {row[at]: row[0] for row in names}
    when, moment = cells(document, "entries", "at")
    whose = document["tables"]["entries"]["columns"].index("conversation_no")
    for row in when:
        row[moment] = 1_790_000_000_000 + row[whose] * 1000
    old, new = sorted((number["pi000001"], number["omp00001"]))
    good = json.loads(json.dumps(superseded(document, old, new)))
    wrong_way = json.loads(json.dumps(superseded(document, new, old)))
    false_quote = put(good, "supersessions", "older_quote", "nobody said so")
    elsewhere = put(good, "conversations", "project_no", document["tables"]["projects"]["rows"][1][0], 0)
    elsewhere = put(elsewhere, "conversations", "project_no", document["tables"]["projects"]["rows"][0][0], 1)
    for number_, (given, kept) in enumerate([(good, 1), (wrong_way, 0), (false_quote, 0), (elsewhere, 0)]):
        person.database = tmp_path / f"s{number_}" / "index.db"
        monkeypatch.setenv("HISTORY_RECALL_DB", str(person.database))
        done = person.done("import", written(given, tmp_path))
        assert person.rows("SELECT count(*) FROM supersessions") == [(kept,)]
        assert len(done["conflicts"]) == 1 - kept
        every_answer(person)
    # What was replaced is here already when what replaced it comes.
    person.database = tmp_path / "later" / "index.db"
    monkeypatch.setenv("HISTORY_RECALL_DB", str(person.database))
    early = json.loads(json.dumps(good))
    rows, place = cells(early, "conversations", "conversation_no")
    early["tables"]["conversations"]["rows"] = [row for row in rows if row[place] == old]
    person.done("import", written(early, tmp_path))
    assert person.done("import", written(good, tmp_path))["conflicts"] == []
    assert person.rows("SELECT count(*) FROM supersessions") == [(1,)]


def test_ids_are_those_that_a_program_of_ours_makes(document: Document) -> None:
    """What the rules take for an id is what we mint."""
    for letter in "cptf":
        assert bundle_rules._id(letter)(derived_id(letter, "x"))
