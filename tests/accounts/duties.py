"""People of the staff with duties, as tests arrange them: through the ceremony and two administrators."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from accounts import services as accounts
from accounts.duties import services
from accounts.duties.models import DutyAssignment, DutyCeremony
from accounts.duties.table import Duty
from accounts.models import User
from audit.events import Actor
from config import clock
from tests.submissions import world

TERM = timedelta(days=100)


def member_of_staff(name: str = "staff") -> User:
    email = f"{name}-{uuid.uuid4().hex[:8]}@lingee.invalid"
    return world.enrolled(accounts.create_user(email, None, by=world.BY, staff=True))


def acting(person: User) -> Actor:
    return person.actor("web")


@dataclass
class Office:
    """The two administrators of the ceremony, and what they do."""

    first: User
    second: User

    def propose(self, person: User, duty: Duty, **changes: Any) -> DutyAssignment:
        now = clock.now()
        facts: dict[str, Any] = {"begins_at": now, "ends_at": now + TERM, "reason": "needed"}
        by = changes.pop("by", self.first)
        return services.propose(person, duty, **(facts | changes), by=acting(by))

    def give(self, person: User, *duties: Duty, **changes: Any) -> DutyAssignment:
        """Proposed by the first, confirmed by the second."""
        for duty in duties:
            row = self.propose(person, duty, **changes)
            services.confirm(row, reason="looked at", by=acting(self.second))
        return row

    def holder(self, *duties: Duty) -> User:
        person = member_of_staff(duties[0].value)
        self.give(person, *duties)
        return person


def opened() -> Office:
    """The office after its ceremony, which is held where it was not."""
    if held := DutyCeremony.objects.first():
        return Office(held.first, held.second)
    office = Office(member_of_staff("first"), member_of_staff("second"))
    services.hold_ceremony(office.first, office.second, until=clock.now() + TERM, by=world.BY)
    return office
