"""Fixtures of these tests: a vendor, and two people who review."""

from __future__ import annotations

import pytest

from accounts.models import User
from tests.access.registration import filing
from tests.submissions import world


@pytest.fixture
def vendor(transactional_db: None) -> world.Vendor:
    return world.vendor()


@pytest.fixture
def new(transactional_db: None) -> world.Vendor:
    """A vendor whose organisation nobody verified yet."""
    return world.vendor(verified=False)


@pytest.fixture
def reviewers(transactional_db: None) -> tuple[User, User]:
    return filing.reviewers()
