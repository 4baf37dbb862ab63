"""Moves between two projects while another process indexes the same conversations: every asker is a process of its own.

The indexing one is stopped in the middle of its work (SIGSTOP), and goes on once the moves are made and searched.
"""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.indexing.product import Log
from tests.projects.person import Person
from tests.shared import ROOT

pytestmark = pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="this system does not stop a process")
TALKS = ("first001", "second01")


def process(*words: str | Path, **options: Any) -> subprocess.Popen[str]:
    line = [sys.executable, "-m", "recall", *map(str, words)]
    return subprocess.Popen(line, cwd=ROOT, text=True, stdout=subprocess.PIPE, env=dict(os.environ), **options)


def command(*words: str | Path) -> dict[str, Any]:
    out, _ = process(*words, "--json").communicate()
    return dict(json.loads(out))


def by_tool(name: str, **arguments: object) -> dict[str, Any]:
    """One call of a tool, over MCP, of a server that is started for it."""
    messages: list[dict[str, Any]] = [
        {
            "id": 1,
            "method": "initialize",
            "params": {
                "protocolVersion": "2025-06-18",
                "capabilities": {},
                "clientInfo": {"name": "t", "version": "1"},
            },
        },
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/call", "params": {"name": f"history_recall_{name}", "arguments": arguments}},
    ]
    server = process("mcp", stdin=subprocess.PIPE)
    assert server.stdin is not None
    assert server.stdout is not None
    for message in messages:
        server.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        server.stdin.flush()
    answer = next(found for line in server.stdout if (found := json.loads(line)).get("id") == 2)
    server.communicate()
    return dict(answer["result"]["structuredContent"])


def found_in(project: str) -> list[str]:
    """What a search in a project finds, by command and by tool alike."""
    by_command = command("search", "gearbox", "--project", project)
    told = by_tool("search", queries=["gearbox"], project=project)
    names = [sorted(one["host_conversation_id"] for one in answer["conversations"]) for answer in (by_command, told)]
    assert names[0] == names[1]
    assert by_command["in_scope"] == told["in_scope"] == len(names[0])
    return names[0]


def stage(person: Person) -> str | None:
    try:
        rows = person.rows("SELECT stage FROM leases")
    except sqlite3.OperationalError:
        return None
    return rows[0][0] if rows else None


def free(person: Person) -> bool:
    """Whether nobody holds the write lock."""
    with closing(sqlite3.connect(person.database, timeout=0.1, isolation_level=None)) as connection:
        try:
            connection.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError:
            return False
        connection.execute("ROLLBACK")
    return True


@contextmanager
def stopped(person: Person, *words: str | Path) -> Iterator[None]:
    """An index run, stopped after it took its lease and before it published; it goes on and ends afterwards."""
    running = process(*words, "--json")
    deadline = time.monotonic() + 60
    while True:
        assert time.monotonic() < deadline
        assert running.poll() is None, "the run was not caught in the middle"
        if stage(person) in ("reading", "analysing"):
            running.send_signal(signal.SIGSTOP)
            if stage(person) is not None and free(person):
                break
            running.send_signal(signal.SIGCONT)
        time.sleep(0.01)
    try:
        yield
    finally:
        running.send_signal(signal.SIGCONT)
    out, _ = running.communicate()
    assert not json.loads(out)["failed"]


def test_before_during_and_after_an_index_run(person: Person) -> None:
    pytest.importorskip("mcp")
    p = person.done("project", "bind", person.folder("p"), "--name", "Pine")["project_id"]
    q = person.done("project", "bind", person.folder("q"), "--name", "Quince")["project_id"]
    paths = {}
    for name in TALKS:  # long enough to be met on the way
        turns = [(f"Why does the gearbox {n} of {name} fail?", f"Gearbox {n} lacks oil. " * 20) for n in range(300)]
        paths[name] = person.write(Log(name, str(person.folder("p"))).talk(turns))
    first, second = (f"pi:{name}" for name in TALKS)

    # Before anything is indexed: a move by command, and by tool.
    assert command("project", "move", first, q)["indexed"] is False
    assert by_tool("move", conversation_id=second, project_id=q)["project"] == q
    assert found_in(p) == found_in(q) == []

    # During the first run: one goes back, so that each project gets one.
    with stopped(person, "index-all"):
        assert by_tool("move", conversation_id=first, project_id=p)["previous"] == q
        assert found_in(p) == found_in(q) == []
    assert (found_in(p), found_in(q)) == ([TALKS[0]], [TALKS[1]])

    # After it: they change places, one by command and one by tool.
    assert command("project", "move", first, q)["previous"] == p
    assert by_tool("move", conversation_id=second, project_id=p)["previous"] == q
    assert (found_in(p), found_in(q)) == ([TALKS[1]], [TALKS[0]])

    # During a run that indexes one of them again.
    with stopped(person, "index", paths[TALKS[0]], "--force"):
        assert command("project", "move", first, p)["previous"] == q
        assert (found_in(p), found_in(q)) == (sorted(TALKS), [])
    assert (found_in(p), found_in(q)) == (sorted(TALKS), [])
    assert person.places() == dict.fromkeys(TALKS, (p, "moved"))
    assert person.rows("SELECT count(*) FROM ledger") == [(0,)]
