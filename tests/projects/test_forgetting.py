"""Forgetting: gone from every layer, proved, kept out, and let in again."""

from __future__ import annotations

import io
import os
import sqlite3
from contextlib import closing, redirect_stdout
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from recall import forgetting
from recall.errors import SourceError
from recall.index import frequencies
from recall.surfaces.cli import main
from tests.indexing.product import Log
from tests.projects.person import Person

WORDS = ("quillonbrok", "vermouthglat", "zephyrmantok")  # as the text index keeps them: no ending comes off


def said(number: int) -> tuple[str, str]:
    word = WORDS[number]
    return (
        f"Why does the {word} engine rattle?",
        f"The cause was found: the {word} engine rattles because the {word} bolt is loose.",
    )


def everything(person: Person) -> bytes:
    return b"\n".join(path.read_bytes() for path in person.database.parent.rglob("*") if path.is_file()).lower()


def write(person: Person, number: int, title: str | None = None) -> Path:
    log = Log(f"{number}abc0001", str(person.folder("app"))).talk([said(number)])
    if title:
        log.titled(title)
    return person.write(log)


def test_nothing_of_it_is_left_and_the_rest_stays(person: Person) -> None:
    for number in range(3):
        write(person, number, f"About {WORDS[number]}")
    person.index()
    assert WORDS[0].encode() in everything(person)
    listed = person.done("forget", "pi:0abc0001", "--dry-run")
    assert [row["host_conversation_id"] for row in listed["forgotten"]] == ["0abc0001"]
    assert person.found(WORDS[0]) == ["0abc0001"]
    done = person.done("forget", "pi:0abc0001")
    assert done["proof"]["ok"], done["proof"]
    assert done["proof"]["words_looked_for"] >= 1
    assert WORDS[0].encode() not in everything(person)
    assert person.found(WORDS[0]) == []
    assert person.found(WORDS[1]) == ["1abc0001"]
    person.printed.clear()
    person.done("browse")
    person.done("conversations")
    person.done("status")
    person.done("conversations", "--state", "forgotten")
    person.done("brief")
    person.done("export")
    person.done("export", "--format", "md")
    person.done("forget", "pi:0abc0001", "--dry-run")
    person.done("forget", "pi:0abc0001")
    person.run("index", "pi:0abc0001")
    for topic in person.done("browse")["entries"]:
        person.done("browse", topic["topic_id"])
        person.done("browse", topic["topic_id"], "--history")
    assert WORDS[0] not in "".join(person.printed).lower()
    assert person.done("doctor", "--deep")["ok"]


def test_it_stays_out_until_it_is_let_in_again(person: Person) -> None:
    path = write(person, 0)
    person.index()
    before = person.done("search", WORDS[0])["conversations"][0]["conversation_id"]
    person.done("forget", before)
    states = {row["host_conversation_id"]: row["state"] for row in person.done("conversations")["conversations"]}
    assert states == {"0abc0001": "forgotten"}
    person.index()
    assert person.found(WORDS[0]) == []
    for name in (path, before, "pi:0abc0001", "0abc0001"):
        code, answer = person.run("index", name)
        assert (code, answer["error"]["code"]) == (1, "forgotten")
        assert "`history-recall forget pi:0abc0001 --unforget`" in answer["error"]["hint"]
    assert person.refused("index", before, "--dry-run") == "forgotten"
    assert WORDS[0].encode() not in everything(person)
    assert person.done("forget", before, "--unforget")["unforgotten"] == ["pi:0abc0001"]
    person.index()
    assert person.done("search", WORDS[0])["conversations"][0]["conversation_id"] == before
    assert person.refused("forget", before, "--unforget") == "not_found"


def test_a_project_and_before_a_date(person: Person) -> None:
    bound = person.done("project", "bind", person.folder("app"))
    write(person, 0)
    person.write(Log("1abc0001", "/elsewhere").talk([said(1)]))
    person.index()
    person.done("forget", "--project", bound["project_id"])
    assert person.found(WORDS[0]) == []
    assert person.found(WORDS[1]) == ["1abc0001"]
    assert person.done("forget", "--before", "2020-01-01")["forgotten"] == []
    person.done("forget", "--before", "2027-01-01")
    assert person.found(WORDS[1]) == []
    assert person.rows("SELECT count(*) FROM entries") == [(0,)]


def test_one_that_is_not_indexed_is_kept_out_as_well(person: Person) -> None:
    write(person, 0)
    person.done("forget", "pi:0abc0001")
    person.index()
    assert person.rows("SELECT count(*) FROM conversations") == [(0,)]


def test_what_is_unknown_or_not_one_thing_is_refused(person: Person) -> None:
    write(person, 0)
    person.index()
    assert person.refused("forget", "c_nosuchthing0") == "not_found"
    assert person.refused("forget") == "usage"
    assert person.refused("forget", "pi:0abc0001", "--before", "2026-01-01") == "usage"
    _, answer = person.run("forget", "--before", "yesterday")
    assert (answer["error"]["code"], answer["error"]["message"]) == ("invalid_time", "--before is 'yesterday'")
    assert person.refused("forget", "pi:0abc0001", "--profile", "other") == "not_found"


def test_a_topic_is_told_from_what_is_left_in_it(person: Person) -> None:
    for number in range(2):
        write(person, number, f"About {WORDS[number]}")
    person.index()
    with closing(sqlite3.connect(person.database)) as connection:
        first = connection.execute("SELECT min(topic_no) FROM memberships").fetchone()[0]
        connection.execute("UPDATE memberships SET topic_no = ?, reason = ?", (first, f"as in {WORDS[0]}"))
        connection.execute(
            "UPDATE topics SET title = ?, description = ?, aliases = ? WHERE topic_no = ?",
            (f"{WORDS[0]} and {WORDS[1]}", f"All of {WORDS[0]}", f'["{WORDS[0]}"]', first),
        )
        connection.commit()
    topic = person.rows("SELECT topic_id FROM topics WHERE topic_no = ?", first)[0][0]
    done = person.done("forget", "pi:0abc0001")
    assert topic in done["topics"]
    assert done["proof"]["ok"], done["proof"]
    assert WORDS[0].encode() not in everything(person)
    shown = person.done("browse")["entries"]
    assert [row["topic_id"] for row in shown] == [topic]
    assert WORDS[1] in shown[0]["title"].lower() + shown[0]["definition"].lower()
    person.done("forget", "pi:1abc0001")
    assert person.done("browse")["entries"] == []
    assert {row[0] for row in person.rows("SELECT state FROM topics")} == {"retired"}


def test_backups_go_and_cached_replies_too(person: Person) -> None:
    write(person, 0)
    person.index()
    folder = person.database.with_name("index.db.backups")
    folder.mkdir()
    (folder / "x.db").write_bytes(person.database.read_bytes() + WORDS[0].encode())
    with closing(sqlite3.connect(person.database)) as connection:
        for key, kind, source in (("k1", "analysis", "other"), ("k2", "placement", "other"), ("k3", "analysis", "x")):
            reply = f'{{"text": "{WORDS[0] if key == "k1" else key}"}}'
            connection.execute("INSERT INTO model_cache VALUES (1, ?, ?, 'm', ?, ?, 0)", (key, kind, reply, source))
        connection.commit()
    done = person.done("forget", "pi:0abc0001")
    assert done["backups"] == [str(folder / "x.db")]
    assert WORDS[0].encode() not in everything(person)
    assert person.rows("SELECT key FROM model_cache") == [("k3",)]


def test_a_reader_that_holds_the_log_makes_it_pending(person: Person) -> None:
    write(person, 0)
    person.index()
    with closing(sqlite3.connect(person.database)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM entries").fetchone()
        code, answer = person.run("forget", "pi:0abc0001")
    assert code == 1
    assert answer["proof"]["pending"]
    assert person.done("forget", "pi:0abc0001")["proof"]["ok"]
    assert WORDS[0].encode() not in everything(person)


def test_racing_an_index_run_it_wins(person: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    from recall import curation

    path = write(person, 0)
    original = curation.Curator._confirm_source

    def forgotten_meanwhile(self: curation.Curator, reading: object) -> None:
        with redirect_stdout(io.StringIO()):
            assert main(["forget", "pi:0abc0001", "--json"]) == 0
        original(self, reading)  # type: ignore[arg-type]

    monkeypatch.setattr(curation.Curator, "_confirm_source", forgotten_meanwhile)
    assert person.refused("index", path) == SourceError("forgotten", "").code
    assert WORDS[0].encode() not in everything(person)


KINDS = ("index", "forget", "unforget", "import")
STEPS = st.lists(st.tuples(st.sampled_from(KINDS), st.integers(0, 2)), min_size=1, max_size=4)
SEQUENCES = int(os.environ.get("HISTORY_RECALL_TEST_SEQUENCES", "200"))


@settings(max_examples=SEQUENCES, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(STEPS)
def test_random_sequences_keep_every_rule(person: Person, steps: list[tuple[str, int]]) -> None:
    """One index through all of them: what one sequence leaves is what the next begins with."""
    for number in range(3):
        if not list(person.home.rglob(f"*_{number}abc0001.jsonl")):
            write(person, number)
    bundle = person.home / "bundle.json"
    if not bundle.exists():
        person.index()
        person.done("export", "--output", bundle)
    for step, number in steps:
        name = f"pi:{number}abc0001"
        if step == "index":
            person.run("index", name)
        elif step == "import":
            person.done("import", bundle)
        elif step == "forget":
            code, answer = person.run("forget", name)
            assert code == 0, answer
        else:
            person.run("forget", name, "--unforget")
    with closing(sqlite3.connect(person.database)) as connection:
        held = {row[0] for row in connection.execute("SELECT host_conversation_id FROM conversations")}
        out = {row[0] for row in connection.execute("SELECT host_conversation_id FROM tombstones")}
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
    assert held.isdisjoint(out)
    raw = everything(person)
    for number, word in enumerate(WORDS):
        assert (word.encode() in raw) == (f"{number}abc0001" in held)


def test_a_word_of_the_schema_is_not_left_over(person: Person) -> None:
    """The file names its own columns; that is no word of the conversation."""
    words = "Why does the endpoint with its candidates and memberships need supersessions and placeholders?"
    person.write(Log("9abc0001", str(person.folder("app"))).talk([(words, "Nobody knows.")]))
    person.index()
    assert person.done("forget", "pi:9abc0001")["proof"]["left_over"] == {}


def test_what_was_cut_short_is_done_by_forgetting_it_once_more(person: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    """The process dies right after the transaction: by its id, with the log gone too, the rest is done."""
    path = write(person, 0)
    person.index()
    name = person.done("search", WORDS[0])["conversations"][0]["conversation_id"]
    folder = person.database.with_name("index.db.backups")
    folder.mkdir()
    (folder / "x.db").write_bytes(person.database.read_bytes())
    os.utime(folder / "x.db", (1_000_000_000, 1_000_000_000))

    def dies(database: object) -> None:
        raise RuntimeError

    with monkeypatch.context() as patch:
        patch.setattr(forgetting, "_without_backups", dies)
        assert person.run("forget", name)[0] == 1
    path.unlink()
    assert person.rows("SELECT count(*) FROM conversations") == [(0,)]
    assert WORDS[0].encode() in everything(person)
    (check,) = [one for one in person.run("doctor")[1]["checks"] if one["name"] == "forgotten"]
    assert (check["ok"], "forget it once more" in check["hint"]) == (False, True)
    done = person.done("forget", name)
    assert (done["backups"], done["proof"]["ok"], done["proof"]["rewritten"]) == ([str(folder / "x.db")], True, True)
    assert WORDS[0].encode() not in everything(person)
    assert person.done("doctor")["ok"]
    assert person.rows("SELECT count(*) FROM tombstones") == [(1,)]


def test_a_backup_that_cannot_be_removed_is_named(person: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    write(person, 0)
    person.index()
    folder = person.database.with_name("index.db.backups")
    (folder / "x.db").mkdir(parents=True)  # no file that could be unlinked
    code, answer = person.run("forget", "pi:0abc0001")
    assert (code, answer["proof"]["backups_left"], answer["proof"]["ok"]) == (1, [str(folder / "x.db")], False)


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in an index that is large enough for its commonest words to be counted."""
    monkeypatch.setattr(frequencies, "LEAST_ROWS", 1)
    monkeypatch.setattr(frequencies, "KEPT_LEAST", 1)


def common(person: Person) -> set[str]:
    return {row[0] for row in person.rows("SELECT word FROM frequent_words WHERE layer = 'text'")}


def test_common_words_are_counted_again_without_the_forgotten(person: Person, counted: None, tmp_path: Path) -> None:
    for number in range(3):
        write(person, number)
    person.index()
    assert common(person).issuperset(WORDS)
    person.done("export", "--output", tmp_path / "bundle.json")
    assert person.done("forget", "pi:0abc0001")["proof"]["ok"]
    assert common(person) & set(WORDS) == set(WORDS[1:])
    person.monkeypatch.setenv("HISTORY_RECALL_DB", str(tmp_path / "else" / "index.db"))
    person.database = tmp_path / "else" / "index.db"
    person.done("import", tmp_path / "bundle.json")
    assert common(person).issuperset(WORDS)


def test_counts_that_were_made_before_it_was_forgotten_are_not_kept(person: Person, counted: None) -> None:
    for number in range(2):
        write(person, number)
    person.index()
    original = frequencies.count

    def then_forgotten(connection: sqlite3.Connection, profile_no: int) -> object:
        found = original(connection, profile_no)
        with redirect_stdout(io.StringIO()):
            person.monkeypatch.setattr(frequencies, "count", original)
            assert main(["forget", "pi:0abc0001", "--json"]) in (0, 1)  # 1: the reader that counts holds the log
        return found

    write(person, 2)
    person.monkeypatch.setattr(frequencies, "count", then_forgotten)
    person.index()
    assert WORDS[0] not in common(person)
    assert person.done("forget", "pi:0abc0001")["proof"]["ok"]
    assert WORDS[0].encode() not in everything(person)
