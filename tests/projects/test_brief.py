"""The brief: bounded, cited, each entry once, the project first, what was replaced left out, the same each time."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from recall.brief import BriefRequest, brief
from recall.browser import BrowseRequest, browse
from recall.index import successions
from recall.scope import ANYWHERE, Here
from recall.types import StoredFinding, Succession
from tests.search.builder import START, Index, Turn

CITED = re.compile(r"- (open|decided|topic|found|worked|failed): .+ \[c_\w{12}/e\d+, \d{4}-\d\d-\d\d\]")


@pytest.fixture
def index(tmp_path: Path) -> Iterator[Index]:
    made = Index(tmp_path / "index.db")
    with made.database.write() as connection:
        connection.execute(
            "INSERT INTO projects (project_id, profile_no, name, marker, created_at) VALUES ('p_x', 1, 'Heron', 'm', 0)"
        )
    for number in range(12):
        columns: dict[str, object] = {"project_no": 1 if number % 2 else None}
        turns = [Turn(f"Text {number} {place}") for place in range(3)]
        held = made.conversation(turns, f"c{number}", started=START + number * 10**8, **columns)
        topic = made.topic(f"T{number}")
        findings = [
            (f"Question {number} that nobody has answered so far", "open", "e0"),
            (f"Decision {number} about the gearbox", "decided", "e1"),
            (f"The same entry {number} once more", "decided", "e1"),
        ]
        made.facet(held, f"Facet {number}", ["e2"], findings=findings, topic_no=topic)
    yield made
    made.database.close()


def text(index: Index, max_chars: int, project: str | None = None) -> str:
    return str(brief(index.database, "default", BriefRequest(project, max_chars), ANYWHERE)["text"])


@pytest.mark.parametrize("max_chars", [500, 2000, 8000])
def test_bounded_cited_fenced_and_the_same_each_time(index: Index, max_chars: int) -> None:
    found = text(index, max_chars, "Heron")
    assert 0 < len(found) <= max_chars
    assert found == text(index, max_chars, "Heron")
    assert found.startswith("<<<HISTORY ")
    lines = [line for line in found.split("\n") if line.startswith("- ")]
    assert lines
    assert all(CITED.fullmatch(line) for line in lines)
    cited = re.findall(r"\[(c_\w+/e\d+),", found)
    assert len(cited) == len(set(cited))


def test_the_project_first_with_open_questions_and_the_latest_decisions(index: Index) -> None:
    lines = [line for line in text(index, 8000, "Heron").split("\n") if line.startswith("- ")]
    assert lines[0].startswith("- open: Question 11")
    assert lines[1].startswith("- decided: Decision 11")
    assert lines[2].startswith("- topic: T11")
    assert lines[3].startswith("- open: Question 9")
    numbers = [int(n) for line in lines for n in re.findall(r"(?:Question|Decision) (\d+)", line)]
    assert [n % 2 for n in numbers] == sorted((n % 2 for n in numbers), reverse=True)


def test_what_was_replaced_is_left_out(index: Index) -> None:
    assert "Decision 11 " in text(index, 8000)
    stored = StoredFinding(12, "t_t11", "", "decided", "e1", 0, "", None)
    with index.database.write() as connection:
        connection.execute("UPDATE conversations SET cwd = '/x', project_no = NULL")
        connection.execute("UPDATE entries SET at = at - 1 WHERE conversation_no = 12")
        successions.write(connection, 1, [Succession(0, "e1", 0, "q", stored, "q")], 0)
        connection.execute("UPDATE supersessions SET older_conversation_no = 12, newer_conversation_no = 1")
    assert "Decision 11 " not in text(index, 8000)


def test_the_same_words_are_said_once_and_a_label_is_not_repeated(index: Index) -> None:
    for number, said in enumerate(["Open question: does it  Tick?", "does it tick?", "Open question: DOES IT tick?"]):
        held = index.conversation([Turn(f"Same {number}")], f"same{number}", started=START + (20 + number) * 10**8)
        index.facet(held, f"Same {number}", ["e0"], findings=[(said, "open", "e0")])
    lines = [line for line in text(index, 8000).split("\n") if "tick?" in line.lower()]
    assert len(lines) == 1
    assert lines[0].startswith("- open: DOES IT tick? [c_")  # the latest


def asked(index: Index, name: str, said: str, then: list[Turn], **columns: object) -> int:
    """A conversation that leaves something open, and what was said next; its number."""
    held = index.conversation([Turn(said), *then], name, started=START + 50 * 10**8, **columns)
    index.facet(held, f"About {name}", ["e0"], findings=[(said, "open", "e0")], topic_no=index.topic(name))
    return held


WHETHER = "Open question: does the gateway send Retry-After on a 503 of its own?"


@pytest.mark.parametrize(
    ("reply", "shown"),
    [
        ("I looked: the gateway sends Retry-After with each 503 of its own.", False),
        ("Done. The tests pass, and the gateway was restarted.", True),
        ("Does the gateway send Retry-After on a 503 of nginx as well?", True),
        ("Still open: whether the gateway sends Retry-After on its own 503.", True),
        ("I don't know whether the gateway sends Retry-After on its own 503.", True),
    ],
)
def test_a_question_that_was_answered_next_is_not_open(index: Index, reply: str, shown: bool) -> None:
    asked(index, "retry", WHETHER, [Turn("Let me look.", "assistant"), Turn(reply, "assistant")])
    assert ("Retry-After on a 503 of its own" in text(index, 8000)) is shown


@pytest.mark.parametrize(
    ("question", "reply", "role", "shown"),
    [
        (
            "Open question: do we also need fullfsync on macOS?",
            "Yes, add PRAGMA fullfsync=ON on darwin.",
            "user",
            False,
        ),
        ("Open question: do we also need fullfsync on macOS?", "No, leave fullfsync alone.", "user", False),
        ("Open question: do we also need fullfsync on macOS?", "Yes, go on with the retry limit.", "user", True),
        ("Open question: do we also need fullfsync on macOS?", "Set fullfsync later, after the release.", "user", True),
        ("Open question: do we also need fullfsync on macOS?", "Yes, add fullfsync on darwin.", "assistant", True),
        ("Open question: do we also need fullfsync on macOS?", "No idea about fullfsync, still open.", "user", True),
        ("未决:fullfsync 在 macOS 上要不要开?", "要,darwin 上打开 fullfsync。", "user", False),
    ],
)
def test_who_is_asked_answers_with_a_yes_or_a_no(
    index: Index, question: str, reply: str, role: str, shown: bool
) -> None:
    said = index.conversation([Turn(question, "assistant"), Turn(reply, role)], "macos", started=START + 50 * 10**8)
    index.facet(said, "About macos", ["e0"], findings=[(question, "open", "e0")], topic_no=index.topic("macos"))
    assert ("macOS" in text(index, 8000).replace("topic: macos", "")) is shown


def test_an_answer_on_a_branch_that_was_given_up_is_none(index: Index) -> None:
    given_up = Turn("The gateway sends Retry-After with each 503 of its own.", "assistant", marks="abandoned_branch")
    asked(index, "retry", WHETHER, [given_up])
    assert "Retry-After on a 503 of its own" in text(index, 8000)


@pytest.mark.parametrize(
    ("status", "later", "project", "shown"),
    [
        ("found", True, 1, False),
        ("decided", True, 1, False),
        ("open", True, 1, True),
        ("found", False, 1, True),
        ("found", True, None, True),
    ],
)
@pytest.mark.parametrize(
    ("question", "answer"),
    [
        (WHETHER, "The gateway sends Retry-After with each 503 of its own."),
        (
            "还有一个没定的:spool 里是明文日志,billing 节点的磁盘要不要加密?",
            "spool 明文日志在 billing 节点的磁盘上加密了。",
        ),
    ],
)
def test_a_later_finding_of_the_same_topic_and_project_answers(
    index: Index, question: str, answer: str, status: str, later: bool, project: int | None, shown: bool
) -> None:
    held = asked(index, "retry", question, [], project_no=1)
    at = START + (60 if later else 40) * 10**8
    other = index.conversation([Turn(answer)], "answer", started=at, project_no=project)
    with index.database.read() as connection:
        (topic,) = connection.execute(
            "SELECT topic_no FROM memberships JOIN facets USING (facet_no) WHERE conversation_no = ?", (held,)
        ).fetchone()
    index.facet(other, "The answer", ["e0"], findings=[(answer, status, "e0")], topic_no=topic)
    assert (question[-12:] in text(index, 8000)) is shown


def test_a_project_is_not_crowded_out_by_what_is_newer(index: Index) -> None:
    for number in range(450):
        held = index.conversation([Turn(f"Newer {number}")], f"n{number}", started=START + (100 + number) * 10**7)
        index.facet(held, f"N{number}", ["e0"], findings=[(f"Newer decision {number}", "decided", "e0")])
    with index.database.write() as connection:
        connection.execute("UPDATE conversations SET started_at = 0 WHERE project_no = 1")
        connection.execute(
            "UPDATE entries SET at = 1 WHERE conversation_no IN (SELECT conversation_no FROM conversations"
            " WHERE project_no = 1)"
        )
    lines = [line for line in text(index, 8000, "Heron").split("\n") if line.startswith("- ")]
    assert sum("Decision" in line for line in lines[:20]) == 6


def test_a_topic_of_two_projects_is_called_by_what_each_said_of_it(index: Index) -> None:
    shared = index.topic("Zanzibar", "What the other one said of it", aliases=["zanzibarium"])
    for name, project in (("mine", 1), ("theirs", None)):
        held = index.conversation([Turn(f"About {name}")], name, started=START + 90 * 10**8, project_no=project)
        index.facet(held, f"Called so by {name}", ["e0"], aliases=[f"alias of {name}"], topic_no=shared)
    here = Here(current=("pi", "c11"), widest="project")
    found = str(brief(index.database, "default", BriefRequest(None, 8000), here)["text"])
    assert "- topic: Called so by mine" in found
    assert "Zanzibar" not in found
    everything = text(index, 8000)
    assert "- topic: Zanzibar" in everything
    request = BrowseRequest(scope="project", project="Heron", limit=50)
    page: Any = browse(index.database, "default", request)
    (topic,) = [one for one in page["entries"] if one["topic_id"] == "t_zanzibar"]
    assert (topic["title"], topic["aliases"]) == ("Called so by mine", ["alias of mine"])
    inside = browse(index.database, "default", replace(request, topic_id="t_zanzibar"))
    assert "anzibar" not in json.dumps([page, inside]).replace("t_zanzibar", "")
    whole: Any = browse(index.database, "default", BrowseRequest(limit=50))
    assert "Zanzibar" in {one["title"] for one in whole["entries"]}
