"""Whether a token is what it says: an RS256 signature of a known issuer, for this site, now. Nothing is changed."""

from __future__ import annotations

import json
from base64 import urlsafe_b64decode
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import jwt
from django.conf import settings

from accounts.publishing import keys
from accounts.publishing.claims import Identity, read, require_times
from accounts.publishing.models import ReviewedIssuer
from accounts.publishing.refusals import Cause, IdentityRefused, refused
from config import clock

LONGEST = 16 * 1024
"""Characters of a token; GitHub's have about 2,000."""
ALGORITHM = "RS256"


@dataclass(frozen=True)
class Issuer:
    """One that is believed. A reviewed one has its keys here, and speaks for one organisation."""

    address: str
    dialect: str
    organisation_id: UUID | None = None
    keys: Mapping[str, Mapping[str, Any]] | None = None

    def key(self, kid: str) -> Any:
        return keys.key_of(self.address, kid) if self.keys is None else keys.chosen(self.keys, kid)


def issuer_at(address: str) -> Issuer | None:
    """The issuer of that address, by the settings or reviewed; None for any other."""
    if dialect := settings.OIDC_ISSUERS.get(address):
        return Issuer(address, dialect)
    row = ReviewedIssuer.live().filter(address=address).first()
    return Issuer(row.address, row.dialect, row.organisation_id, keys.usable(row.jwks)) if row else None


def verify(token: str) -> tuple[Identity, Issuer]:
    """The identity behind a token. Raises IdentityRefused with the first thing that is wrong; no request is made
    before the issuer is known to be one of the list."""
    header, unverified = _parts(token)
    if header.get("alg") != ALGORITHM:
        raise refused(Cause.ALGORITHM, field="alg", received=header.get("alg"))
    if "crit" in header or not isinstance(header.get("kid"), str):
        raise IdentityRefused(Cause.MALFORMED)
    address = unverified.get("iss")
    issuer = issuer_at(address) if isinstance(address, str) and "\x00" not in address else None
    if issuer is None:
        raise refused(Cause.UNKNOWN_ISSUER, field="iss", received=address)
    claims = _signed_claims(token, issuer.key(header["kid"]))
    if claims.get("aud") not in (settings.OIDC_AUDIENCE, [settings.OIDC_AUDIENCE]):
        if "aud" not in claims:
            raise refused(Cause.CLAIM_MISSING, field="aud", received="")
        raise refused(Cause.AUDIENCE, field="aud", received=claims["aud"])
    require_times(claims, now=clock.now())
    return read(claims, issuer=issuer.address, dialect=issuer.dialect), issuer


def _signed_claims(token: str, key: Any) -> Mapping[str, Any]:
    # Times and audience are judged afterwards, by the site's own clock and each with its own code.
    judged_later = dict.fromkeys(
        ("verify_exp", "verify_nbf", "verify_iat", "verify_aud", "verify_iss", "verify_sub", "verify_jti"),
        False,
    )
    try:
        found: dict[str, Any] = jwt.decode(token, key, algorithms=[ALGORITHM], options=judged_later)  # type: ignore[arg-type]
    except jwt.InvalidSignatureError:
        raise IdentityRefused(Cause.SIGNATURE) from None
    except jwt.PyJWTError:
        raise IdentityRefused(Cause.MALFORMED) from None
    return found


def _parts(token: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Header and claims, of which nothing is believed yet."""
    parts = token.split(".")
    if len(token) > LONGEST or len(parts) != 3 or not token.isascii():
        raise IdentityRefused(Cause.MALFORMED)
    try:
        header, claims = (json.loads(urlsafe_b64decode(part + "=" * (-len(part) % 4))) for part in parts[:2])
        json.dumps((header, claims), ensure_ascii=False).encode()  # half a surrogate pair is no text
    except (ValueError, RecursionError):
        raise IdentityRefused(Cause.MALFORMED) from None
    if not isinstance(header, dict) or not isinstance(claims, dict):
        raise IdentityRefused(Cause.MALFORMED)
    return header, claims
