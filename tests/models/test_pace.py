"""A server on this machine that is too slow is asked half as much at a time from the next run on."""

from __future__ import annotations

from pathlib import Path

import pytest

from recall import settings
from recall.hashing import canonical_json
from recall.index.database import Database
from recall.models import pace
from recall.models.tokens import INSTRUCTION_BYTES, LOOPBACK_BYTES, meter_for
from recall.prompts import load

LOCAL = "http://127.0.0.1:8080/v1"


def _settings(home: Path, base: str) -> settings.Settings:
    variables = {"HISTORY_RECALL_MODEL": "openai/x", "HISTORY_RECALL_API_BASE": base}
    return settings.load({"HOME": str(home), **variables})


@pytest.mark.parametrize(("times", "limit"), [(0, 1), (1, 2), (2, 4), (5, 4)])
def test_each_slow_run_halves_to_a_bound(home: Path, times: int, limit: int) -> None:
    database = Database.open(home / "index.db")
    wanted = _settings(home, LOCAL)
    for _ in range(times):
        with database.write() as connection:
            pace.note_slow(connection, LOCAL, "openai/x", 1)
    beside = meter_for(wanted, pace.halvings(database, wanted)).limit - INSTRUCTION_BYTES
    assert beside == (LOOPBACK_BYTES - INSTRUCTION_BYTES) // limit
    database.close()


def test_a_server_elsewhere_is_not_taken_for_slow(home: Path) -> None:
    database = Database.open(home / "index.db")
    with database.write() as connection:
        pace.note_slow(connection, "https://elsewhere.invalid", "openai/x", 1)
    assert pace.halvings(database, _settings(home, "https://elsewhere.invalid")) == 0
    database.close()


@pytest.mark.parametrize("name", ["analysis", "reduce", "shortlist", "placement"])
def test_the_instructions_leave_room_even_then(name: str) -> None:
    prompt = load(name)
    assert len((prompt.instructions + canonical_json(prompt.schema)).encode()) <= INSTRUCTION_BYTES
