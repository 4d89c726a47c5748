"""Who may change things for an organisation: asked first by every service that a vendor can call."""

from __future__ import annotations

from accounts.models import Organisation
from audit.events import Actor
from submissions.policies import may_act
from submissions.problems import Refused
from submissions.queries.admission import standing


def require(organisation: Organisation, by: Actor) -> None:
    """Raises Refused for a suspended account or organisation, or a role that may only read."""
    if refusal := may_act(standing(organisation, by.account)):
        raise Refused(refusal)
