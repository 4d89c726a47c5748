"""Arrangements that many tests of submissions share."""

from __future__ import annotations

import pytest
from django.conf import settings

from benchmark.models import TaskSetVersion
from submissions.models import Harness
from tests.submissions import world


@pytest.fixture(autouse=True)
def _keys() -> None:
    """Packages are sealed by workers; the test process is all of them."""
    assert settings.VAULT_KEY_WORKER


@pytest.fixture
def vendor(db: None) -> world.Vendor:
    return world.vendor()


@pytest.fixture
def other(db: None) -> world.Vendor:
    return world.vendor()


@pytest.fixture
def task_set(db: None) -> TaskSetVersion:
    return world.task_set()


@pytest.fixture
def harness(vendor: world.Vendor) -> Harness:
    return vendor.harness()
