"""The road: what is kept, charged, asked again, and refused before anything is sent."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from typing import Any

import pytest

from recall.errors import ModelError, RecallError, StateError
from recall.index import cache, consent
from recall.models.calls import CallLimits, cache_key
from recall.models.failures import CutShort, FormatRefused, Transient
from recall.models.gate import ConsentGate
from recall.models.replies import InvalidReply
from recall.models.request import ModelReply, ModelRequest
from recall.models.scripted import ScriptedModel, ScriptUsedUp, SentRequest
from recall.prompts import Prompt
from tests.models.setting import GOOD, PROMPT, SCHEMA, Setting, all_of, question, word

BAD = '{"word": ""}'
REMOTE = {"provider": "openai", "endpoint": "https://api.example.com/v1"}


def _limited(seconds: float | None) -> Transient:
    failure = Transient("rate_limited", "slow down")
    failure.retry_after = seconds
    return failure


def _failure(error: type[BaseException], setting: Setting, model: ScriptedModel, **changes: Any) -> Any:
    road = setting.road(model, **changes)
    with pytest.raises(error) as caught:
        asyncio.run(road.ask(question(), word))
    return caught.value


# --- cache ------------------------------------------------------------------------------------------------------


def test_a_question_is_paid_for_once(setting: Setting) -> None:
    model = ScriptedModel([GOOD])
    first, second = setting.road(model), setting.road(model, "r_2")
    assert asyncio.run(first.ask(question(), word, source="/a")) == "lantern"
    assert asyncio.run(second.ask(question(), word, source="/a")) == "lantern"
    assert (first.calls, first.hits, second.calls, second.hits) == (1, 0, 0, 1)
    assert [row["source"] for row in setting.all_rows()] == ["/a"]
    assert len(model.requests) == 1


def test_what_is_kept_is_the_object_redacted(setting: Setting) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"
    asyncio.run(setting.road(ScriptedModel([f"Sure: {json.dumps({'word': secret})}"])).ask(question(), word))
    assert json.loads(setting.kept()[0])["word"].startswith("[REDACTED:")
    assert secret not in setting.kept()[0]


def test_every_part_of_a_question_is_in_its_key() -> None:
    model = ScriptedModel([])
    other = Prompt("word", "Say one word!", SCHEMA, "fingerprint-2")
    keys = {
        cache_key(question(), model),
        cache_key(question("another"), model),
        cache_key(question(kind="map"), model),
        cache_key(question(prompt=other), model),
        cache_key(question(max_output_tokens=100), model),
        cache_key(question(), ScriptedModel([], name="other")),
        cache_key(question(), ScriptedModel([], endpoint="http://127.0.0.1:2")),
    }
    assert len(keys) == 7
    assert cache_key(question(), model) == cache_key(question(), ScriptedModel([GOOD]))


def test_a_kept_reply_that_no_longer_passes_is_dropped_alone(setting: Setting) -> None:
    asyncio.run(setting.road(ScriptedModel([GOOD])).ask(question("one"), word))
    asyncio.run(setting.road(ScriptedModel([GOOD])).ask(question("two"), word))
    model = ScriptedModel(['{"word": "lamp"}'])
    road = setting.road(model)

    def newer(found: object) -> str:
        if word(found) == "lantern":
            raise InvalidReply("not that one")
        return word(found)

    assert asyncio.run(road.ask(question("one"), newer)) == "lamp"
    assert (road.calls, road.hits) == (1, 0)
    assert sorted(setting.kept()) == ['{"word":"lamp"}', '{"word":"lantern"}']


@pytest.mark.parametrize("damage", ["{", '{"word": 7}', ""])
def test_a_damaged_kept_reply_is_asked_again(setting: Setting, damage: str) -> None:
    model = ScriptedModel([GOOD])
    with setting.database.write() as connection:
        key = cache_key(question(), model)
        cache.put(connection, setting.profile_no, key, damage, kind="analysis", model="m", source=None, now=1)
    assert asyncio.run(setting.road(model).ask(question(), word)) == "lantern"
    assert setting.kept() == ['{"word":"lantern"}']


# --- one re-ask -------------------------------------------------------------------------------------------------


def test_a_bad_reply_is_asked_again_once_with_the_validators_words(setting: Setting) -> None:
    model = ScriptedModel([BAD, GOOD])
    road = setting.road(model)
    assert asyncio.run(road.ask(question(), word)) == "lantern"
    assert road.calls == 2
    first, second = model.requests
    assert second.content.startswith(first.content)
    assert "$.word breaks minLength 1" in second.content
    assert setting.rows() == [("done", "invalid_model_output"), ("done", None)]
    assert setting.kept() == ['{"word":"lantern"}']


def test_a_validator_can_refuse(setting: Setting) -> None:
    def never(found: object) -> str:
        raise InvalidReply("entry e9 was not in the chunk")

    model = ScriptedModel([GOOD, GOOD])
    road = setting.road(model)
    with pytest.raises(ModelError, match="entry e9 was not in the chunk") as caught:
        asyncio.run(road.ask(question(), never))
    assert caught.value.code == "invalid_model_output"
    assert "entry e9 was not in the chunk" in model.requests[1].content
    assert setting.kept() == []
    assert road.calls == 2


def test_after_a_good_second_reply_the_question_is_paid_for(setting: Setting) -> None:
    asyncio.run(setting.road(ScriptedModel([BAD, GOOD])).ask(question(), word))
    assert asyncio.run(setting.road(ScriptedModel([])).ask(question(), word)) == "lantern"


def test_an_empty_reply_is_asked_again_once(setting: Setting) -> None:
    failure = _failure(ModelError, setting, ScriptedModel(["", " "]))
    assert failure.code == "invalid_model_output"
    assert setting.rows() == [("failed", "invalid_model_output")] * 2


# --- tries ------------------------------------------------------------------------------------------------------


def test_three_tries_each_charged(setting: Setting) -> None:
    failure = _failure(Transient, setting, ScriptedModel([Transient("model_unavailable", "down")] * 3))
    assert failure.code == "model_unavailable"
    assert setting.rows() == [("failed", "model_unavailable")] * 3
    assert [row["attempt"] for row in setting.all_rows()] == [1, 2, 3]
    first, second = setting.waits
    assert 0.5 <= first <= 0.75
    assert 1.0 <= second <= 1.25


def test_a_failure_that_passes(setting: Setting) -> None:
    road = setting.road(ScriptedModel([Transient("model_request_failed", "500"), GOOD]))
    assert asyncio.run(road.ask(question(), word)) == "lantern"
    assert setting.rows() == [("failed", "model_request_failed"), ("done", None)]


@pytest.mark.parametrize(
    "code",
    ["auth_unavailable", "model_request_failed", "model_context_too_small", "model_refused", "model_unavailable"],
)
def test_what_no_try_cures_is_tried_once(setting: Setting, code: str) -> None:
    assert _failure(ModelError, setting, ScriptedModel([ModelError(code, "no")])).code == code
    assert setting.rows() == [("failed", code)]
    assert setting.waits == []


def test_a_stream_cut_short_is_tried_once_more(setting: Setting) -> None:
    cut = CutShort("model_request_failed", "broke off")
    _failure(CutShort, setting, ScriptedModel([cut, cut]))
    assert setting.rows() == [("failed", "model_request_failed")] * 2


def test_no_finish_reason_counts_as_cut_short_even_with_whole_json(setting: Setting) -> None:
    road = setting.road(ScriptedModel([ModelReply(GOOD, ""), ModelReply(GOOD, "stop")]))
    assert asyncio.run(road.ask(question(), word)) == "lantern"
    assert road.calls == 2


def test_retry_after_is_waited_for(setting: Setting) -> None:
    asyncio.run(setting.road(ScriptedModel([_limited(7.0), GOOD])).ask(question(), word))
    assert setting.waits == [7.0]


def test_no_retry_after_falls_back_to_backing_off(setting: Setting) -> None:
    asyncio.run(setting.road(ScriptedModel([_limited(None), GOOD])).ask(question(), word))
    assert 0.5 <= setting.waits[0] <= 0.75


def test_a_wait_past_the_deadline_is_not_begun(setting: Setting) -> None:
    failure = _failure(ModelError, setting, ScriptedModel([_limited(86_400.0)]))
    assert failure.code == "rate_limited"
    assert failure.data["retry_after_seconds"] == 86_400.0
    assert failure.data["resume_at"] in failure.hint
    assert setting.waits == []
    assert setting.rows() == [("failed", "rate_limited")]


def test_a_refused_format_is_no_failed_try(setting: Setting) -> None:
    refused = FormatRefused("model_request_failed", "no json_schema")
    busy = Transient("model_unavailable", "busy")
    road = setting.road(ScriptedModel([refused, refused, busy, busy, GOOD]))
    assert asyncio.run(road.ask(question(), word)) == "lantern"
    assert road.calls == 5
    assert setting.waits[:2] == [0.0, 0.0]


def test_a_budget_spent_on_reasoning_gets_a_larger_one_once(setting: Setting) -> None:
    thought = ModelReply("", "length", 900, 4096, 4090)
    model = ScriptedModel([thought, GOOD])
    assert asyncio.run(setting.road(model).ask(question(), word)) == "lantern"
    assert [one.max_output_tokens for one in model.requests] == [4096, 16384]
    assert setting.rows() == [("failed", "model_output_truncated"), ("done", None)]
    assert [row["completion_tokens"] for row in setting.all_rows()] == [4096, None]


def test_a_larger_budget_spent_on_reasoning_is_the_end(setting: Setting) -> None:
    thought = ModelReply("", "length", 900, 200, 199)
    failure = _failure(ModelError, setting, ScriptedModel([thought, thought]))
    assert failure.code == "model_output_truncated"
    assert "199 of 200" in failure.message


def test_a_reply_cut_for_length_is_not_asked_again(setting: Setting) -> None:
    assert _failure(ModelError, setting, ScriptedModel([ModelReply(GOOD, "length")])).code == "model_output_truncated"
    assert setting.kept() == []


def test_an_error_of_the_code_itself_is_settled_too(setting: Setting) -> None:
    _failure(ScriptUsedUp, setting, ScriptedModel([]))
    assert setting.rows() == [("failed", "model_request_failed")]


# --- caps -------------------------------------------------------------------------------------------------------


def test_the_cap_of_a_run_stops_before_sending(setting: Setting) -> None:
    setting.limits = replace(setting.limits, batch_calls=1)
    model = ScriptedModel([GOOD] * 3)
    road = setting.road(model)
    asyncio.run(road.ask(question("one"), word))
    with pytest.raises(StateError) as caught:
        asyncio.run(road.ask(question("two"), word))
    assert (caught.value.code, caught.value.counts_as_attempt) == ("work_budget", False)
    assert len(model.requests) == 1
    assert asyncio.run(road.ask(question("one"), word)) == "lantern"
    assert asyncio.run(setting.road(model, "r_2").ask(question("two"), word)) == "lantern"


def test_the_cap_of_a_day_ends_with_the_day(setting: Setting) -> None:
    setting.limits = replace(setting.limits, daily_calls=1)
    model = ScriptedModel([GOOD] * 3)
    asyncio.run(setting.road(model, "r_1").ask(question("one"), word))
    with pytest.raises(StateError) as caught:
        asyncio.run(setting.road(model, "r_2").ask(question("two"), word))
    assert caught.value.code == "daily_budget"
    assert len(model.requests) == 1
    setting.now += 12 * 3_600_000
    asyncio.run(setting.road(model, "r_3").ask(question("two"), word))


def test_a_cap_of_nothing_sends_nothing(setting: Setting) -> None:
    setting.limits = replace(setting.limits, batch_calls=0)
    model = ScriptedModel([GOOD])
    assert _failure(StateError, setting, model).code == "work_budget"
    assert model.requests == []


def test_tries_count_against_the_cap(setting: Setting) -> None:
    setting.limits = replace(setting.limits, batch_calls=2)
    model = ScriptedModel([Transient("model_unavailable", "down")] * 3)
    assert _failure(StateError, setting, model).code == "work_budget"
    assert len(model.requests) == 2


# --- consent ----------------------------------------------------------------------------------------------------


def test_nothing_leaves_this_machine_without_a_yes(setting: Setting) -> None:
    model = ScriptedModel([GOOD], name="openai/gpt-x", **REMOTE)
    gate = ConsentGate(setting.database, setting.profile_no)
    failure = _failure(StateError, setting, model)
    assert failure.code == "consent_required"
    assert "sends to" in str(failure.data["question"])
    named = {name: value for name, value in failure.data.items() if name != "question"}
    assert named == {"model": "openai/gpt-x", "token": gate.destination(model).token} | REMOTE
    assert (model.requests, setting.rows()) == ([], [])
    with setting.database.write() as connection:
        consent.grant(connection, gate.destination(model), setting.now)
    assert asyncio.run(setting.road(model).ask(question(), word)) == "lantern"
    with setting.database.write() as connection:
        consent.revoke(connection, setting.profile_no, setting.now)
    with pytest.raises(StateError):
        asyncio.run(setting.road(model).ask(question("more"), word))
    assert asyncio.run(setting.road(model).ask(question(), word)) == "lantern"  # kept: nothing is sent for it


def test_a_yes_that_is_taken_back_stops_the_next_try(setting: Setting) -> None:
    gate = ConsentGate(setting.database, setting.profile_no)

    def answer(request: SentRequest) -> Transient:
        with setting.database.write() as connection:
            consent.revoke(connection, setting.profile_no, setting.now)
        return Transient("model_unavailable", "down")

    model = ScriptedModel(answer, **REMOTE)
    with setting.database.write() as connection:
        consent.grant(connection, gate.destination(model), setting.now)
    assert _failure(StateError, setting, model).code == "consent_required"
    assert len(model.requests) == 1


# --- a model in this process, and a dry run -----------------------------------------------------------------------


class _Local:
    name = "offline"

    def __init__(self, text: str) -> None:
        self.text = text

    def answer(self, request: ModelRequest) -> str:
        return self.text


def test_a_model_in_this_process_is_checked_and_not_charged(setting: Setting) -> None:
    road = setting.road(_Local(GOOD))
    assert asyncio.run(road.ask(question(), word)) == "lantern"
    assert (road.calls, road.hits, setting.rows(), setting.kept()) == (0, 0, [], [])
    with pytest.raises(ModelError) as caught:
        asyncio.run(setting.road(_Local(BAD)).ask(question(), word))
    assert caught.value.code == "invalid_model_output"
    asyncio.run(road.close())


def test_what_asking_would_send(setting: Setting) -> None:
    model = ScriptedModel([GOOD])
    road = setting.road(model)
    before = road.would_send(question())
    assert before is not None
    assert before > len(PROMPT.instructions + "which word?")
    asyncio.run(road.ask(question(), word))
    assert [row["request_bytes"] for row in setting.all_rows()] == [before]
    assert road.would_send(question()) is None
    assert road.would_send(question("一个词")) == before - len("which word?") + 9
    assert setting.road(_Local(GOOD)).would_send(question()) is None
    assert road.calls == 1


def test_closing_the_road_closes_the_model(setting: Setting) -> None:
    model = ScriptedModel([])
    asyncio.run(setting.road(model).close())
    assert model.closed


# --- tokens and cost ---------------------------------------------------------------------------------------------


def test_tokens_and_cost_stand_in_the_ledger(setting: Setting) -> None:
    replies = [ModelReply(GOOD, "stop", 11, 7, 2, 0.25), ModelReply(GOOD, "stop", 5, 3)]
    road = setting.road(ScriptedModel(replies))
    asyncio.run(road.ask(question("one"), word))
    asyncio.run(road.ask(question("two"), word))
    found = [(row["prompt_tokens"], row["completion_tokens"], row["cost_usd"]) for row in setting.all_rows()]
    assert found == [(11, 7, 0.25), (5, 3, None)]


def test_many_questions_at_once_are_all_answered(setting: Setting) -> None:
    model = ScriptedModel(lambda request: json.dumps({"word": request.content}))
    road = setting.road(model)

    async def work() -> list[Any]:
        return await all_of(road.ask(question(f"q{n}"), word) for n in range(40))

    assert asyncio.run(work()) == [f"q{n}" for n in range(40)]
    assert road.calls == len(model.requests) == len(setting.rows()) == 40


def test_the_limits_of_the_settings(tmp_path: Any) -> None:
    from recall import settings

    made = settings.load({"HOME": str(tmp_path), "HISTORY_RECALL_BATCH_CALLS": "5"})
    assert CallLimits.of(made) == CallLimits(5, 200, 3, 90.0, 30.0)
    assert CallLimits.of(made, batch_calls=9).batch_calls == 9


def test_every_failure_is_a_typed_one(setting: Setting) -> None:
    assert issubclass(Transient, RecallError)
    with pytest.raises(ValueError, match="has no code"):
        Transient("nonsense", "x")
