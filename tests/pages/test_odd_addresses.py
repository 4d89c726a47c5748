"""Addresses that nobody has are the same 404, whatever characters they are made of."""

from __future__ import annotations

from typing import Any

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


@pytest.mark.parametrize(
    "address", ["/en/v/", "/zh-hans/v/submissions/", "/en/account/signup/", "/api/v1/quota"]
)
def test_the_console_has_no_vendor_area(settings: Any, address: str) -> None:
    settings.LINGEE_ROLE = "console"
    assert Client().get(address).status_code == 404


def test_the_site_has_one(settings: Any) -> None:
    settings.LINGEE_ROLE = "web"
    assert Client().get("/en/account/signup/").status_code == 200
