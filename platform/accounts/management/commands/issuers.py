"""`manage.py issuers propose|approve|end|list`: issuers that the site cannot reach, under the console's role."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db.models import Q

from accounts.duties.refusals import DutyRefused
from accounts.models import Organisation, User
from accounts.publishing import reviewing
from accounts.publishing.issuer_refusals import IssuerRefused
from accounts.publishing.models import Dialect, ReviewedIssuer
from audit.events import Actor
from config import clock

LARGEST = 256 * 1024
"""Bytes of a file of keys."""


class Command(BaseCommand):
    """Two administrators, who stand by account or pseudonym: one proposes, another approves."""

    help = (
        "Believe the uploaded keys of an issuer of CI identities, for one organisation and at most 90 days."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        acts = parser.add_subparsers(dest="act", required=True)
        propose = acts.add_parser("propose", help="put the keys forward")
        propose.add_argument("organisation", type=UUID)
        propose.add_argument("address", help="what stands in the tokens as `iss`")
        propose.add_argument("dialect", choices=Dialect.values)
        propose.add_argument("jwks", type=Path, help="the issuer's JWK set")
        propose.add_argument("--reason", required=True)
        approve = acts.add_parser("approve", help="be the second of two")
        approve.add_argument("--days", type=int, default=90)
        end = acts.add_parser("end", help="believe it no more, or withdraw the proposal")
        for act in (approve, end):
            act.add_argument("issuer", type=UUID)
        for act in (propose, approve, end):
            act.add_argument(
                "--by", type=UUID, required=True, help="account or pseudonym of an administrator"
            )
        acts.add_parser("list", help="all, with their states")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["act"] == "list":
            for row in ReviewedIssuer.objects.order_by("proposed_at"):
                self.stdout.write(_line(row))
            return
        try:
            row = self._changed(options, _staff(options["by"]))
        except (IssuerRefused, DutyRefused) as error:
            raise CommandError(str(error)) from error
        self.stdout.write(_line(row))

    def _changed(self, options: dict[str, Any], by: Actor) -> ReviewedIssuer:
        if options["act"] == "propose":
            return reviewing.propose(
                _found(Organisation, options["organisation"]),
                address=options["address"],
                dialect=options["dialect"],
                jwks=_file(options["jwks"]),
                reason=options["reason"],
                by=by,
            )
        issuer = _found(ReviewedIssuer, options["issuer"])
        if options["act"] == "approve":
            return reviewing.approve(issuer, days=options["days"], by=by)
        return reviewing.end(issuer, by=by)


def _line(row: ReviewedIssuer) -> str:
    where = f"{row.dialect} {row.address} organisation {row.organisation_id}"
    return f"{row.id} {_state(row)} {where} keys {row.jwks_digest[:16]}"


def _state(row: ReviewedIssuer) -> str:
    if row.ended_at is not None:
        return "ended"
    if row.ends_at is None:
        return "proposed"
    until = f"{row.ends_at:%Y-%m-%d}"
    return f"until {until}" if row.ends_at > clock.now() else f"over since {until}"


def _file(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            found = file.read(LARGEST + 1)
    except OSError as error:
        raise CommandError(f"{path}: {error.strerror}") from error
    if len(found) > LARGEST:
        raise CommandError(f"{path} is larger than {LARGEST} bytes")
    return found


def _staff(identifier: UUID) -> Actor:
    who = Q(pk=identifier) | Q(pseudonym=identifier)
    found = User.objects.filter(who, is_staff=True, is_active=True).first()
    if found is None:
        raise CommandError(f"{identifier} is no active member of the staff")
    return found.actor("command")


def _found(model: Any, identifier: UUID) -> Any:
    found = model.objects.filter(pk=identifier).first()
    if found is None:
        raise CommandError(f"there is no such {model._meta.verbose_name}: {identifier}")
    return found
