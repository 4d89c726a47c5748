"""The facts that decide about one order, gathered for the confirm page and for the admission itself."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from accounts.models import Membership, Organisation
from accounts.registration import rules
from accounts.registration.policies import verification
from audit.events import Actor
from benchmark.models import TaskSetVersion
from config import clock
from submissions import policies
from submissions.cards import CARD_SCHEMA
from submissions.models import AdmissionStop, HarnessVersion, RerunOffer, Submission, Upload
from submissions.policies import Facts, QuotaWindow, Standing, Stop, UploadFacts
from submissions.policies.reruns import OfferFacts
from submissions.problems import Code, Refusal
from submissions.queries.ledger import quota_window
from submissions.queries.statements import order_row, standing_row


@dataclass(frozen=True)
class Intent:
    """What somebody thinks of submitting, perhaps before the package is uploaded."""

    organisation: Organisation
    harness_version: HarnessVersion
    task_set: TaskSetVersion
    upload: Upload | None
    offer: RerunOffer | None = None


@dataclass(frozen=True)
class Forecast:
    """What an admission would say now: why not, or which earlier submission would answer, or what is left before it."""

    refusal: Refusal | None
    earlier: Submission | None
    window: QuotaWindow | None
    offer: RerunOffer | None = None
    """The offer of a re-run that it would take, so that it costs no use."""


@dataclass(frozen=True)
class Order:
    """What somebody wants submitted. The objects come from this package's reads, so they are the caller's own."""

    organisation: Organisation
    harness_version: HarnessVersion
    task_set: TaskSetVersion
    upload: Upload
    publication_consent: bool = False
    offer: RerunOffer | None = None
    """The offer of a re-run that it takes; a submission takes one only where somebody says so."""


def standing(organisation: Organisation, account: UUID | None) -> Standing:
    """Read afresh: what is suspended is suspended at once."""
    found = rules.current()
    row = standing_row(organisation.pk, account, rules=found.version, digest=found.digest)
    state = verification(row.state, row.verified_until, clock.now()).value
    may_submit = account is None or row.role in Membership.SUBMITTING
    return Standing(state, row.audits, row.account_suspended, may_submit, row.rules_accepted)


@dataclass(frozen=True)
class Seen:
    """All that decides about one order but its quota, and the id of an identical earlier submission."""

    facts: Facts
    earlier: UUID | None


def see(order: Order | Intent, *, account: UUID | None, now: datetime) -> Seen:
    """Everything but the quota window, read afresh."""
    version, task_set, organisation = order.harness_version, order.task_set, order.organisation
    row = order_row(
        upload=order.upload.pk if order.upload else None,
        version=version.pk,
        task_set=task_set.pk,
        lineage=organisation.lineage_id,
        card=version.card_digest,
        protocol=task_set.protocol_version,
        evaluator=task_set.evaluator_version,
        now=now,
    )
    upload = None
    if row.upload_state is not None and row.upload_expires_at is not None:
        upload = UploadFacts(row.upload_state, row.upload_expires_at <= now, row.upload_version == version.pk)
    stop = None
    if row.stop_cause is not None:
        stop = Stop(cause=str(AdmissionStop.Cause(row.stop_cause).label), until=row.stop_until)
    facts = Facts(
        standing=standing(organisation, account),
        task_set=task_set.label,
        entitled=row.is_open and row.has_terms,
        upload=upload,
        card_current=version.card_schema == CARD_SCHEMA,
        version=version.version,
        bound_to_other_package=row.bound_to_other_package,
        stop=stop,
        intake_paused=row.intake_paused,
        offer=offer_facts(order),
    )
    return Seen(facts, row.identical)


def offer_facts(order: Order | Intent) -> OfferFacts | None:
    """The offer that the order takes, read afresh, beside what it orders; None where it takes none."""
    if order.offer is None:
        return None
    offer = RerunOffer.objects.get(pk=order.offer.pk)
    return OfferFacts(
        state=offer.state,
        expires_at=offer.expires_at,
        same_task_set=offer.task_set_id == order.task_set.pk,
        same_version=offer.harness_version_id == order.harness_version.pk,
        same_package=order.upload is None or order.upload.sha256 == offer.package_digest,
    )


def repeated(submission: Submission, content: str) -> UUID | None:
    """The organisation's earlier complete submission with the same content, apart from its version line, and card.

    A draw that was seen is not drawn again under another version's name. A preflight on its own draws nothing.
    """
    if submission.scope != Submission.Scope.FULL:
        return None
    rows = Submission.objects.filter(
        organisation=submission.organisation_id,
        task_set=submission.task_set_id,
        content_digest=content,
        card_digest=submission.card_digest,
        protocol_version=submission.protocol_version,
        evaluator_version=submission.evaluator_version,
        state=Submission.State.COMPLETE,
    )
    return rows.order_by("admitted_at").values_list("id", flat=True).first()


def may_submit(order: Order, *, by: Actor) -> Refusal | None:
    """What an admission would say now, without one: for the confirm step."""
    return forecast(order, by=by).refusal


def forecast(order: Order | Intent, *, by: Actor) -> Forecast:
    """What an admission would say now and what it would draw on; nothing is changed and nothing charged."""
    now = clock.now()
    seen = see(order, account=by.account, now=now)
    window = quota_window(order.harness_version.harness, order.task_set, account=by.account, now=now)
    earlier = Submission.objects.get(pk=seen.earlier) if seen.earlier else None
    if refusal := policies.may_ask(seen.facts):
        return Forecast(refusal, earlier, window)
    if earlier is not None:
        complete = earlier.state == Submission.State.COMPLETE
        return Forecast(None if complete else identical_in_flight(earlier), earlier, window)
    if window is None:
        return Forecast(policies.not_entitled(order.task_set.label), None, None)
    return Forecast(policies.may_submit(seen.facts, window), None, window, order.offer)


def preflight_refusal(order: Order | Intent, *, by: Actor) -> Refusal | None:
    """Why a preflight on its own would not be admitted now; nothing is changed and nothing charged."""
    now = clock.now()
    seen = see(order, account=by.account, now=now)
    window = quota_window(order.harness_version.harness, order.task_set, account=by.account, now=now)
    if window is None:
        return policies.not_entitled(order.task_set.label)
    return policies.may_preflight(seen.facts, window)


def identical_in_flight(earlier: Submission) -> Refusal:
    return Refusal(
        Code.IDENTICAL_IN_FLIGHT,
        {"submission": str(earlier.id)},
        instance=earlier.address,
    )
