"""Reads about registrations: how an organisation stands with them, and what waits for staff."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from accounts.linking.queries import is_under_verification
from accounts.models import (
    AuditOrganisation,
    Organisation,
    Registration,
    RegistrationEvidence,
    RuleAcceptance,
)
from accounts.registration import rules
from accounts.registration.policies import REMIND_BEFORE, Verification
from config import clock


@dataclass(frozen=True)
class Status:
    """What the organisation's own page says, and the API."""

    organisation: Organisation
    latest: Registration | None
    rules_accepted: bool
    under_verification: bool
    """Whether staff look into what it may be linked with; it is told no more than that."""

    @property
    def verification(self) -> Verification:
        return self.organisation.verification

    @property
    def may_file(self) -> bool:
        return not (self.latest and self.latest.is_open) and self.verification is not Verification.SUSPENDED

    @property
    def expires_soon(self) -> bool:
        until = self.organisation.verified_until
        return self.organisation.is_verified and until is not None and until - REMIND_BEFORE <= clock.now()

    def said(self) -> dict[str, object]:
        """The machine form: the API's answer."""
        until, found = self.organisation.verified_until, self.latest
        return {
            "id": str(self.organisation.id),
            "name": self.organisation.name,
            "verification": self.verification.value,
            "verified_until": until,
            "rules": {"version": rules.current().version, "accepted": self.rules_accepted},
            "registration": None
            if found is None
            else {"state": _shown(found), "filed_at": found.filed_at, "answer_due_at": found.due_at},
        }


def _shown(row: Registration) -> str:
    """To vendors a registration is under review until two people have decided."""
    return row.State.FILED.value if row.is_open else str(row.state)


def status_of(organisation: Organisation) -> Status:
    """Read afresh."""
    found = Organisation.objects.get(pk=organisation.pk)
    return Status(found, latest_of(found), has_accepted(found), is_under_verification(found))


def latest_of(organisation: Organisation) -> Registration | None:
    return Registration.objects.filter(organisation=organisation).order_by("-filed_at").first()


def has_accepted(organisation: Organisation) -> bool:
    """Whether an owner accepted the rules in force."""
    return RuleAcceptance.objects.filter(
        organisation=organisation, version=rules.current().version, digest=rules.current().digest
    ).exists()


@dataclass(frozen=True)
class Waiting:
    """A registration that staff have to answer."""

    row: Registration
    now: datetime

    @property
    def overdue(self) -> bool:
        return self.row.due_at <= self.now


def waiting() -> list[Waiting]:
    """What two people have yet to decide, the earliest deadline first, so that what is overdue stands on top."""
    open_now = (Registration.State.FILED, Registration.State.PROPOSED)
    rows = Registration.objects.filter(state__in=open_now).select_related("organisation", "proposed_by")
    now = clock.now()
    return [Waiting(row, now) for row in rows.order_by("due_at", "id")]


def unregistered() -> list[Organisation]:
    """Organisations under review that wait for nothing of staff: they have yet to file, or to file again."""
    found = Organisation.objects.filter(state=Organisation.State.UNDER_REVIEW)
    auditing = AuditOrganisation.objects.values("organisation")
    return list(
        found.exclude(pk__in=auditing)
        .exclude(registrations__state__in=(Registration.State.FILED, Registration.State.PROPOSED))
        .order_by("created_at")
    )


def registration(which: UUID) -> Registration | None:
    return (
        Registration.objects.select_related("organisation", "proposed_by", "decided_by")
        .filter(pk=which)
        .first()
    )


def evidence_of(found: Registration) -> list[RegistrationEvidence]:
    """For the console's own process."""
    return list(RegistrationEvidence.objects.filter(registration=found).order_by("number"))


def expiring(before: datetime) -> list[Organisation]:
    """Verified organisations whose verification ends within the reminder's time."""
    return list(
        Organisation.objects.filter(
            state=Organisation.State.VERIFIED, verified_until__lte=before, verified_until__gt=clock.now()
        )
    )
