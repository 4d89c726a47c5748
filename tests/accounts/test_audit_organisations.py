"""Who audits does not compete: an audit organisation is never verified as one that submits."""

from __future__ import annotations

import pytest

from accounts import services
from accounts.auditors import mark_audit_organisation
from accounts.models import Organisation
from accounts.registration.queries import unregistered
from accounts.registration.refusals import RegistrationRefused
from tests.submissions import world

pytestmark = pytest.mark.django_db


def test_an_audit_organisation_is_not_among_those_to_verify_and_cannot_be() -> None:
    organisation = services.create_organisation("Auditors", owner=world.person(), by=world.BY)
    assert organisation in unregistered()
    mark_audit_organisation(organisation, by=world.BY)
    assert organisation not in unregistered()
    with pytest.raises(RegistrationRefused, match="registration_audits"):
        services.verify_organisation(organisation, by=world.BY)
    organisation.refresh_from_db()
    assert organisation.state == Organisation.State.UNDER_REVIEW
