"""From a job's identity to its credentials, and what an exchange would say. Refusals are problems."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db import transaction

from accounts.models import Organisation, User
from accounts.publishing import services as publishing
from accounts.publishing.models import TrustedPublisher
from accounts.publishing.policies import Terms
from accounts.publishing.queries import chosen, issuers_for
from accounts.publishing.refusals import Cause, refused
from accounts.publishing.services import Exchanged
from accounts.publishing.verification import verify
from audit.events import Actor
from submissions.models import Harness
from submissions.problems.identity import as_problems
from submissions.queries.publishing import Checked, checked, trusting
from submissions.services import standing


def exchange(token: str, harness: str) -> Exchanged:
    """The job's two credentials. Raises Refused with the code of what is wrong; then nothing is used up."""
    with as_problems():
        identity, issuer = verify(token)
        return publishing.exchange(identity, chosen(trusting(identity, issuer, harness), identity))


def check(token: str, harness: str) -> Checked:
    """The same up to the exchange itself. Raises Refused where the token is not believed, or nobody trusts it."""
    with as_problems():
        identity, issuer = verify(token)
        found = checked(identity, trusting(identity, issuer, harness))
        if publishing.is_used(identity):
            raise refused(Cause.REPLAYED, field="jti", received=identity.jti)
        return found


def register(harness: Harness, fields: Mapping[str, Any], *, person: User, by: Actor) -> TrustedPublisher:
    """Trust such jobs for the harness. Raises Refused: publisher_invalid, publisher_exists, standing."""
    organisation: Organisation = harness.organisation
    standing.require(organisation, by)
    dialect = issuers_for(organisation).get(str(fields["issuer"]), "")
    with as_problems(), transaction.atomic():
        if not dialect:
            raise refused(Cause.PUBLISHER_INVALID, field="issuer", received=fields["issuer"])
        terms = Terms(dialect=dialect, **fields)
        return publishing.register(organisation, harness.id, terms, person=person, by=by)


def remove(publisher: TrustedPublisher, *, person: User, by: Actor) -> TrustedPublisher:
    """Raises Refused: standing."""
    standing.require(publisher.organisation, by)
    return publishing.remove(publisher, person=person, by=by)
