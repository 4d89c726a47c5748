"""What harness.toml, card and registered upstreams must say together; whose word makes a provider an approved one."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

import pytest

from config import clock
from evaluation.upstreams.approval import exposure_of
from submissions.intake import Finding, Manifest
from submissions.intake.manifest import ModelUse
from submissions.models import HarnessVersion
from submissions.services import add_version, modelling
from tests.access.upstreams.arranged import SNAPSHOT, registered, upstream_with_credential
from tests.submissions import world
from tests.submissions.bundles import card

pytestmark = pytest.mark.django_db
LISTED = [{"role": "main", "name": "Some model", "snapshot": SNAPSHOT}]


@pytest.fixture
def vendor() -> world.Vendor:
    return world.vendor()


def version_of(vendor: world.Vendor, models: list[dict[str, str]]) -> HarnessVersion:
    return add_version(vendor.harness(), version="1.0", card=card(models=models), by=vendor.actor)


def asking(upstream: str = "my-model", dialect: str = "openai-chat") -> Manifest:
    return Manifest("probe", "1.0", ("true",), None, (ModelUse("main", dialect, upstream),))


def refused(manifest: Manifest, version: HarnessVersion) -> str:
    with pytest.raises(Finding) as found:
        modelling.examine(manifest, version)
    return str(found.value.code)


def test_an_approved_providers_model_that_the_card_lists_is_accepted(
    vendor: world.Vendor, settings: Any
) -> None:
    settings.APPROVED_PROVIDERS = {"api.example.com": date(2999, 1, 1)}
    upstream_with_credential(vendor)
    modelling.examine(asking(), version_of(vendor, LISTED))


def test_an_organisations_word_alone_makes_nobody_an_approved_provider(
    vendor: world.Vendor, settings: Any
) -> None:
    row = upstream_with_credential(vendor)
    version = version_of(vendor, LISTED)
    assert (row.exposure, exposure_of(row)) == ("third_party", "vendor_endpoint")
    assert refused(asking(), version) == "model_exposure_refused"
    settings.APPROVED_PROVIDERS = {"api.example.com": clock.now().date() - timedelta(days=1)}
    assert refused(asking(), version) == "model_exposure_refused", "the agreement has ended"
    settings.ADMIT_VENDOR_ENDPOINTS = True
    modelling.examine(asking(), version)


def test_a_model_must_be_registered_with_a_credential_and_be_in_the_card(
    vendor: world.Vendor, settings: Any
) -> None:
    settings.APPROVED_PROVIDERS = {"api.example.com": date(2999, 1, 1)}
    version = version_of(vendor, [{"role": "main", "name": "Another model"}])
    assert refused(asking(), version) == "model_not_registered"
    row = registered(vendor)
    assert refused(asking(), version) == "model_not_registered", "it has no credential"
    world_row = upstream_with_credential(vendor, name="with-credential")
    assert refused(asking("with-credential"), version) == "model_not_in_card"
    assert refused(asking("with-credential", "anthropic-messages"), version) == "model_not_registered"
    assert row.pk != world_row.pk


def test_a_strangers_upstream_is_nobodys(vendor: world.Vendor, settings: Any) -> None:
    settings.APPROVED_PROVIDERS = {"api.example.com": date(2999, 1, 1)}
    upstream_with_credential(world.vendor())
    assert refused(asking(), version_of(vendor, LISTED)) == "model_not_registered"
