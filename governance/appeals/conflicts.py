"""Who is bound to a case: what `policies.conflict` judges by, read from the rows and the memberships on record."""

from __future__ import annotations

from collections.abc import Iterator
from uuid import UUID

from django.conf import settings
from django.db import connection, models
from django.db.models import Q

from accounts.duties.queries import standing_of
from accounts.models import Organisation, User
from config import clock
from governance.appeals import policies
from governance.appeals.models import Appeal, OutsideArbiter
from governance.appeals.policies import Concern, Subject, Ties
from governance.desk.models import Hold, HoldDecision, HoldOrder
from governance.rotation.models import RotationEntry, RotationPlan
from submissions.problems import Code
from submissions.returns.models import UseReturn


def conflict_of(person: User, appeal: Appeal) -> Code | None:
    """Why this person has no say in the appeal; None where they may have one."""
    return policies.conflict(ties_of(person), concern_of(appeal))


def ties_of(person: User) -> Ties:
    """Present memberships from the rows, former ones from the log."""
    return Ties(
        person=person.pseudonym,
        is_of=standing_of(person).lineages,
        was_of=frozenset(
            Organisation.objects.filter(pk__in=_ever_of(person)).values_list("lineage_id", flat=True)
        ),
        is_from_outside=is_from_outside(person),
    )


def is_from_outside(person: User) -> bool:
    rows = OutsideArbiter.objects.filter(person=person.pseudonym)
    return rows.filter(Q(ended_at=None) | Q(ended_at__gt=clock.now())).exists()


def outsiders() -> list[User]:
    """Everybody who is an arbiter from outside now."""
    return list(
        User.objects.filter(
            pseudonym__in=OutsideArbiter.objects.filter(ended_at=None).values("person"), is_active=True
        )
    )


def concern_of(appeal: Appeal) -> Concern:
    lineages = {appeal.lineage_id, appeal.organisation.lineage_id}
    competing = Organisation.objects.filter(Q(is_operator=True) | Q(audits=None))
    return Concern(
        lineage=appeal.lineage_id,
        took_part=frozenset(people_behind(appeal)),
        competing=frozenset(competing.values_list("lineage_id", flat=True)),
        is_operators=Organisation.objects.filter(lineage__in=lineages, is_operator=True).exists(),
    )


def people_behind(appeal: Appeal) -> set[UUID]:
    """Pseudonyms of whoever stands in the rows of the decision that is appealed against."""
    found: set[UUID] = set()
    for row in _decisions(appeal):
        found |= people_in(row)
    return found


def _decisions(appeal: Appeal) -> Iterator[models.Model]:
    if appeal.subject == Subject.HOLD and appeal.submission_id:
        yield from Hold.objects.filter(submission=appeal.submission_id)
        yield from HoldOrder.objects.filter(submission=appeal.submission_id)
        yield from HoldDecision.objects.filter(submission=appeal.submission_id)
    if appeal.subject in (Subject.QUOTA, Subject.FAULT) and appeal.submission_id:
        yield from UseReturn.objects.filter(slot__submission=appeal.submission_id)
    if appeal.subject == Subject.ROTATION:
        version = appeal.task_set_id
        yield from RotationPlan.objects.filter(Q(former=version) | Q(next=version))
        yield from RotationEntry.objects.filter(task_set=version)


def people_in(row: models.Model) -> set[UUID]:
    """Every person that a column of the row names by pseudonym."""
    columns = [
        field
        for field in row._meta.concrete_fields
        if isinstance(field, models.ForeignKey)
        and field.related_model is not None
        and field.related_model._meta.label == settings.AUTH_USER_MODEL
        and field.target_field.name == "pseudonym"
    ]
    return {value for field in columns if (value := getattr(row, field.attname)) is not None}


def _ever_of(person: User) -> list[UUID]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT appeals_ever_member(%s)", [str(person.pseudonym)])
        return [UUID(found) for (found,) in cursor.fetchall()]
