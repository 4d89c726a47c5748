"""The leak ledger: what answers can tell at most, charged to a lineage before they are shown."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from uuid import UUID

from django.db import transaction
from django.db.models import Sum

from accounts.models import Lineage
from audit import log
from audit.events import Actor
from benchmark.models import Group, TaskSetVersion
from config import clock
from governance import events
from governance.disclosure import bits, sides
from governance.disclosure.bits import Balance
from governance.models import LeakAccount, LeakCharge, ReleasePolicy
from governance.queries import policy_at
from governance.release import Shown
from submissions.models import AdmissionStop, Submission
from submissions.policies.states import ENDS
from submissions.services import stop_admission

SHARES = ("success", "reliability", "rules", "judge")
"""Side figures of a confirmation run that are shares, by domain."""
MAGNITUDES = ("tokens", "seconds")
"""And those that are magnitudes."""
MOST_TOKENS, MOST_SECONDS = 99_999_999, 99_999
"""No mean per task is larger."""


class CapacityTooLarge(ValueError):
    """The quota of the version could tell more than its budget allows; the message says both figures."""


def side_levels() -> list[int]:
    """Possible values of each side figure of a confirmation run, all domains together."""
    shares = [sides.levels_of_share(1)] * len(SHARES)
    magnitudes = [sides.levels_of_magnitude(most) for most in (MOST_TOKENS, MOST_SECONDS)]
    return (shares + magnitudes) * bits.DOMAINS


def confirmation_millibits() -> int:
    """What one confirmation run tells: four values and its side figures."""
    return bits.ONE_RESULT + bits.millibits(side_levels())


def live_tasks(task_set: TaskSetVersion) -> int:
    """Held-out tasks of a frozen version."""
    return sum(facts.get("groups", {}).get(Group.HELD_OUT, 0) for facts in task_set.composition.values())


def capacity(policy: ReleasePolicy, *, lineage_quota: int) -> int:
    """What the version can tell one lineage under this policy and quota, in millibits."""
    return bits.capacity(
        lineage_quota=lineage_quota,
        confirmation=policy.confirmation_millibits or 0,
        result=one_result(policy.rule),
    )


def one_result(rule: str) -> int:
    """What one result tells at most under a release rule, in millibits."""
    return bits.ONE_LADDER_RESULT if rule == ReleasePolicy.Rule.GROWING_LADDER else bits.ONE_RESULT


def of_result(rule: str, shown: Shown) -> int:
    """What this result tells at most, and that does not depend on whether the ladder let a value through."""
    asked, bounds = shown.asked, len(shown.bounds())
    if rule == ReleasePolicy.Rule.GROWING_LADDER:
        return bits.of_result(0, bounds=0 if shown.is_complete else asked, ladder=asked)
    return bits.of_result(asked, bounds=bounds)


def spent(task_set: TaskSetVersion, lineage_id: UUID) -> int:
    """Charged so far to all organisations that are in the lineage now, in millibits."""
    rows = LeakCharge.objects.filter(task_set=task_set, organisation__lineage_id=lineage_id)
    return rows.aggregate(sum=Sum("millibits"))["sum"] or 0


def balance(policy: ReleasePolicy, lineage_id: UUID) -> Balance | None:
    """The lineage's account under the policy; None where it counts nothing."""
    if policy.budget_millibits is None:
        return None
    return Balance(
        policy.budget_millibits, spent(policy.task_set, lineage_id), result=one_result(policy.rule)
    )


def hold_account(policy: ReleasePolicy, lineage_id: UUID) -> Balance | None:
    """The same, with the account locked until the transaction ends."""
    place = {"task_set_id": policy.task_set_id, "lineage_id": lineage_id}
    LeakAccount.objects.bulk_create([LeakAccount(**place)], ignore_conflicts=True)
    LeakAccount.objects.select_for_update().get(**place)
    return balance(policy, lineage_id)


def charge(submission: Submission, found: Balance, millibits: int, *, kind: str, by: Actor) -> Balance:
    """Charge an answer about to be shown; the caller holds the account and has looked that it covers the charge.

    Where less is left than one more result of each kind of submission under way could need, nobody else of the
    lineage is admitted to the version.
    """
    if not millibits:
        return found
    lineage = submission.organisation.lineage
    after = replace(found, spent=found.spent + millibits)
    LeakCharge.objects.create(
        task_set_id=submission.task_set_id,
        organisation_id=submission.organisation_id,
        submission=submission,
        kind=kind,
        millibits=millibits,
        charged_at=clock.now(),
    )
    log.append(
        events.LeakCharged(
            subject=submission.id,
            charge=kind,
            task_set=submission.task_set.label,
            lineage=str(lineage.pk),
            millibits=millibits,
            spent=after.spent,
            budget=after.budget,
        ),
        by=by,
    )
    _stop_where_spent(submission.task_set, lineage, after, besides=[submission.pk], by=by)
    return after


def stop_spent(*, by: Actor) -> int:
    """Look at every lineage's account again; how many were stopped.

    A charge looks at its own lineage. But an organisation that is linked with another brings its charges along, and
    together they may have spent what neither had.
    """
    stopped = 0
    charged = LeakCharge.objects.values_list("task_set", "organisation__lineage").distinct()
    for task_set_id, lineage_id in charged.order_by("task_set", "organisation__lineage"):
        with transaction.atomic():
            policy = policy_at(task_set_id, clock.now())
            account = hold_account(policy, lineage_id)
            if account is not None:
                lineage = Lineage.objects.get(pk=lineage_id)
                stopped += _stop_where_spent(policy.task_set, lineage, account, besides=[], by=by)
    return stopped


def _stop_where_spent(
    task_set: TaskSetVersion, lineage: Lineage, account: Balance, *, besides: Collection[UUID], by: Actor
) -> int:
    """Stop admission where less is left than what is under way, but for those `besides`, and one more could need."""
    ours = {"task_set": task_set, "lineage": lineage}
    under_way = Submission.objects.filter(task_set=task_set, organisation__lineage=lineage)
    to_come = under_way.exclude(state__in=ENDS).exclude(pk__in=besides).count() + 1
    cause = AdmissionStop.Cause.LEAK_BUDGET_SPENT
    if account.covers(to_come * account.result):
        return 0
    if AdmissionStop.objects.filter(**ours, cause=cause, lifted_at=None).exists():
        return 0
    stop_admission(task_set, lineage=lineage, cause=cause, by=by)
    return 1
