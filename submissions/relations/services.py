"""Naming the owner of a harness, and telling them before a third party's result is published."""

from __future__ import annotations

import io
import json
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from uuid import UUID

import structlog
from django.core.exceptions import ValidationError
from django.core.mail import EmailMessage
from django.core.validators import validate_email
from django.db import transaction

from accounts import names
from accounts.duties import queries as duties
from accounts.duties.refusals import DutyRefused, Reason
from accounts.duties.table import Duty
from accounts.models import User
from accounts.notices.delivery import PAUSES
from audit import log
from audit.canonical import timestamp
from audit.events import Actor, Event
from audit.texts import concealed
from config import clock
from config.lines import folded, is_one_line
from submissions import events
from submissions.models import Harness, Submission
from submissions.problems import Code, FieldError, Refusal, Refused, refuse
from submissions.relations.models import HarnessOwner, OwnerNotice
from submissions.relations.texts import owners_mail

logger = structlog.get_logger(__name__)

NOTICE = timedelta(days=14)
"""How long the owner has before anything is published; the database holds it too."""
SHORTEST_STATEMENT = 20
LONGEST_STATEMENT = 4000


@dataclass(frozen=True)
class Owner:
    """Whose harness it is, how they are reached, and for `consent` the words in which they agreed."""

    name: str
    contact: str
    statement: str = ""


def owner_errors(relation: str, owner: Owner | None) -> list[FieldError]:
    """What is missing or wrong about the owner, given who submits."""
    if relation == Harness.Relation.OWNER:
        return [FieldError("$.owner", "only where somebody else submits it")] if owner else []
    if owner is None:
        return [FieldError("$.owner", "name and contact of the owner are needed where somebody else submits")]
    errors = []
    if not 1 <= len(folded(owner.name)) <= 200 or not is_one_line(owner.name):
        errors.append(FieldError("$.owner.name", "1 to 200 characters on one line"))
    if not is_mail_address(owner.contact):
        errors.append(FieldError("$.owner.contact", "an e-mail address at which the owner is reached"))
    shortest = SHORTEST_STATEMENT if relation == Harness.Relation.CONSENT else 0
    if not shortest <= len(owner.statement.strip()) <= LONGEST_STATEMENT:
        said = f"the owner's consent in words, {SHORTEST_STATEMENT} to {LONGEST_STATEMENT} characters"
        errors.append(FieldError("$.owner.statement", said))
    return errors


def is_mail_address(text: str) -> bool:
    """Whether a mail can be addressed there; the validator alone lets control characters through in quotes."""
    try:
        validate_email(text)
    except ValidationError:
        return False
    return is_one_line(text)


def name_owner(harness: Harness, owner: Owner, *, by: Actor) -> HarnessOwner:
    """Keep it, sealed. Called within the transaction that registers the harness."""
    key, sealed = names.new_key(), io.BytesIO()
    sealed.write(names.seal(json.dumps(asdict(owner)), key))
    row = HarnessOwner.objects.create(
        harness=harness, wrapped_key=key, sealed=sealed.getvalue(), filed_at=clock.now()
    )
    log.append(events.HarnessOwnerNamed(subject=harness.id, owner=concealed(owner.contact)), by=by)
    return row


def owner_of(row: HarnessOwner) -> Owner:
    """As it was named. Raises names.NoPeopleKey in processes that serve nobody."""
    return Owner(**json.loads(names.open_sealed(row.sealed, row.wrapped_key)))


def order_notice(submission_id: UUID, *, by: Actor) -> OwnerNotice:
    """The address was checked: have the owner told. The same order twice is one, unless its mail was given up.

    Raises DutyRefused for who is no identity reviewer or belongs to the submitter, Refused (owner_notice_not_due).
    """
    with transaction.atomic():
        submission = Submission.objects.select_related("organisation", "harness_version__harness").get(
            pk=submission_id
        )
        _require_reviewer(submission, by)
        harness = submission.harness_version.harness
        due = harness.relation == Harness.Relation.THIRD_PARTY and submission.publication_consent
        if not due or not HarnessOwner.objects.filter(harness=harness).exists():
            raise refuse(Code.OWNER_NOTICE_NOT_DUE)
        row, made = OwnerNotice.objects.get_or_create(
            submission=submission,
            defaults={
                "ordered_by": User.objects.get(pseudonym=by.id),
                "ordered_at": clock.now(),
                "mail_due_at": clock.now(),
            },
        )
        if made or _begun_anew(row):
            log.append(events.OwnerNoticeOrdered(subject=submission.id, ordered_by=by.id), by=by)
    return row


def _begun_anew(row: OwnerNotice) -> bool:
    """Whether its mail had been given up; then it is due again."""
    found = OwnerNotice.objects.filter(pk=row.pk, given_up_at__isnull=False)
    return bool(found.update(given_up_at=None, mail_attempts=0, mail_due_at=clock.now()))


def send_due_notices(*, by: Actor) -> int:
    """Mail what is due; the 14 days begin when the mail server has taken it. Returns how many were sent.

    Each fails alone. The mail goes out while the row is held: a crash in between sends a second one, and never none.
    """
    due = OwnerNotice.objects.filter(mail_due_at__lte=clock.now()).order_by("mail_due_at")
    return sum(_send(notice_id, by) for notice_id in list(due.values_list("id", flat=True)))


def _send(notice_id: UUID, by: Actor) -> bool:
    """Whether the mail was handed over. A failure is noted with the next try's time, the last one as given up."""
    with transaction.atomic():
        row = (
            OwnerNotice.objects.select_for_update(skip_locked=True, of=("self",))
            .select_related("submission__harness_version__harness", "submission__organisation")
            .filter(pk=notice_id, mail_due_at__lte=clock.now())
            .first()
        )
        if row is None:
            return False
        now = clock.now()
        sent = _hand_over(row, now + NOTICE)
        event: Event | None = None
        if sent:
            row.mail_due_at, row.sent_at, row.publishable_from = None, now, now + NOTICE
            event = events.OwnerNoticeSent(
                subject=row.submission_id, publishable_from=timestamp(row.publishable_from)
            )
        else:
            pauses = PAUSES[row.mail_attempts : row.mail_attempts + 1]
            row.mail_attempts += 1
            row.mail_due_at = now + pauses[0] if pauses else None
            if not pauses:
                row.given_up_at = now
                event = events.OwnerNoticeGivenUp(subject=row.submission_id, attempts=row.mail_attempts)
        row.save(update_fields=["mail_due_at", "mail_attempts", "given_up_at", "sent_at", "publishable_from"])
        if event is not None:
            log.append(event, by=by)
    return sent


def _hand_over(row: OwnerNotice, publishable_from: datetime) -> bool:
    """False, logged without the address, where it cannot be written or the mail server does not take it."""
    try:
        with transaction.atomic():
            owner = owner_of(HarnessOwner.objects.get(harness=row.submission.harness_version.harness))
            subject, text = owners_mail(row.submission, owner.name, publishable_from)
            EmailMessage(subject, text, to=[owner.contact]).send()
    except Exception as error:  # noqa: BLE001 - whatever fails, the other mails go on and this one is tried again
        logger.warning("owner_notice_not_sent", notice=str(row.pk), error=type(error).__name__)
        return False
    return True


def record_objection(notice_id: UUID, words: str, *, by: Actor) -> None:
    """The owner objects: nothing of this submission is published. Raises DutyRefused, Refused."""
    if not 1 <= len(words.strip()) <= LONGEST_STATEMENT:
        error = FieldError("$.objection", f"1 to {LONGEST_STATEMENT} characters")
        raise Refused(Refusal(Code.INVALID_FIELD, errors=[error]))
    with transaction.atomic():
        row = OwnerNotice.objects.select_for_update(of=("self",)).select_related("submission__organisation")
        notice = row.get(pk=notice_id)
        _require_reviewer(notice.submission, by)
        if notice.sent_at is None or notice.objected_at is not None:
            raise refuse(Code.OWNER_NOTICE_NOT_DUE)
        notice.objected_at, notice.objection = clock.now(), words.strip()
        notice.save(update_fields=["objected_at", "objection"])
        event = events.OwnerObjected(subject=notice.submission_id, objection=concealed(notice.objection))
        log.append(event, by=by)


def _require_reviewer(submission: Submission, by: Actor) -> None:
    standing = duties.standing(by)
    if Duty.IDENTITY_REVIEWER not in standing.duties:
        raise DutyRefused(Reason.NOT_ENTITLED)
    if submission.organisation.lineage_id in standing.lineages:
        raise DutyRefused(Reason.OWN_CASE)
