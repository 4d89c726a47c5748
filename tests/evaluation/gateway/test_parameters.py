"""Parameters: locked or recorded, and what an episode's calls had in common."""

from __future__ import annotations

from typing import Any

import pytest

from evaluation.gateway.contract import Dialect, Rules
from tests.evaluation.gateway.answers import chat, whole
from tests.evaluation.gateway.parts import CHAT, DIALECTS, MESSAGES, RESPONSES, gateway
from tests.evaluation.gateway.scripted import plain

LOCKED = Rules(frozenset({"temperature", "top_p", "maximum_output_tokens", "reasoning"}))
DECLARED = {"temperature": 0, "maximum_output_tokens": 50, "reasoning": "low"}
BOUND = {CHAT: "max_completion_tokens", RESPONSES: "max_output_tokens", MESSAGES: "max_tokens"}


def _reasoning(dialect: Dialect, value: str) -> dict[str, Any]:
    if dialect is CHAT:
        return {"reasoning_effort": value}
    return {"reasoning" if dialect is RESPONSES else "output_config": {"effort": value}}


@pytest.mark.parametrize("dialect", DIALECTS)
def test_another_value_of_a_locked_parameter_is_refused_by_name(dialect: Dialect):
    fields = {BOUND[dialect]: 50}
    with gateway(dialect, whole(dialect, None), rules=LOCKED, parameters=DECLARED) as setting:
        for wrong in ({"temperature": 0.7}, {BOUND[dialect]: 51}, {"top_p": 1}, _reasoning(dialect, "high")):
            answer = setting.ask(dialect, **{**fields, **wrong})
            error = answer.json()["error"]
            assert (answer.status_code, error["code"]) == (400, "parameter_locked")
            assert next(iter(wrong)) in error["message"]
        assert setting.upstream.asked == []


@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_declared_value_passes_and_an_absent_one_is_filled_in(dialect: Dialect):
    fields = {BOUND[dialect]: 50}
    with gateway(dialect, whole(dialect, None), rules=LOCKED, parameters=DECLARED) as setting:
        assert (
            setting.ask(dialect, temperature=0.0, **fields, **_reasoning(dialect, "low")).status_code == 200
        )
        assert setting.ask(dialect, **fields).status_code == 200
        first, second = (asked.body for asked in setting.upstream.asked)
        assert first == second
        found = setting.lines.ended[1].parameters
    assert {name: found[name] for name in DECLARED} == DECLARED


@pytest.mark.parametrize("dialect", DIALECTS)
def test_what_is_not_locked_passes_and_is_recorded_by_one_name(dialect: Dialect):
    with gateway(dialect, whole(dialect, None)) as setting:
        setting.ask(
            dialect, temperature=0.3, top_p=0.9, **{BOUND[dialect]: 77}, **_reasoning(dialect, "high")
        )
        setting.ask(dialect, temperature=0.4, **{BOUND[dialect]: 77}, tools=[])
        observed = setting.gateway.observed["main-model"]
    assert observed.parameters["temperature"] == (0.3, 0.4)
    assert observed.parameters["top_p"] == (0.9, None)
    assert observed.parameters["maximum_output_tokens"] == (77,)
    assert observed.parameters["reasoning"] == ("high", None)
    assert observed.models == {"snap-1"}
    assert observed.tools == (0, 0)


def test_a_parameter_that_appears_later_was_absent_before():
    with gateway(CHAT, whole(CHAT, None)) as setting:
        setting.ask(CHAT)
        setting.ask(CHAT, seed=7)
        assert setting.gateway.observed["main-model"].parameters["seed"] == (None, 7)


def test_long_values_are_recorded_by_digest():
    schema = {"type": "json_schema", "json_schema": {"name": "x", "schema": {"description": "y" * 500}}}
    with gateway(CHAT, whole(CHAT, None)) as setting:
        setting.ask(CHAT, response_format=schema)
        assert setting.upstream.asked[0].body["response_format"] == schema
        recorded = setting.lines.ended[0].parameters["response_format"]
    assert recorded.startswith("sha256:")


def test_another_model_than_the_pinned_one_is_observed():
    answers = [whole(CHAT, None), plain(chat("hi") | {"model": "snap-2"})]
    with gateway(CHAT, *answers) as setting:
        for _ in answers:
            setting.ask(CHAT)
        assert setting.gateway.observed["main-model"].models == {"snap-1", "snap-2"}
        assert [record.served for record in setting.lines.ended] == ["snap-1", "snap-2"]


def test_values_without_end_do_not_fill_the_memory():
    with gateway(CHAT, whole(CHAT, None)) as setting:
        for number in range(40):
            setting.ask(CHAT, seed=number)
        assert len(setting.gateway.observed["main-model"].parameters["seed"]) == 32
