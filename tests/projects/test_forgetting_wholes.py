"""What belongs to a forgotten conversation goes and stays out with it; what only holds copies of it is named."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from recall import curation
from recall.surfaces.cli import main
from tests.hosts.stores import T0, hermes_database, hermes_said, insert
from tests.indexing.product import Log
from tests.projects.person import Person
from tests.projects.test_forgetting import WORDS, everything, said, write


def subagent(person: Person, of: Path, identity: str, word: str) -> Path:
    """A log in the folder of another one's name."""
    below = of.with_suffix("") / f"{identity}.jsonl"
    below.parent.mkdir(exist_ok=True)
    below.write_bytes(
        Log(identity, str(person.folder("app"))).talk([(f"Look at the {word}", f"The {word} is bent.")]).bytes()
    )
    return below


def fork(person: Person, of: Path, identity: str, *more: tuple[str, str], parent: str | None = None) -> Path:
    """A fork as Pi writes it: a header of its own that names the log it came from, and a copy of its lines."""
    head, *rest = of.read_bytes().splitlines(keepends=True)
    header = json.loads(head) | {"id": identity, "parentSession": parent or str(of)}
    own = Log(identity, str(person.folder("app"))).talk(more).bytes().splitlines(keepends=True)[1:]
    path = of.with_name(f"2026-09-03T10-00-00-000Z_{identity}.jsonl")
    records = [json.loads(line) for line in own]
    records[0]["parentId"] = json.loads(rest[-1])["id"]
    added = [json.dumps(record).encode() + b"\n" for record in records]
    path.write_bytes(b"".join([json.dumps(header).encode() + b"\n", *rest, *added]))
    return path


def states(person: Person) -> dict[str, str]:
    return {row["host_conversation_id"]: row["state"] for row in person.done("conversations")["conversations"]}


def session(person: Person, identity: str, word: str, **row: object) -> None:
    """A conversation in Hermes' own database."""
    path = person.home / ".hermes" / "state.db"
    with closing(sqlite3.connect(path) if path.exists() else hermes_database(path)) as connection:
        insert(connection, "sessions", **({"id": identity, "source": "cli", "started_at": T0} | row))
        hermes_said(connection, identity, "user", f"Why does the {word} of {identity} fail?")
        hermes_said(connection, identity, "assistant", f"The {word} fails for want of oil.")
        connection.commit()


# --- parts ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("indexed", [True, False])
def test_a_subagent_is_kept_out_with_its_conversation(person: Person, indexed: bool) -> None:
    """Whichever of the two was indexed when it was forgotten, and when the subagent wrote its log."""
    path = write(person, 0)
    if indexed:
        person.index()
    early = subagent(person, path, "sub00001", WORDS[0])
    done = person.done("forget", "pi:0abc0001")
    assert {row["host_conversation_id"] for row in done["forgotten"]} == {"0abc0001", "sub00001"}
    late = subagent(person, path, "sub00002", WORDS[0])
    assert states(person) == dict.fromkeys(("0abc0001", "sub00001", "sub00002"), "forgotten")
    person.index()
    for log in (early, late):
        assert person.refused("index", log) == "forgotten"
        assert person.refused("index", log, "--dry-run") == "forgotten"
    assert person.rows("SELECT count(*) FROM conversations") == [(0,)]
    assert WORDS[0].encode() not in everything(person)
    let_in = person.done("forget", "pi:0abc0001", "--unforget")["unforgotten"]
    assert let_in == ["pi:0abc0001", "pi:sub00001"]
    person.index()
    assert set(states(person).values()) == {"indexed"}


def test_a_subagent_that_is_being_indexed_meanwhile_does_not_come_in(
    person: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(person, 0)
    person.index()
    below = subagent(person, path, "sub00001", WORDS[1])
    original = curation.Curator._confirm_source

    def forgotten_meanwhile(self: curation.Curator, reading: object) -> None:
        monkeypatch.setattr(curation.Curator, "_confirm_source", original)
        below.rename(below.with_name("elsewhere.txt"))  # the listing of that moment does not show it
        person.done("forget", "pi:0abc0001")
        below.with_name("elsewhere.txt").rename(below)
        original(self, reading)  # type: ignore[arg-type]

    monkeypatch.setattr(curation.Curator, "_confirm_source", forgotten_meanwhile)
    assert person.refused("index", below) == "forgotten"
    assert WORDS[1].encode() not in everything(person)


def test_what_goes_on_from_it_is_kept_out_and_let_in_with_it(person: Person) -> None:
    session(person, "root", WORDS[0], end_reason="compression")
    person.index()
    session(person, "next", WORDS[0], parent_session_id="root")
    session(person, "below", WORDS[0], parent_session_id="next", model_config='{"_delegate_from": "next"}')
    session(person, "branch", WORDS[1], parent_session_id="root", model_config='{"_branched_from": "root"}')
    done = person.done("forget", "hermes:root")
    assert {row["host_conversation_id"] for row in done["forgotten"]} == {"root", "next", "below"}
    session(person, "later", WORDS[0], parent_session_id="next", model_config='{"_delegate_from": "next"}')
    person.index()
    assert person.rows("SELECT host_conversation_id FROM conversations") == [("branch",)]
    assert WORDS[0].encode() not in everything(person)
    person.done("forget", "hermes:next", "--unforget")
    person.index()
    assert set(states(person).values()) == {"indexed"}


def test_a_bundle_brings_no_part_of_it_back(person: Person, tmp_path: Path) -> None:
    path = write(person, 0)
    subagent(person, path, "sub00001", WORDS[0])
    write(person, 1)
    person.index()
    person.done("export", "--output", tmp_path / "bundle.json")
    person.done("forget", "pi:0abc0001")
    with closing(sqlite3.connect(person.database)) as connection:  # as if only the conversation itself had been there
        connection.execute("DELETE FROM tombstones WHERE host_conversation_id = 'sub00001'")
        connection.commit()
    done = person.done("import", tmp_path / "bundle.json")
    assert (done["imported"], done["unchanged"], len(done["conflicts"])) == (0, 1, 2)
    assert WORDS[0].encode() not in everything(person)


# --- copies -----------------------------------------------------------------------------------------------------


def test_forks_that_hold_copies_are_named_with_how_they_go(person: Person, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(person, 0)
    near = fork(person, path, "fork0001", said(1))
    fork(person, near, "fork0002", said(2))  # of a fork
    write(person, 1)
    person.index()
    fork(person, near, "fork0003", said(1))  # not indexed
    listed = person.done("forget", "pi:0abc0001", "--dry-run")
    held = {row["host_conversation_id"]: row["entries"] for row in listed["copies"]}
    assert held == {"fork0001": 2, "fork0002": 2, "fork0003": None}
    assert main(["forget", "pi:0abc0001"]) == 0
    told = capsys.readouterr().out
    for row in listed["copies"]:
        name = row["conversation_id"] or "pi:fork0003"
        assert f"`history-recall forget {name}`" in told
    assert "none is left" not in told  # the forks have every word of it
    assert "stand in other conversations too" in told
    assert len(person.found(f'"{WORDS[0]}"')) == 1  # still answered, and as copies are shown: once
    assert person.done("forget", "pi:fork0003")["copies"] == []
    left = person.done("forget", "pi:fork0001")["copies"]
    assert [row["host_conversation_id"] for row in left] == ["fork0002"]
    last = person.done("forget", "pi:fork0002")
    assert (last["copies"], last["proof"]["ok"]) == ([], True)
    assert last["proof"]["words_looked_for"] >= 1
    person.index()
    assert WORDS[0].encode() not in everything(person)
    assert person.found(f'"{WORDS[1]}"') == ["1abc0001"]


def test_a_copy_whose_records_were_written_anew_is_named_by_its_header(person: Person) -> None:
    """A database of a host gives every record of a branch an id of its own."""
    session(person, "root", WORDS[0])
    session(person, "branch", WORDS[1], parent_session_id="root", model_config='{"_branched_from": "root"}')
    with closing(sqlite3.connect(person.home / ".hermes" / "state.db")) as connection:
        hermes_said(connection, "branch", "assistant", f"The {WORDS[0]} fails for want of oil.")
        connection.commit()
    session(person, "other", WORDS[2])
    person.index()
    (copy,) = person.done("forget", "hermes:root")["copies"]
    assert (copy["host_conversation_id"], copy["entries"]) == ("branch", 1)


def test_of_another_profile_nothing_is_named(person: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(person, 0)
    copy = fork(person, path, "fork0001", said(1))
    aside = person.home / "aside"
    aside.mkdir()
    copy = copy.rename(aside / copy.name)
    person.index()
    with monkeypatch.context() as patch:
        patch.setenv("HISTORY_RECALL_PROFILE", "other")
        person.done("sources", "add", copy)
        person.done("index", copy)
    done = person.done("forget", "pi:0abc0001")
    assert done["copies"] == []
    assert done["proof"]["words_elsewhere"] >= 1  # and still the proof does not call these gone
