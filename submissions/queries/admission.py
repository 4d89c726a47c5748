"""The facts that decide about one order, gathered for the confirm page and for the admission itself."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import Q, QuerySet

from accounts.models import Membership, Organisation, User
from accounts.registration.policies import verification
from accounts.registration.queries import acceptance
from audit.events import Actor
from benchmark.models import TaskSetVersion
from config import clock
from submissions import policies
from submissions.cards import CARD_SCHEMA
from submissions.models import AdmissionStop, HarnessVersion, Submission, Upload
from submissions.policies import Facts, QuotaWindow, Standing, Stop, UploadFacts
from submissions.policies.states import IN_FLIGHT
from submissions.problems import Code, Refusal
from submissions.queries.ledger import quota_window, terms_at
from submissions.queries.registry import open_task_sets


@dataclass(frozen=True)
class Intent:
    """What somebody thinks of submitting, perhaps before the package is uploaded."""

    organisation: Organisation
    harness_version: HarnessVersion
    task_set: TaskSetVersion
    upload: Upload | None


@dataclass(frozen=True)
class Forecast:
    """What an admission would say now: why not, or which earlier submission would answer, or what is left before it."""

    refusal: Refusal | None
    earlier: Submission | None
    window: QuotaWindow | None


@dataclass(frozen=True)
class Order:
    """What somebody wants submitted. The objects come from this package's reads, so they are the caller's own."""

    organisation: Organisation
    harness_version: HarnessVersion
    task_set: TaskSetVersion
    upload: Upload
    publication_consent: bool = False


def standing(organisation: Organisation, account: UUID | None) -> Standing:
    """Read afresh: what is suspended is suspended at once."""
    rows = Organisation.objects.values_list("state", "verified_until", "audits", acceptance())
    stored, until, mark, accepted = rows.get(pk=organisation.pk)
    state, audits = verification(stored, until, clock.now()).value, mark is not None
    if account is None:
        return Standing(state, audits, account_suspended=False, role_may_submit=True, rules_accepted=accepted)
    membership = Membership.objects.filter(user_id=account, organisation=organisation).first()
    suspended = User.objects.filter(pk=account, suspended_at__isnull=False).exists()
    return Standing(state, audits, suspended, membership is not None and membership.may_submit, accepted)


def order_facts(order: Order | Intent, *, account: UUID | None, now: datetime) -> Facts:
    """Everything but the quota window."""
    version = order.harness_version
    upload = Upload.objects.get(pk=order.upload.pk) if order.upload else None
    open_now = any(task_set.pk == order.task_set.pk for task_set in open_task_sets())
    return Facts(
        standing=standing(order.organisation, account),
        task_set=order.task_set.label,
        entitled=open_now and terms_at(order.task_set, now) is not None,
        upload=UploadFacts(upload.state, upload.expires_at <= now, upload.harness_version_id == version.pk)
        if upload
        else None,
        card_current=version.card_schema == CARD_SCHEMA,
        version=version.version,
        bound_to_other_package=upload is not None
        and _bound(version).exclude(package_digest=upload.sha256).exists(),
        stop=_stop(order, now),
    )


def may_submit(order: Order, *, by: Actor) -> Refusal | None:
    """What an admission would say now, without one: for the confirm step."""
    return forecast(order, by=by).refusal


def forecast(order: Order | Intent, *, by: Actor) -> Forecast:
    """What an admission would say now and what it would draw on; nothing is changed and nothing charged."""
    now = clock.now()
    facts = order_facts(order, account=by.account, now=now)
    window = quota_window(order.harness_version.harness, order.task_set, account=by.account, now=now)
    if refusal := policies.may_ask(facts):
        return Forecast(refusal, None, window)
    earlier = identical(order)
    if earlier is not None:
        complete = earlier.state == Submission.State.COMPLETE
        return Forecast(None if complete else identical_in_flight(earlier), earlier, window)
    if window is None:
        return Forecast(Refusal(Code.NOT_ENTITLED, {"task_set": order.task_set.label}), None, None)
    return Forecast(policies.may_submit(facts, window), None, window)


def identical(order: Order | Intent) -> Submission | None:
    """An earlier submission of the same lineage with equal package, card and versions that is complete or on its way.

    Other lineages are never looked at, so nothing about them can show in the answer or its timing.
    """
    if order.upload is None:
        return None
    digest = Upload.objects.values_list("sha256", flat=True).get(pk=order.upload.pk)
    rows = Submission.objects.filter(
        organisation__lineage_id=order.organisation.lineage_id,
        task_set=order.task_set,
        package_digest=digest,
        card_digest=order.harness_version.card_digest,
        protocol_version=order.task_set.protocol_version,
        evaluator_version=order.task_set.evaluator_version,
    )
    complete = rows.filter(state=Submission.State.COMPLETE).order_by("id").first()
    under_way = (*IN_FLIGHT, Submission.State.HELD, Submission.State.AWAITING_CHOICE)
    return complete or rows.filter(state__in=under_way).order_by("id").first()


def identical_in_flight(earlier: Submission) -> Refusal:
    return Refusal(
        Code.IDENTICAL_IN_FLIGHT,
        {"submission": str(earlier.id)},
        instance=f"/api/v1/submissions/{earlier.id}",
    )


def _bound(version: HarnessVersion) -> QuerySet[Submission]:
    """Submissions that bind this version string to their package: it passed intake, or may yet."""
    may_yet = Q(state__in=(Submission.State.CREATED, Submission.State.CHECKING))
    return Submission.objects.filter(Q(package__isnull=False) | may_yet, harness_version=version)


def _stop(order: Order | Intent, now: datetime) -> Stop | None:
    row = (
        AdmissionStop.objects.filter(
            Q(lineage__isnull=True) | Q(lineage_id=order.organisation.lineage_id),
            Q(until__isnull=True) | Q(until__gt=now),
            task_set=order.task_set,
            since__lte=now,
            lifted_at__isnull=True,
        )
        .order_by("since")
        .first()
    )
    return Stop(cause=str(row.get_cause_display()), until=row.until) if row else None
