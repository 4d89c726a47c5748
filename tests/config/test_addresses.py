"""Which places our own requests may go to: names are asked for once, and only public addresses are answered to."""

from __future__ import annotations

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from config import addresses
from config.addresses import AddressRefused, Rules, Unfit, is_public_address

PUBLIC = [
    "8.8.8.8",
    "1.1.1.1",
    "223.5.5.5",
    "100.63.255.255",
    "172.32.0.1",
    "2606:4700:4700::1111",
    "2400:3200::1",
]
REFUSED = [
    "0.0.0.0",
    "10.1.2.3",
    "100.64.0.1",
    "100.100.100.200",
    "127.0.0.1",
    "127.255.255.254",
    "168.63.129.16",
    "169.254.169.254",
    "172.16.0.1",
    "172.31.255.255",
    "192.0.0.192",
    "192.0.2.1",
    "192.168.1.1",
    "198.18.0.1",
    "224.0.0.1",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "::ffff:8.8.8.8",
    "::ffff:127.0.0.1",
    "64:ff9b::7f00:1",
    "64:ff9b:1::1",
    "100::1",
    "2001::1",
    "2001:db8::1",
    "2002:7f00:1::",
    "3fff::1",
    "fc00::1",
    "fd00:ec2::254",
    "fe80::1",
    "fe80::1%eth0",
    "2606:4700:4700::1111%1",
    "ff02::1",
    "localhost",
    "0177.0.0.1",
    "2130706433",
    "",
]


@pytest.mark.parametrize("text", PUBLIC)
def test_public_addresses(text):
    assert is_public_address(text)


@pytest.mark.parametrize("text", REFUSED)
def test_addresses_that_are_not_public(text):
    assert not is_public_address(text)


@given(st.ip_addresses(v=4))
def test_no_address_of_this_side_of_the_internet_is_public(address):
    """The list agrees with the standard library's wherever that one refuses."""
    if address.is_private or address.is_loopback or address.is_multicast or address.is_reserved:
        assert not is_public_address(str(address))


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("http://api.example.com/v1", Unfit.SCHEME),
        ("ftp://api.example.com/", Unfit.SCHEME),
        ("https:///v1", Unfit.NOT_A_URL),
        ("https://", Unfit.NOT_A_URL),
        ("https://api.example.com:0/", Unfit.NOT_A_URL),
        ("https://api.example.com:99999/", Unfit.NOT_A_URL),
        ("https://[::1/", Unfit.NOT_A_URL),
        ("https://api.example.com /v1", Unfit.NOT_A_URL),
        ("https://api.example.com\n/v1", Unfit.NOT_A_URL),
        ("https://good.example\\@evil.example/", Unfit.NOT_A_URL),
        ("https://me:secret@api.example.com/", Unfit.CREDENTIALS),
        ("https://me@api.example.com/", Unfit.CREDENTIALS),
        ("https://api.example.com:22/", Unfit.PORT),
        ("https://api.example.com/#x", Unfit.EXTRA),
        ("https://api.example.com/?key=1", Unfit.EXTRA),
    ],
)
def test_an_address_that_is_not_taken(url, reason):
    with pytest.raises(AddressRefused) as refused:
        addresses.place(url, Rules(barred="?"))
    assert refused.value.reason is reason


def _answer(*numbers):
    return lambda host, port: list(numbers)


def test_every_address_of_the_answer_must_be_public():
    rules = Rules()
    where = addresses.place("https://api.example.com/v1", rules)
    with pytest.raises(AddressRefused) as refused:
        addresses.resolved(where, rules, _answer("8.8.8.8", "10.0.0.1"))
    assert refused.value.reason is Unfit.NOT_PUBLIC
    with pytest.raises(AddressRefused) as refused:
        addresses.resolved(where, rules, _answer())
    assert refused.value.reason is Unfit.UNRESOLVED


def test_numbers_in_odd_spellings_are_judged_by_what_they_resolve_to():
    """The system reads 2130706433 and 0177.0.0.1 as loopback; so do we, before anything is sent."""
    rules = Rules()
    for host in ("2130706433", "0177.0.0.1", "127.1", "[::ffff:127.0.0.1]", "localhost"):
        with pytest.raises(AddressRefused) as refused:
            addresses.resolved(addresses.place(f"https://{host}/", rules), rules)
        assert refused.value.reason in {Unfit.NOT_PUBLIC, Unfit.UNRESOLVED}


def test_the_name_is_asked_for_once_and_the_request_goes_to_that_answer():
    """A name server that changes its mind (DNS rebinding) is not asked a second time."""
    asked = []

    def fickle(host, port):
        asked.append(host)
        return ["8.8.8.8"] if len(asked) == 1 else ["127.0.0.1"]

    rules = Rules()
    target = addresses.resolved(addresses.place("https://API.example.com.:8443/v1?a=b", rules), rules, fickle)
    assert asked == ["api.example.com"]
    assert target.url == "https://8.8.8.8:8443/v1?a=b"
    assert target.host_header == "api.example.com:8443"
    assert target.extensions == {"sni_hostname": "api.example.com"}
    assert httpx.URL(target.url).host == "8.8.8.8"


def test_an_address_of_version_six_stands_in_brackets():
    rules = Rules()
    where = addresses.place("https://api.example.com/v1", rules)
    target = addresses.resolved(where, rules, _answer("2606:4700:4700::1111"))
    assert target.url == "https://[2606:4700:4700::1111]:443/v1"
    assert target.host_header == "api.example.com"


def test_loopback_only_where_it_was_allowed_and_nothing_else_with_it():
    """The exception opens this machine, not the network around it, and plain http only towards it."""
    rules = Rules(loopback=True)
    target = addresses.resolved(addresses.place("http://127.0.0.1:5123/v1", rules), rules)
    assert target.url == "http://127.0.0.1:5123/v1"
    for url, numbers, reason in (
        ("https://api.example.com/", ["10.0.0.1"], Unfit.NOT_PUBLIC),
        ("https://api.example.com/", ["127.0.0.1", "10.0.0.1"], Unfit.NOT_PUBLIC),
        ("http://api.example.com/", ["8.8.8.8"], Unfit.SCHEME),
        ("https://api.example.com:22/", ["8.8.8.8"], Unfit.PORT),
    ):
        with pytest.raises(AddressRefused) as refused:
            addresses.resolved(addresses.place(url, rules), rules, _answer(*numbers))
        assert refused.value.reason is reason
