"""A re-run that was offered: one submission of that very package, outside quota and cooldown."""

from __future__ import annotations

import json
import uuid
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Barrier
from typing import Any

import pytest
from django.db import connection, transaction

from audit import live
from client.audit.rules import Judge, Seen
from config import clock
from governance.models import LeakCharge
from submissions import services
from submissions.models import RerunOffer, Slot, Submission
from submissions.problems import Code, Refused
from submissions.services import slots
from submissions.services.moves import locked, move
from tests.audit.test_log import Connect
from tests.factories import BY, saved
from tests.governance.reruns import offered, order_of
from tests.governance.test_delivery import bring_on, released
from tests.governance.test_silences import opened, write
from tests.submissions import world
from tests.submissions.outcomes import bring_to
from tests.submissions.world import body_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def vendor() -> world.Vendor:
    return world.vendor()


@pytest.fixture
def offer(vendor: world.Vendor) -> RerunOffer:
    return offered(vendor, opened())


def body(
    vendor: world.Vendor, offer: RerunOffer, data: bytes | None = None, **changes: Any
) -> dict[str, Any]:
    return body_of(order_of(vendor, offer, data), **({"rerun_offer": str(offer.id)} | changes))


def taken(vendor: world.Vendor, offer: RerunOffer) -> Submission:
    answer = vendor.api.post("submissions", body(vendor, offer))
    assert answer.status == 202, answer.body
    return Submission.objects.get(pk=answer.body["id"])


def quota(vendor: world.Vendor, offer: RerunOffer) -> dict[str, Any]:
    sets = vendor.api.get("quota").body["task_sets"]
    rows = next(row for row in sets if row["task_set"] == offer.task_set.label)["harnesses"]
    found = next(row for row in rows if row["harness"] == str(offer.harness_version.harness_id))
    slots_only = [row for row in found["counters"] if row["counter"] in ("line", "lineage", "account")]
    return {"slots": slots_only, "cooldown": found["cooldown"]}


def used_up(vendor: world.Vendor, offer: RerunOffer) -> None:
    """Another version of the harness takes the only use, and its cooldown runs."""
    other = bring_to(vendor.submit(offer.task_set, offer.harness_version.harness), "running")
    services.cancel(other.id, by=vendor.actor)


def test_it_costs_no_use_and_minds_no_cooldown(vendor: world.Vendor, offer: RerunOffer) -> None:
    used_up(vendor, offer)
    plain = vendor.api.post("submissions", body_of(order_of(vendor, offer)))
    assert (plain.status, plain.code) == (429, "quota_line")
    before = quota(vendor, offer)
    assert {row["used"] for row in before["slots"]} == {1}
    assert before["cooldown"]["until"] is not None
    wanted = body(vendor, offer)
    check = vendor.api.post("submissions/check", wanted).body
    assert check["allowed"], check["refusal"]
    assert check["estimate"]["uses"] == 0
    assert check["estimate"]["rerun_offer"] == str(offer.id)
    assert check["estimate"]["cooldown_until"] is None
    answer = vendor.api.post("submissions", wanted)
    assert answer.status == 202, answer.body
    assert quota(vendor, offer) == before
    english = {"accept-language": "en"}
    shown = vendor.api.get(f"submissions/{answer.body['id']}", headers=english).body["charge"]
    assert shown["counts"] is False
    assert shown["rerun_offer"] == str(offer.id)
    assert shown["cooldown_until"] is None
    assert "No use is counted" in shown["words"]
    (row,) = vendor.api.get("rerun-offers").body["rerun_offers"]
    assert (row["state"], row["submission"]) == ("used", answer.body["id"])
    bring_to(Submission.objects.get(pk=answer.body["id"]), "running")
    assert quota(vendor, offer) == before, "nor once held-out tasks start"


def test_unsaid_it_is_a_submission_like_any_other(vendor: world.Vendor, offer: RerunOffer) -> None:
    answer = vendor.api.post("submissions", body_of(order_of(vendor, offer)))
    assert answer.status == 202
    assert {row["used"] for row in quota(vendor, offer)["slots"]} == {1}
    offer.refresh_from_db()
    assert offer.state == "open"


def test_what_is_in_flight_and_stops_still_refuse(vendor: world.Vendor, offer: RerunOffer) -> None:
    other = vendor.submit(offer.task_set, offer.harness_version.harness)
    answer = vendor.api.post("submissions", body(vendor, offer))
    assert (answer.status, answer.code) == (429, "in_flight")
    services.cancel(other.id, by=vendor.actor)
    stop = services.stop_admission(
        offer.task_set, cause="leak_budget_spent", by=BY, lineage=vendor.organisation.lineage
    )
    answer = vendor.api.post("submissions", body(vendor, offer))
    assert (answer.status, answer.code) == (403, "admission_stopped")
    services.lift_stop(stop, by=BY)
    vendor.organisation.refresh_from_db()
    assert vendor.api.post("submissions", body(vendor, offer)).status == 202


def test_who_may_not_submit_may_not_take_it(vendor: world.Vendor, offer: RerunOffer) -> None:
    """Under review again: the verification has run out."""
    order = order_of(vendor, offer)
    vendor.organisation.state, vendor.organisation.verified_until = "under_review", None
    saved(vendor.organisation)
    with pytest.raises(Refused) as refused:
        services.submit(order, by=vendor.actor, key="k")
    assert refused.value.refusal.code == Code.ORGANISATION_NOT_VERIFIED
    offer.refresh_from_db()
    assert offer.state == "open"


def test_it_is_released_and_charged_as_every_submission(vendor: world.Vendor, offer: RerunOffer) -> None:
    found = bring_to(taken(vendor, offer), "running")
    write(found)
    assert released(bring_on(found))
    charge = LeakCharge.objects.get(submission=found)
    assert charge.millibits > 0
    assert vendor.api.get(f"submissions/{found.id}/result").status == 200


def test_what_it_was_not_offered_for_is_refused_by_a_code(vendor: world.Vendor, offer: RerunOffer) -> None:
    def refused(wanted: dict[str, Any], who: world.Vendor = vendor) -> tuple[int, str]:
        answer = who.api.post("submissions", wanted)
        assert not Slot.objects.filter(task_set=offer.task_set).exists()
        return answer.status, answer.code

    another = b"\x1f\x8b another package"
    assert refused(body(vendor, offer, another)) == (409, "rerun_other_package")
    harness = offer.harness_version.harness
    newer = vendor.order(offer.task_set, harness)
    assert refused(body_of(newer, rerun_offer=str(offer.id))) == (409, "rerun_other_combination")
    elsewhere = world.task_set("apart")
    assert refused(body(vendor, offer, task_set=elsewhere.label)) == (409, "rerun_other_combination")
    stranger = world.vendor()
    theirs = body_of(stranger.order(offer.task_set, stranger.harness()), rerun_offer=str(offer.id))
    nobodys = theirs | {"rerun_offer": str(uuid.uuid4())}
    assert refused(theirs, stranger) == refused(nobodys, stranger) == (422, "unknown_reference")
    assert stranger.api.get("rerun-offers").body == {"rerun_offers": []}


def test_after_its_time_it_is_over_even_before_the_tick(vendor: world.Vendor, offer: RerunOffer) -> None:
    with clock.shifted(timedelta(days=91)), pytest.raises(Refused) as refused:
        services.submit(order_of(vendor, offer), by=vendor.actor, key="k")
    assert refused.value.refusal.code == Code.RERUN_OVER


def test_one_offer_is_one_use(vendor: world.Vendor, offer: RerunOffer) -> None:
    """The same package again is answered by the submission in flight; after that one was stopped the offer is used."""
    first = bring_to(taken(vendor, offer), "running")
    again = vendor.api.post("submissions", body(vendor, offer))
    assert (again.status, again.code) == (409, "identical_in_flight")
    services.cancel(first.id, by=vendor.actor)
    again = vendor.api.post("submissions", body(vendor, offer))
    assert (again.status, again.code) == (409, "rerun_used")


def test_the_offer_opens_again_with_the_time_that_was_left(vendor: world.Vendor, offer: RerunOffer) -> None:
    """A void by the platform ten days later, and a cancellation before held-out tasks start."""
    found = bring_to(taken(vendor, offer), "running")
    with clock.shifted(timedelta(days=10)):
        with transaction.atomic():
            move(locked(found.id), "awaiting_choice", cause=Code.RUNS_LOST, by=BY)
        services.choose(found.id, "void", by=vendor.actor)
    before = offer.expires_at
    offer.refresh_from_db()
    assert (offer.state, offer.submission_id, offer.used_at) == ("open", None, None)
    assert timedelta(days=10) <= offer.expires_at - before < timedelta(days=10, hours=1)
    second = taken(vendor, offer)
    services.cancel(second.id, by=vendor.actor)
    offer.refresh_from_db()
    assert offer.state == "open"
    assert taken(vendor, offer).state == "created"


def test_a_use_returned_by_a_rule_of_release_leaves_it_used(vendor: world.Vendor, offer: RerunOffer) -> None:
    """Nothing reported: the re-run took place."""
    found = bring_to(taken(vendor, offer), "complete")
    with transaction.atomic():
        slots.give_back(found, cause=Code.NOTHING_REPORTED, by=BY)
    offer.refresh_from_db()
    assert offer.state == "used"


@pytest.mark.django_db(transaction=True)
def test_of_many_at_once_one_takes_it() -> None:
    vendor = world.vendor()
    offer = offered(vendor, opened(), in_flight=9)
    wanted = [body(vendor, offer) for _ in range(6)]
    gate = Barrier(len(wanted))

    def act(one: dict[str, Any]) -> tuple[int, str]:
        try:
            gate.wait(30)
            answer = vendor.api.post("submissions", one)
            return answer.status, answer.code
        finally:
            connection.close()

    with ThreadPoolExecutor(len(wanted)) as pool:
        answers = sorted(pool.map(act, wanted))
    assert answers == [(202, "")] + [(409, "identical_in_flight")] * 5
    assert Slot.objects.get(task_set=offer.task_set).offer_id == offer.id


@pytest.mark.django_db(transaction=True, databases=["default", "auditor"])
def test_the_verifiers_take_it_and_find_what_was_forged(connect_as: Connect, sequence: Any) -> None:
    vendor = world.vendor()
    offer = offered(vendor, opened())
    services.cancel(taken(vendor, offer).id, by=vendor.actor)
    taken(vendor, offer)
    sequence()
    assert not [row for row in live.check().findings if "offer" in str(row) or "slot" in str(row)]
    rows = connect_as("auditor").execute("SELECT body FROM audit_event ORDER BY id").fetchall()
    bodies = [json.loads(bytes(row)) for (row,) in rows]
    assert wrong(bodies) == []
    at = {kind: next(n for n, row in enumerate(bodies) if row["kind"] == kind) for kind in FORGED}
    for kind, said in FORGED.items():
        found = wrong([*bodies[: at[kind]], *bodies[at[kind] + 1 :]])
        assert any(said in text for text in found), (kind, found)
    again = [*bodies, next(row for row in reversed(bodies) if row["kind"] == "rerun_offer.used")]
    assert any("used while it is used" in text for text in wrong(again))
    for kind, field, said in ALTERED:
        place = next(n for n, row in enumerate(bodies) if row["kind"] == kind and _is_offered(row))
        other = bodies[place] | {"data": bodies[place]["data"] | {field: str(uuid.uuid4())}}
        found = wrong([*bodies[:place], other, *bodies[place + 1 :]])
        assert any(said in text for text in found), (kind, field, found)
    for hidden in range(len(bodies)):
        assert wrong(bodies, hidden) == [], (
            f"{bodies[hidden]['kind']} is withheld, and no evidence of anything"
        )


FORGED = {
    "confirmation.dated": "which no dated release has published",
    "succession.stated": "which does not follow",
    "rerun_offer.made": "which no earlier entry makes",
    "rerun_offer.used": "did not take",
    "slot.refunded": "was not returned",
    "rerun_offer.reopened": "is used while it is used",
}
"""By kind that is left out: what is said."""
ALTERED = [
    ("slot.reserved", "offer", "did not take"),
    ("rerun_offer.made", "harness_version", "something else"),
    ("rerun_offer.made", "package_digest", "something else"),
    ("rerun_offer.made", "task_set", "which does not follow"),
]


def _is_offered(row: dict[str, Any]) -> bool:
    return row["kind"] != "slot.reserved" or "offer" in row["data"]


def wrong(bodies: list[dict[str, Any]], hidden: int | None = None) -> list[str]:
    """What is said about offers in this history, in which the entry at `hidden` is withheld."""
    judge, found = Judge(), []
    for position, row in enumerate(bodies):
        if position == hidden:
            continue
        withheld = hidden if hidden is not None and hidden < position else -1
        seen = Seen(
            position, row["kind"], row["subject"]["id"], row["outcome"], row["data"], withheld=withheld
        )
        found += [text for text in judge.see(seen) if "re-run" in text or "offer" in text]
    return found
