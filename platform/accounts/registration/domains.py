"""Control of a domain: a link mailed to an address there, valid for 24 hours, or a TXT record in its DNS."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from uuid import UUID

import dns.exception
import dns.resolver
from django.conf import settings
from django.core import signing
from django.utils.crypto import salted_hmac

from config import clock

LINK_LIFETIME = timedelta(hours=24)
RECORD_PREFIX = "_lingee-bench."
_SALT = "accounts.registration.domains"
_DOMAIN = re.compile(r"(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])")
LOOKUP_SECONDS = 5.0


def normalised(text: str) -> str:
    """The domain in ASCII and small letters; empty where it is none."""
    try:
        found = text.strip().rstrip(".").encode("idna").decode().lower()
    except UnicodeError:
        return ""
    return found if len(found) <= 253 and _DOMAIN.fullmatch(found) else ""


def lies_at(address: str, domain: str) -> bool:
    """Whether a mail address lies at the domain itself or below it."""
    host = address.rpartition("@")[2].lower()
    return host == domain or host.endswith(f".{domain}")


def link_token(registration: UUID) -> str:
    """What the mailed link carries: the registration and when the link ends, signed."""
    until = clock.now() + LINK_LIFETIME
    return signing.dumps([str(registration), until.isoformat()], salt=_SALT)


def registration_of(token: str) -> UUID | None:
    """The registration that a link is for; None where it is damaged or over."""
    try:
        registration, until = signing.loads(token, salt=_SALT)
        over = datetime.fromisoformat(until) <= clock.now()
    except (signing.BadSignature, ValueError, TypeError):
        return None
    return None if over else UUID(registration)


def record_name(domain: str) -> str:
    return f"{RECORD_PREFIX}{domain}"


def record_value(registration: UUID) -> str:
    """What the TXT record has to say for this registration."""
    return "lingee-bench=" + salted_hmac(_SALT, str(registration), algorithm="sha256").hexdigest()[:40]


def txt_records(name: str) -> list[str]:
    """The TXT records of that name; none where the name server says so or does not answer."""
    resolver = dns.resolver.Resolver(configure=not settings.DNS_SERVERS)
    if settings.DNS_SERVERS:
        host, _, port = settings.DNS_SERVERS[0].partition(":")
        resolver.nameservers, resolver.port = [host], int(port or 53)
    try:
        answer = resolver.resolve(name, "TXT", lifetime=LOOKUP_SECONDS, search=False)
    except (dns.exception.DNSException, OSError):
        return []
    return [b"".join(row.strings).decode("utf-8", "replace") for row in answer]
