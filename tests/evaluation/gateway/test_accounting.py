"""Token accounting: scripted answers of the three dialects against counts worked out by hand."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest

from evaluation.gateway.contract import Dialect, Outcome, Usage
from tests.evaluation.gateway.answers import chat_events, message_events, response_events, whole
from tests.evaluation.gateway.parts import CHAT, DIALECTS, MESSAGES, RESPONSES, gateway
from tests.evaluation.gateway.scripted import Answer, stream

Counts = tuple[int | None, int | None, int | None, int | None]


class Case(NamedTuple):
    """`counts`: input with cached ones, cached, output, reasoning. `kept`: after how many events the stream is cut."""

    name: str
    usage: Any
    """Of a whole answer, or of the end of a stream; a list holds what message_start and each message_delta say."""
    counts: Counts
    how: str = "whole"
    kept: int | None = None

    def answer(self, dialect: Dialect) -> Answer:
        if self.how == "whole":
            return whole(dialect, self.usage)
        events = self._events(dialect)
        return stream(*events) if self.kept is None else stream(*events[: self.kept], end="cut")

    def _events(self, dialect: Dialect) -> list[Any]:
        if dialect is CHAT:
            return chat_events(self.usage, late=self.how == "late")
        if dialect is RESPONSES:
            return response_events(self.usage, "incomplete" if self.how == "incomplete" else "completed")
        return message_events(*self.usage)


def _chat(prompt: Any, completion: Any, **more: Any) -> dict[str, Any]:
    return {"prompt_tokens": prompt, "completion_tokens": completion, **more}


def _both(entered: Any, left: Any, **more: Any) -> dict[str, Any]:
    return {"input_tokens": entered, "output_tokens": left, **more}


DETAILS = {"cached_tokens": 1024}, {"reasoning_tokens": 300}
CHAT_FULL = _chat(1200, 340, prompt_tokens_details=DETAILS[0], completion_tokens_details=DETAILS[1])
RESPONSES_FULL = _both(2000, 450, input_tokens_details=DETAILS[0], output_tokens_details=DETAILS[1])
CACHE = {"cache_read_input_tokens": 900, "cache_creation_input_tokens": 250}
MESSAGES_FULL = _both(50, 77, **CACHE)
BEGUN = _both(50, 1, **CACHE)
OUT = {"output_tokens": 77}
NOTHING: Counts = (None, None, None, None)

CASES: dict[Dialect, list[Case]] = {
    CHAT: [
        Case("cached and reasoning", CHAT_FULL, (1200, 1024, 340, 300)),
        Case("no details", _chat(7, 3), (7, None, 3, None)),
        Case("absent", None, NOTHING),
        Case("empty", {}, NOTHING),
        Case("zero", _chat(0, 0), (0, None, 0, None)),
        Case("zero cached", _chat(9, 1, prompt_tokens_details={"cached_tokens": 0}), (9, 0, 1, None)),
        Case("cache hits by another name", _chat(90, 8, prompt_cache_hit_tokens=64), (90, 64, 8, None)),
        Case("partial", {"prompt_tokens": 12}, (12, None, None, None)),
        Case("null", _chat(12, None), (12, None, None, None)),
        Case("negative, text", _chat(-4, "9"), NOTHING),
        Case("true, half", _chat(True, 2.5), NOTHING),
        Case("late", CHAT_FULL, (1200, 1024, 340, 300), "late"),
        Case("with the last choice", _chat(7, 3), (7, None, 3, None), "early"),
        Case("never", None, NOTHING, "late"),
        Case("late zero", _chat(0, 0), (0, None, 0, None), "late"),
        Case("cut before usage", CHAT_FULL, NOTHING, "late", 2),
        Case("cut after usage", CHAT_FULL, (1200, 1024, 340, 300), "late", 4),
    ],
    RESPONSES: [
        Case("cached and reasoning", RESPONSES_FULL, (2000, 1024, 450, 300)),
        Case("absent", None, NOTHING),
        Case("zero", _both(0, 0), (0, None, 0, None)),
        Case("partial", {"output_tokens": 5}, (None, None, 5, None)),
        Case("late", RESPONSES_FULL, (2000, 1024, 450, 300), "late"),
        Case("incomplete answer", RESPONSES_FULL, (2000, 1024, 450, 300), "incomplete"),
        Case("never", None, NOTHING, "late"),
        Case("late zero", _both(0, 0), (0, None, 0, None), "late"),
        Case("cut", RESPONSES_FULL, NOTHING, "late", 5),
    ],
    MESSAGES: [
        Case("cached", MESSAGES_FULL, (1200, 900, 77, None)),
        Case("no cache", _both(8, 2), (8, None, 2, None)),
        Case("absent", None, NOTHING),
        Case("zero", _both(0, 0), (0, None, 0, None)),
        Case("all from the cache", MESSAGES_FULL | {"input_tokens": 0}, (1150, 900, 77, None)),
        Case("late", [BEGUN, OUT], (1200, 900, 77, None), "late"),
        Case("cumulative", [_both(40, 1), {"output_tokens": 20}, OUT], (40, None, 77, None), "late"),
        Case("input corrected", [_both(0, 0), _both(31, 6, **CACHE)], (1181, 900, 6, None), "late"),
        Case("null keeps the beginning", [_both(31, 1), _both(None, 6)], (31, None, 6, None), "late"),
        Case("never", [None, None], NOTHING, "late"),
        Case("output never counted", [_both(31, 1), None], (31, None, None, None), "late"),
        Case("late zero", [_both(0, 0), {"output_tokens": 0}], (0, None, 0, None), "late"),
        Case("cut after the beginning", [BEGUN, OUT], (1200, 900, None, None), "late", 4),
        Case("cut between counts", [BEGUN, {"output_tokens": 9}, OUT], (1200, 900, None, None), "late", 6),
        Case("cut after the last count", [BEGUN, OUT], (1200, 900, 77, None), "late", 6),
    ],
}
TABLE = [(dialect, case) for dialect, cases in CASES.items() for case in cases]
SILENT = ("absent", "empty", "never", "cut", "cut before usage")


@pytest.mark.acceptance("fleet:5")
@pytest.mark.parametrize(("dialect", "case"), TABLE, ids=[f"{d}: {c.how}, {c.name}" for d, c in TABLE])
def test_counts_are_those_worked_out_by_hand(dialect: Dialect, case: Case):
    with gateway(dialect, case.answer(dialect)) as setting:
        setting.ask_to_the_end(dialect, stream=case.how != "whole")
        (record,) = setting.lines.ended
        used = setting.gateway.used
    usage = record.usage
    found = (usage.input_tokens, usage.cached_tokens, usage.output_tokens, usage.reasoning_tokens)
    assert found == case.counts
    assert usage.reported is (case.name not in SILENT)
    assert record.cut_off is (case.kept is not None)
    assert record.outcome is (Outcome.OK if case.kept is None else Outcome.CUT_OFF)
    entered, _, left, _ = case.counts
    assert record.incomplete is (entered is None or left is None)
    assert used.estimated is record.incomplete
    assert entered is None or left is None or used.tokens == entered + left
    assert (record.asked, record.served) == ("main-model", "snap-1")


@pytest.mark.acceptance("fleet:5")
def test_what_the_provider_said_is_kept_as_it_said_it():
    with gateway(CHAT, whole(CHAT, CHAT_FULL)) as setting:
        setting.ask(CHAT)
        assert setting.lines.ended[0].usage.raw == CHAT_FULL
    counts = [{"output_tokens": 20}, {"output_tokens": 77}]
    with gateway(MESSAGES, stream(*message_events(MESSAGES_FULL, *counts))) as setting:
        setting.ask(MESSAGES, stream=True)
        assert setting.lines.ended[0].usage.raw == MESSAGES_FULL


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_monstrous_usage_object_is_counted_and_not_kept(dialect: Dialect):
    names = ("prompt_tokens", "completion_tokens") if dialect is CHAT else ("input_tokens", "output_tokens")
    usage = {names[0]: 5, names[1]: 6, "padding": "x" * 5000}
    with gateway(dialect, whole(dialect, usage)) as setting:
        setting.ask(dialect)
        assert setting.lines.ended[0].usage == Usage(
            {"too_long": True, names[0]: 5, names[1]: 6}, 5, None, 6, None
        )


def test_tokens_of_every_attempt_count():
    """An upstream that fails, having used tokens, and then succeeds: two lines, both counted where reported."""
    answers = [Answer(status=503), stream(*message_events(MESSAGES_FULL, {"output_tokens": 77}))]
    with gateway(MESSAGES, *answers) as setting:
        setting.ask(MESSAGES, stream=True)
        first, second = setting.lines.ended
        assert (first.outcome, first.incomplete) == (Outcome.UPSTREAM_FAILED, False)
        assert (second.outcome, second.usage.input_tokens) == (Outcome.OK, 1200)
        assert setting.gateway.used.tokens == 1277
