"""Whose word it is that nobody else reads a prompt: the operator's, never the one who registers an upstream.

An organisation may call its upstream a third party's. It counts as one only while its host stands in the operator's
list of approved providers (an agreement to keep nothing, reviewed, with an expiry); any other is its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from urllib.parse import urlsplit

from django.conf import settings

from config import clock
from evaluation.upstreams.models import Exposure, ModelUpstream


def approved(host: str) -> bool:
    """Whether the host is an approved provider's today."""
    listed: Mapping[str, date] = settings.APPROVED_PROVIDERS
    until = listed.get(host.lower())
    return until is not None and clock.now().date() <= until


def exposure_of(upstream: ModelUpstream) -> Exposure:
    """The class that counts, whatever class it was registered with."""
    stated = Exposure(upstream.exposure)
    if upstream.organisation_id is None or stated is Exposure.VENDOR_ENDPOINT:
        return stated
    return stated if approved(urlsplit(upstream.base_url).hostname or "") else Exposure.VENDOR_ENDPOINT
