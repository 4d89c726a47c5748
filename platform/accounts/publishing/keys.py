"""Public keys of issuers: fetched by discovery, kept for an hour, asked again for an unknown key once a minute at most.

The only requests that this package makes, and only to addresses of the closed list.
"""

from __future__ import annotations

import hashlib
import json
import logging
import time
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

import httpx
import redis
from django.core.cache import cache
from jwt import PyJWK
from jwt.exceptions import PyJWTError

from accounts.publishing.refusals import Cause, IdentityRefused

logger = logging.getLogger(__name__)

KEPT_SECONDS = 3600
"""A key that its issuer withdrew is believed this long at most."""
REFRESH_SECONDS = 60
TIMEOUT_SECONDS = 3.0
PATIENCE_SECONDS = 4.0
"""How long one waits for the keys that somebody else is fetching."""
MAXIMUM_BYTES = 256 * 1024
MOST_KEYS = 100
SMALLEST_BITS = 2048
Keys = dict[str, dict[str, Any]]


class Unusable(ValueError):
    """What an issuer answered is no discovery document or no set of keys."""


def key_of(issuer: str, kid: str) -> Any:
    """The issuer's public key of that name. Raises IdentityRefused: oidc_unknown_key, oidc_issuer_unavailable."""
    try:
        found = cache.get(kept_at(issuer))
        if found is None or (found and kid not in found):
            found = _refreshed(issuer, found)
    except redis.RedisError:
        logger.warning("keys of issuers are not kept: Redis does not answer")
        found = None
    if not found:
        raise IdentityRefused(Cause.ISSUER_UNAVAILABLE, {"issuer": issuer})
    return chosen(found, kid)


def chosen(keys: Mapping[str, Mapping[str, Any]], kid: str) -> Any:
    """Raises IdentityRefused (oidc_unknown_key)."""
    if kid not in keys:
        raise IdentityRefused(Cause.UNKNOWN_KEY, {"field": "kid", "received": kid[:80]})
    return PyJWK(dict(keys[kid]), algorithm="RS256").key


def refresh_lock(issuer: str) -> str:
    """The name under which the last refresh is remembered for a minute."""
    return f"oidc:refreshed:{_digest(issuer)}"


def usable(document: object) -> Keys:
    """By name: the RSA keys for signatures in a JWK set, large enough. Raises Unusable where there is none."""
    rows = document.get("keys") if isinstance(document, dict) else None
    if not isinstance(rows, list) or len(rows) > MOST_KEYS:
        raise Unusable("no JWK set")
    found = {str(row["kid"]): row for row in rows if isinstance(row, dict) and _fits(row)}
    if not found:
        raise Unusable("no RSA key for RS256 in it")
    return {kid: {name: row[name] for name in ("kty", "kid", "n", "e")} for kid, row in found.items()}


def _fits(row: Mapping[str, Any]) -> bool:
    if row.get("kty") != "RSA" or row.get("use", "sig") != "sig" or row.get("alg", "RS256") != "RS256":
        return False
    if not isinstance(row.get("kid"), str) or "d" in row:
        return False
    try:
        return int(PyJWK(dict(row), algorithm="RS256").key.key_size) >= SMALLEST_BITS
    except (PyJWTError, ValueError, TypeError, KeyError, AttributeError):
        return False


def _refreshed(issuer: str, known: Keys | None) -> Keys:
    """Keys as the issuer has them now, or as they were if somebody asked within the minute."""
    if not cache.add(refresh_lock(issuer), 1, timeout=REFRESH_SECONDS):
        return known if known is not None else _awaited(issuer)
    try:
        keys = fetch(issuer)
    except (httpx.HTTPError, Unusable) as error:
        logger.warning("keys of %s could not be fetched: %s", issuer, type(error).__name__)
        if known is None:  # whoever comes within the minute is told at once, and does not wait
            cache.set(kept_at(issuer), {}, timeout=REFRESH_SECONDS)
        return known or {}
    cache.set(kept_at(issuer), keys, timeout=KEPT_SECONDS)
    return keys


def _awaited(issuer: str) -> Keys:
    """What the one who is fetching leaves, if it comes soon; else nothing."""
    ends = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < ends:
        found: Keys | None = cache.get(kept_at(issuer))
        if found is not None:
            return found
        time.sleep(0.05)
    return {}


def fetch(issuer: str) -> Keys:
    """By discovery: the document names the keys' address, which must be of the issuer's own host."""
    # A proxy for the loopback address would be somebody else's machine.
    outside = urlsplit(issuer).scheme == "https"
    with httpx.Client(timeout=TIMEOUT_SECONDS, follow_redirects=False, trust_env=outside) as client:
        found = _get(client, f"{issuer}/.well-known/openid-configuration")
        if not isinstance(found, dict) or found.get("issuer") != issuer:
            raise Unusable("the discovery document is another issuer's")
        address = str(found.get("jwks_uri", ""))
        if urlsplit(address)[:2] != urlsplit(issuer)[:2]:
            raise Unusable("the keys lie at another host")
        return usable(_get(client, address))


def _get(client: httpx.Client, address: str) -> Any:
    ends = time.monotonic() + 2 * TIMEOUT_SECONDS
    with client.stream("GET", address, headers={"Accept": "application/json"}) as answer:
        if answer.status_code != 200:
            raise Unusable(f"status {answer.status_code}")
        body = b""
        for part in answer.iter_bytes():
            body += part
            if len(body) > MAXIMUM_BYTES or time.monotonic() > ends:
                raise Unusable("too long")
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        raise Unusable("no JSON") from None


def kept_at(issuer: str) -> str:
    """The name under which its keys are kept."""
    return f"oidc:keys:{_digest(issuer)}"


def _digest(issuer: str) -> str:
    return hashlib.sha256(issuer.encode()).hexdigest()
