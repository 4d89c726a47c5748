"""What an auditor reads: words for codes, and Chinese set as Chinese is; and filters that refuse what is no range."""

from __future__ import annotations

from typing import Any

import pytest
from django.utils import translation

from audit.events import Event
from leaderboard.auditing import words
from leaderboard.auditing.forms import ExportForm, FilterForm

ORGANISATION = "01900000-0000-7000-8000-000000000001"
PERSON = "0f0e0d0c-0b0a-4908-8706-050403020100"
SUBMISSION = "01900000-0000-7000-8000-0000000000ab"


def said(kind: str, language: str = "en", name: str = "Acme", **facts: Any) -> str:
    body = {
        "kind": kind,
        "actor": {"kind": "person", "id": PERSON, "organisation": ORGANISATION},
        "subject": {"type": "submission", "id": SUBMISSION},
        "outcome": "ok",
        "data": facts,
    }
    with translation.override(language):
        return words.sentence(body, {ORGANISATION: name})


@pytest.mark.parametrize(
    ("kind", "facts", "words_of_it"),
    [
        (
            "submission.status_read",
            {"change": "changed", "surface": "submissions:submission"},
            "stands: changed since the last time (web page).",
        ),
        (
            "submission.status_read",
            {"change": "first", "surface": "api-submission"},
            "stands: for the first time (API).",
        ),
        (
            "submission.moved",
            {"before": "queued", "after": "awaiting_choice", "cause": "canary_passed"},
            "from queued to waiting for the vendor's choice: Held-out tasks have started; one use is counted.",
        ),
        (
            "attempt.ended",
            {"run": "r", "number": 2, "ending": "budget_exhausted"},
            "ended: budget exhausted.",
        ),
        (
            "release_policy.set",
            {"task_set": "2026.1", "rule": "grid", "grid_points": 1},
            "of 2026.1: each submission shows its own value on the grid, grid of 1 point.",
        ),
        ("submission.publication_consent_changed", {"consent": 0}, "to not given."),
        ("quota.admission_stopped", {"cause": "governance"}, "stopped by governance."),
        ("duty.proposed", {"duty": "held_out_governor"}, "as held-out governor from"),
        ("slot.consumed", {"submission": "s", "cause": "never_heard_of"}, ": never_heard_of."),
        (
            "read.refusals_counted",
            {"count": 3, "since": "2026-11-30T13:00:00.000000Z"},
            "in the hour from 2026-11-30 13:00:00 UTC on.",
        ),
    ],
)
def test_codes_are_said_in_words(kind: str, facts: dict[str, Any], words_of_it: str) -> None:
    assert words_of_it in said(kind, **facts)
    with translation.override("zh-hans"):
        assert not {"changed", "first", "grid", "queued"} & set(said(kind, "zh-hans", **facts).split())


def test_chinese_has_a_blank_beside_letters_and_none_beside_its_own() -> None:
    facts = {"change": "changed", "surface": "api-submission"}
    assert said("submission.status_read", "zh-hans", **facts) == (
        "Acme 的人员 …03020100 查看了提交 …000000ab 的状态：较上次有变化（API）。"
    )
    assert said("submission.status_read", "zh-hans", "示例 机构", **facts).startswith("示例 机构的人员 …")
    moved = said("submission.moved", "zh-hans", before="queued", after="running", cause="canary_passed")
    assert moved.startswith("Acme 的人员 …03020100 将提交 …000000ab 从排队中转为运行中：")


def test_every_outcome_that_a_kind_begins_with_can_be_filtered_for() -> None:
    declared = {kind.model_fields["outcome"].default for kind in Event.registry.values()}
    assert declared <= set(words.OUTCOMES)


def filtered(**query: str) -> FilterForm:
    return FilterForm(query, organisations=[])


REVERSED = ({"since": "2026-02-01T00:00", "until": "2026-01-01T00:00"}, "until", "range_reversed")
EMPTY = ({"since": "2026-02-01T00:00", "until": "2026-02-01T00:00"}, "until", "range_reversed")
ABSURD = ({"since": "0001-01-01T00:00"}, "since", "instant_out_of_range")
LATE = ({"until": "9999-12-31T23:59:59"}, "until", "instant_out_of_range")
OVERFLOWING = ({"until": "275760-09-13T00:00"}, "until", "instant_malformed")
NO_DAY = ({"since": "2026-02-30T00:00"}, "since", "instant_malformed")
CASES = (REVERSED, EMPTY, ABSURD, LATE, OVERFLOWING, NO_DAY)


@pytest.mark.parametrize("form", [FilterForm, ExportForm])
@pytest.mark.parametrize(("query", "field", "code"), CASES)
@pytest.mark.parametrize("language", ["en", "zh-hans"])
def test_a_range_that_is_none_is_refused_at_its_field(
    form: type[FilterForm | ExportForm], query: dict[str, str], field: str, code: str, language: str
) -> None:
    with translation.override(language):
        given = form(query, organisations=[])
        assert not given.is_valid()
        (error,) = given.errors.as_data()[field]
        assert (error.code, list(given.errors)) == (code, [field])
        assert str(error.messages[0])


def test_positions_may_meet_but_not_cross() -> None:
    assert ExportForm({"first": "3", "last": "3"}, organisations=[]).is_valid()
    assert ExportForm({"since": "2026-01-01T00:00", "until": "2026-02-01T00:00"}, organisations=[]).is_valid()
    crossed = ExportForm({"first": "4", "last": "3"}, organisations=[])
    assert [error.code for error in crossed.errors.as_data()["last"]] == ["range_reversed"]


@pytest.mark.parametrize(
    ("query", "left_out"),
    [
        ({}, True),
        ({"since": "2026-01-01T00:00"}, True),
        ({"attempts": "on"}, False),
        ({"kind": "attempt."}, False),
        ({"outcome": "fault"}, False),
        ({"actor_kind": "worker"}, False),
    ],
)
def test_ended_attempts_are_left_out_of_a_list_of_everything_only(
    query: dict[str, str], left_out: bool
) -> None:
    form = filtered(**query)
    assert form.is_valid()
    assert bool(form.wanted().without) is left_out


def test_unknown_values_are_no_choice() -> None:
    for name in ("kind", "outcome", "channel", "actor_kind", "subject_type"):
        assert list(filtered(**{name: "no.such"}).errors) == [name]
