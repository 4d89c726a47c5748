"""An upstream of a vendor, and a server on this machine that speaks its dialect, well or badly."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from decimal import Decimal
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from accounts.models import User
from evaluation.upstreams.models import Dialect, ModelUpstream
from submissions.services import upstreams
from tests.submissions import world

SNAPSHOT = "probe-model-2026-11-01"
SECRET = "sk-test-0123456789abcdefWXYZ"
LIMITS = upstreams.Limits(requests_per_minute=60, concurrency=4, ceiling=Decimal("100.00"), currency="CNY")
GOOD: dict[str, dict[str, Any]] = {
    Dialect.OPENAI_CHAT: {"choices": [{"message": {"role": "assistant", "content": "OK"}}]},
    Dialect.OPENAI_RESPONSES: {"output": [{"type": "message", "content": []}]},
    Dialect.ANTHROPIC_MESSAGES: {"type": "message", "content": [{"type": "text", "text": "OK"}]},
}


def registered(
    vendor: world.Vendor,
    *,
    name: str = "my-model",
    dialect: str = Dialect.OPENAI_CHAT,
    base_url: str = "https://api.example.com/v1",
) -> ModelUpstream:
    endpoint = upstreams.Endpoint(dialect, base_url, SNAPSHOT, "third_party")
    return upstreams.register_upstream(
        vendor.organisation, name=name, endpoint=endpoint, limits=LIMITS, by=vendor.actor
    )


def of_the_platform(engineer: User, name: str = "house-model") -> ModelUpstream:
    endpoint = upstreams.Endpoint(Dialect.OPENAI_CHAT, "https://api.example.com/v1", SNAPSHOT, "sealed")
    return upstreams.register_upstream(
        None, name=name, endpoint=endpoint, limits=LIMITS, by=engineer.actor("web")
    )


def upstream_with_credential(vendor: world.Vendor, **changes: str) -> ModelUpstream:
    row = registered(vendor, **changes)
    upstreams.set_credential(row.id, SECRET, by=vendor.actor)
    return row


@dataclass
class Answers:
    """What the server does with each request, and what it was asked."""

    status: int = 200
    body: bytes = b"{}"
    headers: dict[str, str] = field(default_factory=dict)
    drip: float = 0.0
    """Seconds between single bytes of the answer."""
    asked: list[dict[str, Any]] = field(default_factory=list)
    port: int = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def answers(self, dialect: str, *, model: str = SNAPSHOT) -> None:
        self.body = json.dumps({**GOOD[dialect], "model": model}).encode()


class _Handler(BaseHTTPRequestHandler):
    script: Answers

    def do_POST(self) -> None:
        script = self.script
        body = self.rfile.read(int(self.headers["Content-Length"]))
        script.asked.append({"path": self.path, "headers": dict(self.headers), "body": json.loads(body)})
        self.send_response(script.status)
        for name, value in {**script.headers, "Content-Length": str(len(script.body))}.items():
            self.send_header(name, value)
        self.end_headers()
        try:
            for at in range(len(script.body)) if script.drip else ():
                self.wfile.write(script.body[at : at + 1])
                time.sleep(script.drip)
            if not script.drip:
                self.wfile.write(script.body)
        except OSError:
            return

    def log_message(self, format: str, *args: Any) -> None:
        return


@contextmanager
def serving() -> Iterator[Answers]:
    script = Answers()
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"script": script}))
    server.daemon_threads = True
    script.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield script
    finally:
        server.shutdown()
        server.server_close()
