"""The brief: bounded, cited, each entry once, the project first, what was replaced left out, the same each time."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from recall.brief import BriefRequest, brief
from recall.index import successions
from recall.scope import ANYWHERE
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
