"""A person with a home, folders they work in, and conversations of Pi and OMP, indexed with the built-in analyser."""

from __future__ import annotations

import io
import json
import sqlite3
from contextlib import closing, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from recall.surfaces.cli import main
from tests.indexing.product import Log

PI = ".pi/agent/sessions/--work--"
OMP = ".omp/agent/sessions/--work--"


@dataclass
class Person:
    """Commands go through the command line, with --json."""

    home: Path
    database: Path
    monkeypatch: pytest.MonkeyPatch
    printed: list[str] = field(default_factory=list)

    def run(self, *words: str | Path) -> tuple[int, dict[str, Any]]:
        out, err = io.StringIO(), io.StringIO()
        with redirect_stdout(out), redirect_stderr(err):
            code = main([*map(str, words), "--json"])
        self.printed.append(out.getvalue())
        return code, json.loads(out.getvalue())

    def done(self, *words: str | Path) -> dict[str, Any]:
        code, answer = self.run(*words)
        assert code == 0, answer
        return answer

    def refused(self, *words: str | Path) -> str:
        code, answer = self.run(*words)
        assert code != 0, answer
        return str(answer["error"]["code"])

    def folder(self, *parts: str) -> Path:
        path = self.home.joinpath("work", *parts)
        path.mkdir(parents=True, exist_ok=True)
        return path

    def write(self, log: Log, store: str = PI, **header: object) -> Path:
        """A log in a host's own folder."""
        path = self.home / store / f"2026-09-02T13-05-00-000Z_{log.identity}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        head, *rest = log.bytes().split(b"\n")
        path.write_bytes(b"\n".join([json.dumps(json.loads(head) | header).encode(), *rest]))
        return path

    def talks(self, identity: str, cwd: Path | str, about: str, store: str = PI, **header: object) -> Path:
        """A short conversation about something, in a folder."""
        turns = [(f"Why does the {about} fail?", f"The {about} of {identity} fails for want of oil.")]
        log = Log(identity, str(cwd)).talk(turns)
        return self.write(log, store, **header)

    def index(self) -> None:
        answer = self.done("index-all")
        assert not answer["failed"], answer

    def rows(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        with closing(sqlite3.connect(f"file:{self.database}?mode=ro", uri=True)) as connection:
            return [tuple(row) for row in connection.execute(sql, values)]

    def places(self) -> dict[str, tuple[str | None, str]]:
        """The host's id -> (project id, why)."""
        rows = self.rows(
            """SELECT c.host_conversation_id, p.project_id, c.why_project
               FROM conversations AS c LEFT JOIN projects AS p USING (project_no)"""
        )
        return {row[0]: (row[1], row[2]) for row in rows}

    def found(self, query: str, *options: str | Path) -> list[str]:
        answer = self.done("search", query, *options)
        return [one["host_conversation_id"] for one in answer["conversations"]]


def a_repository(folder: Path) -> Path:
    """What git itself makes of a new repository, as far as it is looked at."""
    (folder / ".git").mkdir(parents=True)
    (folder / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    return folder


def a_worktree(of: Path, folder: Path) -> Path:
    """A worktree as `git worktree add` makes it."""
    inner = of / ".git" / "worktrees" / folder.name
    inner.mkdir(parents=True)
    (inner / "commondir").write_text("../..\n")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / ".git").write_text(f"gitdir: {inner}\n")
    return folder
