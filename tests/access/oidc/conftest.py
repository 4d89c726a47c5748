"""An issuer that runs for the module, and a site that believes it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.conf import LazySettings

from accounts.publishing.models import TrustedPublisher
from submissions.models import Harness
from tests.access.oidc.arranged import Job, registered
from tests.issuer import Issuer, running
from tests.submissions import world


@pytest.fixture(scope="module")
def served() -> Iterator[Issuer]:
    with running() as issuer:
        yield issuer


@pytest.fixture
def issuer(served: Issuer, settings: LazySettings, servers: object) -> Iterator[Issuer]:
    """Believed for claims like GitHub's; keys are fetched anew in each test."""
    settings.OIDC_ISSUERS = {served.address: "github"}
    served.asked.clear()
    yield served
    served.answers.clear()


@pytest.fixture
def gitlab(issuer: Issuer, settings: LazySettings) -> Issuer:
    settings.OIDC_ISSUERS = {issuer.address: "gitlab"}
    return issuer


@pytest.fixture
def vendor(db: None) -> world.Vendor:
    return world.vendor()


@pytest.fixture
def harness(vendor: world.Vendor) -> Harness:
    return vendor.harness()


@pytest.fixture
def publisher(vendor: world.Vendor, harness: Harness, issuer: Issuer) -> TrustedPublisher:
    return registered(vendor, harness, issuer.address)


@pytest.fixture
def job(issuer: Issuer, publisher: TrustedPublisher) -> Job:
    return Job(issuer)
