"""How many requests a minute: each credential has reads and writes of its own, and everybody else shares an address's.

Windows are whole minutes of the site's clock, counted in Redis. Without Redis nothing is refused: quotas are kept by
PostgreSQL, and a limit that only saves work may not stop it.
"""

from __future__ import annotations

import logging
import math
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from typing import TYPE_CHECKING

import redis
from allauth.account.adapter import get_adapter
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured, PermissionDenied
from django.http import HttpRequest
from rest_framework.throttling import BaseThrottle

from accounts.models import User
from accounts.permissions import Presented
from config import clock
from submissions.problems import Code, Refusal, Refused

if TYPE_CHECKING:  # the framework's views import this module
    from rest_framework.request import Request
    from rest_framework.views import APIView

logger = logging.getLogger(__name__)

SECONDS = 60
"""Length of a window."""
SAFE = ("GET", "HEAD", "OPTIONS")
PATIENCE = 0.5
"""Seconds that a request may lose to a Redis that does not answer."""
REST = 5.0
"""Seconds for which a Redis that failed is not asked again."""


@dataclass(frozen=True)
class Rate:
    """One window of one caller: `used` of `limit` requests, this one among them."""

    policy: str
    limit: int
    used: int
    ends_at: datetime

    @property
    def exceeded(self) -> bool:
        return self.used > self.limit

    def headers(self) -> dict[str, str]:
        """By the names of draft-ietf-httpapi-ratelimit-headers-06; the last is in seconds."""
        left = math.ceil((self.ends_at - clock.now()).total_seconds())
        return {
            "RateLimit-Limit": str(self.limit),
            "RateLimit-Remaining": str(max(self.limit - self.used, 0)),
            "RateLimit-Reset": str(max(left, 1)),
        }

    def refusal(self) -> Refusal:
        facts = {"policy": self.policy, "limit": self.limit, "used": self.used}
        return Refusal(Code.TOO_MANY_REQUESTS, facts, next_allowed_at=self.ends_at)


class Throttle(BaseThrottle):
    """The framework asks this once it knows who calls and that they may. Raises Refused (too_many_requests)."""

    def allow_request(self, request: Request, view: APIView) -> bool:
        rate = count(request._request)
        if rate is not None and rate.exceeded:
            raise Refused(rate.refusal())
        return True


def count(request: HttpRequest) -> Rate | None:
    """Count this request, once; None where requests of its kind have no limit."""
    if hasattr(request, "rate"):
        return request.rate  # type: ignore[no-any-return]
    policy, whose = _counted_for(request)
    limit = settings.API_RATES[policy]
    rate = None
    if limit:
        begins_at = int(clock.now().timestamp()) // SECONDS * SECONDS
        used = _redis.increment(f"rate:{policy}:{whose}:{begins_at}")
        rate = Rate(policy, limit, used, datetime.fromtimestamp(begins_at + SECONDS, UTC))
    request.rate = rate  # type: ignore[attr-defined]
    return rate


def _counted_for(request: HttpRequest) -> tuple[str, str]:
    """(policy, whose): the credential that the framework accepted; else, also where it refused one, the address."""
    policy = "reads" if request.method in SAFE else "writes"
    if hasattr(request, "auth"):
        credential, user = request.auth, request.user
        if isinstance(credential, Presented):
            return policy, f"{credential.kind}:{credential.actor().id}"
        if credential is None and isinstance(user, User):
            return policy, f"session:{user.pk}"
    return "anonymous", address_of(request)


def address_of(request: HttpRequest) -> str:
    """The caller's address, behind as many proxies as settings trust; `unknown` where those did not say."""
    try:
        return str(get_adapter().get_client_ip(request))
    except (PermissionDenied, ImproperlyConfigured):
        return "unknown"


class _Counters:
    """Counters in Redis; all stand at nothing while it does not answer, and for a few seconds after."""

    def __init__(self) -> None:
        self._rests_until = 0.0

    def increment(self, name: str) -> int:
        """The count with this one; 0 where it cannot be known."""
        if time.monotonic() < self._rests_until:
            return 0
        try:
            with _client(settings.REDIS_URL).pipeline(transaction=False) as both:
                both.incr(name)
                both.expire(name, 2 * SECONDS)
                return int(both.execute()[0])
        except (redis.RedisError, OSError, ValueError):
            logger.warning("requests are not counted: Redis does not answer", exc_info=True)
            self._rests_until = time.monotonic() + REST
            return 0


@lru_cache(maxsize=4)
def _client(url: str) -> redis.Redis:
    return redis.Redis.from_url(url, socket_timeout=PATIENCE, socket_connect_timeout=PATIENCE)


_redis = _Counters()
