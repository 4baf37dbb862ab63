"""A yes for some projects: nothing of another one is in any request, and the rest goes on as far as it may."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from benchmarks.servers import replies
from recall.index import projects
from recall.index.database import Database
from tests.indexing.product import Log, Product, append


@pytest.fixture(autouse=True)
def elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """The server stands for one on another machine."""
    for module in ("recall.models.gate", "recall.consents"):
        monkeypatch.setattr(f"{module}.is_loopback", lambda endpoint: False)


def talk(product: Product, identity: str, subject: str, folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    turns = [(f"Why does the {subject} stall at dawn?", f"The {subject} stalls because its queue is never drained.")]
    return product.add(Log(identity, str(folder)).talk(turns), identity)


@pytest.fixture
def bound(product: Product) -> dict[str, str]:
    """Two projects, `mill` and `dam`, by their ids."""
    ids = {}
    for name in ("mill", "dam"):
        (product.home / name).mkdir()
        ids[name] = str(product.done("project", "bind", product.home / name)["project_id"])
    return ids


def decided(product: Product, identity: str, project_id: str) -> None:
    """Another program moves a conversation that is not indexed yet."""
    database = Database.open(product.database)
    with database.write() as connection:
        (project,) = projects.named(connection, 1, project_id)
        projects.decide(connection, 1, "pi", identity, project.project_no, 1)
    database.close()


def indexed(product: Product) -> set[str]:
    return {row[0] for row in product.rows("SELECT host_conversation_id FROM conversations")}


def test_only_what_was_allowed_is_sent(product: Product, bound: dict[str, str]) -> None:
    talk(product, "a201", "wheel", product.home / "mill")
    talk(product, "a202", "sluice", product.home / "dam")
    talk(product, "a203", "kettle", product.home / "kitchen")

    shown = product.done("consent", "grant", "--project", "mill")
    assert (shown["granted"], shown["projects"]) == (False, [bound["mill"]])
    ran = product.run("index-all", "--sessions", "10")

    assert (ran.code, ran.answer["aborted"], ran.failed) == (0, None, [])
    assert indexed(product) == {"a201"}
    assert {one["code"] for one in ran.answer["skipped"]} == {"consent_required"}
    sent = product.sent_since()
    assert "wheel" in sent
    assert "sluice" not in sent
    assert "kettle" not in sent
    status = product.done("status")
    assert status["queue"] == {"waiting": 2, "failed": []}
    assert status["consent"]["projects"] == [bound["mill"]]

    product.done("consent", "grant", "--project", "none")
    product.done("index-all", "--sessions", "10")
    assert indexed(product) == {"a201", "a203"}
    assert "sluice" not in product.sent_since()
    product.done("consent", "grant")
    product.done("index-all", "--sessions", "10")
    assert indexed(product) == {"a201", "a202", "a203"}


def test_the_words_of_other_topics_are_not_shown_to_the_model(product: Product, bound: dict[str, str]) -> None:
    product.set(model="offline")
    talk(product, "a211", "sluice", product.home / "dam")
    talk(product, "a212", "kettle", product.home / "kitchen")
    product.done("index-all")
    beyond = str(product.done("status")["topics"])
    product.set(model="openai/local")
    product.done("consent", "grant", "--project", "mill")
    for identity, subject in (("a213", "wheel"), ("a214", "axle")):
        answer = product.done("index", talk(product, identity, subject, product.home / "mill"))
        (done,) = answer["completed"]
        withheld = [one for one in done["warnings"] if one["code"] == "topics_withheld"]
        assert [one["message"].split()[0] for one in withheld] == [beyond]
    sent = product.sent_since()
    assert "wheel" in sent  # of the own project a topic is shown
    assert "sluice" not in sent
    assert "kettle" not in sent


def test_a_topic_of_two_projects_is_withheld_too(product: Product, bound: dict[str, str]) -> None:
    product.set(model="offline")
    talk(product, "a221", "wheel", product.home / "mill")
    talk(product, "a222", "wheel", product.home / "dam")
    product.done("index-all")
    assert product.rows("SELECT count(DISTINCT topic_no), count(*) FROM memberships") == [(1, 2)]
    product.set(model="openai/local")
    product.done("consent", "grant", "--project", "mill")
    product.done("index", talk(product, "a223", "wheel", product.home / "mill"))
    assert "topic_id" not in product.sent_since().partition("HISTORY")[2]


def test_the_words_of_what_has_left_a_topic_or_the_project_are_withheld_until_forgotten(
    product: Product, bound: dict[str, str]
) -> None:
    """The topic is of one project by what is in it now, and called by what a conversation of another one said."""
    product.set(model="offline")
    talk(product, "a251", "sluice", product.home / "mill")
    product.done("index-all")
    first = product.rows("SELECT topic_no FROM memberships")[0][0]
    talk(product, "a252", "wheel", product.home / "mill")
    product.done("index-all")
    with closing(sqlite3.connect(product.database)) as connection:
        connection.execute("UPDATE memberships SET topic_no = ?", (first,))
        connection.execute("DELETE FROM topics WHERE topic_no NOT IN (SELECT topic_no FROM topic_events)")
        connection.commit()
    product.done("project", "move", "pi:a251", "dam")
    with closing(sqlite3.connect(product.database)) as connection:
        connection.execute(
            """DELETE FROM memberships WHERE facet_no IN (SELECT facet_no FROM facets JOIN conversations
               USING (conversation_no) WHERE host_conversation_id = 'a251')"""
        )
        connection.commit()
    assert "sluice" in product.rows("SELECT title || description FROM topics WHERE topic_no = ?", first)[0][0]
    product.set(model="openai/local")
    product.done("consent", "grant", "--project", "mill")
    product.done("index", talk(product, "a253", "wheel", product.home / "mill"))
    sent = product.sent_since()
    assert "wheel" in sent
    assert "sluice" not in sent
    product.done("forget", "pi:a251")
    before = len(product.seen())
    product.done("index", talk(product, "a254", "wheel", product.home / "mill"))
    placed = product.sent_since(before)
    assert "topic_id" in placed.partition("HISTORY")[2]  # by the words of what is left in it
    assert "sluice" not in placed


def test_the_question_names_the_project_and_its_token_says_yes_to_it_alone(
    product: Product, bound: dict[str, str]
) -> None:
    source = talk(product, "a231", "sluice", product.home / "dam")
    product.done("consent", "grant", "--project", bound["mill"])

    asked = product.run("index", source)

    assert (asked.code, asked.error["code"]) == (3, "consent_required")
    assert asked.error["data"]["projects"] == [bound["dam"]]
    assert f"of dam ({bound['dam']})" in asked.error["data"]["question"]
    assert f"consent grant --project {bound['dam']}`" in asked.error["hint"]
    assert product.seen() == ()
    assert product.done("index", source, "--confirm", asked.error["data"]["token"])["completed"]
    shown = product.done("consent", "show")
    assert (shown["granted"], shown["projects"]) == (False, sorted(bound.values()))
    assert [one["projects"] for one in shown["grants"]] == [[bound["dam"]], [bound["mill"]]]
    product.done("consent", "revoke")
    assert product.done("consent", "show")["projects"] == []
    again = product.run("index", talk(product, "a232", "axle", product.home / "mill"))
    assert "projects" not in again.error["data"]  # without any yes the question is about everything


def test_what_is_moved_out_of_the_project_goes_no_further(product: Product, bound: dict[str, str]) -> None:
    log = Log("a241", str(product.home / "mill")).talk([("Why does the wheel stall?", "Its queue is never drained.")])
    source = product.add(log, "a241")
    product.done("consent", "grant", "--project", "mill")
    product.done("index", source)
    product.done("project", "move", "pi:a241", "dam")
    sent = len(product.seen())
    append(source, log, [("And the axle?", "The axle is fine.")])
    ran = product.run("index", source)
    assert (ran.code, ran.error["code"], ran.error["data"]["projects"]) == (3, "consent_required", [bound["dam"]])
    # A word that was said before it is indexed at all holds as well.
    decided(product, "a242", bound["dam"])
    ran = product.run("index", talk(product, "a242", "cog", product.home / "mill"))
    assert ran.error["data"]["projects"] == [bound["dam"]]
    assert len(product.seen()) == sent


def test_moved_while_the_run_is_under_way(product: Product, bound: dict[str, str]) -> None:
    """The next request is not sent."""
    product.set(model="offline")
    talk(product, "a251", "wheel", product.home / "mill")
    product.done("index-all")
    product.set(model="openai/local")
    product.done("consent", "grant", "--project", "mill")
    source = talk(product, "a252", "wheel and the axle", product.home / "mill")

    def moved(body: object) -> str:
        decided(product, "a252", bound["dam"])
        return replies.answer(body)  # type: ignore[arg-type]

    product.answers(moved)
    ran = product.run("index", source)
    assert (ran.code, ran.error["code"]) == (3, "consent_required")
    assert len(product.seen()) == 1
    assert "a252" not in indexed(product)


def test_no_repair_and_no_rewriting_beyond_it(product: Product, bound: dict[str, str]) -> None:
    product.set(repair="always")
    talk(product, "a261", "wheel", product.home / "mill")
    talk(product, "a262", "axle", product.home / "mill")
    product.done("consent", "grant", "--project", "mill")
    answer = product.done("index-all", "--sessions", "10")
    assert [one["repair"]["state"] for one in answer["completed"]] == ["skipped", "skipped"]
    assert {kind for kind, _, _ in product.ledger()} <= {"analysis", "placement"}
    assert product.run("repair").error["code"] == "consent_required"
    sent = len(product.seen())
    for folder, status in ((product.home, "consent_required"), (product.home / "mill", "done")):
        product.set(cwd=str(folder))
        found = product.done("search", "wheel stalls", "--mode", "hybrid")
        assert found["rewrite_status"] == status
        assert found["conversations"]
    assert len(product.seen()) == sent + 1


def test_forget_words_a_topic_anew_only_where_it_may(product: Product, bound: dict[str, str]) -> None:
    product.set(model="offline")
    for identity, folder in (("a271", "mill"), ("a272", "mill"), ("a273", "dam")):
        talk(product, identity, "wheel", product.home / folder)
    product.done("index-all")
    product.set(model="openai/local")
    product.done("consent", "grant", "--project", "mill")
    done = product.done("forget", "pi:a271")
    assert (done["words"]["code"], product.seen()) == ("consent_required", ())
    product.set(model="offline")
    product.done("forget", "pi:a273")
    product.done("forget", "pi:a271", "--unforget")
    product.done("index-all")
    product.set(model="openai/local")
    done = product.done("forget", "pi:a271")
    assert (done["words"]["code"], len(done["words"]["by_model"])) == (None, 1)


def test_a_project_that_nobody_knows_is_no_consent(product: Product, bound: dict[str, str]) -> None:
    ran = product.run("consent", "grant", "--project", "mil")
    assert (ran.code, ran.error["code"]) == (1, "unknown_project")
    assert product.done("consent", "show")["grants"] == []
