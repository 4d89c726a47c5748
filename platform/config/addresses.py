"""Which addresses our own outgoing requests may go to, and how one goes to exactly the address that was looked at.

A host that a vendor names (a webhook, a model upstream) is resolved once, every address of the answer must be a public
one, and the request then goes to that address under the host's name, so a second answer of the name server is never
asked for. Sending is left to the callers; nothing here opens a connection.
"""

from __future__ import annotations

import enum
import ipaddress
import socket
from collections.abc import Callable, Collection
from dataclasses import dataclass
from urllib.parse import SplitResult, urlsplit

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Resolver = Callable[[str, int], list[str]]

_REFUSED_V4 = tuple(
    ipaddress.IPv4Network(network)
    for network in (
        "0.0.0.0/8",  # this network
        "10.0.0.0/8",
        "100.64.0.0/10",  # shared by carriers
        "127.0.0.0/8",
        "168.63.129.16/32",  # a cloud's own host service on an address that looks public
        "169.254.0.0/16",  # link-local, and the metadata services of clouds
        "172.16.0.0/12",
        "192.0.0.0/24",  # protocol assignments
        "192.0.2.0/24",  # documentation
        "192.31.196.0/24",  # AS112
        "192.52.193.0/24",  # AMT
        "192.88.99.0/24",  # 6to4 relays
        "192.168.0.0/16",
        "192.175.48.0/24",  # AS112
        "198.18.0.0/15",  # benchmarking
        "198.51.100.0/24",  # documentation
        "203.0.113.0/24",  # documentation
        "224.0.0.0/4",  # multicast
        "240.0.0.0/4",  # reserved, and broadcast
    )
)
_GLOBAL_V6 = ipaddress.IPv6Network("2000::/3")
"""The only block of IPv6 that is given out; what maps to IPv4 (::ffff:0:0/96, 64:ff9b::/96) lies outside."""

_REFUSED_V6 = tuple(
    ipaddress.IPv6Network(network)
    for network in (
        "2001::/23",  # protocol assignments: Teredo, ORCHID, benchmarking
        "2001:db8::/32",  # documentation
        "2002::/16",  # 6to4: carries an IPv4 address
        "2620:4f:8000::/48",  # AS112
        "3fff::/20",  # documentation
    )
)


class Unfit(enum.StrEnum):
    """Why a place cannot be asked; each caller has its own words for it."""

    NOT_A_URL = "not_a_url"
    SCHEME = "scheme"
    CREDENTIALS = "credentials"
    PORT = "port"
    EXTRA = "extra"
    UNRESOLVED = "unresolved"
    NOT_PUBLIC = "not_public"


class AddressRefused(Exception):
    """The place may not be asked; `reason` says why."""

    def __init__(self, reason: Unfit) -> None:
        super().__init__(reason.value)
        self.reason = reason


@dataclass(frozen=True)
class Rules:
    """What an address may look like. The loopback exception is for tests and the demo's own machine."""

    ports: Collection[int] = (443, 8443)
    barred: str = ""
    """Characters that may not stand in the address: "?" refuses a query."""
    loopback: bool = False


@dataclass(frozen=True)
class Place:
    """A host and port out of an address somebody wrote."""

    scheme: str
    host: str
    port: int
    path: str
    query: str = ""


@dataclass(frozen=True)
class Target:
    """Where a request goes: the address that was looked at, under the name that was asked for.

    For httpx: `client.post(target.url, headers={"Host": target.host_header, ...}, extensions=target.extensions)`; the
    certificate is then checked against the name, not the number.
    """

    url: str
    host_header: str
    extensions: dict[str, str]


def is_public_address(text: str) -> bool:
    """Whether this IP address belongs to the public internet; anything that is no address does not."""
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return False
    if isinstance(address, ipaddress.IPv4Address):
        return not any(address in network for network in _REFUSED_V4)
    if address.scope_id is not None or address not in _GLOBAL_V6:
        return False
    return not any(address in network for network in _REFUSED_V6)


def is_loopback(text: str) -> bool:
    """Whether the address is this machine itself."""
    try:
        return ipaddress.ip_address(text).is_loopback
    except ValueError:
        return False


def place(url: str, rules: Rules) -> Place:
    """The address taken apart: https, no credentials, no fragment, an allowed port. Raises AddressRefused.

    Where loopback is allowed, plain http and any port are allowed too, for a host that resolves to loopback.
    """
    parts, port = _split(url)
    if parts.username is not None or parts.password is not None:
        raise AddressRefused(Unfit.CREDENTIALS)
    if "#" in url or any(sign in url for sign in rules.barred):
        raise AddressRefused(Unfit.EXTRA)
    if parts.scheme != "https" and not (rules.loopback and parts.scheme == "http"):
        raise AddressRefused(Unfit.SCHEME)
    port = port or (443 if parts.scheme == "https" else 80)
    if port not in rules.ports and not rules.loopback:
        raise AddressRefused(Unfit.PORT)
    return Place(parts.scheme, _ascii_host(parts.hostname or ""), port, parts.path, parts.query)


def system_resolver(host: str, port: int) -> list[str]:
    """Every address the system's resolver gives for the name. Raises AddressRefused."""
    try:
        answers = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise AddressRefused(Unfit.UNRESOLVED) from None
    return [str(answer[4][0]) for answer in answers]


def resolved(where: Place, rules: Rules, resolver: Resolver = system_resolver) -> Target:
    """The one address to ask, looked up once. Raises AddressRefused if any address of the answer is not allowed."""
    answers = resolver(where.host, where.port)
    if not answers:
        raise AddressRefused(Unfit.UNRESOLVED)
    loopback = rules.loopback and all(is_loopback(answer) for answer in answers)
    if not loopback and not all(is_public_address(answer) for answer in answers):
        raise AddressRefused(Unfit.NOT_PUBLIC)
    if not loopback and where.scheme != "https":
        raise AddressRefused(Unfit.SCHEME)
    if not loopback and where.port not in rules.ports:
        raise AddressRefused(Unfit.PORT)
    address = answers[0]
    number = f"[{address}]" if ":" in address else address
    usual = 443 if where.scheme == "https" else 80
    name = f"[{where.host}]" if ":" in where.host else where.host
    query = f"?{where.query}" if where.query else ""
    return Target(
        url=f"{where.scheme}://{number}:{where.port}{where.path}{query}",
        host_header=name if where.port == usual else f"{name}:{where.port}",
        extensions={"sni_hostname": where.host},
    )


def _split(url: str) -> tuple[SplitResult, int | None]:
    """The parts and the port. Whitespace and control characters are refused, not repaired. Raises AddressRefused."""
    if not url.isprintable() or " " in url or "\\" in url:
        raise AddressRefused(Unfit.NOT_A_URL)
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise AddressRefused(Unfit.NOT_A_URL) from None
    if not parts.hostname or not parts.netloc or port == 0:
        raise AddressRefused(Unfit.NOT_A_URL)
    return parts, port


def _ascii_host(host: str) -> str:
    """The host as a name server is asked for it, without a closing dot. Raises AddressRefused."""
    try:
        name = host.encode("idna").decode("ascii").rstrip(".").lower()
    except UnicodeError:
        raise AddressRefused(Unfit.NOT_A_URL) from None
    if not name:
        raise AddressRefused(Unfit.NOT_A_URL)
    return name
