"""Budgets: reserved before a call goes out, settled after it, and refused with a code when they are used up."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from evaluation.gateway.contract import Budget, Dialect
from tests.evaluation.gateway.answers import chat_events, whole
from tests.evaluation.gateway.parts import CHAT, DIALECTS, MESSAGES, RESPONSES, Setting, gateway
from tests.evaluation.gateway.scripted import Answer, stream

BOUND = {CHAT: "max_completion_tokens", RESPONSES: "max_output_tokens", MESSAGES: "max_tokens"}
NAMES = {CHAT: ("prompt_tokens", "completion_tokens")}
NAMES[RESPONSES] = NAMES[MESSAGES] = ("input_tokens", "output_tokens")


def _used(dialect: Dialect, entered: int, left: int) -> Answer:
    return whole(dialect, dict(zip(NAMES[dialect], (entered, left), strict=True)))


def _code(setting: Setting, dialect: Dialect, **fields: Any) -> str:
    answer = setting.ask(dialect, **fields)
    return "" if answer.status_code == 200 else f"{answer.status_code} {answer.json()['error']['code']}"


@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_last_step_is_answered_and_the_next_is_refused(dialect: Dialect):
    with gateway(dialect, _used(dialect, 5, 5), budget=Budget(2, 1_000_000)) as setting:
        assert [_code(setting, dialect) for _ in range(2)] == ["", ""]
        assert setting.gateway.exhausted is None
        answer = setting.ask(dialect)
        assert (answer.status_code, answer.json()["error"]["code"]) == (429, "budget_exhausted")
        assert answer.headers["x-should-retry"] == "false"
        assert setting.gateway.exhausted == "steps"
        assert (setting.gateway.used.steps, len(setting.upstream.asked)) == (2, 2)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_tokens_are_cache_inclusive_and_the_budget_ends(dialect: Dialect):
    with gateway(dialect, _used(dialect, 600, 300), budget=Budget(10, 1000)) as setting:
        assert _code(setting, dialect) == ""
        assert setting.gateway.used.tokens == 900
        assert _code(setting, dialect) == ""  # room for a little: its output is bounded by what is left
        assert setting.gateway.used.tokens == 1800
        assert _code(setting, dialect) == "429 budget_exhausted"
        assert setting.gateway.exhausted == "tokens"
    bounds = [asked.body[BOUND[dialect]] for asked in setting.upstream.asked]
    assert bounds[0] <= 1000
    assert 0 < bounds[1] < 100


@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_bound_of_output_is_lowered_to_what_is_left_and_no_further(dialect: Dialect):
    name = BOUND[dialect]
    with gateway(dialect, _used(dialect, 5, 5), budget=Budget(10, 5000)) as setting:
        setting.ask(dialect, **{name: 200})
        setting.ask(dialect, **{name: 32_000})
        first, second = (asked.body[name] for asked in setting.upstream.asked)
        assert first == 200
        assert 4900 < second <= 4990
        assert setting.lines.started[1].reserved_tokens == 4990
        assert setting.gateway.used.tokens == 20  # settled, not what was reserved


def test_the_older_name_of_the_bound_stays_and_of_two_the_lower_counts():
    with gateway(CHAT, _used(CHAT, 5, 5), budget=Budget(10, 5000)) as setting:
        setting.ask(CHAT, max_tokens=32_000)
        setting.ask(CHAT, max_tokens=70, max_completion_tokens=90)
        first, second = (asked.body for asked in setting.upstream.asked)
    assert 4900 < first["max_tokens"] < 5000
    assert "max_completion_tokens" not in first
    assert (second["max_completion_tokens"], "max_tokens" in second) == (70, False)


def test_an_unstated_bound_is_the_one_that_was_reserved():
    """Else calls at the same time could each use more than was held for them."""
    with gateway(CHAT, _used(CHAT, 5, 5), budget=Budget(10, 100_000)) as setting:
        setting.ask(CHAT)
        assert setting.upstream.asked[0].body["max_completion_tokens"] == 8192


def test_several_answers_at_once_are_each_reserved_for():
    with gateway(CHAT, _used(CHAT, 5, 5), budget=Budget(10, 10_000)) as setting:
        setting.ask(CHAT, n=4, max_tokens=5000)
        assert setting.upstream.asked[0].body["max_tokens"] <= 2500


def test_thinking_is_not_cut_below_what_the_dialect_allows():
    """The upstream would refuse a bound below the budget of thinking, so the call is one that does not fit."""
    thinking = {"type": "enabled", "budget_tokens": 4000}
    with gateway(MESSAGES, _used(MESSAGES, 5, 5), budget=Budget(10, 3000)) as setting:
        assert _code(setting, MESSAGES, max_tokens=8000, thinking=thinking) == "429 budget_exhausted"
        assert setting.gateway.exhausted == "tokens"


def test_a_prompt_that_cannot_fit_is_not_sent():
    with gateway(CHAT, _used(CHAT, 5, 5), budget=Budget(10, 1000)) as setting:
        said = [{"role": "user", "content": "word " * 2000}]
        assert _code(setting, CHAT, messages=said) == "429 budget_exhausted"
        assert setting.upstream.asked == []


def test_inline_content_is_not_counted_by_its_bytes():
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "A" * 300_000}}
    with gateway(CHAT, _used(CHAT, 5, 5), budget=Budget(10, 20_000)) as setting:
        assert _code(setting, CHAT, messages=[{"role": "user", "content": [picture]}]) == ""
        assert 1600 < setting.lines.started[0].reserved_tokens < 1600 + 8192 + 200


def test_unreported_usage_is_charged_by_an_estimate_and_said_so():
    with gateway(CHAT, whole(CHAT, None, "x" * 3000), budget=Budget(10, 100_000)) as setting:
        setting.ask(CHAT)
        used = setting.gateway.used
    assert used.estimated
    assert 1000 < used.tokens < 1500
    assert setting.lines.ended[0].usage.output_tokens is None


def test_a_call_waits_for_those_that_hold_what_is_left():
    """Two at once with room for one: the second goes out after the first was settled, and gets what is then left."""
    go_on = threading.Event()
    slow = stream(*chat_events({"prompt_tokens": 10, "completion_tokens": 10}), after=go_on)
    with gateway(CHAT, slow, _used(CHAT, 10, 10), budget=Budget(10, 4000)) as setting:
        first = threading.Thread(target=setting.ask_to_the_end, args=(CHAT,), kwargs={"stream": True})
        first.start()
        assert setting.upstream.script.taken.acquire(timeout=20)
        codes: list[str] = []
        second = threading.Thread(target=lambda: codes.append(_code(setting, CHAT)))
        second.start()
        second.join(0.3)
        assert (second.is_alive(), len(setting.upstream.asked)) == (True, 1)
        go_on.set()
        first.join()
        second.join()
        assert (codes, setting.gateway.exhausted) == ([""], None)
        assert setting.lines.started[1].reserved_tokens == 3980


def test_a_negative_budget_of_thinking_gives_no_room():
    usage = _used(MESSAGES, 5, 5)
    with gateway(MESSAGES, usage, budget=Budget(10, 500)) as setting:
        big = [{"role": "user", "content": "x " * 100_000}]
        thinking = {"type": "enabled", "budget_tokens": -(10**9)}
        setting.ask(MESSAGES, messages=big, max_tokens=100, thinking=thinking)
        assert not setting.upstream.asked
        assert setting.gateway.exhausted == "tokens"
