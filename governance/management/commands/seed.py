"""`manage.py seed`: people to act as on a machine of one's own: staff, an auditor, a verified vendor with a token."""

from __future__ import annotations

import hashlib
import json
import secrets
from datetime import timedelta
from typing import Any

from allauth.account.models import EmailAddress
from django.core.management.base import BaseCommand, CommandParser

from accounts import auditors, services
from accounts.duties import services as duties
from accounts.duties.queries import has_begun
from accounts.duties.smallest import smallest_staff
from accounts.duties.table import Duty
from accounts.models import ApiToken, Membership, Organisation, User
from accounts.registration import services as registration
from accounts.registration.rules import current
from accounts.security.services import ensure_totp
from audit.events import Actor
from benchmark.models import TaskSetVersion
from config import clock

BY = Actor(kind="system", id="seed", channel="command")
STAFF_EMAIL = "staff@lingee.invalid"
DEMO_PREFIX = "demo-"
VENDOR_EMAIL = "quickstart@lingee.invalid"
ADMINISTRATOR_EMAIL = "staff2@lingee.invalid"
AUDITOR_EMAIL = "auditor@lingee.invalid"
AUDITOR_TERM = DUTIES_FOR = timedelta(days=365)
SEEDED = "Trying out the console on one's own machine."


class Command(BaseCommand):
    """Prints one JSON line: the vendor's token, and with --quickstart the people to sign in as."""

    help = "Create staff and a verified vendor with a token; prints them as JSON."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--task-set", required=True)
        parser.add_argument("--quickstart", action="store_true", help="the vendor that `serve` signs in as")

    def handle(self, *args: Any, **options: Any) -> None:
        TaskSetVersion.objects.get(label=options["task_set"])
        run = secrets.token_hex(4)
        password = secrets.token_urlsafe(12)
        staff = self._person(STAFF_EMAIL, "Staff", password, staff=True, known=options["quickstart"])
        if options["quickstart"]:
            user = self._person(VENDOR_EMAIL, "Quickstart", password)
            membership = Membership.objects.filter(user=user).select_related("organisation").first()
            organisation = (
                membership.organisation if membership else self._organisation("Quickstart", user, staff)
            )
        else:
            user = self._person(f"{DEMO_PREFIX}{run}@lingee.invalid", f"Demo {run}", password)
            organisation = self._organisation(f"Demo vendor {run}", user, staff)
        ensure_totp(user)  # nobody without a second factor makes tokens or submits
        _, secret = services.issue_token(
            user, organisation, name=f"seed {run}", scopes=list(ApiToken.Scope.values), by=BY
        )
        found: dict[str, Any] = {"token": secret, "run": run, "organisation": str(organisation.id)}
        if options["quickstart"]:
            found["people"] = [
                self._signs_in("vendor", user, password),
                *self._demo_vendor(password),
                self._signs_in("staff", staff, password),
                *self._second_administrator(staff, password),
                self._signs_in("auditor", self._auditor(password), password),
            ]
        self.stdout.write(json.dumps(found))

    def _signs_in(self, role: str, user: User, password: str) -> dict[str, str]:
        return {"as": role, "email": user.email, "password": password, "totp": ensure_totp(user)}

    def _demo_vendor(self, password: str) -> list[dict[str, str]]:
        """The vendor of the latest demo run, so that its submission can be looked at."""
        user = User.objects.filter(email__startswith=DEMO_PREFIX).order_by("-date_joined").first()
        if user is None:
            return []
        services.set_password(user, password, by=BY)
        return [self._signs_in("demo vendor", user, password)]

    def _second_administrator(self, staff: User, password: str) -> list[dict[str, str]]:
        """Beside `staff` the smallest legal staff: the ceremony is held, and everyone has their duties.

        Only the two administrators sign in; the others are there to be seen. The auditor has a term.
        """
        other = self._person(ADMINISTRATOR_EMAIL, "Second administrator", password, staff=True)
        if not has_begun():
            self._employ(staff, other)
        return [self._signs_in("staff (second)", other, password)]

    def _employ(self, one: User, other: User) -> None:
        now = clock.now()
        until = now + DUTIES_FOR
        duties.hold_ceremony(one, other, until=until, by=BY)
        both = [(one, other), (other, one)]
        for number, held in enumerate(smallest_staff()):
            if Duty.AUDITOR in held:
                continue
            first, second = both.pop(0) if Duty.ADMINISTRATOR in held else (one, other)
            person = first if Duty.ADMINISTRATOR in held else self._member(number, min(held))
            for duty in sorted(held - {Duty.ADMINISTRATOR}):
                # Nobody confirms their own: what the two hold besides, each proposes and the other confirms.
                by, seconded = (services.actor_for(each, channel="command") for each in (first, second))
                row = duties.propose(person, duty, begins_at=now, ends_at=until, reason=SEEDED, by=by)
                duties.confirm(row, reason=SEEDED, by=seconded)

    def _member(self, number: int, duty: Duty) -> User:
        name = f"staff-{number + 1}-{duty.value.replace('_', '-')}"
        return services.create_user(f"{name}@lingee.invalid", None, by=BY, name=name, staff=True)

    def _auditor(self, password: str) -> User:
        """An auditor of an audit organisation, whose term begins anew where the last one is over."""
        user = self._person(AUDITOR_EMAIL, "Auditor", password)
        if auditors.term_of(user) is None:
            membership = Membership.objects.filter(user=user).select_related("organisation").first()
            organisation = (
                membership.organisation
                if membership
                else services.create_organisation("Quickstart auditors", owner=user, by=BY)
            )
            auditors.appoint(
                user,
                auditors.mark_audit_organisation(organisation, by=BY),
                begins_at=clock.now(),
                ends_at=clock.now() + AUDITOR_TERM,
                scope="Trying out the auditors' pages on one's own machine.",
                declaration=hashlib.sha256(b"no declaration: a machine of one's own").hexdigest(),
                by=BY,
            )
        return user

    def _person(
        self, email: str, name: str, password: str, *, staff: bool = False, known: bool = True
    ) -> User:
        """The person with that address; `known` gives them this password although they had one."""
        user = User.objects.filter(email=email).first()
        if user is None:
            user = services.create_user(email, password, by=BY, name=name, staff=staff)
        elif known:
            services.set_password(user, password, by=BY)
        EmailAddress.objects.get_or_create(
            user=user, email=email, defaults={"verified": True, "primary": True}
        )
        return user

    def _organisation(self, name: str, owner: User, staff: User) -> Organisation:
        organisation = registration.found_organisation(
            name, rules_version=current().version, owner=owner, by=BY
        )
        services.verify_organisation(organisation, by=services.actor_for(staff, channel="command"))
        return organisation
