"""Reads of appeals: what their organisation sees, what staff see, and what decides about filing one."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any
from uuid import UUID

from django.db.models import Q, QuerySet

from accounts.models import Organisation
from benchmark.models import TaskSetVersion
from config import clock
from governance.appeals import policies
from governance.appeals.models import Appeal, Recheck, RecheckSheet, RuledEffect, Ruling
from governance.appeals.policies import ENDS, FREE, WINDOW, State, Subject
from governance.models import DomainAggregate, Release
from submissions.models import Slot, Submission
from submissions.problems import Code, Refusal
from submissions.queries import NotVisible, open_task_sets

MOST = 100
NEEDS_SUBMISSION = frozenset({Subject.FAULT, Subject.SCORE, Subject.HOLD})


@dataclass(frozen=True)
class Claim:
    """What somebody wants to appeal against; `submission` is one that they may see."""

    organisation: Organisation
    subject: str
    task_set: TaskSetVersion
    submission: Submission | None
    domain: str
    grounds: str
    commitment: str = ""


@dataclass(frozen=True)
class Target:
    """How what is appealed against stands now; `since` is when it was decided, None where no time runs."""

    facts: dict[str, Any]
    since: datetime | None

    @property
    def until(self) -> datetime | None:
        return None if self.since is None else self.since + WINDOW


def appeals_of(organisation: Organisation, harness_id: UUID | None = None) -> list[Appeal]:
    """Open ones first, by deadline, then the others, newest first; of one harness if given."""
    rows = _rows().filter(organisation=organisation)
    if harness_id is not None:
        rows = rows.filter(submission__harness_version__harness=harness_id)
    found = list(rows.order_by("-filed_at")[:MOST])
    return sorted(found, key=lambda row: (row.is_over, row.due_at or row.filed_at))


def appeal_of(organisation: Organisation, which: UUID) -> Appeal:
    """One of the organisation's. Raises NotVisible."""
    found = _rows().filter(organisation=organisation, pk=which).first()
    if found is None:
        raise NotVisible
    return found


def _rows() -> QuerySet[Appeal]:
    return Appeal.objects.select_related(
        "task_set", "organisation", "submission__harness_version__harness", "ruling"
    ).prefetch_related("effects")


def ruling_of(appeal: Appeal) -> Ruling | None:
    return Ruling.objects.filter(appeal=appeal).first()


def effects_of(appeal: Appeal) -> list[RuledEffect]:
    return list(RuledEffect.objects.filter(appeal=appeal).order_by("kind"))


def face(appeal: Appeal) -> dict[str, Any]:
    """The one machine form of an appeal for its organisation. No person of the staff and no draft stands in it."""
    ruling = ruling_of(appeal)
    owner = policies.owner(appeal.state, escalations=appeal.escalations)
    return {
        "id": str(appeal.id),
        "subject": appeal.subject,
        "task_set": appeal.task_set.label,
        "submission": str(appeal.submission_id) if appeal.submission_id else None,
        "domain": appeal.domain or None,
        "grounds": appeal.grounds,
        "state": shown_state(appeal),
        "since": appeal.state_since,
        "filed_at": appeal.filed_at,
        "due_at": appeal.due_at,
        "escalated": bool(appeal.escalations),
        "turn": owner.value if owner else None,
        "may_withdraw": policies.may_withdraw(appeal.state),
        "recheck": recheck_face(appeal),
        "ruling": {"outcome": ruling.outcome, "text": ruling.text, "ruled_at": ruling.ruled_at}
        if ruling
        else None,
        "effects": [
            {"kind": row.kind, "done_at": row.done_at, "result": row.result or None}
            for row in effects_of(appeal)
        ],
    }


def shown_state(appeal: Appeal) -> str:
    return appeal.state


def target(claim: Claim) -> Target | None:
    """What the claim is about, as its organisation sees it; None where there is nothing of the kind."""
    found = {
        Subject.QUOTA: _quota,
        Subject.FAULT: _fault,
        Subject.SCORE: _score,
        Subject.RULE: _rule,
        Subject.HOLD: _hold,
        Subject.ROTATION: _rotation,
    }[Subject(claim.subject)]
    if claim.subject in NEEDS_SUBMISSION and claim.submission is None:
        return None
    return found(claim)


def _quota(claim: Claim) -> Target | None:
    """A use that was counted or returned; without a submission, a refusal or a stop, which have no row."""
    if claim.submission is None:
        return Target({}, None)
    slot = Slot.objects.filter(submission=claim.submission).first()
    if slot is None:
        return None
    since = slot.refunded_at or slot.consumed_at or slot.reserved_at
    return Target({"use": slot.state, "cause": slot.cause}, since)


def _fault(claim: Claim) -> Target | None:
    submission = claim.submission
    assert submission is not None, "a fault is one of a submission"
    since = submission.ended_at or submission.state_since
    return Target({"state": submission.state, "code": submission.reason_code}, since)


def _score(claim: Claim) -> Target | None:
    release = Release.objects.filter(submission=claim.submission).first()
    row = DomainAggregate.objects.filter(release=release, domain=claim.domain, status="reported").first()
    if release is None or row is None:
        return None
    return Target({"value": row.value, "h": row.half_width}, release.released_at)


def _rule(claim: Claim) -> Target | None:
    if claim.submission is None:
        return Target({}, None)
    return Target({"state": claim.submission.state}, claim.submission.ended_at)


def _hold(claim: Claim) -> Target | None:
    """A submission that is held, or was: time runs from the end of the hold."""
    submission = claim.submission
    assert submission is not None, "a hold is one of a submission"
    if submission.state == Submission.State.HELD:
        return Target({"state": submission.state, "since": submission.state_since.isoformat()}, None)
    rows = list(submission.transitions.order_by("id"))
    ends = [after.at for before, after in pairwise(rows) if before.state == "held"]
    return Target({"state": submission.state}, ends[-1]) if ends else None


def _rotation(claim: Claim) -> Target | None:
    """Notices of rotation come with the version that they take effect in."""
    return Target({}, claim.task_set.opened_at) if claim.task_set.opened_at else None


def refusal(claim: Claim) -> Refusal | None:
    """Why this appeal is not taken now, the first reason in a fixed order."""
    found = target(claim)
    if found is None:
        return Refusal(Code.APPEAL_NOTHING)
    if found.until is not None and found.until <= clock.now():
        return Refusal(Code.APPEAL_WINDOW, {"until": found.until.date().isoformat(), "days": WINDOW.days})
    same = Appeal.objects.filter(
        submission=claim.submission,
        subject=claim.subject,
        domain=claim.domain,
        lineage=claim.organisation.lineage_id,
    ).exclude(state__in=ENDS)
    if claim.submission is not None and same.exists():
        return Refusal(Code.APPEAL_EXISTS)
    if spent(claim.organisation, claim.task_set) >= FREE:
        return Refusal(Code.APPEAL_LIMIT, {"task_set": claim.task_set.label, "limit": FREE})
    return None


def spent(organisation: Organisation, task_set: TaskSetVersion) -> int:
    """How many of the free appeals of the version the lineage has used."""
    rows = Appeal.objects.filter(lineage=organisation.lineage_id, task_set=task_set)
    return sum(
        policies.counts(state=state, outcome=outcome or "", was_admitted=admitted is not None)
        for state, outcome, admitted in rows.values_list("state", "ruling__outcome", "admitted_at")
    )


def appealable_until(submission: Submission) -> datetime | None:
    """Until when values of a released submission can be appealed against; None where that is over, or never began."""
    released = Release.objects.filter(submission=submission).values_list("released_at", flat=True).first()
    if released is None or released + WINDOW <= clock.now():
        return None
    until: datetime = released + WINDOW
    return until


def versions_with_appeals() -> list[TaskSetVersion]:
    """What an appeal without a submission may be about: open versions, and those closed within the window."""
    rows = TaskSetVersion.objects.filter(opened_at__isnull=False).filter(
        Q(closed_at=None) | Q(closed_at__gt=clock.now() - WINDOW)
    )
    return list(rows.order_by("-opened_at")) or open_task_sets()


def due_appeals(*, now: datetime) -> list[UUID]:
    """Those that are late in their state."""
    return list(Appeal.objects.filter(due_at__lte=now).order_by("due_at", "id").values_list("id", flat=True))


def ruled_appeals() -> list[UUID]:
    """Those whose effects are not all carried out."""
    return list(
        Appeal.objects.filter(state=State.RULED).order_by("state_since", "id").values_list("id", flat=True)
    )


def for_staff() -> list[Appeal]:
    """The inbox: by deadline, then what ended in the last 90 days, newest first."""
    rows = _rows().filter(Q(ended_at=None) | Q(ended_at__gt=clock.now() - timedelta(days=90)))
    found = list(rows.order_by("due_at", "-ended_at")[: 2 * MOST])
    return sorted(found, key=lambda row: (row.is_over, row.due_at.timestamp() if row.due_at else 0))


def appeal(which: UUID) -> Appeal | None:
    """For staff."""
    return _rows().filter(pk=which).first()


def open_appeals() -> list[Appeal]:
    """All that are not over."""
    return list(_rows().exclude(state__in=ENDS).order_by("due_at", "id"))


def recheck_of(appeal: Appeal) -> Recheck | None:
    return Recheck.objects.filter(appeal=appeal).first()


def recheck_face(appeal: Appeal) -> dict[str, Any] | None:
    """What its vendor sees of a blind re-check: commitments, agreement with its interval, and what follows."""
    row = recheck_of(appeal)
    if row is None:
        return None
    return {
        "state": row.state,
        "platform_commitment": row.platform_commitment,
        "nonce": row.nonce or None,
        "word_due_at": row.word_due_at if row.state == Recheck.State.COMMITTED else None,
        "runs": row.runs,
        "agreement": row.agreement,
        "low": row.low,
        "high": row.high,
        "is_below": row.is_below,
        "threshold": policies.THRESHOLD,
    }


def recheck_runs(appeal: Appeal) -> bool:
    """Whether a ruling has to wait for a blind re-check."""
    if appeal.subject != Subject.SCORE:
        return False
    row = recheck_of(appeal)
    return row is None or not row.is_over


def is_revealed(which: UUID) -> bool:
    return Recheck.objects.filter(appeal=which, state=Recheck.State.REVEALED).exists()


def open_rechecks() -> list[UUID]:
    """Appeals against scores for whose blind re-check something may be due."""
    rows = Appeal.objects.filter(subject=Subject.SCORE, admitted_at__isnull=False).exclude(
        recheck__state__in=(Recheck.State.SHOWN, Recheck.State.LAPSED)
    )
    return list(rows.filter(Q(ended_at=None) | Q(recheck__isnull=False)).values_list("id", flat=True))


def sheets_of(judge: UUID) -> list[RecheckSheet]:
    """What one person is to judge again, in their own order; contents are not fetched."""
    rows = RecheckSheet.objects.filter(judge=judge, appeal__recheck__state=Recheck.State.DRAWN)
    return list(rows.defer("sealed", "boxed_key").order_by("appeal", "place"))


def is_below(appeal: Appeal) -> bool:
    """Whether the blind re-check found less agreement than the threshold."""
    return Recheck.objects.filter(appeal=appeal, is_below=True).exists()
