"""One small call to an upstream, to see whether it answers. No rows; of the answer only its class is told.

The name is resolved once, only public addresses are called, redirects are not followed, nothing of the environment
(proxies, credential files) is used, and the whole takes at most `SECONDS`.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import httpx
from django.conf import settings

from config import addresses
from config.addresses import AddressRefused, Resolver, Rules, Unfit
from evaluation.upstreams.dialects import WAYS, Way
from evaluation.upstreams.models import Outcome

SECONDS = 20.0
"""After this the call has failed, however much of an answer came."""
CONNECT_SECONDS = 4.0
ANSWER_BYTES = 256 * 1024
"""The longest answer that is read; a call for 16 tokens needs a hundredth of it."""

_BY_STATUS = {
    401: Outcome.CREDENTIAL_REFUSED,
    403: Outcome.CREDENTIAL_REFUSED,
    404: Outcome.MODEL_UNKNOWN,
    408: Outcome.TIMED_OUT,
    429: Outcome.RATE_LIMITED,
}


@dataclass(frozen=True)
class Call:
    """Whom to call, how, with what."""

    dialect: str
    base_url: str
    snapshot: str
    credential: str


@dataclass(frozen=True)
class Found:
    """What came of it; `milliseconds` where something was sent."""

    outcome: Outcome
    milliseconds: int | None = None


class _TooLong(Exception):
    """More bytes than any answer to this question has."""


def rules() -> Rules:
    """What addresses upstreams may have."""
    return Rules(barred="?", loopback=settings.OUTGOING_LOOPBACK)


def try_out(call: Call, *, resolver: Resolver = addresses.system_resolver, seconds: float = SECONDS) -> Found:
    """Make the call; every fault is an outcome, none is raised."""
    way, allowed = WAYS[call.dialect], rules()
    try:
        place = addresses.place(call.base_url.rstrip("/") + way.path, allowed)
        target = addresses.resolved(place, allowed, resolver)
    except AddressRefused as refused:
        unresolved = refused.reason is Unfit.UNRESOLVED
        return Found(Outcome.UNREACHABLE if unresolved else Outcome.ADDRESS_REFUSED)
    headers = {**way.headers(call.credential), "Host": target.host_header, "Accept": "application/json"}
    request = httpx.Request(
        "POST",
        target.url,
        headers={**headers, "Accept-Encoding": "identity"},
        json=way.body(call.snapshot),
        extensions={**target.extensions, "timeout": _timeout(seconds).as_dict()},
    )
    began = time.monotonic()
    outcome = _within(seconds, request, way, call.snapshot)
    return Found(outcome, round((time.monotonic() - began) * 1000))


def _timeout(seconds: float) -> httpx.Timeout:
    return httpx.Timeout(seconds, connect=min(CONNECT_SECONDS, seconds))


def _within(seconds: float, request: httpx.Request, way: Way, snapshot: str) -> Outcome:
    """The outcome, or TIMED_OUT: limits of single reads do not stop an answer that comes byte by byte."""
    found: list[Outcome] = []
    client = httpx.Client(trust_env=False, follow_redirects=False, verify=True)

    def run() -> None:
        try:
            found.append(_ask(client, request, way, snapshot))
        except (OSError, RuntimeError, ValueError):  # the client was closed under it
            return

    thread = threading.Thread(target=run, daemon=True, name="upstream-trial")
    thread.start()
    thread.join(seconds)
    client.close()
    return found[0] if found else Outcome.TIMED_OUT


def _ask(client: httpx.Client, request: httpx.Request, way: Way, snapshot: str) -> Outcome:
    try:
        answer = client.send(request, stream=True)
        try:
            if outcome := _by_status(answer.status_code):
                return outcome
            return _judged(_read(answer), way, snapshot)
        finally:
            answer.close()
    except (httpx.ConnectError, httpx.ConnectTimeout, httpx.UnsupportedProtocol):
        return Outcome.UNREACHABLE
    except httpx.TimeoutException:
        return Outcome.TIMED_OUT
    except (httpx.HTTPError, _TooLong):
        return Outcome.NOT_THE_DIALECT


def _by_status(status: int) -> Outcome | None:
    if status in _BY_STATUS:
        return _BY_STATUS[status]
    if status >= 500:
        return Outcome.UPSTREAM_FAILED
    if status >= 400:
        return Outcome.REQUEST_REFUSED
    if status >= 300:
        return Outcome.REDIRECTED
    return None if status == 200 else Outcome.NOT_THE_DIALECT


def _read(answer: httpx.Response) -> bytes:
    body = bytearray()
    for chunk in answer.iter_raw():
        body += chunk
        if len(body) > ANSWER_BYTES:
            raise _TooLong
    return bytes(body)


def _judged(body: bytes, way: Way, snapshot: str) -> Outcome:
    try:
        found: Any = json.loads(body)
    except (ValueError, RecursionError):
        return Outcome.NOT_THE_DIALECT
    if not isinstance(found, Mapping) or not way.is_answer(found):
        return Outcome.NOT_THE_DIALECT
    return Outcome.OK if found.get("model") == snapshot else Outcome.OTHER_MODEL
