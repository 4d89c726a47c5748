"""What a person is shown of their notices: never those of an organisation that they have left."""

from __future__ import annotations

from uuid import UUID

from django.db.models import Q, QuerySet

from accounts.models import Membership, User
from accounts.notices.kinds import ALWAYS_MAILED, Group
from accounts.notices.models import Notice, NoticePreference

PAGE = 50


def _visible(person: User) -> QuerySet[Notice]:
    theirs = Membership.objects.filter(user=person).values("organisation")
    return Notice.objects.filter(Q(organisation=None) | Q(organisation__in=theirs), person=person)


def notices_of(person: User, *, before: UUID | None = None) -> list[Notice]:
    """Newest first; `before` is the id of the last one of the page before."""
    rows = _visible(person)
    if before is not None:
        rows = rows.filter(id__lt=before)
    return list(rows.order_by("-id")[:PAGE])


def unread_count(person: User) -> int:
    return _visible(person).filter(read_at=None).count()


def mailed_groups(person: User) -> list[str]:
    """The groups that come to this person by mail."""
    preference = NoticePreference.objects.filter(person=person).first()
    silent = preference.silent if preference else []
    return [group.value for group in Group if group in ALWAYS_MAILED or group.value not in silent]


def wants_scores(person: User) -> bool:
    """Whether the person asked for released scores in their mail."""
    return NoticePreference.objects.filter(person=person, scores_in_mail=True).exists()


def may_know(notice: Notice) -> bool:
    """Whether its person may still be told: live, not suspended, and still of the organisation that it is about."""
    person = notice.person
    if person.erased_at is not None or not person.is_active or person.is_suspended:
        return False
    if notice.organisation_id is None:
        return True
    return Membership.objects.filter(user=person, organisation=notice.organisation_id).exists()
