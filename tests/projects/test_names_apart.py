"""Names that conversations of other projects brought neither change nor stand in what is answered in one project."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from typing import Any

import pytest

from recall.index import fulltext
from recall.index.database import Database
from recall.run import Cancellation
from recall.surfaces import tool_calls
from tests.indexing.product import Log
from tests.projects.person import Person

SECRET = "flimmergate"
Ask = Callable[..., dict[str, Any]]


@pytest.fixture
def two(person: Person) -> dict[str, str]:
    """P, whose conversation says the other word for a gearbox without a gearbox; Q, where that is what it is called."""
    ids = {name: person.done("project", "bind", person.folder(name))["project_id"] for name in ("p", "q")}
    said = [(f"What about the {SECRET}?", f"The {SECRET} was oiled on Monday, it turns.")]
    person.write(Log("inp00001", str(person.folder("p"))).talk(said))
    person.talks("inq00001", person.folder("q"), "gearbox")
    person.index()
    return ids


def as_a_model_names(person: Person, identity: str, **words: object) -> None:
    """The first facet of a conversation in a model's words, in the text index too."""
    database = Database.open(person.database)
    with database.write() as connection:
        number = connection.execute(
            "SELECT conversation_no FROM conversations WHERE host_conversation_id = ?", (identity,)
        ).fetchone()[0]
        fulltext.remove_curated(connection, 1, number)
        connection.execute("UPDATE conversations SET extractive = 0 WHERE conversation_no = ?", (number,))
        for column, value in words.items():
            sql = f"UPDATE facets SET {column} = ? WHERE conversation_no = ? AND ordinal = 0"
            connection.execute(sql, (value, number))
        fulltext.add_curated(connection, 1, number)
    database.close()


def in_one_topic(person: Person, **words: object) -> str:
    """Every facet in the first topic, which has these words; its id."""
    database = Database.open(person.database)
    with database.write() as connection:
        topic_no, topic_id = connection.execute(
            "SELECT topic_no, topic_id FROM topics ORDER BY topic_no LIMIT 1"
        ).fetchone()
        connection.execute("UPDATE memberships SET topic_no = ?, reason = ?", (topic_no, f"it is about {SECRET}"))
        for column, value in {"extractive": 0, **words}.items():
            connection.execute(f"UPDATE topics SET {column} = ? WHERE topic_no = ?", (value, topic_no))
        fulltext.refresh_topics(connection, 1)
    database.close()
    return str(topic_id)


@pytest.fixture
def agent(person: Person, two: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> Ask:
    """An agent in P, kept to its project."""
    cwd = str(person.folder("p"))

    def ask(name: str, **arguments: object) -> dict[str, Any]:
        with monkeypatch.context() as patch:
            patch.setenv("HISTORY_RECALL_PROJECTS_AGENT_SCOPE", "project")
            answer = tool_calls.call(f"history_recall_{name}", arguments, {"cwd": cwd}, lambda _: None, Cancellation())
        assert not answer.is_error, answer.document
        return dict(answer.document)

    return ask


@pytest.mark.parametrize("mode", ["hybrid", "semantic"])
def test_a_facet_of_another_project_rewrites_no_query(
    person: Person, two: dict[str, str], agent: Ask, mode: str
) -> None:
    asked = ("search", "flywheel", "--mode", mode)
    before = agent("search", queries=["flywheel"], mode=mode)
    assert before["conversations"] == []
    as_a_model_names(person, "inq00001", title="Flywheel", aliases=json.dumps([SECRET]))
    assert set(person.found("flywheel", "--mode", mode)) == {"inp00001", "inq00001"}  # the name does lead there
    assert agent("search", queries=["flywheel"], mode=mode) == before
    assert person.done(*asked, "--project", two["p"])["conversations"] == []
    as_a_model_names(person, "inp00001", title="Flywheel", aliases=json.dumps([SECRET]))  # its own names still do
    assert [
        one["host_conversation_id"] for one in agent("search", queries=["flywheel"], mode=mode)["conversations"]
    ] == ["inp00001"]


@pytest.mark.parametrize("mode", ["keyword", "hybrid", "semantic"])
def test_a_topic_with_words_from_beyond_draws_nothing_in_one_project(
    person: Person, two: dict[str, str], agent: Ask, mode: str
) -> None:
    topic = in_one_topic(
        person, title="Drivetrain woes", description="Gearbox and drivetrain", aliases='["drivetrain"]'
    )
    assert "inp00001" in person.found("drivetrain", "--mode", mode)
    assert agent("search", queries=["drivetrain"], mode=mode)["conversations"] == []
    assert "rivetrain" not in json.dumps(agent("browse"))
    told = json.dumps([agent("browse", topic_id=topic), agent("browse", topic_id=topic, history=True)])
    assert "rivetrain" not in told
    assert f"it is about {SECRET}" not in told  # why it was placed there can name what else is there
    assert f"it is about {SECRET}" in json.dumps(person.done("browse", topic))
    # What brought the words has left the topic, for another one: the words are there still.
    with closing(sqlite3.connect(person.database)) as connection:
        connection.execute(
            """DELETE FROM memberships WHERE facet_no IN (SELECT facet_no FROM facets JOIN conversations
               USING (conversation_no) WHERE host_conversation_id = 'inq00001')"""
        )
        connection.execute("UPDATE topic_events SET topic_no = (SELECT min(topic_no) FROM topics)")
        connection.commit()
    assert agent("search", queries=["drivetrain"], mode=mode)["conversations"] == []
    assert "rivetrain" not in json.dumps(agent("browse"))
    # And where that was this project's all the time, its words count.
    person.done("project", "move", "pi:inq00001", two["p"])
    assert agent("browse")["entries"][0]["title"] == "Drivetrain woes"
    assert "inp00001" in [
        one["host_conversation_id"] for one in agent("search", queries=["drivetrain"], mode=mode)["conversations"]
    ]


def test_what_a_repair_read_is_a_part_of_what_it_made(person: Person, two: dict[str, str], agent: Ask) -> None:
    """Its events name no conversation; the facets whose entries were read for it tell of which it is."""
    topic = in_one_topic(person, title="Drivetrain woes")
    with closing(sqlite3.connect(person.database)) as connection:
        facet = connection.execute(
            """SELECT facet_id, facet_no FROM facets JOIN conversations USING (conversation_no)
               WHERE host_conversation_id = 'inq00001'"""
        ).fetchone()
        connection.execute("DELETE FROM memberships WHERE facet_no = ?", (facet[1],))
        connection.execute("DELETE FROM topic_events")
        connection.execute("DELETE FROM topics WHERE topic_id <> ?", (topic,))
        connection.commit()
        assert agent("browse")["entries"][0]["title"] == "Drivetrain woes"
        connection.execute(
            """INSERT INTO topic_events (topic_no, conversation_no, at, kind, reason, before, after, evidence)
               SELECT topic_no, NULL, 0, 'redefined', 'read', '{}', '{}', ? FROM topics""",
            (json.dumps([{"facet_id": facet[0], "entry_id": "x", "sha256": "y"}]),),
        )
        connection.commit()
    assert "rivetrain" not in json.dumps(agent("browse"))


def test_an_agent_in_one_project_is_shown_that_one_only(person: Person, two: dict[str, str], agent: Ask) -> None:
    person.write(Log("free0001", str(person.folder("free"))).talk([("And now?", "Nothing.")]))
    person.index()
    shown = agent("project", action="show")
    assert [one["project_id"] for one in shown["projects"]] == [two["p"]]
    assert (shown["git_groups"], shown["without_project"]) == ([], 0)
    assert len(person.done("project", "list")["projects"]) == 2


def test_what_was_written_about_others_takes_no_room(person: Person, two: dict[str, str]) -> None:
    """More and better texts in Q than are looked at: those of P are chosen before anything is cut."""
    turns = [(f"Why the rattle {n}?", f"The rattle {n} is a rattle of rattle {n}.") for n in range(120)]
    person.write(Log("inq00002", str(person.folder("q"))).talk(turns))
    person.index()
    database = Database.open(person.database)
    with database.write() as connection:
        numbers = dict(connection.execute("SELECT host_conversation_id, conversation_no FROM conversations").fetchall())
        for n in range(260):
            connection.execute(
                """INSERT INTO facets (facet_id, conversation_no, ordinal, title, description, aliases)
                   VALUES (?, ?, ?, 'rattle', 'rattle', '[]')""",
                (f"f_many{n}", numbers["inq00002"], 100 + n),
            )
        for number in numbers.values():
            fulltext.remove_curated(connection, 1, number)
            fulltext.add_curated(connection, 1, number)
    database.close()
    words = "Oil and many other things that this long title speaks of beside the one word rattle"
    as_a_model_names(person, "inp00001", title=words, description=words)
    found = person.done("search", "rattle", "--mode", "keyword", "--project", two["p"])["conversations"]
    assert [one["host_conversation_id"] for one in found] == ["inp00001"]
    assert found[0]["entries"][0]["found_by"] == ["curated"]
