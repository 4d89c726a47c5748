"""Where a submission is, everybody concerned can see: stored before it is accepted, listed until its end."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import psycopg
import pytest

from benchmark.models import TaskSetVersion
from submissions import queries
from submissions.models import Harness, Submission
from submissions.policies.states import ENDS, MOVES, may_move
from submissions.problems import Code
from tests.pages import site
from tests.submissions import world
from tests.submissions.test_quota import reject
from tests.submissions.world import Vendor

Connect = Callable[[str], psycopg.Connection[Any]]
LONGEST = 14
"""Moves of a walk; after so many it takes an end where there is one."""


def onward(submission: Submission, dice: random.Random, steps: int) -> str:
    """A legal move; an end, once the walk is long."""
    state, paused_from = submission.state, submission.paused_from
    open_to = [to for to in MOVES[state] if may_move(state, to, paused_from=paused_from)]
    ends = [to for to in open_to if to in ENDS]
    return dice.choice(ends if ends and steps > LONGEST else open_to)


@pytest.mark.django_db
@pytest.mark.acceptance("access:1")
@pytest.mark.case("U21")
@pytest.mark.parametrize("seed", range(8))
def test_until_its_end_it_is_listed_for_its_owner_and_for_staff(seed: int) -> None:
    dice, vendor = random.Random(seed), world.vendor()
    task_set = site.task_set(in_flight=9, preflight=9)
    submission, steps = vendor.submit(task_set, vendor.harness()), 0
    while submission.state not in ENDS:
        assert MOVES[submission.state], f"{submission.state} has no exit"
        listed = vendor.api.get(f"submissions?state={submission.state}").body["submissions"]
        assert [row["id"] for row in listed] == [str(submission.id)]
        assert vendor.api.get(f"submissions/{submission.id}").body["state"] == submission.state
        assert site.signed_in(vendor.user).get(f"/en/v/submissions/{submission.id}/").status_code == 200
        assert [row.submission.id for row in queries.running_for_staff()] == [submission.id]
        to = onward(submission, dice, steps)
        submission, steps = site.moved(submission, (to, Code.DEADLINE_PAUSED)), steps + 1
    assert not queries.running_for_staff()
    assert vendor.api.get(f"submissions/{submission.id}").body["outcome"]["code"]


@pytest.mark.django_db(transaction=True)
@pytest.mark.acceptance("access:1")
@pytest.mark.case("E46")
def test_what_is_accepted_is_stored_and_what_fails_later_is_seen(
    vendor: Vendor, harness: Harness, task_set: TaskSetVersion, connect_as: Connect
) -> None:
    answer = vendor.api.post("submissions", world.body_of(vendor.order(task_set, harness)))
    assert answer.status == 202
    row = connect_as("auditor").execute(
        "SELECT state FROM submissions_submission WHERE id = %s", [answer.body["id"]]
    )
    assert row.fetchone() == ("created",)
    reject(Submission.objects.get(pk=answer.body["id"]))
    shown = vendor.api.get(f"submissions/{answer.body['id']}").body
    assert (shown["state"], shown["outcome"]["code"]) == ("rejected", "manifest_missing")
    assert shown["charge"]["state"] == "refunded"
