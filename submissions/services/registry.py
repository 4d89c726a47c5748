"""Registering harnesses and their versions."""

from __future__ import annotations

import re

from django.db import IntegrityError, connection, transaction

from accounts.models import Organisation
from audit import log
from audit.events import Actor
from audit.texts import concealed
from config import clock
from config.lines import folded
from submissions import cards, events
from submissions.models import Harness, HarnessVersion
from submissions.models.registry import NAME_PATTERN, VERSION_PATTERN
from submissions.problems import Code, FieldError, Refusal, Refused, refuse
from submissions.relations.services import Owner, name_owner, owner_errors
from submissions.services import standing


def register_harness(
    organisation: Organisation,
    *,
    name: str,
    title: str,
    relation: str,
    by: Actor,
    owner: Owner | None = None,
) -> Harness:
    """A new harness line. `name` is what harness.toml says; `relation` is a Harness.Relation, and says whether the
    owner has to be named. Neither changes later: who submits in another role registers the harness anew.

    Raises Refused: name_taken, invalid_field, and the reasons of standing.
    """
    standing.require(organisation, by)
    errors = []
    if not re.match(NAME_PATTERN, name):
        errors.append(FieldError("$.name", "1 to 63 of a-z, 0-9 and inner hyphens"))
    if relation not in Harness.Relation.values:
        errors.append(FieldError("$.relation", f"one of {', '.join(Harness.Relation.values)}"))
    else:
        errors += owner_errors(relation, owner)
    if len(title) > 120:
        errors.append(FieldError("$.title", "at most 120 characters"))
    if errors:
        raise Refused(Refusal(Code.INVALID_FIELD, errors=errors))
    try:
        with transaction.atomic():
            harness = Harness.objects.create(
                organisation=organisation,
                name=name,
                title=folded(title) or name,
                relation=relation,
                created_at=clock.now(),
            )
            event = events.HarnessRegistered(subject=harness.id, name=concealed(name), relation=relation)
            log.append(event, by=by)
            if owner is not None:
                name_owner(harness, owner, by=by)
            # Again, once the foreign key holds the organisation's row: it may have become an auditor in between.
            connection.check_constraints()
            standing.require(organisation, by)
    except IntegrityError:
        raise refuse(Code.NAME_TAKEN, name=name) from None
    return harness


def add_version(harness: Harness, *, version: str, card: object, by: Actor) -> HarnessVersion:
    """An immutable version with its HarnessCard.

    Raises Refused: version_exists, card_invalid with the JSON path of each error, invalid_field, standing.
    """
    standing.require(harness.organisation, by)
    if not re.match(VERSION_PATTERN, version):
        error = FieldError("$.version", "1 to 64 letters, digits and inner . + _ -")
        raise Refused(Refusal(Code.INVALID_FIELD, errors=[error]))
    try:
        checked = cards.check(card)
    except cards.CardInvalid as invalid:
        errors = [FieldError(path, message) for path, message in invalid.errors]
        raise Refused(Refusal(Code.CARD_INVALID, errors=errors)) from None
    try:
        with transaction.atomic():
            row = HarnessVersion.objects.create(
                harness=harness,
                version=version,
                card=checked,
                card_digest=cards.digest(checked),
                card_schema=cards.CARD_SCHEMA,
                created_at=clock.now(),
            )
            event = events.HarnessVersionRegistered(
                subject=row.id,
                harness=str(harness.id),
                harness_version=concealed(version),
                card_digest=row.card_digest,
                card_schema=row.card_schema,
            )
            log.append(event, by=by)
    except IntegrityError:
        raise refuse(Code.VERSION_EXISTS, version=version) from None
    return row
