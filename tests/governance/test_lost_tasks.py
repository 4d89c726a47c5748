"""What a vendor kept incomplete is told nothing of the tasks that were lost: the gate counts them as changed."""

from __future__ import annotations

import pytest

from benchmark.models import TaskSetVersion
from evaluation.models import Episode
from submissions.models import Submission
from submissions.problems import Code
from submissions.services import choose, move
from submissions.services.moves import locked
from tests.factories import BY
from tests.governance.test_delivery import date_end, released
from tests.governance.test_silences import answer, opened, rows
from tests.submissions import world
from tests.submissions.outcomes import bring_to, graded, lose

pytestmark = pytest.mark.django_db


@pytest.mark.acceptance("governance:3")
@pytest.mark.parametrize(("lost", "shown"), [(1, (None, "near_duplicate")), (19, (None, "near_duplicate"))])
def test_a_few_lost_tasks_are_not_read_by_subtraction(lost: int, shown: tuple[int | None, str]) -> None:
    """Everything else is answered as before, so the mean without them less the mean with them would be theirs."""
    version, vendor = opened(), world.vendor()
    answer(vendor, version)
    kept = kept_without(vendor, version, range(lost))
    assert rows(kept)["finance"] == shown


def test_lost_tasks_of_a_first_submission_cost_no_value() -> None:
    version, vendor = opened(), world.vendor()
    kept = kept_without(vendor, version, range(3))
    assert rows(kept)["finance"] == (43, "")


@pytest.mark.parametrize(("lost", "shown"), [(18, True), (19, False), (23, False)])
def test_a_mean_over_a_few_tasks_is_not_shown(lost: int, shown: bool) -> None:
    """Of 24 tasks 6 are more than 60 of 286, and 5 are not: one task alone would show its very score."""
    version, vendor = opened(), world.vendor()
    kept = kept_without(vendor, version, range(24 - lost, 24) if lost < 23 else range(1, 24))
    value, reason = rows(kept)["finance"]
    assert (value is not None, reason) == (shown, "" if shown else "no_valid_run")
    body = vendor.api.get(f"submissions/{kept.id}/result").body["domains"]["finance"]
    assert ("low" in body) is shown


def kept_without(vendor: world.Vendor, version: TaskSetVersion, lost: range) -> Submission:
    """Answered as `answer` does, but for the lost tasks of finance, and new in general; kept, and released."""
    found = bring_to(vendor.submit(version, vendor.harness("kept")), "running")
    seen: dict[str, int] = {}
    episodes = Episode.objects.filter(run=found.held_out_run).select_related("task").order_by("task__slug")
    for episode in episodes:
        domain = episode.task.domain
        at = seen[domain] = seen.get(domain, -1) + 1
        if domain != "finance" or at not in lost:
            graded(episode, f"{'new' if domain == 'general' else 'first'}-{domain}-{at}", is_right=at < 12)
    lose(found.held_out_run, len(lost))  # type: ignore[arg-type]
    date_end(found)
    move(locked(found.id), "awaiting_choice", cause=Code.RUNS_LOST, by=BY)
    choose(found.id, "keep", by=vendor.actor)
    found.refresh_from_db()
    assert released(found)
    return found
