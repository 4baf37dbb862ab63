"""Turns with tools, through litellm for real, over loopback: each way of streaming calls, and each way of failing."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest

from benchmarks.servers.chat_server import ChatServer, failing
from benchmarks.servers.chat_server import ToolCall as Called
from benchmarks.servers.chat_server import Turn as Says
from recall.errors import ModelError, RecallError, StateError
from recall.models.calls import Road, turn_key
from recall.models.litellm_model import LitellmModel
from recall.models.request import ModelReply, ModelRequest
from recall.models.scripted import ScriptedChild, ScriptedModel
from recall.models.turns import ToolCall, ToolSpec, Turn, TurnRequest, assistant_message, tool_message
from tests.models.setting import GOOD, Setting, settled, until

NAME = "openai/scripted"
FAILED, TRUNCATED, INVALID = "model_request_failed", "model_output_truncated", "invalid_model_output"
UNSUPPORTED = "unsupported_repair_model"
READ = ToolSpec(
    "repair_read",
    "Read an entry.",
    {
        "type": "object",
        "properties": {"entry": {"type": "string", "maxLength": 80}},
        "required": ["entry"],
        "additionalProperties": False,
    },
)
FINISH = ToolSpec("finish", "End.", {"type": "object", "properties": {}, "additionalProperties": False})
ONE = Called("repair_read", '{"entry": "e1"}', "call_a")
TWO = Called("repair_read", '{"entry": "e2, 一个词"}', "call_b")
END = Called("finish", "{}", "call_c")


def request(*messages: Mapping[str, object], **changes: Any) -> TurnRequest:
    fields: dict[str, Any] = {"instructions": "Mend the topics.", "tools": (READ, FINISH), "prompt_version": "1"}
    return TurnRequest(messages=messages or ({"role": "user", "content": "begin"},), **fields | changes)


def said(turn: Turn) -> list[tuple[str, str]]:
    """Name and arguments of each call."""
    return [(call.name, call.arguments) for call in turn.calls]


def told(*calls: Called) -> list[tuple[str, str]]:
    return [(call.name, call.arguments) for call in calls]


def _run(setting: Setting, server: ChatServer, work: Callable[[Road], Any], name: str = NAME) -> Any:
    return settled(setting, server, lambda: setting.road(LitellmModel(name, server.url)), work)


def _turn(setting: Setting, server: ChatServer, *asked: TurnRequest) -> Any:
    return _run(setting, server, lambda road: road.turn(asked[0] if asked else request(), source="/a"))


# --- how calls are streamed -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", ["first_id", "each_id", "new_id", "no_id", "whole", "one_index", "object", "bare"])
@pytest.mark.parametrize("piece", [1, 4, 400])
def test_calls_arrive_as_the_model_made_them(setting: Setting, server: ChatServer, shape: Any, piece: int) -> None:
    server.add(Says("tools", calls=(ONE, TWO, END), shape=shape, piece=piece, finish="tool_calls"))
    turn = _turn(setting, server)
    assert said(turn) == told(ONE, TWO, END)
    assert len({call.call_id for call in turn.calls}) == 3
    assert all(call.call_id for call in turn.calls)
    assert (turn.text, turn.cached) == ("", False)
    if shape in ("first_id", "each_id", "whole", "one_index", "bare"):
        assert [call.call_id for call in turn.calls] == ["call_a", "call_b", "call_c"]
    (row,) = setting.all_rows()
    assert (row["state"], row["kind"], row["source"], row["prompt_tokens"]) == ("done", "repair", "/a", 10)
    assert row["request_bytes"] > len("Mend the topics.begin")


@pytest.mark.parametrize("finish", ["tool_calls", "stop", "function_call", "eos"])
def test_text_and_calls_and_whatever_it_ends_with(setting: Setting, server: ChatServer, finish: str) -> None:
    server.add(Says("tools", text="<think>hm {\n</think>I read one.", calls=(ONE,), finish=finish))
    turn = _turn(setting, server)
    assert (turn.text, said(turn)) == ("I read one.", told(ONE))
    assert "hm" not in str(setting.kept())


def test_text_alone_is_a_turn_without_calls(setting: Setting, server: ChatServer) -> None:
    server.add(Says(text='I would call repair_read({"entry": "e1"}).'))
    turn = _turn(setting, server)
    assert (turn.text, turn.calls) == ('I would call repair_read({"entry": "e1"}).', ())
    assert len(server.requests) == 1


@pytest.mark.parametrize("shape", ["first_id", "each_id", "whole"])
@pytest.mark.parametrize(
    "arguments",
    ['{"entry": "e1"}{"entry": "e2"}', '{"entry": "e1"', '{"entry": ', "", "null", "[1]", '{"entry": NaN}', "e1"],
)
def test_malformed_arguments_arrive_unharmed(setting: Setting, server: ChatServer, shape: Any, arguments: str) -> None:
    server.add(Says("tools", calls=(Called("repair_read", arguments), END), shape=shape, piece=5))
    assert said(_turn(setting, server)) == [("repair_read", arguments), ("finish", "{}")]


def test_duplicate_ids_unknown_tools_and_the_same_call_twice_arrive_unharmed(
    setting: Setting, server: ChatServer
) -> None:
    calls = (replace(ONE, call_id="x"), replace(ONE, call_id="x"), Called("shell", '{"command": "ls"}', "x"))
    server.add(Says("tools", calls=calls))
    turn = _turn(setting, server)
    assert said(turn) == told(*calls)
    assert [call.call_id for call in turn.calls] == ["x"] * 3


def test_two_hundred_calls_are_a_turn_and_three_hundred_are_none(setting: Setting, server: ChatServer) -> None:
    server.add(Says("tools", calls=(ONE,) * 200, shape="whole"))
    assert len(_turn(setting, server).calls) == 200
    server.add(*[Says("tools", calls=(ONE,) * 300, shape="whole")] * 2)
    failure = _turn(setting, server, request(prompt_version="2"))
    assert failure.code == INVALID
    assert "300 tool calls" in failure.message
    assert setting.rows()[1:] == [("done", INVALID)] * 2
    assert len(setting.kept()) == 1


# --- how it fails ---------------------------------------------------------------------------------------------------

HALF = Called("repair_read", '{"entry": "e1", "mo')


@pytest.mark.parametrize(
    ("says", "code", "sent"),
    [
        (Says("tools", calls=(HALF,), finish="length"), TRUNCATED, 1),
        (Says("tools", calls=(ONE, END), finish="length"), TRUNCATED, 1),
        (Says("cut", calls=(ONE, TWO)), FAILED, 2),
        (Says("eof", calls=(ONE, TWO)), FAILED, 2),
        (Says("broken_line", calls=(ONE, TWO)), FAILED, 2),
        (Says("error_in_stream", calls=(ONE, TWO)), FAILED, 2),
        (Says("tools", calls=(ONE,), finish=None), FAILED, 2),
        (Says("tools", calls=()), INVALID, 2),
        (Says(text=""), INVALID, 2),
        (Says("null_content"), INVALID, 2),
        (Says(text="<think>nothing but that</think>"), INVALID, 2),
        (Says("no_choices"), FAILED, 2),
        (Says("refusal", text="I will not do that."), "model_refused", 1),
        (Says("reasoning", completion_tokens=200, reasoning_tokens=199), TRUNCATED, 2),
        (Says("html"), FAILED, 2),
        (failing(401), "auth_unavailable", 1),
        (failing(429), "rate_limited", 3),
        (failing(500), FAILED, 3),
        (failing(400), FAILED, 1),
        (failing(400, "An assistant message with 'tool_calls' must be followed by messages for each tool_call_id: "
                      "x is not supported"), FAILED, 1),
        (failing(400, "tool_use_failed: Failed to call a function. Please adjust your prompt."), INVALID, 2),
        (failing(400, "The input (9001 tokens) is longer than the model's context length (8192 tokens)."),
         "model_context_too_small", 1),
    ],
    ids=lambda value: f"{value.how}-{value.status}-{value.finish}" if isinstance(value, Says) else str(value),
)  # fmt: skip
def test_each_fault_has_its_code_and_is_charged_as_often_as_it_was_sent(
    setting: Setting, server: ChatServer, says: Says, code: str, sent: int
) -> None:
    server.add(*[says] * 6)
    failure = _turn(setting, server)
    assert isinstance(failure, RecallError)
    assert (failure.code, len(server.requests)) == (code, sent)
    assert {found for _, found in setting.rows()} == {code}
    assert setting.kept() == []


@pytest.mark.parametrize("how", ["cut", "eof", "broken_line", "error_in_stream"])
def test_nothing_of_a_broken_stream_is_used(setting: Setting, server: ChatServer, how: Any) -> None:
    server.add(Says(how, calls=(ONE, TWO)), Says("tools", calls=(END,)))
    assert said(_turn(setting, server)) == told(END)
    assert setting.rows() == [("failed", FAILED), ("done", None)]


def test_an_empty_turn_is_asked_again_once_with_a_word_on_it(setting: Setting, server: ChatServer) -> None:
    server.add(Says(text=" "), Says("tools", calls=(END,)))
    assert said(_turn(setting, server)) == told(END)
    first, second = (seen.body["messages"] for seen in server.requests)
    assert second[:-1] == first  # type: ignore[index]
    assert "the reply is empty" in second[-1]["content"]  # type: ignore[index]
    assert _turn(setting, server).cached


# --- who makes no tool calls ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (400, "registry.ollama.ai/library/gemma:2b does not support tools"),
        (404, "No endpoints found that support tool use. Try disabling the tool."),
        (500, "tools param requires --jinja flag"),
        (400, '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'),
        (400, "Unsupported parameter: 'tools' is not supported with this model."),
        (400, "deepseek-reasoner does not support Function Calling"),
        (400, "`tool calling` is not supported with this model"),
        (422, '[{"type":"extra_forbidden","loc":["body","tools"],"msg":"Extra inputs are not permitted"}]'),
    ],
)
def test_a_server_that_takes_no_tools_is_named_and_asked_once(
    setting: Setting, server: ChatServer, status: int, message: str
) -> None:
    server.add(*[failing(status, message)] * 4)
    failure = _turn(setting, server)
    assert isinstance(failure, ModelError)
    assert (failure.code, len(server.requests)) == (UNSUPPORTED, 1)
    assert "--no-repair" in failure.hint
    assert message[:20] in failure.message


@pytest.mark.parametrize("name", ["ollama/llama3", "petals/petals-team/StableBeluga2"])
def test_a_road_of_litellms_that_takes_no_tools_is_refused_before_anything_is_sent(
    setting: Setting, server: ChatServer, name: str
) -> None:
    failure = _run(setting, server, lambda road: road.turn(request()), name)
    assert (failure.code, server.requests) == (UNSUPPORTED, ())
    assert name in failure.message
    assert "--no-repair" in failure.hint


def test_tools_that_would_be_left_out_on_the_way_stop_the_request(
    setting: Setting, server: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """litellm may leave out what it thinks a model does not take; here it is made to."""
    import litellm

    real = litellm.acompletion

    async def without(**parameters: Any) -> Any:
        return await real(**{name: value for name, value in parameters.items() if not name.startswith("tool")})

    monkeypatch.setattr(litellm, "acompletion", without)
    server.add(Says(text="finish()"))

    async def work() -> None:
        road = setting.road(LitellmModel(NAME, server.url))
        try:
            await road.turn(request())
        finally:
            await road.close()

    with pytest.raises(ModelError) as caught:
        asyncio.run(work())
    assert (caught.value.code, server.requests) == (UNSUPPORTED, ())
    assert setting.rows() == [("failed", UNSUPPORTED)]


def test_a_model_in_this_process_without_calls_is_refused_by_name(setting: Setting) -> None:
    class Plain:
        name = "plain"

        def answer(self, request: ModelRequest) -> str:
            return GOOD

    with pytest.raises(ModelError, match="plain makes no tool calls") as caught:
        asyncio.run(setting.road(Plain()).turn(request()))
    assert caught.value.code == UNSUPPORTED


# --- what is sent ---------------------------------------------------------------------------------------------------


def test_what_is_sent(setting: Setting, server: ChatServer) -> None:
    server.add(Says("tools", calls=(END,)))
    _turn(setting, server)
    (seen,) = server.requests
    assert seen.body == {
        "model": "scripted",
        "messages": [{"role": "system", "content": "Mend the topics."}, {"role": "user", "content": "begin"}],
        "max_tokens": 4096,
        "temperature": 0.2,
        "stream": True,
        "stream_options": {"include_usage": True},
        "tool_choice": "auto",
        "tools": [
            {
                "type": "function",
                "function": {"name": tool.name, "description": tool.description, "parameters": tool.parameters},
            }
            for tool in (READ, FINISH)
        ],
    }


def test_the_next_turn_repeats_the_calls_in_a_form_that_every_provider_takes(
    setting: Setting, server: ChatServer
) -> None:
    calls = (
        Called("repair_read", '{"entry": "e1"}{"entry": "e2"}', "x"),
        Called("repair read!", '{"entry": "e1"}', "x"),
        Called("finish", "", "y"),
    )
    server.add(Says("tools", calls=calls), Says("tools", calls=(replace(END, call_id="x"),)), Says(text="done"))

    async def work(road: Road) -> list[Turn]:
        messages: list[Mapping[str, object]] = [{"role": "user", "content": "begin"}]
        turns = []
        for _ in range(3):
            turn = await road.turn(request(*messages))
            turns.append(turn)
            results = [tool_message(call, f"result {number}") for number, call in enumerate(turn.calls)]
            messages += [assistant_message(turn), *results]
        return turns

    turns = _run(setting, server, work)
    assert said(turns[0]) == told(*calls)
    sent: Any = server.requests[-1].body["messages"]
    assert [call["id"] for message in sent for call in message.get("tool_calls", ())] == ["x", "x_2", "y", "x_3"]
    assert [message["tool_call_id"] for message in sent if message["role"] == "tool"] == ["x", "x_2", "y", "x_3"]
    made = [call["function"] for call in sent[2]["tool_calls"]]
    assert [function["name"] for function in made] == ["repair_read", "repair_read_", "finish"]
    assert [json.loads(function["arguments"]) for function in made] == [
        {"not_an_object": '{"entry": "e1"}{"entry": "e2"}'},
        {"entry": "e1"},
        {"not_an_object": ""},
    ]


# --- kept, replayed, dropped ----------------------------------------------------------------------------------------


def test_a_turn_is_paid_for_once_and_a_poisoned_one_is_dropped_alone(setting: Setting, server: ChatServer) -> None:
    server.add(Says("tools", text="so", calls=(ONE, TWO)), Says("tools", calls=(END,)), Says(text="other"))
    more = request({"role": "user", "content": "go on"})

    async def work(road: Road) -> tuple[Turn, ...]:
        first, second = await road.turn(request()), await road.turn(more)
        again = await road.turn(request())
        assert (road.calls, road.hits) == (2, 1)
        road.drop(second.key)
        return first, again, await road.turn(request()), await road.turn(more)

    first, again, still, other = _run(setting, server, work)
    assert (first.cached, again.cached, still.cached, other.cached) == (False, True, True, False)
    assert replace(again, cached=False) == first == replace(still, cached=False)
    assert other.text == "other"
    assert len(server.requests) == 3


@pytest.mark.parametrize("damage", ["{", '{"text":"","calls":[]}', '{"text":"a"}', '{"word":"lantern"}', "[" * 100_000])
def test_a_damaged_kept_turn_is_asked_again(setting: Setting, damage: str) -> None:
    model = ScriptedModel([[ToolCall("a", "finish", "{}")]] * 2)
    key = asyncio.run(setting.road(model).turn(request())).key
    with setting.database.write() as connection:
        connection.execute("UPDATE model_cache SET reply = ? WHERE key = ?", (damage, key))
    turn = asyncio.run(setting.road(model).turn(request()))
    assert (turn.cached, said(turn), len(model.requests)) == (False, [("finish", "{}")], 2)


def test_every_part_of_a_turn_is_in_its_key() -> None:
    model = ScriptedModel([])
    keys = {
        turn_key(request(), model),
        turn_key(request({"role": "user", "content": "other"}), model),
        turn_key(request(instructions="Other."), model),
        turn_key(request(tools=(READ,)), model),
        turn_key(request(tools=(READ, replace(FINISH, description="Stop."))), model),
        turn_key(request(prompt_version="2"), model),
        turn_key(request(max_output_tokens=100), model),
        turn_key(request(), ScriptedModel([], name="other")),
        turn_key(request(), ScriptedModel([], endpoint="http://127.0.0.1:2")),
    }
    assert len(keys) == 9
    assert turn_key(request(), model) == turn_key(request(), ScriptedModel(["x"]))


SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"


@pytest.mark.parametrize("arguments", [json.dumps({"entry": SECRET, "n": 1}), '{"entry": "' + SECRET])
def test_what_arrives_and_is_kept_is_redacted(setting: Setting, arguments: str) -> None:
    model = ScriptedModel([ModelReply(f"see {SECRET}", "stop", calls=(ToolCall(SECRET, "finish", arguments),))])
    turn = asyncio.run(setting.road(model).turn(request()))
    assert "[REDACTED:" in turn.text
    assert "[REDACTED:" in turn.calls[0].arguments
    assert SECRET not in str(turn) + str(setting.kept())
    if arguments.endswith("}"):
        assert json.loads(turn.calls[0].arguments)["n"] == 1


# --- budgets, cancels, a child in this process ------------------------------------------------------------------------


def test_turns_share_the_runs_budget(setting: Setting) -> None:
    setting.limits = replace(setting.limits, batch_calls=1)
    model = ScriptedModel([[ToolCall("a", "finish", "{}")]] * 2)
    road = setting.road(model)
    asyncio.run(road.turn(request()))
    with pytest.raises(StateError) as caught:
        asyncio.run(road.turn(request(prompt_version="2")))
    assert (caught.value.code, len(model.requests)) == ("work_budget", 1)


def test_a_turn_that_hangs_ends_with_the_deadline(setting: Setting, server: ChatServer) -> None:
    setting.limits = replace(setting.limits, request_seconds=1.5)
    server.add(Says("hang", text="x"))
    failure = _turn(setting, server)
    assert failure.data["deadline_seconds"] == 1.5
    assert server.hung_up == 1


def test_a_cancelled_turn_is_closed_and_settled(setting: Setting, server: ChatServer) -> None:
    setting.limits = replace(setting.limits, grace_seconds=0.2)
    server.add(Says("hang"))

    async def work(road: Road) -> Turn:
        asked = asyncio.ensure_future(road.turn(request()))
        await until(lambda: len(server.requests) == 1)
        road.cancel()
        return await asked

    assert _run(setting, server, work).code == "cancelled"
    assert setting.rows() == [("failed", "cancelled")]


def test_a_child_in_this_process_is_judged_alike_and_neither_kept_nor_charged(setting: Setting) -> None:
    class Base:
        name = "offline"

        def answer(self, request: ModelRequest) -> str:
            return GOOD

    child = ScriptedChild([[ToolCall("", "finish", "{}")], ModelReply("", "stop")], Base())
    road = setting.road(child)
    turn = asyncio.run(road.turn(request()))
    assert (said(turn), turn.key, turn.cached) == ([("finish", "{}")], "", False)
    assert turn.calls[0].call_id
    assert (road.calls, setting.rows(), setting.kept()) == (0, [], [])
    with pytest.raises(ModelError, match="the reply is empty"):
        asyncio.run(road.turn(request()))


def test_a_reply_is_settled_and_kept_together_or_not_at_all(setting: Setting, monkeypatch: pytest.MonkeyPatch) -> None:
    """The process ends between the two: then the request is one of which nothing is known."""
    from recall.index import cache

    class Killed(BaseException):
        pass

    def killed(*_: Any, **__: Any) -> None:
        raise Killed

    monkeypatch.setattr(cache, "put", killed)
    model = ScriptedModel([[ToolCall("a", "finish", "{}")]])
    with pytest.raises(Killed):
        asyncio.run(setting.road(model).turn(request()))
    assert setting.rows() == [("charged", None)]
    assert setting.kept() == []
