"""What page tests share."""

from __future__ import annotations

from typing import Any

import pytest

from benchmark.models import TaskSetVersion
from submissions.models import Submission
from tests.pages import site
from tests.submissions import world


@pytest.fixture(autouse=True)
def _adapter(settings: Any) -> None:
    """Signing in goes by our adapter, whatever the settings of the place say."""
    settings.ACCOUNT_ADAPTER = "accounts.adapters.AccountAdapter"


@pytest.fixture
def version(db: None) -> TaskSetVersion:
    return site.task_set()


@pytest.fixture
def vendor(db: None) -> world.Vendor:
    return world.vendor()


@pytest.fixture
def other(db: None) -> world.Vendor:
    return world.vendor()


@pytest.fixture
def complete(vendor: world.Vendor, version: TaskSetVersion) -> Submission:
    """A complete submission with a released result and one preflight run."""
    found = site.moved(site.submission(vendor, version), *site.TO_COMPLETE)
    site.preflight_result(found)
    site.release(found)
    return found
