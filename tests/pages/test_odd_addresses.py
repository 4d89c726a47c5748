"""Addresses that nobody has are the same 404, whatever characters they are made of."""

from __future__ import annotations

import pytest
from django.test import Client

pytestmark = pytest.mark.django_db

ODD = [
    "/en/public-tasks/%00/zz/",
    "/en/problems/%00/",
    "/en/%00",
    "/api/v1/problems/%00",
    "/en/public-tasks/%ff/zz/",
]


@pytest.mark.parametrize("address", ODD)
def test_an_odd_address_is_a_404(address: str) -> None:
    assert Client(raise_request_exception=False).get(address).status_code == 404
