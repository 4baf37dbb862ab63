"""The public coding set with its three directories bound as projects: scopes, tiers and the brief on real questions."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from recall.brief import BriefRequest, brief
from recall.index.database import Database
from recall.scope import ANYWHERE
from recall.search_request import SearchRequest
from recall.searcher import search
from tests.projects.person import Person
from tests.shared import ROOT

SET = ROOT / "fixtures" / "coding" / "a"
PROJECTS = ("ledger", "platform", "driftlog")
EVERY = 3  # of the questions


@pytest.fixture(scope="module")
def bound(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Database, dict[str, str]]]:
    """The set indexed with the built-in analyser, and conversation -> the name of its project."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        database = tmp_path_factory.mktemp("coding") / "data" / "index.db"
        monkeypatch.setenv("HISTORY_RECALL_DB", str(database))
        person = Person(tmp_path_factory.mktemp("home"), database, monkeypatch)
        person.done("sources", "add", SET / "sources")
        person.index()
        for name in PROJECTS:
            assert person.done("project", "bind", f"/home/dev/{name}", "--no-marker")["conversations"] > 3
        rows = person.rows(
            "SELECT host_conversation_id, p.name FROM conversations JOIN projects AS p USING (project_no)"
        )
        opened = Database.open_for_reading(database)
        yield opened, {row[0]: row[1] for row in rows}
        opened.close()


def questions() -> list[dict[str, Any]]:
    lines = (SET / "queries.jsonl").read_text(encoding="utf-8").split("\n")
    return [q for q in map(json.loads, filter(None, lines)) if q["gold"]][::EVERY]


def found(database: Database, question: dict[str, Any], scope: str, project: str | None) -> list[dict[str, Any]]:
    request = SearchRequest((question["query"],), scope=scope, project=project)
    answer: Any = search(database, "default", request)
    return list(answer["conversations"])


def test_project_never_shows_anothers_and_prefer_is_as_good_as_all(
    bound: tuple[Database, dict[str, str]],
) -> None:
    database, project_of = bound
    first_of_all = first_of_prefer = 0
    for question in questions():
        gold = {g["conversation"] for g in question["gold"]}
        project = project_of[question["gold"][0]["conversation"]]
        only = found(database, question, "project", project)
        assert {project_of[c["host_conversation_id"]] for c in only} <= {project}
        everything, preferred = found(database, question, "all", None), found(database, question, "prefer", project)
        first_of_all += bool(everything) and everything[0]["host_conversation_id"] in gold
        first_of_prefer += bool(preferred) and preferred[0]["host_conversation_id"] in gold
        best = {c["host_conversation_id"] for c in everything[:1]}
        assert best <= {c["host_conversation_id"] for c in preferred}, "a better hit from elsewhere is on the page"
    assert first_of_prefer >= first_of_all


@pytest.mark.parametrize("max_chars", [500, 2000, 8000])
def test_the_brief_is_cited_and_inside_its_limit(bound: tuple[Database, dict[str, str]], max_chars: int) -> None:
    database, _ = bound
    answer = brief(database, "default", BriefRequest("ledger", max_chars), ANYWHERE)
    text = str(answer["text"])
    assert 0 < len(text) <= max_chars
    lines = [line for line in text.split("\n") if line.startswith("- ")]
    assert lines
    assert all("/" in line.rsplit("[", 1)[1] for line in lines)
    assert not any(line.startswith("- superseded") for line in lines)
    assert text == brief(database, "default", BriefRequest("ledger", max_chars), ANYWHERE)["text"]


def test_the_set_is_where_it_is_looked_for() -> None:
    assert len(list(Path(SET / "sources").iterdir())) == 20
