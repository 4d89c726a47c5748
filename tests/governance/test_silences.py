"""What a second version of a harness is told: nothing that could be subtracted from the first one's values."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import timedelta
from typing import Any

import psycopg
import pytest

from accounts.models import Organisation
from accounts.tokens.services import issue_token
from benchmark.models import Domain, TaskSetVersion
from config import clock
from evaluation.models import Episode
from governance import leaks, services
from governance.models import DomainAggregate, LeakCharge, Release, ReleasePolicy
from governance.queries import current_policy
from submissions.models import AdmissionStop, Slot, Submission
from submissions.problems import Code
from submissions.services import open_task_set
from tests.accounts.duties import member_of_staff
from tests.audit.test_log import Connect
from tests.factories import BY, frozen_version, recorded
from tests.governance.test_delivery import bring_on, released
from tests.pages import site
from tests.submissions import world
from tests.submissions.outcomes import bring_to, graded

pytestmark = pytest.mark.django_db

TASKS = 24
DOMAINS = [domain.value for domain in Domain]
Changed = Mapping[str, Collection[int]]
"""By domain: which of its tasks, by their order; answered otherwise than at first, say."""


def opened(rule: str = "grid", **facts: Any) -> TaskSetVersion:
    version = frozen_version("c1", dict.fromkeys(DOMAINS, (2, TASKS)))
    open_task_set(version, profile="demo", numbers={"in_flight": 9, "line": 9, "lineage": 9}, by=BY)
    services.set_release_policy(version, profile="demo", tick_seconds=5, rule=rule, by=BY, **facts)
    return version


@pytest.fixture
def version() -> TaskSetVersion:
    return opened()


@pytest.fixture
def vendor() -> world.Vendor:
    return world.vendor()


def answer(vendor: world.Vendor, version: TaskSetVersion, number: int = 1, **how: Any) -> Submission:
    """A submission of the harness's next version that ran through and was released."""
    found = bring_to(vendor.submit(version, vendor.harness(f"h{number}")), "running")
    write(found, **how)
    assert released(bring_on(found))
    found.refresh_from_db()
    return found


def write(
    submission: Submission, changed: Changed | None = None, correct: Changed | None = None, skip: str = ""
) -> None:
    """One run of each held-out task; `correct` tasks score 1, others 0; `skip` names a domain that all lose."""
    seen: dict[str, int] = {}
    for episode in (
        Episode.objects.filter(run=submission.held_out_run).select_related("task").order_by("task__slug")
    ):
        domain = episode.task.domain
        at = seen[domain] = seen.get(domain, -1) + 1
        other = at in (changed or {}).get(domain, range(0))
        is_right = at in (correct or {}).get(domain, range(12))
        graded(episode, f"{submission.id.hex if other else 'first'}-{domain}-{at}"[-64:], is_right=is_right)


def page(vendor: world.Vendor, name: str, submission: Submission) -> str:
    answer = site.signed_in(vendor.user).get(site.address(name, submission.id, language="en"))
    assert answer.status_code == 200
    return answer.content.decode()


def limit(version: TaskSetVersion, millibits: int) -> None:
    """A policy row in force from now on, with a budget that no service would set."""
    policy = current_policy(version)
    assert policy is not None
    with recorded() as made:
        made(
            ReleasePolicy.objects.create(
                task_set=version,
                profile="demo",
                rho=policy.rho,
                tick_seconds=5,
                fewest_changed=20,
                budget_millibits=millibits,
                confirmation_millibits=1,
                half_widths=policy.half_widths,
                valid_from=clock.now(),
            )
        )


def rows(submission: Submission) -> dict[str, tuple[int | None, str]]:
    found = DomainAggregate.objects.filter(release__submission=submission)
    return {row.domain: (row.value, row.reason) for row in found}


@pytest.mark.acceptance("governance:3")
def test_a_domain_that_hardly_changed_has_no_value_and_names_the_earlier_one(
    vendor: world.Vendor, version: TaskSetVersion
) -> None:
    first = answer(vendor, version)
    second = answer(
        vendor,
        version,
        2,
        changed={"finance": range(19), "general": range(20)},
        correct={"finance": range(24)},
    )
    assert rows(second) == {
        "general": (50, ""),
        "finance": (None, "near_duplicate"),
        "supply_chain": (50, ""),
        "manufacturing": (50, ""),
    }
    body = vendor.api.get(f"submissions/{second.id}/result").body
    assert body["domains"]["finance"] == {
        "value": None,
        "h": None,
        "status": "not_reportable",
        "reason": "near_duplicate",
        "earlier": str(first.id),
    }
    assert body["enterprise"]["value"] is None
    assert Slot.objects.get(submission=second).state == "consumed"
    text = page(vendor, "leaderboard:result", second)
    assert "Behaves like an earlier version on all but a few tasks" in text
    assert str(first.id) in text


@pytest.mark.acceptance("governance:3")
def test_the_gate_does_not_ask_which_answers_were_right(
    vendor: world.Vendor, version: TaskSetVersion
) -> None:
    answer(vendor, version)
    changed = {domain: range(3) for domain in DOMAINS}
    better = answer(vendor, version, 2, changed=changed, correct={domain: range(12) for domain in DOMAINS})
    worse = answer(vendor, version, 3, changed=changed, correct={domain: range(3, 12) for domain in DOMAINS})
    assert rows(better) == rows(worse) == dict.fromkeys(DOMAINS, (None, "near_duplicate"))


@pytest.mark.acceptance("governance:3")
def test_a_repeat_returns_the_use_and_keeps_the_cooldown(
    vendor: world.Vendor, version: TaskSetVersion, connect_as: Connect
) -> None:
    first = answer(vendor, version)
    repeat = answer(vendor, version, 2)
    assert {reason for _, reason in rows(repeat).values()} == {"repeat"}
    assert set(
        DomainAggregate.objects.filter(release__submission=repeat).values_list("earlier", flat=True)
    ) == {first.id}
    slot = Slot.objects.get(submission=repeat)
    assert (slot.state, slot.cause) == ("refunded", Code.NOTHING_REPORTED)
    assert (repeat.state, repeat.reason_code) == ("complete", Code.NOTHING_REPORTED)
    assert repeat.cooldown_ended_at is None
    assert "without a value of its own" in page(vendor, "submissions:submission", repeat)
    assert not LeakCharge.objects.filter(submission=repeat).exists()


def test_the_first_version_of_another_lineage_is_compared_with_nobody(version: TaskSetVersion) -> None:
    one, other = world.vendor(), world.vendor()
    answer(one, version)
    assert rows(answer(other, version)) == dict.fromkeys(DOMAINS, (50, ""))


def test_an_earlier_submission_of_a_linked_organisation_is_not_named(version: TaskSetVersion) -> None:
    one, other = world.vendor(), world.vendor()
    answer(one, version)
    with recorded(other.organisation):
        Organisation.objects.filter(pk=other.organisation.pk).update(lineage=one.organisation.lineage_id)
    found = answer(other, version)
    assert {reason for _, reason in rows(found).values()} == {"repeat"}
    body = other.api.get(f"submissions/{found.id}/result").body
    assert all("earlier" not in row for row in body["domains"].values())


@pytest.mark.acceptance("governance:2")
@pytest.mark.django_db(transaction=True)
def test_what_is_shown_was_charged_before(
    vendor: world.Vendor, version: TaskSetVersion, connect_as: Connect
) -> None:
    answer(vendor, version)
    second = answer(vendor, version, 2, changed={"general": range(20), "finance": range(5)})
    charges = list(LeakCharge.objects.order_by("charged_at", "id").values_list("millibits", flat=True))
    assert charges == [26_633, 19_975]
    assert leaks.spent(version, vendor.organisation.lineage_id) == 46_608
    kinds = [
        kind
        for (kind,) in connect_as("auditor").execute(
            "SELECT kind FROM audit_event WHERE subject_id = %s AND kind IN ('leak.charged', 'result.released') "
            "ORDER BY id",
            [str(second.id)],
        )
    ]
    assert kinds == ["leak.charged", "result.released"]


def test_a_spent_budget_shows_nothing_and_admits_nobody(
    vendor: world.Vendor, version: TaskSetVersion
) -> None:
    limit(version, 40_000)
    with clock.shifted(timedelta(seconds=2)):
        first = answer(vendor, version)
        assert {value for value, _ in rows(first).values()} == {50}
        stop = AdmissionStop.objects.get()
        assert (stop.cause, stop.lineage_id) == ("leak_budget_spent", vendor.organisation.lineage_id)
    with clock.shifted(timedelta(seconds=20)):
        order = vendor.order(version, vendor.harness("other"))
        refused = vendor.api.post("submissions", world.body_of(order))
        assert (refused.status, refused.code) == (403, "admission_stopped")
        assert refused.body["counter"] == "admission_stop"


def test_two_releases_cannot_both_spend_what_is_left(vendor: world.Vendor, version: TaskSetVersion) -> None:
    """The account is covered for one of them: the other is silent, and its use returned."""
    found = [bring_to(vendor.submit(version, vendor.harness(f"h{n}")), "running") for n in (1, 2)]
    limit(version, 30_000)
    for number, one in enumerate(found):
        write(one, changed={domain: range(24 * number) for domain in DOMAINS})
        assert released(bring_on(one))
    assert [set(rows(one).values()) for one in found] == [{(50, "")}, {(None, "budget")}]
    assert Slot.objects.get(submission=found[1]).state == "refunded"
    assert leaks.spent(version, vendor.organisation.lineage_id) == 26_633


def test_the_growing_ladder_shows_only_what_beats_the_best(vendor: world.Vendor) -> None:
    version = opened(rule="growing-ladder")
    answer(vendor, version)
    changed = {domain: range(24) for domain in DOMAINS}
    worse = answer(vendor, version, 2, changed=changed, correct={domain: range(11) for domain in DOMAINS})
    assert {reason for _, reason in rows(worse).values()} == {"ladder"}
    better = answer(vendor, version, 3, changed=changed, correct={domain: range(24) for domain in DOMAINS})
    assert set(rows(better).values()) == {(100, "")}
    # 4 × log2 102 each, whatever was shown: what is charged depends on no value.
    assert list(LeakCharge.objects.values_list("millibits", flat=True)) == [26_690] * 3


def test_a_policy_that_could_tell_more_than_its_budget_is_refused() -> None:
    version = frozen_version("c1", dict.fromkeys(DOMAINS, (2, TASKS)))
    with pytest.raises(leaks.CapacityTooLarge, match="more than the 96 of c1"):
        services.set_release_policy(version, profile="official", by=BY)
    assert not ReleasePolicy.objects.exists()
    services.set_release_policy(version, profile="official", budget_millibits=2_000_000, by=BY)


def test_the_official_bank_is_within_its_budget() -> None:
    """1,335 bits for one lineage: five submissions and five confirmation runs fit."""
    policy = ReleasePolicy(confirmation_millibits=leaks.confirmation_millibits())
    assert leaks.capacity(policy, lineage_quota=5) <= 1_335_000
    assert leaks.capacity(policy, lineage_quota=6) > 1_335_000


def test_charges_and_reasons_are_never_changed(
    vendor: world.Vendor, version: TaskSetVersion, connect_as: Connect
) -> None:
    answer(vendor, version)
    for role in ("sealed", "web"):
        with connect_as(role) as connection, pytest.raises(psycopg.Error):
            connection.execute("UPDATE governance_leakcharge SET millibits = 0")
    assert Release.objects.count() == 1


def test_vendor_and_staff_see_what_was_told(vendor: world.Vendor, version: TaskSetVersion) -> None:
    first = answer(vendor, version)
    (account,) = vendor.api.get("information").body["accounts"]
    assert (account["spent_bits"], account["other_bits"]) == ("26.7", "0.0")
    assert [(row["submission"], row["bits"]) for row in account["charges"]] == [(str(first.id), "26.7")]
    (others,) = world.vendor().api.get("information").body["accounts"]
    assert (others["spent_bits"], others["charges"]) == ("0.0", [])
    text = site.signed_in(vendor.user).get(site.address("governance:information", language="en"))
    assert "26.7 bits" in text.content.decode()
    staff = site.signed_in(member_of_staff())
    text = staff.get(site.address("governing:accounts", language="en"))
    assert "26.7 bits" in text.content.decode()


def test_a_token_of_one_harness_is_told_of_no_other_submissions(
    vendor: world.Vendor, version: TaskSetVersion
) -> None:
    answer(vendor, version)
    other = vendor.harness("other")
    _, secret = issue_token(
        vendor.user, vendor.organisation, name="bound", scopes=["read"], harness_id=other.id, by=BY
    )
    (account,) = world.Api(secret).get("information").body["accounts"]
    assert (account["charges"], account["other_bits"], account["spent_bits"]) == ([], "26.7", "26.7")
