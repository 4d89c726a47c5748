"""A version with published results, and the one after it: what offers of re-runs need."""

from __future__ import annotations

from typing import Any

from django.core.management import call_command
from django.db import transaction

from audit import log
from benchmark.models import TaskSetVersion
from config import clock
from governance.rotation import events
from governance.rotation.models import Succession
from governance.services import set_release_policy
from governance.tasks import offer_reruns
from submissions.models import RerunOffer, Submission
from submissions.queries import Order
from submissions.services import open_task_set
from tests.factories import BY
from tests.governance.confirming import confirmed
from tests.governance.test_silences import answer
from tests.pages.site import AMPLE, frozen_set
from tests.submissions import world
from tests.submissions.bundles import bundle

NUMBERS = {"in_flight": 1, "line": 1, "lineage": 1, "account": 1, "cooldown_seconds": 3600, "preflight": 9}
"""Of the next version: one submission, and an hour after it."""


def published(
    vendor: world.Vendor, version: TaskSetVersion, number: int = 1, label: str = "demo-1"
) -> Submission:
    """Released, confirmed, and in a dated release."""
    found = answer(vendor, version, number)
    confirmed(vendor, found)
    call_command("release_dated", label)
    return found


def followed(version: TaskSetVersion, label: str = "c2") -> TaskSetVersion:
    """The version after it, frozen and stated as its successor; not open yet."""
    found = frozen_set(label)
    with transaction.atomic():
        step = Succession.objects.create(former=version, next=found, shifts={}, stated_at=clock.now())
        event = events.SuccessionStated(
            subject=step.id,
            plan=str(step.id),
            former=version.label,
            label=label,
            mark=step.mark,
            shifts={},
        )
        log.append(event, by=BY)
    return found


def opening(version: TaskSetVersion, **numbers: int) -> TaskSetVersion:
    """Open it as `open_task_set` does, and let the tick come."""
    open_task_set(version, profile="demo", numbers={**NUMBERS, **numbers}, by=BY)
    set_release_policy(version, profile="demo", tick_seconds=5, budget_millibits=AMPLE, by=BY)
    offer_reruns()
    version.refresh_from_db()
    return version


def offered(vendor: world.Vendor, version: TaskSetVersion, **numbers: int) -> RerunOffer:
    """The offer that the opening of the next version made for the vendor's published result."""
    published(vendor, version)
    opening(followed(version), **numbers)
    return RerunOffer.objects.select_related(
        "task_set", "harness_version__harness", "former", "organisation"
    ).get(organisation=vendor.organisation)


def order_of(vendor: world.Vendor, offer: RerunOffer, data: bytes | None = None, **how: Any) -> Order:
    """The published package once more, uploaded anew, taking the offer."""
    version = offer.harness_version
    data = data or bundle(version.harness.name, version.version)
    facts: dict[str, Any] = {"offer": offer, **how}
    return Order(vendor.organisation, version, offer.task_set, vendor.upload(version, data), **facts)
