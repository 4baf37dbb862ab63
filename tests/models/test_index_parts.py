"""Ledger, cache, consents and traits: what their functions do on an open connection."""

from __future__ import annotations

import multiprocessing
import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from recall.errors import StateError
from recall.index import cache, consent, ledger, traits
from recall.index.consent import Destination
from recall.index.database import Database, ensure_profile
from recall.index.ledger import DAY_MS, Caps, Charge
from tests.models.setting import NOON, Setting

CAPS = Caps(run=100, day=100)


@pytest.fixture
def connection(setting: Setting) -> Iterator[sqlite3.Connection]:
    with setting.database.write() as open_connection:
        yield open_connection


def _charge(profile_no: int = 1, run: str = "r_1", model: str = "m") -> Charge:
    return Charge(profile_no, run, "/s", "analysis", model, "http://127.0.0.1:1", 1, 10)


def test_a_charge_is_open_until_it_is_settled_once(connection: sqlite3.Connection) -> None:
    call_no = ledger.charge(connection, _charge(), CAPS, NOON)
    row = connection.execute("SELECT state, settled_at FROM ledger").fetchone()
    assert tuple(row) == ("charged", None)
    ledger.settle(connection, call_no, NOON + 5, "failed", code="cancelled")
    ledger.settle(connection, call_no, NOON + 9, "done", prompt_tokens=4)
    row = connection.execute("SELECT state, code, settled_at, prompt_tokens FROM ledger").fetchone()
    assert tuple(row) == ("failed", "cancelled", NOON + 5, None)


def test_the_day_is_utc_and_the_profiles_own(setting: Setting) -> None:
    midnight = NOON - DAY_MS // 2
    with setting.database.write() as connection:
        other = ensure_profile(connection, "other", NOON)
        ledger.charge(connection, _charge(), CAPS, midnight - 1)
        ledger.charge(connection, _charge(), CAPS, midnight)
        ledger.charge(connection, _charge(), CAPS, midnight + DAY_MS - 1)
        ledger.charge(connection, _charge(other), CAPS, NOON)
        assert ledger.calls_today(connection, 1, NOON) == 2
        assert ledger.calls_today(connection, other, NOON) == 1
        assert ledger.calls_today(connection, 1, midnight + DAY_MS) == 0
        assert ledger.calls_of_run(connection, 1, "r_1") == 3


def test_a_cap_refuses_and_enters_nothing(connection: sqlite3.Connection) -> None:
    ledger.charge(connection, _charge(), CAPS, NOON)
    for caps, code in ((Caps(1, 100), "work_budget"), (Caps(100, 1), "daily_budget"), (Caps(0, 0), "daily_budget")):
        with pytest.raises(StateError) as caught:
            ledger.charge(connection, _charge(), caps, NOON)
        assert (caught.value.code, caught.value.counts_as_attempt) == (code, False)
    assert ledger.calls_today(connection, 1, NOON) == 1


def test_what_was_spent(connection: sqlite3.Connection) -> None:
    for model, cost in (("a", 0.5), ("a", None), ("b", None)):
        call_no = ledger.charge(connection, _charge(model=model), CAPS, NOON)
        ledger.settle(connection, call_no, NOON, "done", prompt_tokens=10, completion_tokens=2, cost_usd=cost)
    ledger.charge(connection, _charge(model="b"), CAPS, NOON - DAY_MS)
    first, second = ledger.spent(connection, 1, NOON)
    assert (first.model, first.calls, first.prompt_tokens, first.cost_usd, first.unpriced) == ("a", 2, 20, 0.5, 1)
    assert (second.model, second.calls, second.cost_usd, second.unpriced) == ("b", 1, None, 1)
    assert [one.calls for one in ledger.spent(connection, 1)] == [2, 2]


def _charged(database: Database, run: str) -> bool:
    try:
        with database.write() as connection:
            ledger.charge(connection, _charge(run=run), Caps(run=100, day=30), NOON)
    except StateError as error:
        if error.code != "daily_budget":
            raise
        return False
    return True


def _race(path: str, start: multiprocessing.synchronize.Event, taken: multiprocessing.queues.Queue[int]) -> None:
    database = Database.open(Path(path))
    start.wait(30)
    done = 0
    while _charged(database, f"r_{done}"):
        done += 1
    taken.put(done)
    database.close()


def test_processes_side_by_side_do_not_exceed_the_day(setting: Setting) -> None:
    context = multiprocessing.get_context("spawn")
    start, taken = context.Event(), context.Queue()
    racers = [context.Process(target=_race, args=(str(setting.database.path), start, taken)) for _ in range(3)]
    for racer in racers:
        racer.start()
    start.set()
    assert sum(taken.get(timeout=60) for _ in racers) == 30
    for racer in racers:
        racer.join(60)
        racer.close()
    assert len(setting.rows()) == 30


def test_a_kept_reply_is_put_replaced_and_dropped(connection: sqlite3.Connection) -> None:
    for key, reply, source in (("k", "1", "/a"), ("l", "2", "/b"), ("k", "3", "/a")):
        cache.put(connection, 1, key, reply, kind="analysis", model="m", source=source, now=NOON)
    assert (cache.get(connection, 1, "k"), cache.get(connection, 2, "k")) == ("3", None)
    cache.drop(connection, 1, "k")
    assert (cache.get(connection, 1, "k"), cache.get(connection, 1, "l")) == (None, "2")
    assert cache.clear(connection, 1) == 1


def test_a_yes_covers_exactly_what_it_was_given_for(connection: sqlite3.Connection) -> None:
    to = Destination(1, "openai", "openai", "openai/gpt-x")
    assert not consent.covers(connection, to)
    consent.grant(connection, to, NOON)
    assert consent.covers(connection, to)
    assert consent.covers(connection, replace(to, projects=frozenset({"p_1"})))
    for other in ({"provider": "x"}, {"endpoint": "x"}, {"model": "x"}, {"profile_no": 2}):
        assert not consent.covers(connection, replace(to, **other))


def test_a_wider_set_of_projects_is_a_new_question(connection: sqlite3.Connection) -> None:
    to = Destination(1, "openai", "openai", "openai/gpt-x", frozenset({"p_1", "p_2"}))
    consent.grant(connection, to, NOON)
    assert consent.covers(connection, replace(to, projects=frozenset({"p_2"})))
    assert not consent.covers(connection, replace(to, projects=frozenset({"p_1", "p_3"})))
    assert not consent.covers(connection, replace(to, projects=None))


def test_a_yes_can_be_taken_back_and_both_stay_on_record(connection: sqlite3.Connection) -> None:
    one = Destination(1, "openai", "openai", "openai/a")
    other = Destination(1, "x", "https://x", "x/b")
    consent.grant(connection, one, NOON)
    consent.grant(connection, other, NOON + 1)
    assert consent.revoke(connection, 1, NOON + 2, endpoint="https://x") == 1
    assert (consent.covers(connection, one), consent.covers(connection, other)) == (True, False)
    assert [(grant.destination, grant.revoked_at) for grant in consent.show(connection, 1)] == [
        (other, NOON + 2),
        (one, None),
    ]
    assert consent.revoke(connection, 1, NOON + 3) == 1


def test_the_token_stands_for_one_destination() -> None:
    one = Destination(1, "openai", "openai", "openai/a")
    tokens = {one.token, replace(one, model="b").token, replace(one, projects=frozenset({"p"})).token}
    assert len(tokens) == 3
    assert one.token == Destination(1, "openai", "openai", "openai/a").token


def test_a_trait_is_remembered_for_each_endpoint_and_model(connection: sqlite3.Connection) -> None:
    traits.put(connection, "e", "m", "response_format", "json_object", NOON)
    traits.put(connection, "e", "m", "response_format", "none", NOON + 1)
    assert traits.get(connection, "e", "m", "response_format") == "none"
    assert traits.get(connection, "e", "other", "response_format") is None
