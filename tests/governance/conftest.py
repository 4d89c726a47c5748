"""A submission whose held-out run is under way, and the same one released."""

from __future__ import annotations

import pytest

from submissions.models import Submission
from tests.governance.committed import done, frozen_set
from tests.submissions import world
from tests.submissions.outcomes import bring_to


@pytest.fixture
def vendor() -> world.Vendor:
    return world.vendor()


@pytest.fixture
def running(vendor: world.Vendor) -> Submission:
    return bring_to(vendor.submit(frozen_set(), vendor.harness()), "running")


@pytest.fixture
def complete(running: Submission) -> Submission:
    return done(running)
