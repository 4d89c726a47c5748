"""From when on a result may be published, as far as the owner of the harness is concerned; and what waits for staff."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from submissions.models import Harness, Submission
from submissions.relations.models import HarnessOwner, OwnerNotice


class Waits(StrEnum):
    """Why there is no date."""

    NO_CONSENT = "no_consent"
    OWNER_NOT_NAMED = "owner_not_named"
    NOT_ORDERED = "not_ordered"
    NOT_SENT = "not_sent"
    GIVEN_UP = "given_up"
    OBJECTED = "objected"


@dataclass(frozen=True)
class Gate:
    """`since`: from then on publication is not held up by the owner's rights; None with the reason in `waits`."""

    since: datetime | None
    waits: Waits | None = None


def publishable_from(submission: Submission) -> Gate:
    """What a dated release asks before it publishes a result of this submission."""
    if not submission.publication_consent:
        return Gate(None, Waits.NO_CONSENT)
    return owners_gate(submission)


def owners_gate(submission: Submission) -> Gate:
    """The same, whatever the vendor itself has agreed to."""
    harness = submission.harness_version.harness
    if harness.relation == Harness.Relation.OWNER:
        return Gate(submission.admitted_at)
    if not HarnessOwner.objects.filter(harness=harness).exists():
        return Gate(None, Waits.OWNER_NOT_NAMED)
    if harness.relation == Harness.Relation.CONSENT:
        return Gate(submission.admitted_at)
    notice = notice_of(submission)
    if notice is None:
        return Gate(None, Waits.NOT_ORDERED)
    if notice.objected_at is not None:
        return Gate(None, Waits.OBJECTED)
    if notice.given_up_at is not None:
        return Gate(None, Waits.GIVEN_UP)
    return Gate(notice.publishable_from, None if notice.sent_at else Waits.NOT_SENT)


def notice_of(submission: Submission) -> OwnerNotice | None:
    return OwnerNotice.objects.filter(submission=submission).first()


def notices_for_staff() -> list[Submission]:
    """Third parties' submissions whose publication was agreed to, those without notice first."""
    rows = Submission.objects.filter(
        harness_version__harness__relation=Harness.Relation.THIRD_PARTY, publication_consent=True
    ).select_related("organisation", "harness_version__harness__owner", "owner_notice")
    return sorted(rows.order_by("admitted_at"), key=lambda row: hasattr(row, "owner_notice"))
