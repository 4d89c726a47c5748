"""What is looked at every hour: registrations that staff have left unanswered, verifications that expire soon."""

from __future__ import annotations

import logging

from accounts.models import Membership
from accounts.notices.kinds import Kind
from accounts.notices.services import notify_organisation
from accounts.registration import queries
from accounts.registration.policies import REMIND_BEFORE
from config import clock

logger = logging.getLogger(__name__)


def watch() -> None:
    """A line of the log for operators while anything is overdue, which alerts match; one reminder to owners.

    May run twice."""
    overdue = [line.row for line in queries.waiting() if line.overdue]
    if overdue:
        logger.error("registrations are overdue: %d, the oldest %s", len(overdue), overdue[0].id)
    for organisation in queries.expiring(clock.now() + REMIND_BEFORE):
        assert organisation.verified_until is not None
        until = organisation.verified_until.isoformat()
        notify_organisation(
            organisation,
            Kind.REGISTRATION_EXPIRING,
            subject=organisation.id,
            facts={"deadline": until},
            roles=(Membership.Role.OWNER,),
            occasion=until[:10],
        )
