"""Telling people: one row each, in the transaction of what happened; their mail follows after the commit."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from uuid import UUID

from django.db import transaction

from accounts.models import Membership, Organisation, User
from accounts.notices.kinds import ALWAYS_MAILED, Group, Kind, group_of
from accounts.notices.models import Notice, NoticePreference
from config import clock

EVERYBODY = (Membership.Role.OWNER, Membership.Role.SUBMITTER, Membership.Role.VIEWER)
WHO_ACT = (Membership.Role.OWNER, Membership.Role.SUBMITTER)


def notify(
    people: Iterable[User],
    kind: Kind,
    *,
    subject: UUID | str,
    facts: Mapping[str, object],
    organisation: Organisation | None = None,
    occasion: str = "",
) -> None:
    """Tell each of `people` once: the same kind, subject and occasion again changes nothing.

    Call it inside the transaction that changes what it tells about. `facts` are ids, codes, ISO 8601 instants and
    names their own organisation gave; no secret and no score. `organisation` hides it from who leaves that one.
    """
    found = {person.pk: person for person in people if person.erased_at is None and person.is_active}
    now = clock.now()
    silent = dict(NoticePreference.objects.filter(person__in=found).values_list("person", "silent"))
    group = group_of(kind)
    Notice.objects.bulk_create(
        [
            Notice(
                person=person,
                organisation=organisation,
                kind=kind,
                subject=str(subject),
                occasion=occasion,
                facts=dict(facts),
                created_at=now,
                mail_due_at=now if group in ALWAYS_MAILED or group not in silent.get(key, ()) else None,
            )
            for key, person in found.items()
        ],
        ignore_conflicts=True,
    )


def notify_organisation(
    organisation: Organisation,
    kind: Kind,
    *,
    subject: UUID | str,
    facts: Mapping[str, object],
    roles: Collection[str] = WHO_ACT,
    occasion: str = "",
) -> None:
    """`notify` for the members of an organisation who hold one of `roles`."""
    members = organisation.memberships.filter(role__in=roles).select_related("user")
    people = [member.user for member in members]
    notify(people, kind, subject=subject, facts=facts, organisation=organisation, occasion=occasion)


def mark_read(person: User, notice_id: UUID) -> None:
    """One notice of theirs; another's or a read one changes nothing."""
    Notice.objects.filter(person=person, pk=notice_id, read_at=None).update(read_at=clock.now())


def mark_all_read(person: User) -> None:
    Notice.objects.filter(person=person, read_at=None).update(read_at=clock.now())


def set_preferences(person: User, *, mailed: Collection[str], scores_in_mail: bool) -> None:
    """`mailed`: the groups that come by mail. Those that always do cannot be left out."""
    silent = [group.value for group in Group if group not in ALWAYS_MAILED and group.value not in mailed]
    with transaction.atomic():
        NoticePreference.objects.update_or_create(
            person=person, defaults={"silent": silent, "scores_in_mail": scores_in_mail}
        )
        unwanted = [kind.value for kind in Kind if group_of(kind).value in silent]
        Notice.objects.filter(person=person, kind__in=unwanted).update(mail_due_at=None)
