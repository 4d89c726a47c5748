"""One signed request to an address of somebody else's: to a public address looked up once, and nothing of the answer
but its status.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import threading

import httpx
from django.conf import settings

from config import addresses
from submissions.webhooks.kinds import SECONDS, WHOLE_SECONDS, Fault

PREFIX = "whsec_"
SIGNATURE = "Lingee-Signature"


def rules() -> addresses.Rules:
    """What addresses are allowed: https on 443 or 8443; loopback only where the setting says so."""
    return addresses.Rules(loopback=settings.OUTGOING_LOOPBACK)


def new_secret() -> str:
    return PREFIX + secrets.token_urlsafe(32)


def signature(secret: str, body: bytes, at: int) -> str:
    """The header's value: the time in seconds and HMAC-SHA256 over time, dot and body."""
    digest = hmac.new(secret.encode(), f"{at}.".encode() + body, hashlib.sha256).hexdigest()
    return f"t={at},v1={digest}"


def send(url: str, body: str, *, secret: str, at: int) -> int | Fault:
    """The status of the answer, or why there was none. Raises nothing, and takes `WHOLE_SECONDS` at most."""
    try:
        target = addresses.resolved(addresses.place(url, rules()), rules(), addresses.system_resolver)
    except addresses.AddressRefused:
        return Fault.ADDRESS
    data = body.encode()
    headers = {
        "Host": target.host_header,
        "Content-Type": "application/json",
        "User-Agent": "Lingee-Bench-Webhooks/1",
        SIGNATURE: signature(secret, data, at),
    }
    return _within(WHOLE_SECONDS, target, headers, data)


def _within(seconds: float, target: addresses.Target, headers: dict[str, str], data: bytes) -> int | Fault:
    """Asked in a thread of its own: who answers a byte at a time never lets a socket's own timeout pass."""
    found: list[int | Fault] = []
    client = httpx.Client(timeout=SECONDS, follow_redirects=False, trust_env=False)
    asking = threading.Thread(target=lambda: found.append(_ask(client, target, headers, data)), daemon=True)
    asking.start()
    asking.join(seconds)
    client.close()
    return found[0] if found else Fault.TIMEOUT


def _ask(client: httpx.Client, target: addresses.Target, headers: dict[str, str], data: bytes) -> int | Fault:
    request = client.build_request(
        "POST", target.url, content=data, headers=headers, extensions=target.extensions
    )
    try:
        answer = client.send(request, stream=True)  # the body is never read
        answer.close()
    except httpx.TimeoutException:
        return Fault.TIMEOUT
    except Exception:  # noqa: BLE001 - whatever breaks on the way is the same to us
        return Fault.CONNECTION
    return answer.status_code
