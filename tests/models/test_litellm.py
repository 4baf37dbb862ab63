"""Through litellm for real, over loopback: each way a server can behave, and that the ledger counts what it saw."""

from __future__ import annotations

import asyncio
import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime
from email.utils import format_datetime
from pathlib import Path
from typing import Any

import pytest

from benchmarks.servers.chat_server import ChatServer, Turn, chatty, failing, fenced
from recall.errors import ModelError, RecallError, StateError
from recall.index import traits
from recall.models.choose import choose_model
from recall.models.formats import StoredFormats
from recall.models.host_model import HostModel
from recall.models.litellm_model import LitellmModel, loaded
from recall.settings import Settings, load
from tests.models.setting import GOOD, SCHEMA, Setting, all_of, open_setting, question, settled, until, word

NAME = "openai/scripted"
OVERFLOW = "The input (9001 tokens) is longer than the model's context length (8192 tokens)."


def _named(value: object) -> str:
    """A short name for a turn in the list of tests."""
    return f"{value.how}-{value.status}-{value.finish}-{value.text[:9]!r}" if isinstance(value, Turn) else str(value)


def _model(server: ChatServer, **changes: Any) -> LitellmModel:
    return LitellmModel(NAME, server.url, **changes)


def _ask(setting: Setting, server: ChatServer, content: str = "which word?", **changes: Any) -> str | RecallError:
    """The answer or the failure; afterwards the server has seen exactly what the ledger holds, all of it settled."""
    result: str | RecallError = settled(
        setting,
        server,
        lambda: setting.road(_model(server), **changes),
        lambda road: road.ask(question(content), word),
    )
    return result


@pytest.mark.parametrize(
    "turn",
    [
        Turn(text=GOOD),
        Turn(text=GOOD, piece=1),
        Turn(text=fenced(GOOD)),
        Turn(text=chatty(GOOD)),
        Turn(text=GOOD, finish="eos"),
        Turn("list_content", text=GOOD),
        Turn(text=GOOD, piece=4, pause=0.1),
    ],
    ids=_named,
)
def test_a_good_reply_takes_one_request(setting: Setting, server: ChatServer, turn: Turn) -> None:
    server.add(turn)
    assert _ask(setting, server) == "lantern"
    assert setting.rows() == [("done", None)]
    (row,) = setting.all_rows()
    assert (row["prompt_tokens"], row["completion_tokens"], row["cost_usd"]) == (10, 5, None)


LIMITED = "rate_limited"
FAILED = "model_request_failed"
GONE = "model_unavailable"
TRUNCATED = "model_output_truncated"
INVALID = "invalid_model_output"


@pytest.mark.parametrize(
    ("turn", "code", "sent"),
    [
        (failing(401), "auth_unavailable", 1),
        (failing(403), "auth_unavailable", 1),
        (failing(404), GONE, 1),
        (failing(400), FAILED, 1),
        (failing(400, OVERFLOW), "model_context_too_small", 1),
        (failing(500, OVERFLOW), "model_context_too_small", 1),
        (failing(422), FAILED, 1),
        (failing(408), FAILED, 3),
        (failing(429), LIMITED, 3),
        (failing(429, Retry_After="1"), LIMITED, 3),
        (failing(429, Retry_After="86400"), LIMITED, 1),
        (failing(500), FAILED, 3),
        (failing(502), FAILED, 3),
        (failing(503), GONE, 3),
        (failing(504), FAILED, 3),
        (Turn("html"), FAILED, 2),
        (Turn("cut", text=GOOD), FAILED, 2),
        (Turn("eof", text=GOOD), FAILED, 2),
        (Turn("broken_line", text=GOOD), FAILED, 2),
        (Turn("error_in_stream", text=GOOD), FAILED, 2),
        (Turn("error_in_stream"), FAILED, 2),
        (Turn("no_choices"), FAILED, 2),
        (Turn(text=GOOD, finish=None), FAILED, 2),
        (Turn("null_content"), INVALID, 2),
        (Turn(text=""), INVALID, 2),
        (Turn(text="not JSON"), INVALID, 2),
        (Turn(text=GOOD[:-4]), INVALID, 2),
        (Turn(text=f"{GOOD}\n{GOOD}"), INVALID, 2),
        (Turn(text='{"word": "a", "word": "b"}'), INVALID, 2),
        (Turn(text='{"word": "a", "score": NaN}'), INVALID, 2),
        (Turn(text='{"word": "a", "score": 1e999}'), INVALID, 2),
        (Turn("refusal", text="I will not do that."), "model_refused", 1),
        (Turn(text=GOOD, finish="content_filter"), "model_refused", 1),
        (Turn(text=GOOD, finish="length"), TRUNCATED, 1),
        (Turn(text=GOOD[:-4], finish="length"), TRUNCATED, 1),
        (Turn("reasoning", completion_tokens=200, reasoning_tokens=199), TRUNCATED, 2),
    ],
    ids=_named,
)
def test_each_fault_has_its_code_and_is_charged_as_often_as_it_was_sent(
    setting: Setting, server: ChatServer, turn: Turn, code: str, sent: int
) -> None:
    server.add(*[turn] * 6)
    failure = _ask(setting, server)
    assert isinstance(failure, RecallError)
    assert failure.code == code
    assert len(server.requests) == sent
    assert {found for _, found in setting.rows()} == {code}
    assert setting.kept() == []


@pytest.mark.parametrize(
    "turn",
    [
        failing(500),
        failing(503),
        failing(429, Retry_After="1"),
        Turn("cut", text=GOOD),
        Turn("eof", text=GOOD),
        Turn("broken_line", text=GOOD),
        Turn("error_in_stream", text=GOOD),
        Turn("no_choices"),
        Turn("null_content"),
        Turn("reasoning", completion_tokens=200, reasoning_tokens=199),
        Turn(text=GOOD[:-4]),
    ],
    ids=_named,
)
def test_a_fault_that_passes_costs_one_more_request(setting: Setting, server: ChatServer, turn: Turn) -> None:
    server.add(turn, Turn(text=GOOD))
    assert _ask(setting, server) == "lantern"
    assert len(server.requests) == 2


def test_a_date_in_retry_after_is_waited_for(setting: Setting, server: ChatServer) -> None:
    now = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
    server.add(failing(429, Retry_After=format_datetime(now.replace(second=5), usegmt=True)), Turn(text=GOOD))
    road = setting.road(_model(server, clock=lambda: now))

    async def work() -> str:
        try:
            return await road.ask(question(), word)
        finally:
            await road.close()

    assert asyncio.run(work()) == "lantern"
    assert setting.waits == [5.0]


def test_the_numbers_of_a_budget_spent_on_reasoning(setting: Setting, server: ChatServer) -> None:
    server.add(*[Turn("reasoning", completion_tokens=200, reasoning_tokens=199)] * 2)
    failure = _ask(setting, server)
    assert isinstance(failure, ModelError)
    assert "199 of 200 tokens" in failure.message
    assert [request.body["max_tokens"] for request in server.requests] == [4096, 16384]


def test_the_words_of_a_refusal_are_shown(setting: Setting, server: ChatServer) -> None:
    server.add(Turn("refusal", text="I will not do that."))
    assert "I will not do that." in str(_ask(setting, server))


def test_a_key_in_an_error_is_masked(setting: Setting, server: ChatServer) -> None:
    key = "sk-" + "abcdefghijklmnopqrstuvwxyz" + "1234567890ABCDEFGHIJ"
    server.add(failing(401, f"Incorrect API key provided: {key}"))
    assert key not in str(_ask(setting, server))


def test_a_server_that_hangs_ends_with_the_deadline(setting: Setting, server: ChatServer) -> None:
    setting.road(_model(server)).model.prepare()  # type: ignore[union-attr]
    setting.limits = replace(setting.limits, request_seconds=1.5)
    server.add(Turn("hang"))
    failure = _ask(setting, server)
    assert isinstance(failure, ModelError)
    assert "did not answer" in failure.message
    assert (len(server.requests), server.hung_up) == (1, 1)


def test_a_stream_that_stalls_ends_with_the_deadline(setting: Setting, server: ChatServer) -> None:
    setting.limits = replace(setting.limits, request_seconds=1.5)
    server.add(Turn("hang", text=GOOD[:5]))
    assert isinstance(_ask(setting, server), ModelError)
    assert (len(server.requests), server.hung_up) == (1, 1)


def test_no_server_at_all(setting: Setting) -> None:
    with ChatServer() as gone:
        pass

    async def work() -> None:
        road = setting.road(_model(gone))
        try:
            await road.ask(question(), word)
        finally:
            await road.close()

    with pytest.raises(ModelError, match="cannot be reached") as caught:
        asyncio.run(work())
    assert caught.value.code == GONE
    assert setting.rows() == [("failed", GONE)] * 3


# --- the form of the reply ----------------------------------------------------------------------------------------


def _stored(setting: Setting, server: ChatServer) -> str | None:
    with setting.database.read() as connection:
        return traits.get(connection, server.url, NAME, "response_format")


@pytest.mark.parametrize(
    ("refuses", "asked"),
    [
        ((), ["json_schema"]),
        (("json_schema",), ["json_schema", "json_object"]),
        (("json_schema", "json_object"), ["json_schema", "json_object", None]),
    ],
)
def test_the_strictest_format_is_tried_and_the_answer_remembered(
    setting: Setting, refuses: tuple[str, ...], asked: list[str | None]
) -> None:
    async def work(server: ChatServer, content: str) -> None:
        road = setting.road(_model(server, formats=StoredFormats(setting.database, server.url, NAME)))
        try:
            assert await road.ask(question(content), word) == "lantern"
        finally:
            await road.close()

    with ChatServer([Turn(text=GOOD)] * 2, refuses=refuses) as server:
        asyncio.run(work(server, "first"))
        bodies = [request.body for request in server.requests]
        assert [(body.get("response_format") or {}).get("type") for body in bodies] == asked  # type: ignore[attr-defined]
        assert _stored(setting, server) == (asked[-1] or "none" if refuses else None)
        asyncio.run(work(server, "second"))
        assert len(server.requests) == len(asked) + 1 == len(setting.rows())
        system = server.requests[-1].body["messages"][0]["content"]  # type: ignore[index]
        assert ("JSON Schema" in system) == bool(refuses)


def test_what_is_sent(setting: Setting, server: ChatServer) -> None:
    server.add(Turn(text=GOOD))
    _ask(setting, server)
    (seen,) = server.requests
    assert seen.path == "/v1/chat/completions"
    assert seen.keyed
    assert seen.body == {
        "model": "scripted",
        "messages": [
            {"role": "system", "content": "Say one word."},
            {"role": "user", "content": "which word?"},
        ],
        "max_tokens": 4096,
        "temperature": 0.2,  # only to a server on this machine
        "stream": True,
        "stream_options": {"include_usage": True},
        "response_format": {"type": "json_schema", "json_schema": {"name": "reply", "schema": SCHEMA, "strict": False}},
    }


# --- many at once, and cancels ------------------------------------------------------------------------------------


def _answering(body: Any) -> str:
    return json.dumps({"word": body["messages"][-1]["content"]})


def test_many_at_once(setting: Setting) -> None:
    async def work(server: ChatServer) -> list[Any]:
        road = setting.road(_model(server))
        try:
            return await all_of(road.ask(question(f"q{n}"), word) for n in range(20))
        finally:
            await road.close()

    with ChatServer(responder=_answering) as server:
        assert asyncio.run(work(server)) == [f"q{n}" for n in range(20)]
        assert len(server.requests) == 20 == len(setting.rows())
        assert server.most_at_once <= 3


def test_a_cancel_closes_the_connections_after_the_grace(setting: Setting, server: ChatServer) -> None:
    setting.limits = replace(setting.limits, grace_seconds=0.2)
    server.add(Turn("hang"), Turn("hang", text=GOOD[:5]), Turn("hang"))

    async def work() -> list[Any]:
        road = setting.road(_model(server))
        asked = asyncio.ensure_future(all_of(road.ask(question(f"q{n}"), word) for n in range(6)))
        await until(lambda: len(server.requests) == 3)
        road.cancel()
        results = await asked
        await road.close()
        assert {task for task in asyncio.all_tasks() if task is not asyncio.current_task()} == set()
        return results

    results = asyncio.run(work())
    server.wait_until_idle()
    assert [one.code for one in results if isinstance(one, StateError)] == ["cancelled"] * 6
    assert (len(server.requests), server.hung_up) == (3, 3)
    assert setting.rows() == [("failed", "cancelled")] * 3


# --- before the first send ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "base", "code"),
    [
        ("openai/gpt-4.1-mini", None, "auth_unavailable"),
        ("anthropic/claude-sonnet-4-5", None, "auth_unavailable"),
        ("gemini/gemini-2.5-flash", None, "auth_unavailable"),
        ("openai/x", "http://192.0.2.1/v1", "auth_unavailable"),
        ("nobody/x", None, GONE),
        ("gemini-2.5-flash", None, GONE),
    ],
)
def test_a_missing_key_or_provider_is_found_without_sending(
    setting: Setting, name: str, base: str | None, code: str
) -> None:
    road = setting.road(LitellmModel(name, base), consent=lambda model: None)
    with pytest.raises(ModelError) as caught:
        asyncio.run(road.ask(question(), word))
    assert caught.value.code == code
    assert setting.rows() == []


def test_the_model_that_the_settings_name(setting: Setting, server: ChatServer) -> None:
    def made(**keys: str) -> Settings:
        return load({"HOME": "/", **{f"HISTORY_RECALL_{name}": value for name, value in keys.items()}})

    assert choose_model(made()).name == "offline"
    lent = choose_model(made(MODEL="host"))
    assert isinstance(lent, HostModel)
    with pytest.raises(ModelError, match="No host lends"):
        lent.prepare()
    model = choose_model(made(MODEL=NAME, API_BASE=server.url + "/"), setting.database)
    assert isinstance(model, LitellmModel)
    assert (model.name, model.provider, model.endpoint) == (NAME, "openai", server.url)


def test_a_run_that_ends_leaves_the_connections_of_another_in_the_same_process(
    setting: Setting, server: ChatServer, tmp_path: Path
) -> None:
    """An MCP server answers searches side by side, each with its own event loop; litellm keeps the clients of all."""
    (tmp_path / "other").mkdir()
    other = open_setting(tmp_path / "other")
    server.add(Turn(text=GOOD, piece=2, pause=0.3))
    with ThreadPoolExecutor(1) as pool, ChatServer() as second:
        slow = pool.submit(_ask, setting, server)
        server.wait_for(1)
        second.add(Turn(text=GOOD))
        assert _ask(other, second) == "lantern"
        assert not slow.done()
        assert slow.result() == "lantern"
    assert setting.rows() == other.rows() == [("done", None)]
    other.database.close()


def test_a_run_leaves_no_client_behind(setting: Setting, server: ChatServer) -> None:
    """So the next one takes the key and the address that hold then."""
    server.add(Turn(text=GOOD))
    assert _ask(setting, server) == "lantern"
    assert not loaded().in_memory_llm_clients_cache.cache_dict
