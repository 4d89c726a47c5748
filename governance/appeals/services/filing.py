"""What a vendor does: file an appeal, and withdraw it."""

from __future__ import annotations

import re
from uuid import UUID

from django.db import transaction

from accounts.models import User
from accounts.security.factors import is_enrolled
from audit import log
from audit.canonical import timestamp
from audit.events import Actor
from audit.texts import concealed
from config import clock
from governance.appeals import events, policies, queries, telling
from governance.appeals.models import Appeal
from governance.appeals.policies import Cause, State, Subject
from governance.appeals.queries import Claim
from governance.appeals.services.moving import locked, move
from submissions.problems import Code, FieldError, Refusal, Refused, refuse
from submissions.services import once, slots, standing

ROUTE = "appeals"
LONGEST_GROUNDS = 4000
"""Characters."""
_DIGEST = re.compile(r"[0-9a-f]{64}")


def file(claim: Claim, *, by: Actor, key: str) -> Appeal:
    """File an appeal; the same key gets the same one again.

    Raises Refused with every reason of `queries.refusal`, invalid_field, appeal_commitment, mfa_required, standing,
    idempotency_key_required or idempotency_conflict.
    """
    standing.require(claim.organisation, by)
    if by.kind == "person" and not is_enrolled(by.account):
        raise refuse(Code.MFA_REQUIRED)
    _require_well_formed(claim)
    body = {
        "subject": claim.subject,
        "task_set": claim.task_set.label,
        "submission": str(claim.submission.pk) if claim.submission else None,
        "domain": claim.domain,
        "grounds": claim.grounds,
        "commitment": claim.commitment,
    }
    answer = once(claim.organisation, ROUTE, key, body, lambda: (201, {"id": str(_file(claim, by=by).pk)}))
    return queries.appeal_of(claim.organisation, UUID(answer.body["id"]))


def _require_well_formed(claim: Claim) -> None:
    if not claim.grounds.strip():
        raise Refused(Refusal(Code.INVALID_FIELD, errors=[FieldError("$.grounds", "empty")]))
    if len(claim.grounds) > LONGEST_GROUNDS:
        wrong = FieldError("$.grounds", f"at most {LONGEST_GROUNDS} characters")
        raise Refused(Refusal(Code.INVALID_FIELD, errors=[wrong]))
    is_score = claim.subject == Subject.SCORE
    if is_score and not _DIGEST.fullmatch(claim.commitment):
        raise refuse(Code.APPEAL_COMMITMENT)
    if not is_score and (claim.commitment or claim.domain):
        field = "commitment" if claim.commitment else "domain"
        wrong = FieldError(f"$.{field}", "only for the score of a domain")
        raise Refused(Refusal(Code.INVALID_FIELD, errors=[wrong]))


def _file(claim: Claim, *, by: Actor) -> Appeal:
    """The lineage's counter is held, so that two who file at once see one another."""
    slots.hold(claim.task_set, "lineage", claim.organisation.lineage_id)
    if refusal := queries.refusal(claim):
        raise Refused(refusal)
    found, now = queries.target(claim), clock.now()
    assert found is not None, "it is not refused"
    row = Appeal.objects.create(
        organisation=claim.organisation,
        lineage_id=claim.organisation.lineage_id,
        task_set=claim.task_set,
        subject=claim.subject,
        submission=claim.submission,
        domain=claim.domain,
        grounds=claim.grounds.strip(),
        facts=found.facts,
        commitment=claim.commitment,
        filed_by=_person(by),
        filed_at=now,
        state_since=now,
        due_at=policies.due(State.FILED, since=now, filed=now, escalations=0),
    )
    assert row.due_at is not None, "what is filed has a deadline"
    event = events.AppealFiled(
        subject=row.id,
        about=row.subject,
        task_set=claim.task_set.label,
        lineage=str(row.lineage_id),
        submission=str(row.submission_id) if row.submission_id else None,
        domain=row.domain or None,
        grounds=concealed(row.grounds),
        commitment=row.commitment or None,
        due=timestamp(row.due_at),
    )
    log.append(event, by=by)
    telling.tell_filed(row)
    return row


def _person(by: Actor) -> User:
    """Whoever files answers for it: the person, or the one who issued the token."""
    if by.kind == "person":
        return User.objects.get(pseudonym=by.id)
    if by.account is None:
        raise refuse(Code.CREDENTIAL_NOT_PERMITTED, presented=by.kind, allowed="person, token")
    return User.objects.get(pk=by.account)


def withdraw(which: UUID, *, by: Actor) -> Appeal:
    """Take an appeal back, until it is ruled on. Withdrawing what is withdrawn changes nothing.

    Raises Refused: appeal_over, standing.
    """
    with transaction.atomic():
        row = locked(which)
        standing.require(row.organisation, by)
        if row.state == State.WITHDRAWN:
            return row
        if not policies.may_withdraw(row.state):
            raise refuse(Code.APPEAL_OVER)
        move(row, State.WITHDRAWN, cause=Cause.WITHDRAWN_BY_VENDOR, by=by)
    return row
