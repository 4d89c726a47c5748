"""An issuer behind a firewall: its keys are uploaded, two administrators stand behind them, for one organisation."""

from __future__ import annotations

import json
from datetime import timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import IntegrityError

from accounts.publishing.models import ReviewedIssuer
from accounts.publishing.refusals import IdentityRefused
from config import clock
from submissions.models import Harness
from tests.access.oidc.arranged import Job, registered
from tests.accounts.duties import Office, member_of_staff, opened
from tests.factories import recorded_as
from tests.issuer import Issuer, new_key
from tests.submissions import world

pytestmark = pytest.mark.django_db
ADDRESS = "https://gitlab.acme.invalid"
OLD, NEW = new_key(), new_key()


@pytest.fixture
def office(db: None) -> Office:
    return opened()


@pytest.fixture
def walled(servers: object) -> Issuer:
    """Nobody can ask it for anything."""
    return Issuer(ADDRESS, keys=[OLD])


def manage(*words: object, **options: Any) -> str:
    out = StringIO()
    call_command("issuers", *(str(word) for word in words), stdout=out, **options)
    return out.getvalue()


def propose(vendor: world.Vendor, jwks: Path, by: Any, address: str = ADDRESS) -> str:
    told = manage(
        "propose", vendor.organisation.id, address, "gitlab", jwks, "--reason", "walled", "--by", by.pk
    )
    return told.split()[0]


@pytest.fixture
def jwks(walled: Issuer, tmp_path: Path) -> Path:
    path = tmp_path / "jwks.json"
    path.write_text(json.dumps(walled.jwks()))
    return path


@pytest.mark.acceptance("access:3")
def test_with_two_administrators_its_jobs_are_believed_for_ninety_days(
    office: Office, vendor: world.Vendor, harness: Harness, walled: Issuer, jwks: Path
) -> None:
    job = Job(walled, "gitlab")
    identifier = propose(vendor, jwks, office.first)
    assert "proposed" in manage("list")
    assert job.exchange().code == "oidc_unknown_issuer"
    with pytest.raises(CommandError):
        manage("approve", identifier, "--by", office.first.pk)
    with pytest.raises(CommandError, match="issuer_days"):
        manage("approve", identifier, "--days", "91", "--by", office.second.pk)
    manage("approve", identifier, "--by", office.second.pk)
    registered(vendor, harness, ADDRESS, "gitlab")
    assert job.exchange().status == 201
    assert job.exchange(walled.mint("gitlab", key=NEW)).code == "oidc_unknown_key"
    with clock.shifted(timedelta(days=91)):
        assert job.exchange().code == "oidc_unknown_issuer"
    manage("end", identifier, "--by", office.first.pk)
    assert "ended" in manage("list")
    assert job.exchange().code == "oidc_unknown_issuer"


def test_it_speaks_for_one_organisation_only(
    office: Office, vendor: world.Vendor, walled: Issuer, jwks: Path
) -> None:
    manage("approve", propose(vendor, jwks, office.first), "--by", office.second.pk)
    other = world.vendor()
    with pytest.raises(IdentityRefused, match="publisher_invalid"):
        registered(other, other.harness(), ADDRESS, "gitlab")
    assert Job(walled, "gitlab").exchange().code == "oidc_no_publisher"


def test_new_keys_take_the_place_of_the_old_ones(
    office: Office, vendor: world.Vendor, harness: Harness, walled: Issuer, jwks: Path
) -> None:
    manage("approve", propose(vendor, jwks, office.first), "--by", office.second.pk)
    registered(vendor, harness, ADDRESS, "gitlab")
    walled.keys = [NEW]
    jwks.write_text(json.dumps(walled.jwks()))
    manage("approve", propose(vendor, jwks, office.second), "--by", office.first.pk)
    assert Job(walled, "gitlab").exchange().status == 201
    assert Job(walled, "gitlab").exchange(walled.mint("gitlab", key=OLD)).code == "oidc_unknown_key"
    assert ReviewedIssuer.live().count() == 1


def test_what_cannot_be_reviewed_is_not_proposed(office: Office, vendor: world.Vendor, jwks: Path) -> None:
    with pytest.raises(CommandError, match="administrator"):
        propose(vendor, jwks, member_of_staff())
    with pytest.raises(CommandError, match="active member of the staff"):
        propose(vendor, jwks, vendor.user)
    for address in ("http://gitlab.acme.invalid", "https://gitlab.com", "https://x.invalid/?q"):
        with pytest.raises(CommandError):
            propose(vendor, jwks, office.first, address)
    for text in ("[]", "{", json.dumps({"keys": [{"kty": "oct", "kid": "x", "k": "AAAA"}]})):
        jwks.write_text(text)
        with pytest.raises(CommandError, match="issuer_keys"):
            propose(vendor, jwks, office.first)
    private = {**new_key().jwk(), "d": "AQAB"}
    jwks.write_text(json.dumps({"keys": [private]}))
    with pytest.raises(CommandError, match="issuer_keys"):
        propose(vendor, jwks, office.first)
    assert not ReviewedIssuer.objects.exists()


@pytest.mark.parametrize("changed", ["alone", "longer"])
def test_the_database_demands_two_people_and_ninety_days(
    office: Office, vendor: world.Vendor, jwks: Path, changed: str
) -> None:
    row = ReviewedIssuer.objects.get(pk=propose(vendor, jwks, office.first))
    row.approved_by = office.first if changed == "alone" else office.second
    row.approved_at = clock.now()
    row.ends_at = row.approved_at + timedelta(days=90 if changed == "alone" else 91)
    name = "issuer_two_people" if changed == "alone" else "issuer_ninety_days"
    with pytest.raises(IntegrityError, match=name), recorded_as("issuer", row.pk):
        row.save(update_fields=["approved_by", "approved_at", "ends_at"])
